# The variance of linear functions of a table: one formula, one fallback.
#
#   table        sum_v y_v b_v^2 - sum_u x_u w_u^2
#   population   n/(n - 1) (sum_v y_v b_v^2 - (sum w x)^2 / n)
#
# A number that was rounded at random to a point varies too. About a population this is in the sums already. About the
# table it is added: at most a quarter of the squared difference of the weights on both sides.
#
# In sparse tables the estimate can be negative. It is then replaced by the variance that people spread evenly over all
# possible cells would have.

ROUNDING <- 1e-12  # a variance is the difference of two sums; below this share of them it is rounding error

estimated_variances <- function(table, functions) {
  products <- products_of(functions, table$released)
  variance <- if (table$about == "population") {
    sample_factor(table) * (products - values_of(functions, table$counts)^2 / max(table$rows, 1))
  } else {
    products - squares_of(functions, table$counts) + rounding_variances(table, functions)
  }
  list(variance = variance, size = products)
}

variances <- function(table, functions) {
  found <- estimated_variances(table, functions)
  # where all rows agree, the sums themselves are rounding errors, of numbers as large as the weights
  least <- ROUNDING^2 * spread_of(functions)^2 * table$total
  usable <- found$variance > pmax(ROUNDING * found$size, least)
  if (all(usable)) return(list(variance = found$variance, predicted = !usable))
  predicted <- evenly(table, functions)
  list(variance = ifelse(usable, found$variance, predicted), predicted = !usable & predicted > 0)
}

evenly <- function(table, functions) {
  possible <- table$channel$possible_whole
  people <- possible * (table$total / max(sum(possible), 1))
  size <- products_of(functions, forward(table$channel, people))
  noise <- size - squares_of(functions, collapse(table$channel, people))
  noise <- ifelse(noise > ROUNDING * size, noise, 0)
  if (table$about == "population") noise <- noise + spread_of(functions)^2 * table$total / max(table$rows, 1)
  noise
}

rounding_variances <- function(table, functions) {
  points <- vapply(table$attributes, `[[`, 0L, "points")
  if (!any(points > 0L)) return(0)
  shape <- table$channel$shape
  if (functions$kind == "cells") {
    most <- array(0, shape)
    for (axis in which(points > 0L)) {
      # the weight of a cell differs from its two neighbours', so all three may move
      most <- most + along_axis(table$counts, axis, function(people) {
        own <- people[seq_len(points[axis]), , drop = FALSE]
        people[] <- 0
        people[seq_len(points[axis]), ] <- (own + rbind(0, own[-points[axis], , drop = FALSE]) +
          rbind(own[-1L, , drop = FALSE], 0)) / 4
        people
      })
    }
    return(pmax(as.vector(most), 0))
  }
  count <- ncol(functions$weights)
  weights <- array(functions$weights, c(shape, count))
  most <- array(0, dim(weights))
  for (axis in which(points > 0L)) {
    most <- most + along_axis(weights, axis, function(flat) {
      along <- flat[seq_len(points[axis]), , drop = FALSE]
      steps <- (along[-1L, , drop = FALSE] - along[-points[axis], , drop = FALSE])^2 / 4
      flat[] <- 0
      flat[seq_len(points[axis]), ] <- pmax(rbind(0, steps), rbind(steps, 0))
      flat
    })
  }
  pmax(colSums(matrix(most, ncol = count) * as.vector(table$counts)), 0)
}

# f on a matrix whose rows are the axis and whose columns are all others.
along_axis <- function(x, axis, f) {
  order <- c(axis, setdiff(seq_along(dim(x)), axis))
  flat <- f(matrix(aperm(x, order), dim(x)[axis]))
  aperm(array(flat, dim(x)[order]), order(order))
}

# The covariance of two functions, without bias.
covariance_of <- function(table, first, second) {
  products <- sum(as.vector(table$released) * first$carried * second$carried)
  if (table$about == "population") {
    both <- values_of(first, table$counts) * values_of(second, table$counts)
    return(sample_factor(table) * (products - both / max(table$rows, 1)))
  }
  products - sum(first$weights * second$weights * as.vector(table$counts))
}
