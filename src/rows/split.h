/* SPDX-License-Identifier: MIT
 *
 * Folds for cross-validation; the splits themselves are sph_split_make in include/spherelu.h. */
#ifndef SPH_ROWS_SPLIT_H
#define SPH_ROWS_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "spherelu/core.h"

/* Fold number `fold` (0 .. folds-1) of scikit-learn's KFold(folds, shuffle=True, random_state=seed) over
 * rows (count), borrowed; NULL stands for 0 .. count-1. out->val has the rows of the fold, out->train the
 * others, both in the order of rows; out->test is empty. Refused (SPH_EARG): fewer than two folds, more folds
 * than rows, a fold past the last, a seed of 2^32 or more. Free with sph_split_free. */
int split_kfold(sph_split *out, const uint32_t *rows, size_t count, size_t folds, size_t fold, uint64_t seed);

/* Fold `fold` of training and validation part together: fold 0 has the validation part of whole and leaves its training
 * part, so that it is whole itself; the others have the training part, dealt out to them in turn. out->val has the rows of the
 * fold, out->train the others, out->test is empty. at, where it is not NULL: for the rows of out->train, then those of
 * out->val, where each lies in whole->train and whole->val behind one another; freed by the caller. folds >= 2. */
int split_fold(sph_split *out, uint32_t **at, const sph_split *whole, size_t folds, size_t fold);

#endif
