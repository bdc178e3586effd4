# A number estimated from a table, with its standard error and its interval.
#
# Counts, sums and differences are linear functions of the table. Products and ratios are linear to first order (the delta
# method): a number carries its slope in each cell. So numbers from one table can be combined with their correlated errors.
# A number also records whether it is linear, or a quotient or a product, and of which numbers: counts, shares and ratios have
# better intervals than their slopes alone would give. And it records by which numbers it was divided: a number over the size
# of a small group, or over another uncertain number, cannot be trusted.

new_number <- function(table, value, slopes, linear = FALSE, above = NULL, below = NULL, offset = 0, scale = "plain",
                       what = "number", level = 0.95, factors = list(), divisors = list()) {
  structure(
    list(
      table = table, value = value, slopes = slopes, linear = linear, above = above, below = below, offset = offset,
      scale = scale, what = what, level = level, factors = factors, divisors = divisors
    ),
    class = "pk_number"
  )
}

linear_number <- function(table, weights, what = "number", level = 0.95) {
  new_number(table, sum(weights * table$counts), as.vector(weights), linear = TRUE, what = what, level = level)
}

constant <- function(table, value) new_number(table, value, rep(0, length(table$counts)), linear = TRUE, offset = value)

is_constant <- function(x) x$linear && all(x$slopes == 0)

scaled <- function(x, factor) {
  factors <- x$factors
  if (length(factors)) factors[[1L]] <- scaled(factors[[1L]], factor)
  new_number(
    x$table, factor * x$value, factor * x$slopes, x$linear,
    if (!is.null(x$above)) scaled(x$above, factor), x$below, factor * x$offset, factors = factors, divisors = x$divisors
  )
}

add <- function(x, y) {
  value <- x$value + y$value
  slopes <- x$slopes + y$slopes
  if (x$linear && y$linear) return(new_number(x$table, value, slopes, TRUE, offset = x$offset + y$offset))
  for (pair in list(list(x, y), list(y, x))) {
    term <- pair[[1L]]
    if (is_constant(pair[[2L]]) && !is.null(term$below)) {
      return(new_number(
        x$table, value, slopes, above = term$above, below = term$below, offset = term$offset + pair[[2L]]$offset,
        divisors = term$divisors
      ))
    }
  }
  new_number(x$table, value, slopes, divisors = c(x$divisors, y$divisors))
}

multiply <- function(x, y) {
  if (is_constant(y)) return(scaled(x, y$offset))
  if (is_constant(x)) return(scaled(y, x$offset))
  slopes <- x$value * y$slopes + y$value * x$slopes
  new_number(x$table, x$value * y$value, slopes, factors = list(x, y), divisors = c(x$divisors, y$divisors))
}

divide <- function(x, y) {
  if (is_constant(y)) return(scaled(x, if (y$offset != 0) 1 / y$offset else NaN))
  # there is nothing to divide by where what is never negative, such as people or a share, is not positive
  usable <- if (is_positive(y)) y$value > 0 else y$value != 0
  divisor <- if (!is.nan(y$value) && usable) y$value else NaN
  value <- x$value / divisor
  slopes <- (x$slopes - value * y$slopes) / divisor
  divisors <- c(x$divisors, y$divisors, list(y))
  new_number(x$table, value, slopes, above = x, below = y, divisors = divisors)
}

# Whether a number adds up what is never negative, such as people, or is a quotient or a product of such sums.
is_positive <- function(x) {
  if (x$linear) return(x$offset == 0 && all(x$slopes >= 0))
  parts <- if (is.null(x$above)) x$factors else list(x$above, x$below)
  x$offset == 0 && length(parts) > 0L && all(vapply(parts, is_positive, TRUE))
}

is_sum <- function(x) x$linear && x$offset == 0

# Whether a number is a quotient of two sums over people, and a constant.
of_sums <- function(x) !is.null(x$above) && is_sum(x$above) && is_sum(x$below)

# Whether a number is a ratio of two numbers that cannot be negative.
is_ratio <- function(x) !is.null(x$above) && x$offset == 0 && is_positive(x)

# What a quotient is if it is a mean over people: the least and the largest value that it can have, and the factor of which it
# is a share; NULL if it is no mean.
mean_of <- function(x) {
  if (!of_sums(x)) return(NULL)
  possible <- as.vector(x$table$channel$possible)
  part <- ifelse(possible, x$above$slopes, 0)
  inside <- possible & x$below$slopes == 1
  is_mean <- all(inside | !possible | x$below$slopes == 0) && any(inside) && all(inside | part == 0)
  if (!is_mean) return(NULL)
  factor <- part[part != 0][1L]
  if (is.na(factor)) factor <- 1
  list(least = min(part[inside]), largest = max(part[inside]), factor = if (all(part == 0 | part == factor)) factor)
}

# The value of a number; that of a mean, a share or a ratio is cut to what it can be.
cut_value <- function(x) {
  found <- mean_of(x)
  if (is.null(found)) return(if (is_ratio(x)) pmax(x$value, 0) else x$value)
  pmin(pmax(x$value, found$least + x$offset), found$largest + x$offset)
}

Ops.pk_number <- function(e1, e2) {
  if (!.Generic %in% c("+", "-", "*", "/")) {
    refuse("Estimated numbers can be added, subtracted, multiplied and divided; '", .Generic, "' is not defined for them.")
  }
  unary <- missing(e2)
  first <- if (inherits(e1, "pk_number")) e1 else e2
  level <- first$level
  as_number <- function(x) {
    if (inherits(x, "pk_number")) {
      if (!identical(x$table, first$table)) {
        refuse("Only numbers from one and the same table can be combined; take both from a larger table.")
      }
      return(x)
    }
    if (!is.numeric(x) || length(x) != 1L) refuse("An estimated number can be combined with another one or with a single number.")
    constant(first$table, x)
  }
  if (unary) {
    result <- if (.Generic == "-") scaled(e1, -1) else e1
  } else {
    x <- as_number(e1)
    y <- as_number(e2)
    result <- switch(.Generic,
      `+` = add(x, y), `-` = add(x, scaled(y, -1)), `*` = multiply(x, y), `/` = divide(x, y)
    )
  }
  result$level <- level
  result
}

# A linear number on the smallest table that determines it: a function that does not vary along some attributes is taken
# from the table without them, and one that picks a single cell has the error and the interval of that cell.
reduce_function <- function(table, weights) {
  if (sum(weights != 0) != 1L) {
    shape <- table$channel$shape
    weights <- array(weights, shape)
    weights[!table$channel$possible] <- NA  # cells that cannot occur may have any weight
    axes <- integer()
    for (axis in seq_along(shape)) {
      lowest <- extreme(weights, axis, pmin)
      highest <- extreme(weights, axis, pmax)
      if (!any(lowest < highest, na.rm = TRUE) && (length(axes) > 0L || axis < length(shape))) {
        weights <- highest
      } else {
        axes <- c(axes, axis)
      }
    }
    if (length(axes) < length(shape)) table <- marginal_table(table, table$names[axes])
    weights <- as.vector(weights)
    weights[is.na(weights)] <- 0
  }
  places <- which(weights != 0)
  if (length(places) == 1L) return(list(table = table, cell = places, factor = weights[places]))
  list(table = table, functions = listed(table$channel, weights))
}

# The smallest or largest entry along an axis, NA left out.
extreme <- function(x, axis, f) {
  d <- dim(x)
  order <- c(axis, setdiff(seq_along(d), axis))
  flat <- matrix(aperm(x, order), d[axis])
  found <- do.call(f, c(lapply(seq_len(nrow(flat)), function(i) flat[i, ]), list(na.rm = TRUE)))
  d[axis] <- 1L
  aperm(array(found, d[order]), order(order))
}

reduced_error <- function(reduced) {
  if (!is.null(reduced$cell)) {
    cells <- cell_variances(reduced$table)
    return(list(error = cells$errors[reduced$cell] * abs(reduced$factor), predicted = cells$predicted[reduced$cell]))
  }
  found <- variances(reduced$table, reduced$functions)
  list(error = sqrt(found$variance), predicted = found$predicted)
}

reduced_limits <- function(reduced, level) {
  if (!is.null(reduced$cell)) {
    limits <- cell_limits(reduced$table, level)
    ends <- c(limits$low[reduced$cell], limits$high[reduced$cell]) * reduced$factor
    return(list(low = min(ends), high = max(ends)))
  }
  function_limits(reduced$table, reduced$functions, reduced_error(reduced)$error, level)
}

standard_error <- function(x) {
  if (!is.finite(x$value)) return(NaN)
  if (x$linear) return(reduced_error(reduce_function(x$table, x$slopes))$error)
  sqrt(variances(x$table, listed(x$table$channel, x$slopes))$variance)
}

# Limits of a number, widened where needed to hold it; whether anything bounds them, and whether nothing of them was possible.
number_limits <- function(x, level) {
  mean <- mean_of(x)
  value <- cut_value(x)
  bounded <- TRUE
  beyond <- FALSE
  ratio <- if (is.null(mean)) limits_of_ratio(x, level)
  if (!is.null(ratio)) {
    limits <- ratio
  } else if (x$scale == "log") {
    if (!is.finite(x$value)) return(list(low = NaN, high = NaN, bounded = FALSE, beyond = FALSE))
    error <- standard_error(x)
    if (x$value > 0) {
      reach <- z_of(level) * error / x$value
      limits <- list(low = exp(log(x$value) - reach), high = exp(min(log(x$value) + reach, 700)))
    } else {
      limits <- wald(x$value, error, level)
    }
    if (!is.null(mean)) limits <- within_range(limits$low, limits$high, mean$least + x$offset, mean$largest + x$offset)
  } else if (!is.null(mean)) {
    limits <- limits_of_mean(x, mean, level)
    bounded <- limits$bounded
    beyond <- limits$beyond && !is.nan(x$value)
  } else if (!is.finite(x$value)) {
    return(list(low = NaN, high = NaN, bounded = FALSE, beyond = FALSE))
  } else if (x$linear) {
    limits <- reduced_limits(reduce_function(x$table, x$slopes), level)
    limits <- list(low = limits$low + x$offset, high = limits$high + x$offset)
  } else {
    limits <- wald(x$value, standard_error(x), level)
  }
  list(
    low = min(limits$low, value, na.rm = TRUE), high = max(limits$high, value, na.rm = TRUE), bounded = bounded,
    beyond = beyond
  )
}

# Limits of a ratio of two numbers that are not negative, from those of both; NULL if it is none. A ratio of products, such as an
# odds ratio, has them only where what it is divided by is not certain.
limits_of_ratio <- function(x, level) {
  if (!is_ratio(x)) return(NULL)
  parts <- list(x$above, x$below)
  simple <- all(vapply(parts, function(part) is_sum(part) || of_sums(part), TRUE))
  if (!simple && !is_small(x$below, level)) return(NULL)
  ends <- lapply(parts, function(part) {
    if (!is.finite(part$value)) return(list(low = NaN, high = NaN))
    limits <- number_limits(part, level)
    list(low = min(limits$low, part$value), high = max(limits$high, part$value))
  })
  errors <- vapply(parts, standard_error, 0)
  unit <- ifelse(errors > 0, errors, 1)
  correlation <- 0
  if (all(is.finite(errors))) {
    first <- scaled(parts[[1L]], 1 / unit[1L])
    second <- scaled(parts[[2L]], 1 / unit[2L])
    covariance <- (standard_error(add(first, second))^2 - standard_error(add(first, scaled(second, -1)))^2) / 4 * prod(unit)
    correlation <- replace_infinite(covariance / prod(errors))
    correlation <- min(max(correlation, -1), 1)
  }
  positive_ratio(cut_value(parts[[1L]]), ends[[1L]], cut_value(parts[[2L]]), ends[[2L]], correlation)
}

# Limits of a number that is a mean over a group, or a share of it: all that is possible where the group is small.
limits_of_mean <- function(x, mean, level) {
  above <- reduce_function(x$table, x$above$slopes)
  below <- reduce_function(x$table, x$below$slopes)
  channel <- x$table$channel
  covariance <- covariance_of(x$table, listed(channel, x$above$slopes), listed(channel, x$below$slopes))
  size <- x$below$value
  size_limits <- reduced_limits(below, level)
  size_error <- reduced_error(below)$error
  if (!is.null(mean$factor)) {
    factor <- mean$factor
    ends <- reduced_limits(above, level)
    limits <- share_limits(
      x$above$value / factor,
      list(low = min(ends$low / factor, ends$high / factor), high = max(ends$low / factor, ends$high / factor)),
      reduced_error(above)$error / abs(factor),
      size, size_limits, size_error, covariance / factor
    )
    ends <- pmin(pmax(c(limits$low, limits$high) * factor, mean$least), mean$largest)
    limits$low <- min(ends)
    limits$high <- max(ends)
  } else {
    # any mean m: m plus (above - m below) / below, whose numerator is 0, give or take z errors
    centre <- if (is.nan(x$value)) 0 else x$value - x$offset
    error <- if (is.nan(x$value)) 0 else abs(size) * standard_error(x)
    correlation <- replace_infinite((covariance - centre * size_error^2) / (error * size_error))
    reach <- z_of(level) * error
    found <- ratio_limits(0, list(low = -reach, high = reach), size, size_limits, pmin(pmax(correlation, -1), 1))
    limits <- within_range(
      if (found$bounded) found$low + centre else mean$least, if (found$bounded) found$high + centre else mean$largest,
      mean$least, mean$largest
    )
    limits$bounded <- found$bounded
  }
  list(
    low = limits$low + x$offset, high = limits$high + x$offset, bounded = limits$bounded,
    beyond = limits$beyond && mean$least < mean$largest
  )
}

# What must be said beside a number, at the level of its interval; "" if there is nothing.
flag_of <- function(x, level = x$level) {
  mean <- mean_of(x)
  part <- if (x$linear) x else if (!is.null(mean) && !is.null(mean$factor) && mean$factor > 0) x$above
  flags <- character()
  if (!is.null(part) && x$offset == 0) {
    weights <- part$slopes[part$slopes != 0]
    if (length(weights) && all(weights == weights[1L]) && weights[1L] > 0) {
      if (!any(part$slopes != 0 & as.vector(x$table$channel$possible))) return("impossible")
      reduced <- reduce_function(x$table, part$slopes)
      if (min(reduced_limits(reduced, level)$low, part$value) <= 0) flags <- c(flags, "near zero")
      if (reduced_error(reduced)$predicted) flags <- c(flags, "predicted error")
    }
  }
  ratio <- if (is.null(mean)) limits_of_ratio(x, level)
  if (!is.null(ratio)) {
    if (ratio$low <= 0) flags <- union(flags, "near zero")
  } else if (x$scale == "log" && is.finite(x$value) && x$value <= z_of(level) * standard_error(x)) {
    # a ratio that may be zero has no place on its scale
    flags <- union(flags, "near zero")
  }
  small <- vapply(x$divisors, function(size) !is_constant(size) && is_small(size, level), TRUE)
  # a mean that may be anything, although the group is large enough: nothing is known of it either
  anything <- FALSE
  if (!is.null(mean) && is.null(mean$factor) && x$scale == "plain" && mean$least < mean$largest) {
    limits <- number_limits(x, level)
    anything <- limits$low <= mean$least + x$offset && limits$high >= mean$largest + x$offset
  }
  if (any(small) || anything) flags <- c(flags, "small group")
  if (!is.null(mean) && x$scale == "plain" && number_limits(x, level)$beyond) flags <- c(flags, "out of range")
  paste(flags, collapse = ", ")
}

# Whether a number is not certain enough to divide by; one that can have either sign is taken without it.
is_small <- function(size, level) {
  if (!size$linear || size$offset != 0) {
    limits <- number_limits(size, level)
    if (!is.finite(size$value)) return(TRUE)
    if (size$value < 0) limits <- list(low = -limits$high, high = -limits$low)
    return(!certain(abs(size$value), limits))
  }
  limits <- reduced_limits(reduce_function(size$table, size$slopes), level)
  possible <- as.vector(size$table$channel$possible)
  if (size$value < 0 && any(size$slopes[possible] < 0)) {
    return(!certain(-size$value, list(low = -limits$high, high = -limits$low)))
  }
  !certain(size$value, limits)
}

confint.pk_number <- function(object, parm, level = object$level, ...) {
  limits <- number_limits(object, check_level(level))
  tails <- paste0(format(100 * c((1 - level) / 2, (1 + level) / 2), trim = TRUE, digits = 3L), " %")
  matrix(c(limits$low, limits$high), 1L, dimnames = list(object$what, tails))
}

as.data.frame.pk_number <- function(x, row.names = NULL, optional = FALSE, ..., level = x$level) {
  limits <- number_limits(x, check_level(level))
  result <- data.frame(
    cut_value(x), standard_error(x), limits$low, limits$high, flag_of(x, level), row.names = row.names
  )
  names(result) <- c(result_columns("estimate", level), "flag")
  result
}

as.double.pk_number <- function(x, ...) cut_value(x)

print.pk_number <- function(x, ...) {
  limits <- number_limits(x, x$level)
  error <- standard_error(x)
  texts <- format_with(c(cut_value(x), error, limits$low, limits$high), error)
  cat(x$what, ": ", texts[1L], ", standard error ", texts[2L], ", ", percent(x$level), "% interval ", texts[3L], " to ",
      texts[4L], "\n", sep = "")
  flag <- flag_of(x)
  if (flag != "") cat("Flag: ", flag, "\n", sep = "")
  invisible(x)
}

percent <- function(level) format(100 * level, digits = 6L)

result_columns <- function(value, level, prefix = "") {
  c(value, paste0(prefix, c("std_error", paste0(c("low_", "high_"), percent(level)))))
}

# Numbers to two digits of their error.
format_with <- function(numbers, error) {
  positive <- error[is.finite(error) & error > 0]
  digits <- if (length(positive)) min(max(0, 1 - floor(log10(min(positive)))), 12) else 3
  formatC(numbers, format = "f", digits = digits, big.mark = if (digits == 0) "," else "")
}
