/* SPDX-License-Identifier: MIT
 *
 * What is told of a training before it begins, beside what is told of its table. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "boundary/tracker.h"
#include "job/job_run.h"
#include "job/moments.h"

/* Tells of a column that is taken as constant though its values differ. A scale of 1 is rare enough to look twice. */
static void note_flat(struct job_run *run, size_t column, int target, const char *name)
{
    const sph_split *split = &run->split;
    const double *scale = target ? run->nets[0]->scaling.y_scale : run->nets[0]->scaling.x_scale;
    if (scale && scale[column] == 1 &&
        scaling_flattens(run->data, split->train, split->train_rows, column, target))
        text_add_line(&run->job->notes,
                      "column '%s' is treated as constant because its values differ only by rounding errors; "
                      "to use it, subtract a number near their mean",
                      name);
}

/* Tells that no layer has what is to be recorded. */
static void note_record(struct job_run *run)
{
    const struct job_spec *spec = &run->job->spec;
    int follows = 0;
    for (size_t k = 0; k < run->nets[0]->layer_count; k++)
        follows |= tracker_follows(run->nets[0], k);
    if (!follows && run->nets[0]->layers[0].norm->per_sample && options_has(spec, OPTION_RECORD) &&
        moments_want(&spec->options.record, "boundaries"))
        text_add_line(&run->job->notes,
                      "the record has no boundaries: units with --norm %s have no hyperplanes, because the "
                      "norm has statistics of each sample",
                      options_text(spec, OPTION_NORM));
}

int job_note_first(struct job_run *run)
{
    const sph_data *data = run->data;
    int scaled = run->trainers[0]->opts.standardize != SPH_STANDARDIZE_MEAN;
    note_record(run);
    for (size_t i = 0; !data_is_images(data) && scaled && i < data->column_count; i++) {
        const struct column *column = &data->columns[i];
        if (column->kind == COLUMN_NUMBER && column->role != COLUMN_DROPPED)
            note_flat(run, column->at, column->role == COLUMN_TARGET, column->name);
    }
    return run->job->notes.failed ? SPH_EMEMORY : 0;
}
