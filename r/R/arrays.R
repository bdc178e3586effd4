# Arrays whose axes may have length 1 where they do not vary: R does not stretch them by itself.

# `a`, stretched to the dimensions `d`.
expand <- function(a, d) {
  from <- dim(a)
  if (length(from) == length(d) && all(from == d)) return(a)
  if (length(a) == 1L) return(array(a, d))
  index <- lapply(seq_along(d), function(i) if (from[i] == d[i]) TRUE else rep(1L, d[i]))
  do.call(`[`, c(list(a), index, list(drop = FALSE)))
}

# f(a, b), both stretched to the larger dimensions.
both <- function(f, a, b) {
  if (is.null(dim(a)) || is.null(dim(b))) return(f(a, b))
  d <- pmax(dim(a), dim(b))
  f(expand(a, d), expand(b, d))
}

plus <- function(a, b) both(`+`, a, b)
minus <- function(a, b) both(`-`, a, b)
times <- function(a, b) both(`*`, a, b)

# Sums along some axes, which stay with length 1.
sum_over <- function(x, axes) {
  if (!length(axes)) return(x)
  d <- dim(x)
  kept <- setdiff(seq_along(d), axes)
  sums <- colSums(matrix(aperm(x, c(axes, kept)), prod(d[axes])))
  d[axes] <- 1L
  array(sums, d)
}

# The sums of `x` on the axes `kept`, in that order; the others are gone.
marginal_of <- function(x, names, kept) {
  axes <- match(kept, names)
  gone <- setdiff(seq_along(names), axes)
  sums <- if (length(gone)) rowSums(matrix(aperm(x, c(axes, gone)), prod(dim(x)[axes]))) else aperm(x, axes)
  array(sums, dim(x)[axes])
}

# An array over some axes, with length 1 along all others of `count`.
spread <- function(values, axes, count) {
  order <- order(axes)
  d <- rep(1L, count)
  d[sort(axes)] <- dim(values)[order]
  array(if (length(axes) > 1L) aperm(values, order) else values, d)
}

# Cells in the order of the program for Python: the last attribute changes fastest.
by_row <- function(x) as.vector(if (length(dim(x)) > 1L) aperm(x, rev(seq_along(dim(x)))) else x)
