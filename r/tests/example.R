library(pkanon)

release <- read_release(system.file("extdata", "example", package = "pkanon"))
stopifnot(nrow(as.data.frame(crosstab(release, "sex", "education"))) == 8L)

# a table holds its marginals: the same number, the same error, the same interval
tab <- crosstab(release, "sex", "age", "education")
single <- as.data.frame(crosstab(release, "sex"))
women <- as.data.frame(count(tab, list(sex = "F")))
stopifnot(all.equal(unlist(women), unlist(single[1L, names(women)])))
stopifnot(all.equal(as.numeric(count(tab)), 1000))

# a merged cell is the count of its members; all values merged are everybody
merged <- merge_values(crosstab(release, "education", "sex"), education = list(some = c("school", "degree")))
some <- count(crosstab(release, "education", "sex"), list(education = c("school", "degree"), sex = "M"))
row <- subset(as.data.frame(merged), education == "some" & sex == "M")
stopifnot(all.equal(unlist(row[3:6]), unlist(as.data.frame(some)[1:4])))
stopifnot(identical(dimnames(merged)$education, c("none", "some", "(missing)")))

# the missing value is visible, and NA asks for it
stopifnot(identical(
  as.data.frame(count(tab, list(education = NA))), as.data.frame(count(tab, list(education = "(missing)")))
))

# what cannot be asked is refused, with what there is instead
refused <- function(expression, words) {
  message <- tryCatch({ expression; "" }, error = conditionMessage)
  if (!all(vapply(words, grepl, NA, message, fixed = TRUE))) stop("not refused as it should be: ", message)
}
refused(crosstab(release, "sx"), c("'sx'", "Available: sex, age"))
refused(count(tab, list(sex = "X")), c("'X'", "Available: F, M"))
refused(count(tab, list(age = NA)), "no missing values")
refused(mean(tab, "education"), "which number stands for each value")
refused(crosstab(release, "sex", level = 95), "Did you mean 0.95?")
refused(count(tab) + count(crosstab(release, "sex")), "one and the same table")
refused(merge_values(tab, age = list(old = c("60+", "100"))), c("'100'", "Available: 0-19"))
refused(read_release(tempdir()), "not a finished release")

# a test rejects at 5% what the 95% interval does not hold, whatever interval it is
tab <- crosstab(release, "age", "education", "sex")
for (number in list(
  count(tab, list(age = "0-19", education = "school", sex = "F")),
  proportion(tab, list(education = "degree"), given = list(sex = "F")),
  mean(crosstab(release, "rooms"), "rooms"),
  difference(tab, list(sex = "F"), list(sex = "M")),
  odds_ratio(tab, list(sex = "F"), list(education = "degree"))
)) {
  for (limit in confint(number, level = 0.9)) stopifnot(all.equal(test(number, limit)$p.value, 0.1, tolerance = 1e-6))
  stopifnot(test(number, as.numeric(number))$p.value == 1)
}
stopifnot(identical(test(odds_ratio(tab, list(sex = "F"), list(education = "degree")))$null.value[[1L]], 1))
