# Whole numbers of any size. plan.json writes them as texts, because doubles lose their last bits.
#
# Several numbers are a matrix with one column each: digits in base 2^16, the lowest first. All digits but the highest are
# 0 to 65535; the highest carries the sign.

BASE <- 2^16
DIGITS <- 28L  # 448 bits: 2^64 times the number of values of 12 units of any size

whole_numbers <- function(texts) {
  texts <- as.character(texts)
  if (!all(grepl("^-?[0-9]+$", texts))) stop_plan("something else stands where a text of digits must be")
  negative <- startsWith(texts, "-")
  texts <- sub("^-", "", texts)
  width <- 4L * ((max(nchar(texts)) + 3L) %/% 4L)
  if (width > 40L) stop_plan("a number in it is too large")
  texts <- paste0(strrep("0", width - nchar(texts)), texts)
  numbers <- matrix(0, DIGITS, length(texts))
  for (start in seq(1L, width, 4L)) {
    numbers <- numbers * 10000
    numbers[1L, ] <- numbers[1L, ] + as.numeric(substr(texts, start, start + 3L))
    numbers <- carried_over(numbers)
  }
  carried_over(sweep(numbers, 2L, ifelse(negative, -1, 1), `*`))
}

carried_over <- function(numbers) {
  for (row in seq_len(DIGITS - 1L)) {
    above <- floor(numbers[row, ] / BASE)
    numbers[row, ] <- numbers[row, ] - above * BASE
    numbers[row + 1L, ] <- numbers[row + 1L, ] + above
  }
  numbers
}

power_of_two <- function(bits) {
  number <- matrix(0, DIGITS, 1L)
  number[bits %/% 16L + 1L, 1L] <- 2^(bits %% 16L)
  number
}

# numbers / 2^bits, right to the last digit or the one before
as_doubles <- function(numbers, bits) {
  negative <- numbers[DIGITS, ] < 0
  numbers <- carried_over(sweep(numbers, 2L, ifelse(negative, -1, 1), `*`))
  values <- colSums(numbers * 2^(16 * (seq_len(DIGITS) - 1) - bits))
  ifelse(negative, -values, values)
}

# Digits, and a minus before numbers below zero.
as_texts <- function(numbers) {
  negative <- numbers[DIGITS, ] < 0
  numbers <- carried_over(sweep(numbers, 2L, ifelse(negative, -1, 1), `*`))
  texts <- character(ncol(numbers))
  while (any(numbers != 0)) {
    rest <- numeric(ncol(numbers))
    for (row in rev(seq_len(DIGITS))) {
      value <- rest * BASE + numbers[row, ]
      numbers[row, ] <- floor(value / 10000)
      rest <- value - numbers[row, ] * 10000
    }
    texts <- paste0(sprintf("%04.0f", rest), texts)
  }
  texts <- sub("^0+", "", texts)
  texts[texts == ""] <- "0"
  paste0(ifelse(negative & texts != "0", "-", ""), texts)
}
