# A release folder: what was done (plan.json), what it claims (certificate.json), and the rows as codes.

CERTIFICATE_FORMAT <- "pkanon-certificate/2"

read_release <- function(folder, data = NULL) {
  if (!is.character(folder) || length(folder) != 1L || !dir.exists(folder)) {
    refuse("There is no folder ", quoted(format(folder)), "; give the folder of a release.")
  }
  file <- function(name) file.path(folder, name)
  if (!file.exists(file("datapackage.json")) || !file.exists(file("plan.json"))) {
    refuse(folder, " is not a finished release: it has no datapackage.json or no plan.json.")
  }
  check_hashes(folder)
  plan <- read_plan(file("plan.json"))
  certificate <- read_certificate(file("certificate.json"))
  if (is.null(data)) data <- read_rows(folder, plan)
  codes <- lapply(plan$randomised, codes_of, data)
  rows <- length(codes[[1L]])
  if (!is.null(certificate$rows) && rows != certificate$rows) {
    refuse("The data have ", rows, " rows, but certificate.json is for ", certificate$rows, "; do not rely on this release.")
  }
  structure(
    list(folder = folder, plan = plan, certificate = certificate, codes = codes, rows = rows),
    class = "pk_release"
  )
}

read_certificate <- function(file) {
  data <- tryCatch(
    jsonlite::fromJSON(file, simplifyVector = FALSE),
    error = function(e) refuse("certificate.json is absent or damaged; this is no complete release.")
  )
  if (!identical(data[["format"]], CERTIFICATE_FORMAT)) {
    refuse(
      "The format of certificate.json is ", quoted(format(data[["format"]])), "; this package reads '", CERTIFICATE_FORMAT,
      "' only."
    )
  }
  list(
    rows = data$rows$released, statement = unlist(data$statement), void = unlist(data$void),
    simulated = isTRUE(data[["collection"]][["simulated"]])
  )
}

# Every file must be the one that was released. R can compute SHA-256 since version 4.5; before, this is left out.
check_hashes <- function(folder, sha256 = sha256_of_r()) {
  if (is.null(sha256)) return(invisible(FALSE))
  package <- tryCatch(
    jsonlite::fromJSON(file.path(folder, "datapackage.json"), simplifyVector = FALSE),
    error = function(e) refuse("datapackage.json is damaged.")
  )
  files <- c(plan = "plan.json", certificate = "certificate.json", readme = "README.txt", predicted = "predicted.csv")
  hashes <- lapply(names(files), function(key) package$pkanon[[key]])
  names(hashes) <- files
  for (resource in package$resources) hashes[[basename(resource$path)]] <- resource$hash
  for (name in names(hashes)) {
    if (is.null(hashes[[name]])) next
    path <- file.path(folder, name)
    if (!file.exists(path) || !identical(paste0("sha256:", unname(sha256(path))), hashes[[name]])) {
      refuse(path, " is not the file that was released: its hash differs from datapackage.json.")
    }
  }
  invisible(TRUE)
}

sha256_of_r <- function() {
  if ("sha256sum" %in% getNamespaceExports("tools")) getExportedValue("tools", "sha256sum")
}

read_rows <- function(folder, plan) {
  csv <- file.path(folder, "data.csv")
  parquet <- file.path(folder, "data.parquet")
  if (file.exists(csv)) {
    released <- Filter(function(a) a$role %in% c("randomise", "pass"), plan$attributes)
    classes <- ifelse(vapply(released, `[[`, "", "role") == "randomise", "character", "NULL")
    rows <- tryCatch(
      utils::read.csv(
        csv, colClasses = unname(classes), na.strings = "", check.names = FALSE, encoding = "UTF-8",
        blank.lines.skip = FALSE, fill = FALSE
      ),
      error = function(e) refuse(csv, " cannot be read: ", conditionMessage(e), ".")
    )
    Encoding(names(rows)) <- "UTF-8"
    return(rows)
  }
  if (!file.exists(parquet)) refuse(folder, " has neither data.csv nor data.parquet.")
  for (reader in c("arrow", "nanoparquet")) {
    if (requireNamespace(reader, quietly = TRUE)) {
      return(as.data.frame(getExportedValue(reader, "read_parquet")(parquet)))
    }
  }
  refuse(
    parquet, " needs a reader: install the package 'nanoparquet' or 'arrow', give the rows as a data frame (data = ...), or ",
    "ask for the release as CSV (pkanon release --format csv)."
  )
}

# The code (from 1) of every row of one column.
codes_of <- function(attribute, data) {
  name <- attribute$name
  if (!name %in% names(data)) refuse("The data have no column ", quoted(name), ". ", available(names(data)))
  column <- data[[name]]
  codes <- match_texts(attribute, as_released_texts(column, attribute$released_type))
  codes[is.na(column)] <- if (attribute$missing) length(attribute$labels) else NA
  if (anyNA(codes)) {
    refuse(
      "The column ", quoted(name), " holds values that plan.json does not declare; these are not the rows of this release",
      if (inherits(column, "numeric") && attribute$type == "integer") " (integers beyond 2^53 need the CSV file)", "."
    )
  }
  codes
}

match_texts <- function(attribute, texts) {
  if (attribute$released_type != "number") return(match(texts, attribute$texts))
  known <- sprintf("%.15g", as.numeric(attribute$texts))
  if (anyDuplicated(known)) return(match(as.numeric(texts), as.numeric(attribute$texts)))
  match(sprintf("%.15g", suppressWarnings(as.numeric(texts))), known)
}

# Values of any class as the texts of plan.json.
as_released_texts <- function(values, type) {
  if (inherits(values, "integer64") || is.factor(values)) return(enc2utf8(as.character(values)))
  if (inherits(values, "Date")) return(format(values, "%Y-%m-%d"))
  if (is.logical(values) && type == "boolean") return(tolower(as.character(values)))
  if (is.numeric(values) && type == "integer") {
    # from 2^53 on, a double may stand for several integers
    whole <- !is.na(values) & values == round(values) & abs(values) < 2^53
    return(ifelse(whole, sprintf("%.0f", as.numeric(values)), NA))
  }
  if (is.numeric(values)) return(sprintf("%.17g", as.numeric(values)))
  enc2utf8(as.character(values))
}

# What a reader of estimates must know beside their errors.
remarks_of <- function(release) {
  c(
    if (release$certificate$simulated) "The answers were simulated, to try a survey: no row is about a person.",
    if (release$plan$hidden_count) {
      paste(
        "The record count is hidden: estimates are about the released rows, some of which are dummies while some people",
        "were left out; errors do not cover that."
      )
    },
    if (release$plan$one_row_each) {
      declared <- release$plan$rows_are
      paste0(
        "The release holds one row of each person, drawn at random",
        if (!is.null(declared)) paste0(" (rows are declared to be \"", declared, "\")"),
        ". Estimates are about persons, each with one of their rows; they are not about all rows of the private table."
      )
    }
  )
}

print.pk_release <- function(x, ...) {
  cat("Release of", format(x$rows, big.mark = ","), "rows\n")
  for (attribute in x$plan$randomised) {
    values <- attribute$labels
    shown <- paste(utils::head(values, 6L), collapse = ", ")
    if (length(values) > 6L) shown <- paste0(shown, ", ... (", format(length(values), big.mark = ","), " values)")
    cat(strwrap(paste0(attribute$name, ": ", shown), indent = 2L, exdent = 6L), sep = "\n")
  }
  cat(strwrap(c(
    "A single row may be true or not: ask for tables, with crosstab().", remarks_of(x)
  )), sep = "\n")
  invisible(x)
}

summary.pk_release <- function(object, ...) {
  randomised <- object$plan$randomised
  block <- function(name) {
    Find(function(b) name %in% b$attributes, object$plan$blocks)
  }
  columns <- data.frame(
    attribute = names(randomised),
    type = vapply(randomised, `[[`, "", "type"),
    values = vapply(randomised, function(a) length(a$labels), 0L),
    block = vapply(names(randomised), function(n) block(n)$kind, ""),
    row.names = NULL
  )
  together <- vapply(names(randomised), function(n) paste(setdiff(block(n)$attributes, n), collapse = ", "), "")
  columns$together_with <- unname(together)
  structure(
    list(rows = object$rows, columns = columns, certificate = object$certificate, remarks = remarks_of(object)),
    class = "summary.pk_release"
  )
}

print.summary.pk_release <- function(x, ...) {
  cat("Release of", format(x$rows, big.mark = ","), "rows\n\n")
  print(x$columns, row.names = FALSE, right = FALSE)
  cat("\n", paste(strwrap(c(x$certificate$statement, x$certificate$void, x$remarks)), collapse = "\n"), "\n", sep = "")
  invisible(x)
}
