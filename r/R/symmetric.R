# Blocks that treat all values alike: retention (one unit) and agreement (several).
#
# Along the axes that a unit has in a table, let w be the share of its combinations on each cell, and Q = 1 w'. The matrix
# of the block is the sum over sets T of units of lam_T times (I - Q on the units in T, Q on the others). A function of the
# matrix, such as its inverse, is the same with other numbers in the place of lam_T.

# The units of a block as far as a table shows them; `axes` maps attributes to axes, of `count` in all.
part_of <- function(block, axes, count, shown = names(axes)) {
  units <- list()
  for (bit in seq_along(block$units) - 1L) {
    unit <- block$units[[bit + 1L]]
    inside <- intersect(unit$attributes, shown)
    if (!length(inside)) next
    inside <- inside[order(axes[inside])]
    shares <- unit_shares(unit, inside)
    units[[length(units) + 1L]] <- list(
      bit = bit, names = inside, axes = unname(axes[inside]), forbids = !is.null(unit$allowed),
      shares = if (is.null(unit$allowed)) array(shares[1L], rep(1L, count)) else spread(shares, axes[inside], count)
    )
  }
  units
}

# Every set of the units shown, as a mask over all units of the block.
masks_of <- function(part) {
  masks <- 0L
  for (unit in part) masks <- c(masks, masks + bitwShiftL(1L, unit$bit))
  masks
}

# The transpose of the matrix on counts: totals are spread by the shares.
on_counts <- function(x, part, numbers, mask = 0L) {
  if (!length(part)) return(x * numbers[mask + 1L])
  unit <- part[[1L]]
  total <- sum_over(x, unit$axes)
  residual <- minus(x, times(unit$shares, total))
  plus(
    on_counts(residual, part[-1L], numbers, mask + bitwShiftL(1L, unit$bit)),
    times(unit$shares, on_counts(total, part[-1L], numbers, mask))
  )
}

# The matrix on weights: means by the shares are spread evenly.
on_weights <- function(x, part, numbers, mask = 0L) {
  if (!length(part)) return(x * numbers[mask + 1L])
  unit <- part[[1L]]
  mean <- sum_over(times(unit$shares, x), unit$axes)
  plus(
    on_weights(minus(x, mean), part[-1L], numbers, mask + bitwShiftL(1L, unit$bit)),
    on_weights(mean, part[-1L], numbers, mask)
  )
}

# c_S: the same matrix as a sum over sets S of c_S times (I on S, Q elsewhere).
coefficients_of <- function(part, numbers) {
  values <- numbers[masks_of(part) + 1L]
  subsets <- seq_along(values) - 1L
  for (place in seq_along(part) - 1L) {
    out <- which(bitwAnd(subsets, bitwShiftL(1L, place)) == 0L)
    values[out] <- values[out] - values[out + bitwShiftL(1L, place)]
  }
  values
}

# The entry [v, j] for every set of units on which v and j agree: an array over j.
entries_of <- function(part, numbers, count) {
  coefficients <- coefficients_of(part, numbers)
  values <- lapply(seq_along(coefficients) - 1L, function(subset) {
    value <- array(coefficients[subset + 1L], rep(1L, count))
    for (place in seq_along(part)) {
      if (bitwAnd(subset, bitwShiftL(1L, place - 1L)) == 0L) value <- times(value, part[[place]]$shares)
    }
    value
  })
  for (place in seq_along(part) - 1L) {
    for (subset in seq_along(values) - 1L) {
      if (bitwAnd(subset, bitwShiftL(1L, place)) != 0L) {
        values[[subset + 1L]] <- plus(values[[subset + 1L]], values[[subset - bitwShiftL(1L, place) + 1L]])
      }
    }
  }
  values
}

# The probability that a person of cell j is released agreeing with j on exactly each set of units.
chances_of <- function(part, numbers, count) {
  values <- lapply(coefficients_of(part, numbers), function(value) array(value, rep(1L, count)))
  for (place in seq_along(part)) {
    for (subset in seq_along(values) - 1L) {
      if (bitwAnd(subset, bitwShiftL(1L, place - 1L)) == 0L) {
        other <- subset + bitwShiftL(1L, place - 1L) + 1L
        gone <- values[[subset + 1L]]
        kept <- values[[other]]
        agree <- plus(times(part[[place]]$shares, gone), kept)
        values[[subset + 1L]] <- minus(plus(gone, kept), agree)
        values[[other]] <- agree
      }
    }
  }
  values
}

# sum_v counts_v prod_i M_i[v, j], M_i the matrix on the marginal of kept[[i]].
#
# Per unit the attributes on which v and j can be asked to agree form a chain: none, those of the smallest factor, and so
# on. The product is a number for each choice of a link per unit; differences along the chains turn the sum over v into
# sums of marginals.
symmetric_products <- function(counts, block, numbers, axes, kept) {
  count <- length(dim(counts))
  part <- part_of(block, axes, count)
  shown <- unlist(lapply(part, `[[`, "names"))
  factors <- lapply(kept, function(names) part_of(block, axes, count, intersect(shown, names)))
  chains <- lapply(part, function(unit) {
    found <- list(character())
    for (factor in factors) {
      for (other in factor) if (other$bit == unit$bit) found <- c(found, list(sort(other$names)))
    }
    found <- unique(found)
    found[order(lengths(found))]
  })
  entries <- lapply(factors, entries_of, numbers, count)
  levels <- as.matrix(expand.grid(lapply(rev(chains), seq_along)))
  levels <- levels[, rev(seq_len(ncol(levels))), drop = FALSE]
  bits <- vapply(part, `[[`, 0L, "bit")
  values <- lapply(seq_len(nrow(levels)), function(row) {
    agreed <- lapply(seq_along(chains), function(i) chains[[i]][[levels[row, i]]])
    value <- array(1, rep(1L, count))
    for (f in seq_along(factors)) {
      subset <- 0L
      for (i in seq_along(factors[[f]])) {
        unit <- factors[[f]][[i]]
        if (all(unit$names %in% agreed[[match(unit$bit, bits)]])) subset <- subset + bitwShiftL(1L, i - 1L)
      }
      value <- times(value, entries[[f]][[subset + 1L]])
    }
    value
  })
  key <- function(level) paste(level, collapse = " ")
  keys <- apply(levels, 1L, key)
  for (place in seq_along(chains)) {
    for (row in rev(seq_len(nrow(levels)))) {
      if (levels[row, place] > 1L) {
        below <- levels[row, ]
        below[place] <- below[place] - 1L
        values[[row]] <- minus(values[[row]], values[[match(key(below), keys)]])
      }
    }
  }
  own <- unlist(lapply(part, `[[`, "axes"))
  result <- array(0, rep(1L, count))
  for (row in seq_len(nrow(levels))) {
    names <- unlist(lapply(seq_along(chains), function(i) chains[[i]][[levels[row, i]]]))
    result <- plus(result, times(values[[row]], sum_over(counts, setdiff(own, axes[names]))))
  }
  expand(result, dim(counts))
}
