# Refusals: one sentence that says what is wrong and what there is instead.

refuse <- function(...) stop(paste0(...), call. = FALSE)

stop_plan <- function(...) refuse("plan.json cannot be used: ", ..., ".")

available <- function(names) {
  shown <- utils::head(names, 20L)
  more <- length(names) - length(shown)
  paste0("Available: ", paste(shown, collapse = ", "), if (more > 0L) paste0(" and ", more, " more"), ".")
}

quoted <- function(names) paste0("'", names, "'")

check_level <- function(level) {
  if (!is.numeric(level) || length(level) != 1L || is.na(level) || level <= 0 || (1 + level) / 2 >= 1) {
    hint <- if (is.numeric(level) && length(level) == 1L && isTRUE(level > 1 && level < 100)) {
      paste0(" Did you mean ", format(level / 100), "?")
    } else {
      ""
    }
    refuse("A confidence level lies between 0 and 1, such as 0.95.", hint)
  }
  level
}
