# Tests: of a number against a value, and of the independence of two attributes.

test <- function(x, ...) UseMethod("test")

# A value is rejected at 5% if and only if it lies outside the 95% interval, and so at every level: the p-value is 1 less the
# smallest level whose interval holds the value. Where the interval is plus or minus z standard errors, this is the z test.
test.pk_number <- function(x, null = NULL, ...) {
  if (is.null(null)) null <- if (x$scale == "log") 1 else 0
  if (!is.numeric(null) || length(null) != 1L || !is.finite(null)) refuse("null is a single number.")
  error <- standard_error(x)
  z <- if (is.nan(x$value) || is.nan(error)) NaN else distance_from(x, null, error)
  limits <- number_limits(x, x$level)
  structure(
    list(
      statistic = c(z = z), p.value = 2 * stats::pnorm(-abs(z)), estimate = stats::setNames(x$value, x$what),
      null.value = c(value = null), stderr = error, alternative = "two.sided",
      conf.int = structure(c(limits$low, limits$high), conf.level = x$level),
      method = "Test of a number from a randomised release", data.name = x$what
    ),
    class = "htest"
  )
}

FARTHEST <- 8  # standard errors: levels closer to 1 cannot be told from 1

# How many standard errors of a normal variable `null` is away: the z whose interval just reaches it.
distance_from <- function(x, null, error) {
  if (x$value == null) return(0)
  if (x$scale == "log" && x$value > 0) {
    if (null <= 0) refuse("A ratio is above zero, so ", format(null), " cannot be tested; no difference is a ratio of 1.")
    return((log(x$value) - log(null)) / (error / x$value))
  }
  plain <- (x$value - null) / error
  if (x$scale == "log" || (!x$linear && is.null(x$below))) return(plain)
  below <- null < x$value
  beyond <- function(z) {
    limits <- number_limits(x, 2 * stats::pnorm(z) - 1)
    if (below) limits$low - null else null - limits$high
  }
  near <- beyond(1e-9)
  if (near <= 0) return(0)
  if (beyond(FARTHEST) > 0) return(plain)
  z <- stats::uniroot(beyond, c(1e-9, FARTHEST), tol = 1e-11)$root
  if (below) z else -z
}

LARGEST_PAIR <- 4096L
RANK <- 1e-9  # directions whose variance is below this share of the largest one cannot vary

test.pk_crosstab <- function(x, ...) {
  pair <- pair_of(x)
  decomposed <- eigen(pair$covariance, symmetric = TRUE)
  large <- decomposed$values > RANK * decomposed$values[1L]
  along <- crossprod(decomposed$vectors[, large, drop = FALSE], pair$d)
  statistic <- sum(along^2 / decomposed$values[large])
  v <- strength(pair)
  structure(
    list(
      statistic = c("X-squared" = statistic), parameter = c(df = sum(large)),
      p.value = stats::pchisq(statistic, sum(large), lower.tail = FALSE),
      estimate = c("Cramer's V" = v$value), stderr = v$error,
      conf.int = structure(
        c(max(v$value - z_of(x$level) * v$error, 0), min(v$value + z_of(x$level) * v$error, 1)),
        conf.level = x$level
      ),
      method = "Pearson's chi-squared test of independence, corrected for the randomisation",
      data.name = paste(names(x$groups), collapse = " and ")
    ),
    class = "htest"
  )
}

# Deviations d = (p_ij - p_i p_j) / sqrt(p_i p_j), and their covariance if the attributes were independent.
pair_of <- function(tab) {
  table <- tab$table
  if (length(table$names) != 2L) refuse("An association is between two attributes; the table has ", length(table$names), ".")
  if (length(table$counts) > LARGEST_PAIR) {
    refuse("The table has ", length(table$counts), " cells; associations are computed up to ", LARGEST_PAIR, ".")
  }
  n <- table$total
  if (n < 2) refuse("An association needs at least two rows.")
  single <- lapply(table$names, function(name) {
    one <- marginal_table(table, name)
    as.vector(nearest(one$counts, n, one$channel$possible)) / n
  })
  members <- lapply(seq_along(single), function(axis) {
    codes <- tab$groups[[axis]]
    member <- matrix(0, length(codes), length(single[[axis]]))
    for (i in seq_along(codes)) member[i, codes[[i]]] <- 1
    member
  })
  shares <- lapply(1:2, function(axis) as.vector(members[[axis]] %*% single[[axis]]))
  positive <- vapply(shares, function(share) sum(share > 0), 0L)
  if (min(positive) < 2L) {
    refuse(
      "Only one value of ", quoted(table$names[which.min(positive)]), " has a positive estimate in this release, so nothing ",
      "can be said about its relation to another attribute; choose another one."
    )
  }
  independent <- outer(shares[[1L]], shares[[2L]])
  possible <- members[[1L]] %*% table$channel$possible %*% t(members[[2L]]) > 0
  used <- which(independent > 0 & possible, arr.ind = TRUE)
  found <- members[[1L]] %*% table$counts %*% t(members[[2L]]) / n
  deviations <- found - outer(rowSums(found), colSums(found))
  root <- sqrt(independent[used])
  weights <- vapply(seq_len(nrow(used)), function(k) {
    i <- members[[1L]][used[k, 1L], ]
    j <- members[[2L]][used[k, 2L], ]
    w <- outer(i, j) - outer(i, rep(shares[[2L]][used[k, 2L]], length(j))) -
      outer(rep(shares[[1L]][used[k, 1L]], length(i)), j)
    as.vector(w) / (n * root[k])
  }, numeric(length(table$counts)))
  functions <- listed(table$channel, weights)
  whole <- n * outer(single[[1L]], single[[2L]])
  expected <- as.vector(forward(table$channel, spread_extra(table$channel, whole)))
  values <- values_of(functions, whole)
  list(
    d = deviations[used] / root,
    covariance = crossprod(functions$carried, expected * functions$carried) - outer(values, values) / n,
    smaller = min(positive) - 1L
  )
}

# A table with the extra axes of a matrix block, every cell evenly over what is possible along them.
spread_extra <- function(channel, counts) {
  if (!length(channel$extra)) return(counts)
  possible <- channel$possible_whole + 0
  extra <- length(channel$shape) + seq_along(channel$extra)
  wide <- array(counts, c(channel$shape, rep(1L, length(extra))))
  ways <- sum_over(possible, extra)
  times(possible, wide / pmax(ways, 1))
}

# Cramer's V and its error: sum d^2 less what noise adds to it, as Bergsma (2013) does for sampling alone.
strength <- function(pair) {
  noise <- sum(diag(pair$covariance))
  spread <- sqrt(max(4 * sum(pair$d * (pair$covariance %*% pair$d)), 0) + 2 * sum(pair$covariance^2))
  value <- min(sqrt(max(sum(pair$d^2) - noise, 0) / pair$smaller), 1)
  # the error of a root: by its slope, or near zero by the root of the error
  error <- min(if (value > 0) spread / (2 * value * pair$smaller) else Inf, sqrt(spread / pair$smaller))
  list(value = value, error = error)
}
