# What plan.json says: attributes with their labels, units with their combinations, blocks with their probabilities.
# Unknown keys, kinds and versions are refused: they might change what a plan means.

MISSING <- "(missing)"
PLAN_FORMAT <- "pkanon-plan/1"
PLAN_KEYS <- c(
  "format", "records", "count_noise", "asked", "attributes", "units", "blocks", "domains", "drafted", "others", "confirmed"
)
ATTRIBUTE_KEYS <- c(
  "name", "role", "type", "values", "range", "bins", "points", "open", "ordered", "merge", "other", "missing",
  "missing_values", "repeats", "date_format", "decimal", "thousands"
)
BLOCK_KEYS <- list(
  retention = c("kind", "unit", "width", "replace", "approx"),
  agreement = c("kind", "units", "width", "sets", "approx"),
  matrix = c("kind", "unit", "width", "rows", "data_dependent", "approx")
)
SINGULAR <- 1e12  # a condition number beyond this leaves no digit that chance has not drowned

read_plan <- function(file) {
  data <- tryCatch(
    jsonlite::fromJSON(file, simplifyVector = FALSE),
    error = function(e) stop_plan("it is damaged or cannot be read")
  )
  if (!identical(data[["format"]], PLAN_FORMAT)) {
    stop_plan("its format is ", quoted(format(data[["format"]])), "; this package reads '", PLAN_FORMAT, "' only")
  }
  check_keys(data, PLAN_KEYS, "it")
  attributes <- lapply(data$attributes, read_attribute)
  names(attributes) <- vapply(attributes, `[[`, "", "name")
  randomised <- attributes[vapply(attributes, function(a) a$role == "randomise", NA)]
  units <- lapply(data$units, read_unit, randomised)
  blocks <- lapply(data$blocks, read_block, units)
  covered <- unlist(lapply(blocks, `[[`, "attributes"))
  if (anyDuplicated(covered) || !setequal(covered, names(randomised))) {
    stop_plan("its blocks do not cover every attribute exactly once")
  }
  list(
    records = data$records, attributes = attributes, randomised = randomised, blocks = blocks,
    hidden_count = !is.null(data[["count_noise"]]),
    one_row_each = any(vapply(attributes, function(a) identical(a$repeats, "one at random"), NA)),
    rows_are = data[["confirmed"]][["rows_are"]]
  )
}

check_keys <- function(data, known, where) {
  unknown <- setdiff(names(data), known)
  if (length(unknown)) stop_plan(where, " has the unknown key '", unknown[1L], "'; a newer version of pkanon may have made it")
}

# One attribute: its labels in the order of codes (the missing value last, under a visible label), and its numbers.
read_attribute <- function(data) {
  check_keys(data, ATTRIBUTE_KEYS, paste0("attribute ", quoted(data$name)))
  attribute <- list(name = data$name, role = data$role, type = data$type, repeats = data[["repeats"]])
  if (data$role != "randomise") return(attribute)
  bins <- data[["bins"]]
  values <- if (!is.null(bins)) {
    unlist(bins$labels)
  } else if (!is.null(data[["range"]])) {
    range_labels(data$range[[1L]], data$range[[2L]])
  } else if (!is.null(data[["points"]])) {
    unlist(data$points)
  } else {
    unlist(data[["values"]])
  }
  if (!length(values)) stop_plan("attribute ", quoted(data$name), " has no values")
  attribute$domain <- if (!is.null(bins)) "bins" else if (!is.null(data[["points"]])) "points" else "values"
  attribute$points <- if (attribute$domain == "points") length(values) else 0L
  numeric <- data$type %in% c("integer", "number", "boolean")
  attribute$numbers <- if (!numeric) {
    NULL
  } else if (!is.null(bins)) {
    middles(as.numeric(unlist(bins$edges)), bins$open, data$type)
  } else if (data$type == "boolean") {
    as.numeric(values == "true")
  } else {
    as.numeric(values)
  }
  attribute$declared <- length(values)
  attribute$missing <- identical(data[["missing"]], "value")
  values <- c(values, data[["other"]])
  attribute$texts <- c(enc2utf8(values), if (attribute$missing) NA)
  missing_label <- MISSING
  while (missing_label %in% values) missing_label <- paste0(missing_label, "_")
  attribute$labels <- c(enc2utf8(values), if (attribute$missing) missing_label)
  attribute$released_type <- if (attribute$domain == "bins") "text" else data$type
  attribute
}

range_labels <- function(low, high) {
  limits <- whole_numbers(c(low, high))
  steps <- as_doubles(limits[, 2L, drop = FALSE] - limits[, 1L], 0)
  if (steps >= LARGEST_TABLE) stop_plan("a range in it has more than ", LARGEST_TABLE, " values, too many for this package")
  if (max(abs(as_doubles(limits, 0))) < 2^53) {
    return(sprintf("%.0f", seq(as.numeric(low), as.numeric(high))))
  }
  numbers <- matrix(limits[, 1L], DIGITS, steps + 1)
  numbers[1L, ] <- numbers[1L, ] + seq(0, steps)
  as_texts(carried_over(numbers))
}

# The middle of each bin (of its whole numbers, for integers); an open bin is as wide as its neighbour.
middles <- function(edges, open, type) {
  several <- length(edges) > 1L
  below <- edges[1L] - (if (several) edges[2L] - edges[1L] else 1)
  above <- edges[length(edges)] + (if (several) edges[length(edges)] - edges[length(edges) - 1L] else edges[1L] - below)
  all <- c(if (open %in% c("low", "both")) below, edges, if (open %in% c("high", "both")) above)
  (all[-length(all)] + all[-1L] - (type == "integer")) / 2
}

# A unit: what is randomised as one thing. `allowed` is an array over its attributes, NULL if every combination is.
read_unit <- function(data, attributes) {
  check_keys(data, c("attributes", "size", "forbid"), "a unit")
  names <- unlist(data$attributes)
  if (!all(names %in% names(attributes))) stop_plan("a unit names an attribute that is not randomised")
  sizes <- vapply(names, function(n) length(attributes[[n]]$labels), 0L)
  allowed <- NULL
  if (length(data[["forbid"]])) {
    allowed <- array(TRUE, sizes)
    for (rule in data$forbid) {
      if (length(rule) != length(names)) stop_plan("a rule that forbids combinations does not fit its attributes")
      chosen <- lapply(rule, function(codes) if (length(codes)) as.integer(unlist(codes)) + 1L else TRUE)
      allowed <- do.call(`[<-`, c(list(allowed), chosen, list(value = FALSE)))
    }
  }
  unit <- list(attributes = names, sizes = sizes, allowed = allowed)
  unit$size <- if (is.null(allowed)) prod(sizes) else sum(allowed)
  if (unit$size != data$size) stop_plan("a unit has another number of values than its attributes say")
  unit
}

# The share of the allowed combinations on each cell of some attributes, one axis each.
unit_shares <- function(unit, names) {
  sizes <- unit$sizes[names]
  if (is.null(unit$allowed)) return(array(1 / prod(sizes), sizes))
  marginal_of(array(as.numeric(unit$allowed), unit$sizes), unit$attributes, names) / unit$size
}

read_block <- function(data, units) {
  kind <- data[["kind"]]
  if (is.null(kind) || !kind %in% names(BLOCK_KEYS)) {
    stop_plan(
      "it has a block of the kind ", quoted(format(kind)), ", which this package cannot read; it knows ",
      paste(names(BLOCK_KEYS), collapse = ", "), ". A newer version of the package may be able to"
    )
  }
  check_keys(data, BLOCK_KEYS[[kind]], paste("a block of the kind", quoted(kind)))
  if (!is.numeric(data$width) || !data$width %in% c(16, 32, 64)) stop_plan("a block has words of an unknown width")
  places <- 1L + as.integer(unlist(if (kind == "agreement") data$units else data$unit))
  if (!all(places %in% seq_along(units))) stop_plan("a block names a unit that is not there")
  block <- list(kind = kind, units = units[places])
  block$attributes <- unlist(lapply(block$units, `[[`, "attributes"))
  block$sizes <- unlist(lapply(block$units, `[[`, "sizes"))
  words <- power_of_two(data$width)
  switch(kind,
    retention = {
      # a unit that survives or not: kept with probability rho = 1 - V replace / 2^width, else drawn anew
      kept <- carried_over(words - whole_numbers(data$replace) * block$units[[1L]]$size)
      if (kept[DIGITS, 1L] < 0) stop_plan("a block of the kind 'retention' needs more words than there are")
      block$spectrum <- c(1, as_doubles(kept, data$width))
    },
    agreement = {
      sets <- whole_numbers(unlist(data$sets))
      if (ncol(sets) != 2^length(places)) stop_plan("a block of the kind 'agreement' lacks numbers")
      check_sum(sets, words, kind)
      block$spectrum <- eigenvalues(sets, vapply(block$units, `[[`, 0, "size"), data$width)
    },
    matrix = {
      size <- block$units[[1L]]$size
      if (length(data$rows) != size || any(lengths(data$rows) != size)) stop_plan("a matrix does not fit its unit")
      numbers <- lapply(data$rows, function(row) whole_numbers(unlist(row)))
      for (row in numbers) check_sum(row, words, kind)
      block$A <- t(vapply(numbers, as_doubles, numeric(size), data$width))
      values <- svd(block$A, 0L, 0L)$d
      block$B <- if (max(values) < SINGULAR * min(values)) solve(block$A) else NULL
    }
  )
  block
}

check_sum <- function(numbers, words, kind) {
  total <- carried_over(matrix(rowSums(numbers), DIGITS, 1L))
  if (any(numbers[DIGITS, ] < 0) || any(total != words)) {
    stop_plan("the numbers in a block of the kind ", quoted(kind), " do not sum to the number of words")
  }
}

# lam_T of an agreement block for every set T of its units: exact until the division.
eigenvalues <- function(sets, sizes, width) {
  masks <- seq_len(ncol(sets)) - 1L
  divisor <- rep(1, length(masks))
  for (bit in seq_along(sizes) - 1L) {
    out <- which(bitwAnd(masks, bitwShiftL(1L, bit)) == 0L)
    within <- out + bitwShiftL(1L, bit)
    gone <- sets[, out, drop = FALSE]
    kept <- sets[, within, drop = FALSE]
    others <- sizes[bit + 1L] - 1
    sets[, out] <- gone + kept
    sets[, within] <- kept * others - gone
    sets <- carried_over(sets)
    divisor[within] <- divisor[within] * others
  }
  as_doubles(sets, width) / divisor
}
