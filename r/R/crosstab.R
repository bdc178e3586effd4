# A cross-tabulation: a table and, for each attribute, which codes form each label. Without merged values that is one code
# each, and cells are those of the table; else every cell is a linear function of them.

crosstab <- function(release, ..., level = 0.95, about = c("table", "population"), merge = NULL) {
  if (!inherits(release, "pk_release")) refuse("crosstab() takes a release, as read_release() gives it.")
  check_level(level)
  about <- match_about(about)
  names <- c(...)
  channel <- channel_of(release$plan, names)
  columns <- release$codes[names(channel$sizes)]
  cell <- columns[[1L]]
  radix <- channel$sizes[[1L]]
  for (i in seq_along(columns)[-1L]) {
    cell <- cell + (columns[[i]] - 1) * radix
    radix <- radix * channel$sizes[[i]]
  }
  released <- array(as.numeric(tabulate(cell, radix)), unname(channel$sizes))
  attributes <- release$plan$randomised[names]
  groups <- lapply(attributes, function(a) stats::setNames(as.list(seq_along(a$labels)), a$labels))
  result <- structure(
    list(
      table = new_table(channel, released, release$rows, about, attributes),
      groups = groups, merged = FALSE, level = level, remarks = remarks_of(release)
    ),
    class = "pk_crosstab"
  )
  if (is.null(merge)) result else do.call(merge_values, c(list(result), merge))
}

match_about <- function(about) {
  if (identical(about, c("table", "population"))) return("table")
  if (!is.character(about) || length(about) != 1L || !about %in% c("table", "population")) {
    refuse("Errors can be about the 'table' or the 'population'.")
  }
  about
}

merge_values <- function(tab, ...) {
  check_crosstab(tab)
  merges <- list(...)
  if (length(merges) && is.null(names(merges))) refuse("Say which attribute: merge_values(tab, education = list(...)).")
  for (name in names(merges)) {
    check_attribute(tab, name)
    old <- tab$groups[[name]]
    new <- lapply(merges[[name]], function(values) labels_for(tab, name, values))
    if (is.null(names(new)) || any(names(new) == "") || anyDuplicated(names(new))) {
      refuse("Every group of merged values of ", quoted(name), " needs a name of its own: list(school = c(...)).")
    }
    members <- unlist(new, use.names = FALSE)
    if (anyDuplicated(members)) {
      refuse("The value ", quoted(members[anyDuplicated(members)]), " of ", quoted(name), " is in two groups.")
    }
    left <- setdiff(names(old), members)
    if (any(names(new) %in% left)) {
      refuse("The name ", quoted(intersect(names(new), left)[1L]), " is also a value of ", quoted(name), " outside the group.")
    }
    # a group stands where its first member stood
    place <- c(match(left, names(old)), vapply(new, function(labels) min(match(labels, names(old))), 0L))
    codes <- c(old[left], lapply(new, function(labels) sort(unlist(old[labels], use.names = FALSE))))
    tab$groups[[name]] <- codes[order(place)]
    if (length(new)) tab$merged <- TRUE
  }
  tab
}

check_crosstab <- function(tab) {
  if (!inherits(tab, "pk_crosstab")) refuse("This takes a table, as crosstab() gives it.")
}

check_attribute <- function(tab, name) {
  if (!name %in% names(tab$groups)) refuse("The table has no attribute ", quoted(name), ". ", available(names(tab$groups)))
}

# Values that somebody wrote, as labels of the table.
labels_for <- function(tab, name, values) {
  known <- names(tab$groups[[name]])
  attribute <- tab$table$attributes[[name]]
  if (is.list(values)) values <- unlist(values)
  missing <- is.na(values)
  texts <- as_released_texts(values, attribute$released_type)
  if (attribute$released_type == "number" && is.numeric(values)) {
    texts <- known[match(sprintf("%.15g", values), sprintf("%.15g", suppressWarnings(as.numeric(known))))]
    texts[is.na(texts)] <- format(values[is.na(texts)])
  }
  if (any(missing)) {
    if (!attribute$missing) refuse(quoted(name), " has no missing values: its schema refuses them.")
    texts[missing] <- attribute$labels[length(attribute$labels)]
  }
  unknown <- setdiff(texts, known)
  if (length(unknown)) refuse(quoted(unknown[1L]), " is not a value of ", quoted(name), ". ", available(known))
  texts
}

# The weights (0 or 1) of the people who meet a condition.
weights_where <- function(tab, where) {
  if (!is.list(where) || (length(where) && (is.null(names(where)) || any(names(where) == "")))) {
    refuse("A condition says which attributes have which values: list(sex = \"F\", age = c(\"0-4\", \"5-9\")).")
  }
  shape <- tab$table$channel$shape
  weights <- array(1, shape)
  for (name in names(where)) {
    check_attribute(tab, name)
    codes <- unlist(tab$groups[[name]][labels_for(tab, name, where[[name]])], use.names = FALSE)
    axis <- match(name, tab$table$names)
    weights <- times(weights, spread(array(as.numeric(seq_len(shape[axis]) %in% codes)), axis, length(shape)))
  }
  weights
}

describe_where <- function(where) {
  if (!length(where)) return("everybody")
  parts <- vapply(names(where), function(name) paste(name, "=", paste(format_value(where[[name]]), collapse = " or ")), "")
  paste(parts, collapse = ", ")
}

format_value <- function(values) {
  values <- unlist(values)
  ifelse(is.na(values), MISSING, as.character(values))
}

count <- function(tab, where = list()) {
  check_crosstab(tab)
  linear_number(tab$table, weights_where(tab, where), paste0("people (", describe_where(where), ")"), tab$level)
}

proportion <- function(tab, where, given = list()) {
  check_crosstab(tab)
  group <- weights_where(tab, given)
  part <- group * weights_where(tab, where)
  result <- divide(linear_number(tab$table, part), linear_number(tab$table, group))
  result$what <- paste0(
    "share (", describe_where(where), if (length(given)) paste0(", among ", describe_where(given)), ")"
  )
  result$level <- tab$level
  result
}

difference <- function(x, y, ...) UseMethod("difference")

difference.pk_crosstab <- function(x, y, second, ...) {
  result <- count(x, y) - count(x, second)
  result$what <- paste0("people (", describe_where(y), ") less (", describe_where(second), ")")
  result
}

difference.pk_number <- function(x, y, ...) {
  result <- x - y
  result$what <- if (inherits(y, "pk_number")) paste(x$what, "less", y$what) else paste(x$what, "less", format(y))
  result
}

ratio <- function(tab, first, second) {
  check_crosstab(tab)
  result <- count(tab, first) / count(tab, second)
  result$scale <- "log"
  result$what <- paste0("ratio of people (", describe_where(first), ") to (", describe_where(second), ")")
  result
}

odds_ratio <- function(tab, first, second) {
  check_crosstab(tab)
  a <- weights_where(tab, first)
  b <- weights_where(tab, second)
  number <- function(weights) linear_number(tab$table, weights, level = tab$level)
  result <- (number(a * b) * number((1 - a) * (1 - b))) / (number(a * (1 - b)) * number((1 - a) * b))
  result$scale <- "log"
  result$what <- paste0("odds ratio of (", describe_where(first), ") and (", describe_where(second), ")")
  result
}

# One number per code along the axis of an attribute; NA leaves people out.
numbers_along <- function(tab, name, values) {
  check_attribute(tab, name)
  attribute <- tab$table$attributes[[name]]
  size <- length(attribute$labels)
  numbers <- rep(NA_real_, size)
  if (is.null(attribute$numbers)) {
    if (is.null(values)) {
      refuse(
        quoted(name), " is of type ", attribute$type, "; to calculate with it, say which number stands for each value: ",
        "values = c(none = 0, school = 10)."
      )
    }
  } else {
    numbers[seq_along(attribute$numbers)] <- attribute$numbers
  }
  if (!is.null(values)) {
    if (is.null(names(values))) refuse("values needs names: values = c(none = 0, school = 10).")
    # as.list: names of a numeric vector are labels, not values of the attribute's type
    for (label in names(values)) {
      known <- names(tab$groups[[name]])
      if (!label %in% known) refuse(quoted(label), " is not a value of ", quoted(name), ". ", available(known))
      numbers[unlist(tab$groups[[name]][[label]])] <- as.numeric(values[[label]])
    }
    if (is.null(attribute$numbers)) {
      given <- unlist(tab$groups[[name]][names(values)], use.names = FALSE)
      forgotten <- setdiff(seq_len(attribute$declared), given)
      if (length(forgotten)) {
        refuse(
          "values must have a number for every value of ", quoted(name), "; ", quoted(attribute$labels[forgotten[1L]]),
          " has none (NA leaves it out)."
        )
      }
    }
  }
  if (all(is.na(numbers))) refuse("No value of ", quoted(name), " stands for a number.")
  axis <- match(name, tab$table$names)
  expand(spread(array(numbers), axis, length(tab$table$names)), tab$table$channel$shape)
}

mean.pk_crosstab <- function(x, attribute, where = list(), values = NULL, ...) {
  numbers <- numbers_along(x, attribute, values)
  counted <- weights_where(x, where) * !is.na(numbers)
  numbers[is.na(numbers)] <- 0
  result <- divide(linear_number(x$table, numbers * counted), linear_number(x$table, counted))
  result$what <- paste0("mean of ", attribute, if (length(where)) paste0(" (", describe_where(where), ")"))
  result$level <- x$level
  result
}

total <- function(tab, attribute, where = list(), values = NULL) {
  check_crosstab(tab)
  numbers <- numbers_along(tab, attribute, values)
  numbers[is.na(numbers)] <- 0
  what <- paste0("sum of ", attribute, if (length(where)) paste0(" (", describe_where(where), ")"))
  linear_number(tab$table, numbers * weights_where(tab, where), what, tab$level)
}

# All cells, the last attribute changing fastest.
cells_of <- function(tab, level, given) {
  unknown <- setdiff(given, names(tab$groups))
  if (length(unknown)) check_attribute(tab, unknown[1L])
  table <- tab$table
  labels <- lapply(tab$groups, names)
  order <- by_row(array(seq_len(prod(lengths(labels))), lengths(labels)))
  grid <- arrayInd(order, lengths(labels))
  if (tab$merged) return(list(labels = labels, grid = grid, numbers = merged_cells(tab, grid, level, given)))
  cells <- cell_variances(table)
  limits <- cell_limits(table, level)
  shares <- cell_shares(table, given, level)
  numbers <- data.frame(
    estimate = as.vector(table$counts), error = cells$errors, low = limits$low, high = limits$high,
    shares, released = as.vector(collapse(table$channel, table$released)),
    predicted = cells$predicted, possible = as.vector(table$channel$possible)
  )
  names(numbers)[5:10] <- c("share", "share_error", "share_low", "share_high", "bounded", "beyond")
  list(labels = labels, grid = grid, numbers = numbers[order, ])
}

merged_cells <- function(tab, grid, level, given) {
  table <- tab$table
  released <- collapse(table$channel, table$released)
  rows <- lapply(seq_len(nrow(grid)), function(row) {
    where <- lapply(seq_along(tab$groups), function(i) names(tab$groups[[i]])[grid[row, i]])
    names(where) <- names(tab$groups)
    weights <- weights_of_labels(tab, where)
    possible <- any(weights != 0 & table$channel$possible)
    group <- linear_number(table, weights_of_labels(tab, where[given]))
    if (!possible) {
      share <- if (!length(given) || group$value > 0) 0 else NaN  # of nobody there is no share
      return(data.frame(
        estimate = 0, error = 0, low = 0, high = 0, share = share, share_error = share, share_low = 0, share_high = 0,
        bounded = TRUE, beyond = FALSE, released = sum(weights * released), predicted = FALSE, possible = FALSE
      ))
    }
    number <- linear_number(table, weights)
    share <- divide(number, group)
    found <- reduced_error(reduce_function(table, as.vector(weights)))
    limits <- number_limits(number, level)
    share_limits <- number_limits(share, level)
    data.frame(
      estimate = number$value, error = found$error, low = limits$low, high = limits$high,
      share = cut_value(share), share_error = standard_error(share), share_low = share_limits$low,
      share_high = share_limits$high, bounded = share_limits$bounded, beyond = share_limits$beyond,
      released = sum(weights * released), predicted = found$predicted, possible = TRUE
    )
  })
  do.call(rbind, rows)
}

weights_of_labels <- function(tab, where) {
  shape <- tab$table$channel$shape
  weights <- array(1, shape)
  for (name in names(where)) {
    codes <- unlist(tab$groups[[name]][where[[name]]], use.names = FALSE)
    axis <- match(name, tab$table$names)
    weights <- times(weights, spread(array(as.numeric(seq_len(shape[axis]) %in% codes)), axis, length(shape)))
  }
  weights
}

flags_of <- function(numbers) {
  words <- cbind(
    ifelse(numbers$low <= 0, "near zero", NA), ifelse(numbers$predicted, "predicted error", NA),
    ifelse(numbers$bounded, NA, "small group"), ifelse(numbers$beyond, "out of range", NA)
  )
  flags <- apply(words, 1L, function(w) if (all(is.na(w))) "" else paste(w[!is.na(w)], collapse = ", "))
  ifelse(numbers$possible, flags, "impossible")
}

as.data.frame.pk_crosstab <- function(x, row.names = NULL, optional = FALSE, ..., level = x$level, given = character()) {
  cells <- cells_of(x, check_level(level), given)
  numbers <- cells$numbers
  labels <- lapply(seq_along(cells$labels), function(i) {
    factor(cells$labels[[i]][cells$grid[, i]], levels = cells$labels[[i]])
  })
  results <- list(
    numbers$estimate, numbers$error, numbers$low, numbers$high,
    numbers$share, numbers$share_error, numbers$share_low, numbers$share_high, numbers$released, flags_of(numbers)
  )
  names(results) <- c(
    result_columns("estimate", level), result_columns("proportion", level, "proportion_"), "released", "flag"
  )
  names(labels) <- free_names(names(x$groups), names(results))
  as.data.frame(c(labels, results), row.names = row.names, optional = TRUE, stringsAsFactors = FALSE)
}

# An underscore is added where the name of an attribute is that of a result.
free_names <- function(names, taken) {
  for (i in seq_along(names)) {
    while (names[i] %in% c(taken, names[seq_len(i - 1L)])) names[i] <- paste0(names[i], "_")
  }
  names
}

as.array.pk_crosstab <- function(x, ...) {
  labels <- lapply(x$groups, names)
  estimates <- cells_estimates(x)
  array(estimates, lengths(labels), labels)
}

cells_estimates <- function(tab) {
  counts <- tab$table$counts
  for (axis in seq_along(tab$groups)) {
    if (!tab$merged) break
    codes <- tab$groups[[axis]]
    member <- matrix(0, length(codes), dim(counts)[axis])
    for (i in seq_along(codes)) member[i, codes[[i]]] <- 1
    order <- c(axis, setdiff(seq_along(dim(counts)), axis))
    flat <- member %*% matrix(aperm(counts, order), dim(counts)[axis])
    d <- dim(counts)
    d[axis] <- length(codes)
    counts <- aperm(array(flat, d[order]), order(order))
  }
  counts
}

dimnames.pk_crosstab <- function(x) lapply(x$groups, names)

confint.pk_crosstab <- function(object, parm, level = object$level, ...) {
  cells <- cells_of(object, check_level(level), character())
  names <- apply(cells$grid, 1L, function(codes) {
    paste(vapply(seq_along(codes), function(i) cells$labels[[i]][codes[i]], ""), collapse = ":")
  })
  tails <- paste0(format(100 * c((1 - level) / 2, (1 + level) / 2), trim = TRUE, digits = 3L), " %")
  matrix(c(cells$numbers$low, cells$numbers$high), ncol = 2L, dimnames = list(names, tails))
}

caption_of <- function(tab) {
  about <- if (tab$table$about == "table") "the people in this table" else "the population they were sampled from"
  c(
    paste0(
      "Unbiased counts from ", format(tab$table$rows, big.mark = ","), " released rows; cells may be negative. ",
      percent(tab$level), "% intervals about ", about, "."
    ),
    tab$remarks
  )
}

print.pk_crosstab <- function(x, ..., max = 60L) {
  data <- as.data.frame(x)
  shown <- utils::head(data, max)
  labels <- shown[seq_along(x$groups)]
  columns <- result_columns("estimate", x$level)
  numbers <- lapply(columns, function(name) format_with(shown[[name]], data$std_error))
  names(numbers) <- columns
  share <- formatC(100 * shown$proportion, format = "f", digits = 1L)
  result <- data.frame(labels, numbers, share, shown$flag, check.names = FALSE)
  names(result) <- c(names(labels), columns, "% of all", "")
  print(result, row.names = FALSE)
  if (nrow(data) > max) cat("...", nrow(data) - max, "more cells; as.data.frame() has all\n")
  cat("\n", paste(strwrap(caption_of(x)), collapse = "\n"), "\n", sep = "")
  invisible(x)
}

summary.pk_crosstab <- function(object, ...) {
  data <- as.data.frame(object)
  possible <- data$flag != "impossible"
  relative <- data$std_error[possible] / abs(data$estimate[possible])
  structure(
    list(
      attributes = names(object$groups), rows = object$table$rows, cells = nrow(data),
      near_zero = sum(grepl("near zero", data$flag)), predicted = sum(grepl("predicted error", data$flag)),
      impossible = sum(!possible), relative_error = stats::median(relative),
      independence = if (length(object$groups) == 2L) {
        tryCatch(test(object), error = function(e) conditionMessage(e))
      },
      caption = caption_of(object)
    ),
    class = "summary.pk_crosstab"
  )
}

print.summary.pk_crosstab <- function(x, ...) {
  cat(paste(x$attributes, collapse = " x "), ": ", format(x$cells, big.mark = ","), " cells from ",
      format(x$rows, big.mark = ","), " released rows\n", sep = "")
  cat("  cells whose interval holds zero:", x$near_zero, "\n")
  if (x$predicted) cat("  cells with a predicted error:   ", x$predicted, "\n")
  if (x$impossible) cat("  cells that cannot occur:        ", x$impossible, "\n")
  cat("  median of error / estimate:      ", formatC(x$relative_error, digits = 2L, format = "g"), "\n", sep = "")
  if (inherits(x$independence, "htest")) {
    cat("  test of independence: p = ", format.pval(x$independence$p.value, digits = 3L), "\n", sep = "")
  } else if (is.character(x$independence)) {
    cat(strwrap(paste("No test of independence:", x$independence), indent = 2L, exdent = 4L), sep = "\n")
  }
  cat(strwrap(x$caption), sep = "\n")
  invisible(x)
}
