/* SPDX-License-Identifier: MIT
 *
 * The predicted class of each row and its probability, for confusion matrices and pictures of wrong
 * predictions. */
#ifndef SPH_JOB_VERDICTS_H
#define SPH_JOB_VERDICTS_H

#include "data/open.h"

/* Rows of data (NULL: the first count) as the net takes them, some at a time: images would be eight times as large as numbers. */
typedef int rows_piece(void *self, size_t first, size_t count, const double *x);
int rows_walk(const sph_data *data, const sph_net *net, const uint32_t *rows, size_t count, rows_piece *take,
              void *self);

struct verdict {
    uint32_t row, truth, given;
    float chance; /* the net's probability of the class it gives */
};

/* out (count) <- those of rows (count; NULL: all of the data, which count is then), in their order. Data of a class
 * task with one target; of an ensemble by the mean of its probabilities; memory does not grow with the number of outputs. */
int verdicts_make(struct verdict *out, sph_net *const *nets, size_t members, const sph_data *data,
                  const uint32_t *rows, size_t count);

/* matrix (classes, classes) <- how many rows of a class were given each. */
void verdicts_count(size_t *matrix, size_t classes, const struct verdict *list, size_t count);

#endif
