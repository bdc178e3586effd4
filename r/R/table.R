# One table as it was counted: released counts, the unbiased estimate, and what errors are computed from. It is an
# environment, so that smaller tables and limits are computed once.

new_table <- function(channel, released, rows, about, attributes, counts = inverse(channel, released)) {
  table <- new.env(parent = emptyenv())
  table$channel <- channel
  table$names <- channel$names
  table$attributes <- attributes
  table$released <- released
  table$rows <- rows
  table$about <- about
  table$counts <- counts
  table$total <- sum(released)
  table$marginals <- list()
  table$limits <- list()
  table
}

# `value`, computed at the first call.
once <- function(table, name, value) {
  if (is.null(table[[name]])) assign(name, value, envir = table)
  table[[name]]
}

# A table without negative cells, extra axes included.
nearest_whole <- function(table) {
  once(table, "nearest", {
    whole <- if (length(table$channel$extra)) inverse_whole(table$channel, table$released) else table$counts
    nearest(whole, table$total, table$channel$possible_whole)
  })
}

# What is expected to be released if that table were the truth.
expected_rows <- function(table) once(table, "expected", forward(table$channel, nearest_whole(table)))

# The closest point (least squares) with cells >= 0 that sum to the total, 0 where impossible.
nearest <- function(counts, total, possible) {
  result <- array(0, dim(counts))
  if (total <= 0) return(result)
  values <- counts[possible]
  falling <- sort(values, decreasing = TRUE)
  levels <- (cumsum(falling) - total) / seq_along(falling)
  result[possible] <- pmax(values - levels[max(which(falling > levels))], 0)
  result
}

# n/(n - 1): the variance of a sample is estimated without bias.
sample_factor <- function(table) if (table$rows > 1) table$rows / (table$rows - 1) else 1

# The table of some attributes, added up over the others.
marginal_table <- function(table, names) {
  key <- paste(match(names, table$names), collapse = " ")
  if (is.null(table$marginals[[key]])) {
    channel <- smaller_channel(table$channel, names)
    table$marginals[[key]] <- new_table(
      channel,
      marginal_of(table$released, names(table$channel$sizes), names(channel$sizes)),
      table$rows, table$about, table$attributes[names],
      marginal_of(table$counts, table$names, names)
    )
  }
  table$marginals[[key]]
}

smaller_channel <- function(channel, names) {
  attributes <- unlist(lapply(channel$blocks, `[[`, "attributes"))
  randomised <- rep(TRUE, length(attributes))
  names(randomised) <- attributes
  channel_of(list(blocks = channel$blocks, randomised = randomised), names)
}

# Variances of all cells as estimated, as used, and where the used one was predicted.
cell_variances <- function(table) {
  once(table, "cells", {
    cells <- cell_functions(table$channel)
    estimated <- estimated_variances(table, cells)
    used <- variances(table, cells)
    possible <- as.vector(table$channel$possible)
    list(
      plug_in = estimated$variance,
      errors = sqrt(ifelse(possible, used$variance, 0)),
      predicted = used$predicted & possible
    )
  })
}

# Limits of all cells.
cell_limits <- function(table, level) {
  key <- format(level, digits = 17L)
  if (is.null(table$limits[[key]])) {
    found <- function_limits(table, cell_functions(table$channel), cell_variances(table)$errors, level)
    possible <- as.vector(table$channel$possible)
    table$limits[[key]] <- list(low = ifelse(possible, found$low, 0), high = ifelse(possible, found$high, 0))
  }
  table$limits[[key]]
}
