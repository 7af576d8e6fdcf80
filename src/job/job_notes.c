/* SPDX-License-Identifier: MIT
 *
 * What is told of a training before it begins, beside what is told of its table. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "job/job_run.h"

/* Tells of a column that is taken as constant though its values differ. A scale of 1 is rare enough to look twice. */
static int note_flat(struct job_run *run, size_t column, int target, const char *name, struct text *notes)
{
    const sph_split *split = &run->split;
    const double *scale = target ? run->nets[0]->scaling.y_scale : run->nets[0]->scaling.x_scale;
    if (!scale || scale[column] != 1 ||
        !scaling_flattens(run->data, split->train, split->train_rows, column, target))
        return 0;
    text_add(notes,
             "%scolumn '%s' is treated as constant because its values differ only by rounding errors; to use "
             "it, subtract a number near their mean",
             notes->length ? "\n" : "", name);
    return notes->failed ? SPH_EMEMORY : 0;
}

int job_note_constants(struct job_run *run)
{
    const sph_data *data = run->data;
    struct text notes = {0};
    int err = 0;
    if (data_is_images(data) || run->trainers[0]->opts.standardize == SPH_STANDARDIZE_MEAN)
        return 0;
    if (run->job->notes)
        text_add(&notes, "%s", run->job->notes);
    for (size_t i = 0; i < data->column_count && !err; i++) {
        const struct column *column = &data->columns[i];
        if (column->kind == COLUMN_NUMBER && column->role != COLUMN_DROPPED)
            err = note_flat(run, column->at, column->role == COLUMN_TARGET, column->name, &notes);
    }
    if (err < 0 || notes.failed) {
        text_free(&notes);
        return SPH_EMEMORY;
    }
    mem_free(run->job->notes);
    run->job->notes = notes.chars;
    return 0;
}
