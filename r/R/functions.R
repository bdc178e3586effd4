# Linear functions of a table, and the sums behind their errors and intervals.
#
# A function gives each cell a weight w; its value is sum w x. One released row in cell v adds b_v = (B w)_v to its
# estimate. There are two kinds: every cell as a function of its own, and functions with their weights written out, an
# array with one more axis, the functions. Results are vectors with one entry per function.

cell_functions <- function(channel) list(kind = "cells", channel = channel)

listed <- function(channel, weights) {
  functions <- length(weights) / prod(channel$shape)
  weights <- array(weights, c(channel$shape, functions))
  list(
    kind = "listed", channel = channel, weights = matrix(weights, ncol = functions),
    carried = matrix(inverse_transpose(channel, weights), ncol = functions)
  )
}

# Weights that pick single cells, a column each.
single_cells <- function(channel, places) {
  weights <- matrix(0, prod(channel$shape), length(places))
  weights[cbind(places, seq_along(places))] <- 1
  weights
}

# sum_u x_u w_u
values_of <- function(functions, people) {
  if (functions$kind == "cells") as.vector(people) else colSums(functions$weights * as.vector(people))
}

# sum_u x_u w_u^2
squares_of <- function(functions, people) {
  if (functions$kind == "cells") as.vector(people) else colSums(functions$weights^2 * as.vector(people))
}

# sum_v y_v b_v^2
products_of <- function(functions, released) {
  if (functions$kind == "listed") return(colSums(functions$carried^2 * as.vector(released)))
  names <- functions$channel$names
  as.vector(product_inverse(functions$channel, released, names, names))
}

# The largest weight less the smallest, over the cells that can occur.
spread_of <- function(functions) {
  possible <- as.vector(functions$channel$possible)
  if (functions$kind == "cells") return(ifelse(possible, 1, 0))
  inside <- functions$weights[possible, , drop = FALSE]
  if (!nrow(inside)) return(rep(0, ncol(inside)))
  apply(inside, 2L, max) - apply(inside, 2L, min)
}

# Moments of functions that count people. Members are the people who are counted.
#
#   people    how many members the table has
#   step      the most that one released row in a counted cell adds
#   expected  how many such rows are expected
#   own_2     the expected b^2 of a member's released row, the mean over all members; own_3 of b^3
#   others_2  the same over all other people; others_3 of b^3
shape_of <- function(functions, people, expected) {
  if (functions$kind == "cells") shape_of_cells(functions, people, expected) else shape_listed(functions, people, expected)
}

shape_of_cells <- function(functions, people, expected) {
  channel <- functions$channel
  inside <- as.vector(collapse(channel, people))
  empty <- inside <= 0
  members <- pmax(ifelse(empty, as.vector(channel$possible) + 0, inside), 1e-300)
  present <- ifelse(empty, 0, members)
  elsewhere <- pmax(sum(people) - present, 1)
  names <- channel$names
  own_2 <- as.vector(own_moment(channel, 2))
  own_3 <- as.vector(own_moment(channel, 3))
  data.frame(
    people = present,
    step = abs(as.vector(step_of(channel))),
    expected = as.vector(collapse(channel, expected)),
    own_2 = own_2,
    own_3 = own_3,
    others_2 = pmax((as.vector(product_inverse(channel, expected, names, names)) - own_2 * present) / elsewhere, 0),
    others_3 = (as.vector(product_inverse(channel, expected, names, names, names)) - own_3 * present) / elsewhere
  )
}

shape_listed <- function(functions, people, expected) {
  channel <- functions$channel
  count <- ncol(functions$weights)
  cells <- prod(channel$sizes)
  # the extra axes are the last, so cells of the table repeat along them
  support <- (functions$weights != 0)[rep_len(seq_len(nrow(functions$weights)), cells), , drop = FALSE]
  possible <- as.vector(channel$possible_whole)
  inside <- support * as.vector(people)
  empty <- colSums(inside) <= 0
  inside[, empty] <- support[, empty] & possible  # no members: as if people were spread evenly
  members <- pmax(colSums(inside), 1e-300)
  present <- ifelse(empty, 0, members)
  elsewhere <- pmax(sum(people) - present, 1)
  moments <- lapply(2:3, function(power) {
    carried <- functions$carried^power
    back <- matrix(forward_transpose(channel, array(carried, c(unname(channel$sizes), count))), ncol = count)
    own <- colSums(inside * back) / members
    list(own = own, others = (colSums(carried * as.vector(expected)) - own * present) / elsewhere)
  })
  data.frame(
    people = present,
    step = apply((support & possible) * abs(functions$carried), 2L, max),
    expected = colSums(support * as.vector(expected)),
    own_2 = moments[[1L]]$own,
    own_3 = moments[[2L]]$own,
    others_2 = pmax(moments[[1L]]$others, 0),
    others_3 = moments[[2L]]$others
  )
}

# The f of each function that is f times a count of people; NA for all others.
factors_of <- function(functions) {
  if (functions$kind == "cells") return(rep(1, prod(functions$channel$shape)))
  apply(functions$weights, 2L, function(w) {
    first <- w[w != 0][1L]
    if (is.na(first) || any(w != 0 & w != first)) NA_real_ else first
  })
}
