# Blocks of the kind `matrix`: any transition matrix on one unit. Values of the unit are numbered row-major, forbidden
# combinations left out; a table has all attributes of the unit or none.

# Rows: values of the unit. Columns: everything else.
flat_of <- function(x, block, axes) {
  own <- unname(axes[block$attributes])
  rest <- setdiff(seq_along(dim(x)), own)
  flat <- matrix(aperm(x, c(rev(own), rest)), prod(dim(x)[own]))
  allowed <- block$units[[1L]]$allowed
  if (is.null(allowed)) flat else flat[by_row(allowed), , drop = FALSE]
}

# The inverse of `flat_of`; zero at forbidden combinations.
unflat <- function(flat, block, axes, d) {
  own <- unname(axes[block$attributes])
  rest <- setdiff(seq_along(d), own)
  allowed <- block$units[[1L]]$allowed
  if (!is.null(allowed)) {
    whole <- matrix(0, length(allowed), ncol(flat))
    whole[by_row(allowed), ] <- flat
    flat <- whole
  }
  aperm(array(flat, d[c(rev(own), rest)]), order(c(rev(own), rest)))
}

matrix_along <- function(x, block, axes, matrix) unflat(matrix %*% flat_of(x, block, axes), block, axes, dim(x))

# The codes of each attribute (columns) in every value of the unit (rows), from 1.
codes_of_unit <- function(unit) {
  grid <- as.matrix(expand.grid(lapply(rev(unit$sizes), seq_len)))[, rev(seq_along(unit$sizes)), drop = FALSE]
  colnames(grid) <- unit$attributes
  if (is.null(unit$allowed)) grid else grid[by_row(unit$allowed), , drop = FALSE]
}

# Which cell of a marginal each value of the unit falls into: cells that occur, numbered row-major.
cells_of_unit <- function(unit, names) {
  if (all(unit$attributes %in% names)) return(seq_len(unit$size))
  codes <- codes_of_unit(unit)
  cell <- rep(0, unit$size)
  for (name in intersect(unit$attributes, names)) cell <- cell * unit$sizes[[name]] + codes[, name] - 1
  match(cell, sort(unique(cell)))
}

# The entrywise product of the inverses on marginals, each spread over all values of the unit.
matrix_product <- function(block, kept) {
  unit <- block$units[[1L]]
  product <- matrix(1, unit$size, unit$size)
  for (names in kept) {
    cells <- cells_of_unit(unit, names)
    on <- t(rowsum(t(block$B), cells))
    product <- product * on[, cells, drop = FALSE]
  }
  product
}

matrix_products <- function(counts, block, axes, kept) {
  unit <- block$units[[1L]]
  union <- intersect(unit$attributes, unlist(kept))
  first <- which(!duplicated(cells_of_unit(unit, union)))
  sums <- t(matrix_product(block, kept)[, first, drop = FALSE]) %*% flat_of(counts, block, axes)
  sizes <- ifelse(unit$attributes %in% union, unit$sizes, 1L)
  codes <- codes_of_unit(unit)[first, , drop = FALSE]
  codes[, !unit$attributes %in% union] <- 1L
  own <- unname(axes[unit$attributes])
  rest <- setdiff(seq_along(dim(counts)), own)
  spread <- matrix(0, prod(sizes), ncol(sums))
  place <- 1 + rowSums(sweep(codes - 1, 2L, cumprod(c(1, sizes))[seq_along(sizes)], `*`))
  spread[place, ] <- sums
  small <- array(spread, c(sizes, dim(counts)[rest]))
  expand(aperm(small, order(c(own, rest))), dim(counts))
}

# The largest of `values` (one per value of the unit) on each cell of a table of `names`; 0 where none can be.
on_cells <- function(block, names, values) {
  unit <- block$units[[1L]]
  codes <- codes_of_unit(unit)[, names, drop = FALSE]
  place <- 1 + rowSums(sweep(codes - 1, 2L, cumprod(c(1, unit$sizes[names]))[seq_along(names)], `*`))
  largest <- tapply(values, place, max)
  result <- array(0, unit$sizes[names])
  result[as.numeric(names(largest))] <- largest
  result
}
