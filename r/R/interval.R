# Intervals for counts that are honest also where few rows decide them.
#
# Where an estimate is neither skewed nor moves in steps, its interval is the usual one, plus or minus z standard errors;
# with a steadied error where few rows estimate it. Otherwise it is a score interval: the limits are the values c under
# which the estimate would be just too far off, with the normal quantile corrected for skewness (Cornish and Fisher). Where
# the variance is below FEW steps squared, both limits also move out by half a step.

FEW <- 10
SCARCE <- 20
SKEWED <- 1 / sqrt(50)
ROOT_STEPS <- 100L  # at a kink two of them halve the bracket
ROUNDING <- 1e-14

z_of <- function(level) stats::qnorm((1 + level) / 2)

wald <- function(estimate, error, level) list(low = estimate - z_of(level) * error, high = estimate + z_of(level) * error)

honest <- function(estimate, error, shape, total, sampled, level) {
  variance <- ifelse(error > 0, variance_with(shape, total, shape$people, sampled), 0)  # a certain number has none
  known <- variance > 0
  steps <- ifelse(known & shape$step > 0, variance / shape$step^2, Inf)
  skewness <- ifelse(known, third_with(shape, total, shape$people, sampled) / variance^1.5, 0)
  # few released rows estimate their own variance badly, and too small as often as too large
  steadied <- sqrt(pmax(error^2 + variance, 2 * error^2) / 2)
  scarce <- shape$expected < SCARCE
  limits <- wald(estimate, ifelse(scarce, steadied, error), level)
  few <- abs(skewness) >= SKEWED | steps < FEW
  if (any(few)) {
    score <- score_limits(estimate[few], shape[few, ], total, steps[few] < FEW, sampled, level)
    limits$low[few] <- score$low
    limits$high[few] <- score$high
  }
  limits$plain <- !few & !scarce
  limits
}

# The variance of the estimate, with c people counted.
variance_with <- function(shape, total, c, sampled) {
  certain <- if (sampled) pmin(c * c / total, c) else c
  pmax(shape$others_2 * pmax(total - c, 0) + shape$own_2 * c - certain, 0)
}

# The third central moment of the estimate, with c people counted.
third_with <- function(shape, total, c, sampled) {
  cubes <- shape$others_3 * pmax(total - c, 0) + shape$own_3 * c
  if (!sampled) return(cubes - (3 * shape$own_2 - 2) * c)
  share <- pmin(c / total, 1)
  cubes - 3 * share * (shape$others_2 * pmax(total - c, 0) + shape$own_2 * c) + 2 * share * share * c
}

score_limits <- function(estimate, shape, total, coarse, sampled, level) {
  z <- z_of(level)
  half <- ifelse(coarse, abs(shape$step) / 2, 0)
  skew <- (z * z - 1) / 6
  distance <- function(c, sign, rows = seq_along(c)) {
    at <- pmax(c, 0)
    some <- shape[rows, ]
    variance <- variance_with(some, total, at, sampled)
    tilt <- ifelse(variance > 0, third_with(some, total, at, sampled) / variance, 0)
    # the correction for skewness moves a limit towards the estimate, but never past it
    sign * pmax(z * sqrt(variance) + sign * skew * tilt, 0) + sign * half[rows]
  }
  limit <- function(sign) {
    # nobody is below zero: there the distance is that of zero
    found <- estimate - distance(0 * estimate, sign)
    near <- pmax(estimate, 0)
    at_near <- distance(near, sign)
    most <- 0 * near + total
    far <- 0 * near
    if (sign < 0) {
      # beyond everybody the distance grows like z sqrt(own_2 c), at first faster than c
      most <- pmax(most, z * z / 4 * shape$own_2)
      reach <- abs(at_near) + abs(distance(far, sign))
      far <- near + 2 * (reach + z * z * pmax(abs(shape$step), shape$own_2))
    }
    beyond <- at_near != 0 & estimate - most - distance(most, sign) > 0
    found[at_near == 0] <- estimate[at_near == 0]
    rows <- which(at_near != 0 & (beyond | found > 0))
    start <- ifelse(beyond, pmax(near, most), near)
    error <- function(c, among) estimate[rows[among]] - c - distance(c, sign, rows[among])
    found[rows] <- root_of(error, start[rows], far[rows])
    found
  }
  list(low = limit(1), high = limit(-1))
}

# Where f changes its sign between near and far: the false position, Illinois variant. f(c, among) is asked for some of them.
root_of <- function(f, near, far) {
  among <- seq_along(near)
  at_near <- f(near, among)
  at_far <- f(far, among)
  found <- far
  for (step in seq_len(ROOT_STEPS)) {
    if (length(among) == 0) break
    apart <- at_far - at_near
    middle <- ifelse(apart != 0, near - at_near * (far - near) / ifelse(apart != 0, apart, 1), near)
    at_middle <- f(middle, among)
    left <- at_middle != 0 & abs(middle - found[among]) > ROUNDING * abs(middle)
    found[among] <- middle
    beyond <- at_middle * at_far > 0
    # the end that stays has its value halved, or it would stay for ever
    at_near <- ifelse(beyond, at_near / 2, at_middle)[left]
    at_far <- ifelse(beyond, at_middle, at_far / 2)[left]
    near <- ifelse(beyond, near, middle)[left]
    far <- ifelse(beyond, middle, far)[left]
    among <- among[left]
  }
  found
}

# Limits of above / below from the limits of both (MOVER; Donner and Zou 2012), and where they are finite.
ratio_limits <- function(above, above_limits, below, below_limits, correlation) {
  root <- function(up, down, sign) {
    # (above - r below)^2 = up^2 + r^2 down^2 - 2 r correlation up down
    a <- below^2 - down^2
    b <- above * below - correlation * up * down
    inside <- pmax(b * b - a * (above^2 - up^2), 0)
    ifelse(bounded, (b + sign * sqrt(inside)) / a, NaN)
  }
  bounded <- certain(below, below_limits)
  low <- root(above - above_limits$low, below_limits$high - below, -1)
  high <- root(above_limits$high - above, below - below_limits$low, 1)
  list(low = low, high = high, bounded = bounded)
}

# Limits of above / below, two numbers that are not negative: all r for which above - r below may be zero (MOVER). Zero where that
# holds of all small r, and infinite where it holds of all large ones.
positive_ratio <- function(above, above_limits, below, below_limits, correlation) {
  solved <- function(up, down, low) {
    # (above - r below)^2 = up^2 + r^2 down^2 - 2 r correlation up down
    a <- below^2 - down^2
    c <- above^2 - up^2
    b <- above * below - correlation * up * down
    inside <- b + sqrt(max(b * b - a * c, 0))
    if (low) c / inside else inside / a
  }
  finite <- all(is.finite(c(unlist(above_limits[c("low", "high")]), unlist(below_limits[c("low", "high")]))))
  low <- 0
  high <- Inf
  if (finite && above_limits$low > 0 && below_limits$high > 0) {
    low <- solved(above - above_limits$low, below_limits$high - below, TRUE)
  }
  if (finite && below_limits$low > 0) high <- solved(above_limits$high - above, below - below_limits$low, FALSE)
  list(low = max(low, 0), high = max(high, 0))
}

# Where the size of a group is certain enough to divide by: its interval reaches neither zero nor twice the size.
certain <- function(size, limits) size > 0 & size^2 > (limits$high - size)^2 & size^2 > (size - limits$low)^2

# Limits of numbers that lie between least and largest, cut off there; and where nothing of an interval was left.
within_range <- function(low, high, least, largest) {
  list(
    low = pmin(pmax(low, least), largest), high = pmin(pmax(high, least), largest),
    beyond = high < least | low > largest
  )
}

# Limits of a count of people over the size of a group that holds them all, cut to 0 and 1; 0 to 1 where nothing bounds them.
share_limits <- function(above, above_limits, above_errors, below, below_limits, below_errors, covariance) {
  correlation <- covariance / (above_errors * below_errors)
  correlation <- pmin(pmax(replace_infinite(correlation), -1), 1)
  limits <- ratio_limits(above, above_limits, below, below_limits, correlation)
  found <- within_range(ifelse(limits$bounded, limits$low, 0), ifelse(limits$bounded, limits$high, 1), 0, 1)
  c(found, list(bounded = limits$bounded))
}

replace_infinite <- function(x) {
  x[is.nan(x)] <- 0
  x
}

# Limits of functions around their values.
function_limits <- function(table, functions, errors, level) {
  values <- values_of(functions, table$counts)
  factors <- factors_of(functions)
  sums <- is.na(factors)
  limits <- wald(values, steadied(table, functions, errors, sums), level)
  counts <- which(!sums)
  if (!length(counts)) return(limits)
  scale <- factors[counts]
  counting <- functions
  if (functions$kind == "listed") {
    counting <- listed(functions$channel, (functions$weights[, counts, drop = FALSE] != 0) + 0)
  }
  found <- count_limits(table, counting, values[counts] / scale, errors[counts] / abs(scale), level)
  limits$low[counts] <- pmin(found$low * scale, found$high * scale)
  limits$high[counts] <- pmax(found$low * scale, found$high * scale)
  limits
}

# Standard errors of sums for their limits: where few rows estimate them, with the variance of the nearest table if larger.
steadied <- function(table, functions, errors, sums) {
  if (table$total == 0 || !any(sums)) return(errors)
  part <- listed(functions$channel, functions$weights[, sums, drop = FALSE])
  people <- collapse(table$channel, nearest_whole(table))
  known <- if (table$about == "population") values_of(part, people)^2 / table$total else squares_of(part, people)
  variance <- pmax(products_of(part, expected_rows(table)) - known, 0)
  rows <- colSums((part$weights != 0) * as.vector(collapse(table$channel, expected_rows(table))))
  own <- errors[sums]
  errors[sums] <- ifelse(rows < SCARCE, sqrt(pmax(own^2 + variance, 2 * own^2) / 2), own)
  errors
}

# Limits of counts; a count of more than half of the people has those of all others, taken from the total.
count_limits <- function(table, counting, centre, errors, level) {
  limits <- wald(centre, errors, level)
  total <- table$total
  if (total == 0) return(limits)
  sampled <- table$about == "population"
  shape <- shape_of(counting, nearest_whole(table), expected_rows(table))
  few <- shape$people <= total / 2
  if (any(few)) {
    found <- honest(centre[few], errors[few], shape[few, ], total, sampled, level)
    limits$low[few] <- found$low
    limits$high[few] <- found$high
  }
  many <- which(!few)
  if (length(many)) {
    channel <- table$channel
    own <- if (counting$kind == "cells") single_cells(channel, many) else counting$weights[, many, drop = FALSE]
    others <- listed(channel, as.vector(channel$possible) - own)
    shape <- shape_of(others, nearest_whole(table), expected_rows(table))
    found <- honest(total - centre[many], errors[many], shape, total, sampled, level)
    limits$low[many] <- ifelse(found$plain, limits$low[many], total - found$high)
    limits$high[many] <- ifelse(found$plain, limits$high[many], total - found$low)
  }
  limits
}
