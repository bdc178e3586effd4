# Each cell of a table as a share of all people, or of the people in its group, cut to 0 and 1. There is no share of a group
# whose estimated size is not positive.

cell_shares <- function(table, given, level) {
  cells <- cell_variances(table)
  limits <- cell_limits(table, level)
  counts <- as.vector(table$counts)
  if (!length(given)) {
    scale <- if (table$total != 0) 1 / table$total else NaN
    found <- within_range(limits$low * scale, limits$high * scale, 0, 1)
    return(data.frame(
      share = pmin(pmax(counts * scale, 0), 1), error = cells$errors * scale, low = found$low, high = found$high,
      bounded = TRUE, beyond = found$beyond
    ))
  }
  kept <- match(intersect(table$names, given), table$names)
  # the value of each cell's group, from one value per group
  shape <- table$channel$shape
  of_group <- function(values) {
    d <- rep(1L, length(shape))
    d[kept] <- shape[kept]
    as.vector(expand(array(values, d), shape))
  }
  sizes <- marginal_table(table, table$names[kept])
  group <- of_group(sizes$counts)
  group_cells <- cell_variances(sizes)
  group_limits <- cell_limits(sizes, level)
  covariance <- as.vector(product_inverse(table$channel, table$released, table$names, given))
  covariance <- if (table$about == "population") {
    sample_factor(table) * (covariance - counts * group / max(table$rows, 1))
  } else {
    covariance - counts
  }
  share <- ifelse(group > 0, counts / group, NaN)
  own <- as_estimated(cells)
  common <- 2 * share * covariance
  groups <- share^2 * of_group(as_estimated(group_cells))
  variance <- own - common + groups
  magnitude <- abs(own) + abs(common) + abs(groups)
  possible <- as.vector(table$channel$possible)
  weak <- which(!(variance > ROUNDING * magnitude) & possible & is.finite(share))
  if (length(weak)) variance[weak] <- written_out(table, kept, weak, share[weak])
  errors <- sqrt(pmax(variance, 0)) / ifelse(group > 0, group, NaN)
  found <- share_limits(
    counts, limits, cells$errors, group, lapply(group_limits, of_group), of_group(group_cells$errors), covariance
  )
  share <- pmin(pmax(share, 0), 1)
  # a group without a share has the limits of all that it could be
  low <- pmin(found$low, share, na.rm = TRUE)
  high <- pmax(found$high, share, na.rm = TRUE)
  beyond <- found$beyond & possible & !is.nan(share)
  cells_of_group <- of_group(marginal_of(table$channel$possible + 0, table$names, table$names[kept]))
  alone <- possible & cells_of_group == 1  # the only cell that its group can have
  low[alone] <- high[alone] <- 1
  beyond[alone] <- FALSE
  low[!possible] <- high[!possible] <- errors[!possible] <- 0
  errors[!(group > 0)] <- NaN  # of nobody there is no share, not even of what is impossible
  data.frame(share = share, error = errors, low = low, high = high, bounded = found$bounded | !possible, beyond = beyond)
}

# The variance of each cell as it is estimated, also where that is not positive.
as_estimated <- function(cells) ifelse(cells$predicted, cells$plug_in, cells$errors^2)

# The variance of cell - share * group for a few cells.
written_out <- function(table, kept, places, shares) {
  codes <- arrayInd(seq_along(table$counts), table$channel$shape)[, kept, drop = FALSE]
  weights <- single_cells(table$channel, places)
  for (i in seq_along(places)) {
    same <- rowSums(sweep(codes, 2L, codes[places[i], ]) != 0) == 0
    weights[same, i] <- weights[same, i] - shares[i]
  }
  variances(table, listed(table$channel, weights))$variance
}
