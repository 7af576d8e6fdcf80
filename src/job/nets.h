/* SPDX-License-Identifier: MIT
 *
 * The inside of nets.c, used by runs. */
#ifndef SPH_JOB_NETS_H
#define SPH_JOB_NETS_H

#include "file/json.h"
#include "spherelu/job.h"
#include "train/losses.h"

/* What the members predict of one row, as one. */
struct joined {
    size_t members, outputs;
    double *each;          /* (members, outputs) */
    double *mean, *spread; /* (outputs) */
};

/* The mean of the members' predictions, and the standard deviation among them. */
void nets_join(struct joined *row, enum loss_link link);

/* Nets as an ONNX graph of their predictions. schema: of their data. */
int nets_export(sph_net *const *nets, size_t count, const json_t *schema, sph_loss loss, const char *path,
                const sph_export_opts *opts);

/* What is kept beside nets: the schema of their data, and the loss where it decides how predictions come from scores and
 * the task does not tell. */
int nets_describe(const sph_data *data, sph_loss loss, json_t **out);

#endif
