# Tests: of a number against a value, and of the independence of two attributes.

test <- function(x, ...) UseMethod("test")

# A value is rejected at 5% if and only if it lies outside the 95% interval. The p-value is 1 less the level whose interval just
# reaches the value. Where the interval is plus or minus z standard errors, this is the z test. Intervals of counts of very few
# people need not lie inside those of a higher level; of several such levels the one next to 95% counts.
test.pk_number <- function(x, null = NULL, ...) {
  if (is.null(null)) null <- if (x$scale == "log") 1 else 0
  if (!is.numeric(null) || length(null) != 1L || !is.finite(null)) refuse("null is a single number.")
  error <- standard_error(x)
  z <- distance_from(x, null, error)
  limits <- number_limits(x, x$level)
  structure(
    list(
      statistic = c(z = z), p.value = 2 * stats::pnorm(-abs(z)), estimate = stats::setNames(cut_value(x), x$what),
      null.value = c(value = null), stderr = error, alternative = "two.sided",
      conf.int = structure(c(limits$low, limits$high), conf.level = x$level),
      method = "Test of a number from a randomised release", data.name = x$what
    ),
    class = "htest"
  )
}

FARTHEST <- 8  # standard errors: levels closer to 1 cannot be told from 1
NEAREST <- 1e-6
STRIDE <- 1.5
TEST_STEPS <- 60L
CLOSE <- 1e-9

# How many standard errors of a normal variable `null` is away; negative if it is larger than the number.
distance_from <- function(x, null, error) {
  if (!is.finite(x$value) || !is.finite(error)) return(NaN)
  apart <- x$value - null
  if (error == 0 && abs(apart) <= CLOSE * max(abs(x$value), abs(null), 1)) return(0)
  by_parts <- is.null(mean_of(x)) && !is.null(limits_of_ratio(x, 0.95))
  if (x$scale == "log" && x$value > 0 && null <= 0) {
    refuse("A ratio is above zero, so ", format(null), " cannot be tested; no difference is a ratio of 1.")
  }
  if ((x$scale == "plain" && !is_wald(x, error)) || (x$scale == "log" && by_parts)) {
    z <- inverted(function(level) number_limits(x, level), cut_value(x), null)
    # beyond all levels: the tail of the usual test, or what is impossible
    if (is.infinite(z) && error > 0) z <- sign(z) * max(abs(apart) / error, FARTHEST)
    return(z)
  }
  if (null >= min(x$value, cut_value(x)) && null <= max(x$value, cut_value(x))) return(0)
  if (x$scale == "log" && x$value > 0) {
    return(if (error > 0) (log(x$value) - log(null)) / (error / x$value) else NaN)
  }
  if (error > 0) apart / error else if (x$scale == "log") NaN else sign(apart) * Inf
}

# Whether intervals are plus or minus z standard errors at every level.
is_wald <- function(x, error) {
  if (!x$linear && is.null(x$below)) return(TRUE)
  all(vapply(c(0.5, 0.95), function(level) {
    ends <- unlist(number_limits(x, level)[c("low", "high")])
    all(abs(ends - unlist(wald(x$value, error, level))) <= 1e-12 * (abs(ends) + error))
  }, NA))
}

# The z whose interval just reaches `null`; `limits` gives the interval at a level, which holds `value`.
inverted <- function(limits, value, null) {
  if (null == value) return(0)
  sign <- if (null < value) 1 else -1
  beyond <- function(z) {  # how far the limit is from reaching null; negative once it does
    found <- limits(2 * stats::pnorm(z) - 1)
    if (sign > 0) found$low - null else null - found$high
  }
  ends <- bracket(beyond)
  if (is.null(ends$outside)) return(0)
  if (is.null(ends$inside)) return(sign * Inf)
  near <- ends$outside[1L]
  at_near <- ends$outside[2L]
  far <- ends$inside[1L]
  at_far <- ends$inside[2L]
  moved <- 0
  # the false position, Illinois variant; by halves in between, for limits that jump
  for (step in seq_len(TEST_STEPS - 1L)) {
    middle <- if (step %% 4L) near + at_near * (far - near) / (at_near - at_far) else (near + far) / 2
    at_middle <- beyond(middle)
    if (at_middle > 0) {
      near <- middle
      at_near <- at_middle
      if (moved == 1) at_far <- at_far / 2
      moved <- 1
    } else {
      far <- middle
      at_far <- at_middle
      if (moved == -1) at_near <- at_near / 2
      moved <- -1
    }
    if (far - near < CLOSE * far || abs(at_middle) < CLOSE * abs(null - value)) return(sign * middle)
  }
  sign * far
}

# The last z whose interval does not reach, and the next that does, from that of 95% on; NULL: there is none.
bracket <- function(beyond) {
  z <- z_of(0.95)
  point <- c(z, beyond(z))
  if (point[2L] > 0) {
    while (z < FARTHEST) {
      z <- min(z * STRIDE, FARTHEST)
      last <- point
      point <- c(z, beyond(z))
      if (!point[2L] > 0) return(list(outside = last, inside = point))
    }
    return(list(outside = point, inside = NULL))
  }
  while (z > NEAREST) {
    z <- max(z / STRIDE, NEAREST)
    last <- point
    point <- c(z, beyond(z))
    if (point[2L] > 0) return(list(outside = point, inside = last))
  }
  list(outside = NULL, inside = point)
}

LARGEST_PAIR <- 4096L
RANK <- 1e-9  # directions whose variance is below this share of the largest one cannot vary

test.pk_crosstab <- function(x, ...) {
  pair <- pair_of(x)
  relation <- relation_of(pair)
  v <- strength(pair, relation)
  structure(
    list(
      statistic = c("X-squared" = relation$statistic), parameter = c(df = relation$freedom), p.value = relation$p_value,
      estimate = c("Cramer's V" = v$value), stderr = v$error,
      conf.int = structure(strength_limits(v, relation, x$level), conf.level = x$level),
      method = "Pearson's chi-squared test of independence, corrected for the randomisation",
      data.name = paste(names(x$groups), collapse = " and ")
    ),
    class = "htest"
  )
}

# Deviations along the directions in which they can vary, the variance of each, and the test of independence.
relation_of <- function(pair) {
  decomposed <- eigen(pair$covariance, symmetric = TRUE)
  large <- decomposed$values > RANK * decomposed$values[1L]
  along <- as.vector(crossprod(decomposed$vectors[, large, drop = FALSE], pair$d))
  along_variances <- decomposed$values[large]
  statistic <- sum(along^2 / along_variances)
  list(
    deviations = along, variances = along_variances, freedom = sum(large), statistic = statistic,
    p_value = stats::pchisq(statistic, sum(large), lower.tail = FALSE)
  )
}

# The smallest length of deviations whose squared distance from those seen, each by its variance, is at most this.
least_deviation <- function(relation, distance) {
  if (!relation$statistic > distance) return(0)
  a <- relation$deviations
  c <- relation$variances
  low <- log(min(c) * 1e-12)
  high <- log(max(c) * max(relation$statistic / distance, 1) + 1e-300)
  for (step in seq_len(80L)) {  # a c / (c + v) is how far each one moves; the distance falls with v
    middle <- (low + high) / 2
    if (sum(a^2 * c / (c + exp(middle))^2) > distance) low <- middle else high <- middle
  }
  v <- exp(high)
  sqrt(sum((a * v / (c + v))^2))
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
  members <- lapply(seq_along(table$names), function(axis) {
    codes <- tab$groups[[axis]]
    member <- matrix(0, length(codes), table$channel$shape[axis])
    for (i in seq_along(codes)) member[i, codes[[i]]] <- 1
    member
  })
  shares <- lapply(seq_along(table$names), function(axis) {
    one <- marginal_table(table, table$names[axis])
    counts <- members[[axis]] %*% as.vector(one$counts)
    as.vector(nearest(counts, n, members[[axis]] %*% as.vector(one$channel$possible) > 0)) / n
  })
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
  whole <- shared_out(table, members, n * independent)
  expected <- as.vector(forward(table$channel, spread_extra(table$channel, whole)))
  values <- values_of(functions, whole)
  list(
    d = deviations[used] / root,
    covariance = crossprod(functions$carried, expected * functions$carried) - outer(values, values) / n,
    smaller = min(positive) - 1L,
    own = own_variance(table, members, found, independent)
  )
}

# The variance of the sum of d^2 in the table as it is: where the relation is strong, that under independence says too little.
own_variance <- function(table, members, shares, independent) {
  apart <- shares - outer(rowSums(shares), colSums(shares))
  apart <- ifelse(independent > 0, apart / independent, 0)
  inner <- 2 * apart + apart^2  # by how much the sum falls as independent shares grow
  slopes <- 2 * apart - outer(as.vector(inner %*% colSums(independent)), as.vector(rowSums(independent) %*% inner), `+`)
  slopes <- (slopes - sum(slopes * shares)) / table$total
  weights <- t(members[[1L]]) %*% slopes %*% members[[2L]]
  table$about <- "population"
  variances(table, listed(table$channel, weights))$variance
}

# People in merged cells, shared out among the values of a group as these are estimated in the nearest table without negative cells.
shared_out <- function(table, members, people) {
  near <- collapse(table$channel, nearest_whole(table))
  inside <- t(members[[1L]]) %*% people %*% members[[2L]]
  parts <- lapply(1:2, function(axis) {
    alone <- as.vector(apply(near, axis, sum))
    sizes <- as.vector(members[[axis]] %*% alone)
    numbers <- rowSums(members[[axis]])
    own <- apply(members[[axis]] > 0, 2L, which)  # the group of each value
    ifelse(sizes[own] > 0, alone / sizes[own], 1 / numbers[own])
  })
  array(inside * outer(parts[[1L]], parts[[2L]]), dim(near))
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

# Cramer's V and its error: sum d^2 less what noise adds to it, as Bergsma (2013) does for sampling alone; at least that of the
# smallest deviations as far from those seen as noise moves them on average.
#
# sum d^2 less its noise has the mean s, the variance 2 tr C^2 + 4 slope s and the third central moment 8 tr C^3 + 24 slope^2 s,
# s the truth. The slope is what the variance of the table as it is leaves, less the noise of d in it; near independence, where
# nothing can tell it, that of C.
strength <- function(pair, relation) {
  noise <- sum(diag(pair$covariance))
  squares <- sum(pair$covariance^2)
  found <- sum(pair$d^2) - noise
  apart <- 4 * sqrt(2 * squares)
  slope <- max(pair$own - 4 * squares, 0) + apart * (if (noise > 0) squares / noise else 0)
  v <- list(
    found = found, squares = squares, cubes = sum((pair$covariance %*% pair$covariance) * pair$covariance),
    slope = if (apart > 0) slope / (4 * max(found, 0) + apart) else 0, scale = 1 / sqrt(pair$smaller)
  )
  least <- v$scale * least_deviation(relation, relation$freedom)
  v$value <- min(max(sqrt(max(found, 0)) * v$scale, least), 1)
  spread <- strength_spread(v, max(found, 0))
  # the error of a root: by its slope, or near zero by the root of the error
  v$error <- min(if (v$value > 0) spread / (2 * v$value * pair$smaller) else Inf, sqrt(spread / pair$smaller))
  v
}

STRAIGHT <- 1e-4  # a distribution of a lower skewness is taken for a normal one

strength_spread <- function(v, truth) sqrt(2 * v$squares + 4 * v$slope * truth)

# What the error exceeds with 1 less this chance, if this is the truth: a gamma distribution has the same three moments.
strength_reach <- function(v, truth, chance) {
  spread <- strength_spread(v, truth)
  skewness <- if (spread > 0) (8 * v$cubes + 24 * v$slope^2 * truth) / spread^3 else 0
  if (skewness < STRAIGHT) return(spread * stats::qnorm(chance))
  shape <- 4 / skewness^2
  spread * (stats::qgamma(chance, shape) - shape) / sqrt(shape)
}

# Where a falling function of the truth is zero; zero if it is not above zero anywhere.
strength_root <- function(v, falling) {
  if (!falling(0) > 0) return(0)
  low <- 0
  high <- max(v$found, strength_spread(v, 0))
  while (falling(high) > 0) {
    low <- high
    high <- 2 * high
  }
  for (step in seq_len(60L)) {
    middle <- (low + high) / 2
    if (falling(middle) > 0) low <- middle else high <- middle
  }
  high
}

# Limits of Cramer's V: the truths under which what was found would be just too large, or too small. The lower one is above zero if
# and only if the test rejects independence at that level; it is then at least the smallest V that the test does not reject.
strength_limits <- function(v, relation, level) {
  tail <- (1 - level) / 2
  limit <- function(found, chance) {
    v$scale * sqrt(strength_root(v, function(truth) found - truth - strength_reach(v, truth, chance)))
  }
  high <- min(max(limit(max(v$found, 0), tail), v$value), 1)
  low <- 0
  if (relation$p_value < 1 - level) {
    least <- least_deviation(relation, stats::qchisq(1 - level, relation$freedom, lower.tail = FALSE))
    low <- min(max(limit(v$found, 1 - tail), v$scale * least), v$value)
  }
  c(low, high)
}
