# A number estimated from a table, with its standard error and its interval.
#
# Counts, sums and differences are linear functions of the table. Products and ratios are linear to first order (the delta
# method): a number carries its slope in each cell. So numbers from one table can be combined with their correlated errors.
# A number also records whether it is linear, or a quotient of two linear numbers: counts and shares have better intervals
# than their slopes alone would give.

new_number <- function(table, value, slopes, linear = FALSE, above = NULL, below = NULL, offset = 0, scale = "plain",
                       what = "number", level = 0.95) {
  structure(
    list(
      table = table, value = value, slopes = slopes, linear = linear, above = above, below = below, offset = offset,
      scale = scale, what = what, level = level
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
  new_number(
    x$table, factor * x$value, factor * x$slopes, x$linear,
    if (!is.null(x$above)) scaled(x$above, factor), x$below, factor * x$offset
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
        x$table, value, slopes, above = term$above, below = term$below, offset = term$offset + pair[[2L]]$offset
      ))
    }
  }
  new_number(x$table, value, slopes)
}

multiply <- function(x, y) {
  if (is_constant(y)) return(scaled(x, y$offset))
  if (is_constant(x)) return(scaled(y, x$offset))
  new_number(x$table, x$value * y$value, x$value * y$slopes + y$value * x$slopes)
}

divide <- function(x, y) {
  if (is_constant(y)) return(scaled(x, if (y$offset != 0) 1 / y$offset else NaN))
  divisor <- if (y$value != 0) y$value else NaN
  value <- x$value / divisor
  slopes <- (x$slopes - value * y$slopes) / divisor
  if (x$linear && y$linear && x$offset == 0 && y$offset == 0) {
    return(new_number(x$table, value, slopes, above = x, below = y))
  }
  new_number(x$table, value, slopes)
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

# Limits of a number, widened where needed to hold it, and whether anything bounds them.
number_limits <- function(x, level) {
  if (!is.finite(x$value)) return(list(low = NaN, high = NaN, bounded = FALSE))
  bounded <- TRUE
  if (x$scale == "log") {
    error <- standard_error(x)
    if (x$value > 0) {
      reach <- z_of(level) * error / x$value
      limits <- list(low = exp(log(x$value) - reach), high = exp(min(log(x$value) + reach, 700)))
    } else {
      limits <- wald(x$value, error, level)
    }
  } else if (x$linear) {
    limits <- reduced_limits(reduce_function(x$table, x$slopes), level)
    limits <- list(low = limits$low + x$offset, high = limits$high + x$offset)
  } else {
    limits <- limits_of_share(x, level)
    if (is.null(limits)) limits <- wald(x$value, standard_error(x), level) else bounded <- limits$bounded
  }
  list(low = min(limits$low, x$value), high = max(limits$high, x$value), bounded = bounded)
}

# Limits of a number that is a share of a group, times any factor; NULL if it is none.
limits_of_share <- function(x, level) {
  if (is.null(x$above) || is.null(x$below)) return(NULL)
  possible <- as.vector(x$table$channel$possible)
  part <- ifelse(possible, x$above$slopes, 0)
  whole <- ifelse(possible, x$below$slopes, 0)
  factor <- part[part != 0][1L]
  if (is.na(factor)) factor <- 1
  is_share <- all(whole == 0 | whole == 1) && any(whole == 1) && all(part == 0 | (part == factor & whole == 1))
  if (!is_share) return(NULL)
  above <- reduce_function(x$table, x$above$slopes)
  below <- reduce_function(x$table, x$below$slopes)
  ends <- reduced_limits(above, level)
  channel <- x$table$channel
  covariance <- covariance_of(x$table, listed(channel, x$above$slopes), listed(channel, x$below$slopes))
  limits <- share_limits(
    x$above$value / factor,
    list(low = min(ends$low / factor, ends$high / factor), high = max(ends$low / factor, ends$high / factor)),
    reduced_error(above)$error / abs(factor),
    x$below$value, reduced_limits(below, level), reduced_error(below)$error,
    covariance / factor
  )
  if (all(part == factor * whole)) limits$low <- limits$high <- 1
  ends <- c(limits$low, limits$high) * factor
  list(low = min(ends) + x$offset, high = max(ends) + x$offset, bounded = limits$bounded)
}

confint.pk_number <- function(object, parm, level = object$level, ...) {
  limits <- number_limits(object, check_level(level))
  tails <- paste0(format(100 * c((1 - level) / 2, (1 + level) / 2), trim = TRUE, digits = 3L), " %")
  matrix(c(limits$low, limits$high), 1L, dimnames = list(object$what, tails))
}

as.data.frame.pk_number <- function(x, row.names = NULL, optional = FALSE, ..., level = x$level) {
  limits <- number_limits(x, check_level(level))
  result <- data.frame(x$value, standard_error(x), limits$low, limits$high, row.names = row.names)
  names(result) <- result_columns("estimate", level)
  result
}

as.double.pk_number <- function(x, ...) x$value

print.pk_number <- function(x, ...) {
  limits <- number_limits(x, x$level)
  error <- standard_error(x)
  texts <- format_with(c(x$value, error, limits$low, limits$high), error)
  cat(x$what, ": ", texts[1L], ", standard error ", texts[2L], ", ", percent(x$level), "% interval ", texts[3L], " to ",
      texts[4L], "\n", sep = "")
  if (!limits$bounded) cat("The group may be empty, so nothing bounds this share.\n")
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
