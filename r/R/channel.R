# How one cross-tabulation was randomised: the passes of all blocks on its axes.
#
#   forward            x -> A' x    what is expected to be released
#   forward_transpose  t -> A t
#   inverse            y -> B' y    the unbiased table
#   inverse_transpose  t -> B t     weights of a linear function, carried to released rows
#   product_inverse    entrywise products of inverses on marginals: variances, covariances, third moments
#
# A matrix block on a bundle has no matrix on some of its attributes alone; the rest of the bundle is then counted too
# (`extra`) and summed out after the inverse. Axes behind those of the table hold several arrays at once.

LARGEST_TABLE <- 1e7
VANISHING <- 1e-12

channel_of <- function(plan, names) {
  randomised <- names(plan$randomised)
  if (!is.character(names) || !length(names) || anyNA(names)) {
    refuse("A table needs the names of its attributes. ", available(randomised))
  }
  unknown <- setdiff(names, randomised)
  if (length(unknown)) {
    refuse("The release has no randomised attribute ", quoted(unknown[1L]), ". ", available(randomised))
  }
  if (anyDuplicated(names)) refuse("A table names each attribute once.")
  touching <- vapply(plan$blocks, function(block) any(block$attributes %in% names), NA)
  blocks <- plan$blocks[touching]
  extra <- character()
  for (block in blocks) {
    if (block$kind == "matrix") extra <- c(extra, setdiff(block$attributes, names))
  }
  all_sizes <- unlist(lapply(plan$blocks, `[[`, "sizes"))
  names(all_sizes) <- unlist(lapply(plan$blocks, `[[`, "attributes"))
  sizes <- all_sizes[c(names, extra)]
  if (prod(sizes) > LARGEST_TABLE) {
    refuse(
      "The table of ", paste(names(sizes), collapse = ", "), " would have ", format(prod(sizes), big.mark = ","),
      " cells; the limit of this package is ", format(LARGEST_TABLE, big.mark = ",", scientific = FALSE),
      ". Leave out the attribute with the most values."
    )
  }
  axes <- seq_along(sizes)
  names(axes) <- names(sizes)
  channel <- list(names = names, extra = extra, blocks = blocks, sizes = sizes, shape = unname(sizes[names]), axes = axes)
  check_invertible(channel)
  possible <- array(TRUE, unname(sizes))
  for (block in blocks) {
    for (unit in block$units) {
      inside <- intersect(names(sizes), unit$attributes)
      if (is.null(unit$allowed) || !length(inside)) next
      possible <- both(`&`, possible, spread(unit_shares(unit, inside) > 0, axes[inside], length(sizes)))
    }
  }
  channel$possible_whole <- possible
  channel$possible <- collapse(channel, possible + 0) > 0
  channel
}

check_invertible <- function(channel) {
  for (block in channel$blocks) {
    inside <- intersect(block$attributes, channel$names)
    left <- if (block$kind == "matrix") {
      !is.null(block$B)
    } else {
      part <- part_of(block, channel$axes, length(channel$sizes), inside)
      all(abs(block$spectrum[masks_of(part) + 1L]) > VANISHING)
    }
    if (!left) {
      refuse(
        "The table of ", paste(channel$names, collapse = ", "), " cannot be reconstructed: the plan leaves nothing of ",
        paste(inside, collapse = " x "), " in the released rows. Ask for a table without it."
      )
    }
  }
}

# Without the extra axes.
collapse <- function(channel, x) {
  if (!length(channel$extra)) return(x)
  array(sum_over(x, length(channel$shape) + seq_along(channel$extra)), channel$shape)
}

through <- function(channel, x, on_symmetric, numbers, on_matrix) {
  for (block in channel$blocks) {
    x <- if (block$kind == "matrix") {
      matrix_along(x, block, channel$axes, on_matrix(block))
    } else {
      on_symmetric(x, part_of(block, channel$axes, length(dim(x))), numbers(block))
    }
  }
  x
}

forward <- function(channel, people) {
  through(channel, people, on_counts, function(b) b$spectrum, function(b) t(b$A))
}

forward_transpose <- function(channel, weights) {
  through(channel, weights, on_weights, function(b) b$spectrum, function(b) b$A)
}

inverse_whole <- function(channel, released) {
  through(channel, released, on_counts, function(b) 1 / b$spectrum, function(b) t(b$B))
}

inverse <- function(channel, released) collapse(channel, inverse_whole(channel, released))

# `weights` has one more axis behind those of the table: several functions.
inverse_transpose <- function(channel, weights) {
  functions <- dim(weights)[length(dim(weights))]
  table <- array(weights, c(channel$shape, rep(1L, length(channel$extra)), functions))
  whole <- expand(table, c(unname(channel$sizes), functions))
  through(channel, whole, on_weights, function(b) 1 / b$spectrum, function(b) b$B)
}

# sum_v released_v prod_i B_i[v, j], B_i the inverse on the marginal of kept[[i]].
product_inverse <- function(channel, released, ...) {
  kept <- list(...)
  x <- released
  for (block in channel$blocks) {
    x <- if (block$kind == "matrix") {
      matrix_products(x, block, channel$axes, kept)
    } else {
      symmetric_products(x, block, 1 / block$spectrum, channel$axes, kept)
    }
  }
  if (!length(channel$extra)) return(x)
  array(x[seq_len(prod(channel$shape))], channel$shape)  # the same all along the extra axes, which are the last
}

# B[j, j]: how far one released row in a cell moves the estimate of that cell.
step_of <- function(channel) {
  per_cell(channel, function(block, names, axes) {
    if (block$kind == "matrix") return(on_cells(block, names, diag(matrix_product(block, list(names)))))
    entries <- entries_of(part_of(block, axes, length(axes)), 1 / block$spectrum, length(axes))
    entries[[length(entries)]]
  })
}

# sum_v A[j, v] B[v, j]^power of each cell j.
own_moment <- function(channel, power) {
  per_cell(channel, function(block, names, axes) {
    if (block$kind == "matrix") {
      # people of one cell of a marginal differ in what they add; the largest is the safe one
      product <- matrix_product(block, rep(list(names), power))
      return(on_cells(block, names, rowSums(block$A * t(product))))
    }
    part <- part_of(block, axes, length(axes))
    chances <- chances_of(part, block$spectrum, length(axes))
    entries <- entries_of(part, 1 / block$spectrum, length(axes))
    total <- array(0, rep(1L, length(axes)))
    for (i in seq_along(chances)) total <- plus(total, times(chances[[i]], entries[[i]]^power))
    total
  })
}

per_cell <- function(channel, of_block) {
  count <- length(channel$shape)
  result <- array(1, rep(1L, count))
  for (block in channel$blocks) {
    names <- intersect(channel$names, block$attributes)
    axes <- seq_along(names)
    names(axes) <- names
    values <- of_block(block, names, axes)
    result <- times(result, spread(values, match(names, channel$names), count))
  }
  expand(result, channel$shape)
}
