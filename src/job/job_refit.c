/* SPDX-License-Identifier: MIT
 *
 * --refit: when the validation part has chosen the epoch, the nets are trained again, from the same first values, on training
 * and validation part together, for as many epochs. What chose them is kept in the checkpoints of the second training. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "job/job_run.h"
#include "store/checkpoint.h"

int job_refit_wanted(const struct job_run *run)
{
    return run->job->spec.options.refit > 0 && !run->refit;
}

int job_refit_split(const struct job_run *run, sph_split *out)
{
    const sph_split *split = &run->split;
    size_t rows = split->train_rows + split->val_rows;
    *out = *split;
    out->train = mem_get(rows, sizeof *out->train);
    if (!out->train)
        return SPH_EMEMORY;
    memcpy(out->train, split->train, split->train_rows * sizeof *out->train);
    memcpy(out->train + split->train_rows, split->val, split->val_rows * sizeof *out->train);
    out->train_rows = rows;
    out->val = NULL;
    out->val_rows = 0;
    return 0;
}

size_t job_refit_epochs(const struct job_run *run, size_t member)
{
    const json_t *list = json_object_get(run->refit, "epochs");
    return (size_t)json_integer_value(json_array_get(list, member));
}

int job_refit_choose(struct job_run *run, const sph_result *chosen)
{
    json_t *epochs = json_array();
    int bad = 0;
    for (size_t k = 0; k < run->count; k++)
        bad |= json_array_append_new(
            epochs, json_integer((json_int_t)trainer_place(run->trainers[k]->loop)->best_epoch));
    run->refit = JSON_OF({"epochs", epochs}, {"trained", json_count(chosen->epochs)},
                         {"best_epoch", json_count(chosen->best_epoch)},
                         {"val_rows", json_count(chosen->val.rows)}, {"val", runfolder_scores(&chosen->val)},
                         JSON_IF(run->more, "members", json_incref(json_object_get(run->more, "members"))));
    json_decref(run->more);
    run->more = NULL;
    return bad || !run->refit ? sph_fail(SPH_EMEMORY, "out of memory") : 0;
}

int job_refit_recall(struct job_run *run)
{
    const char *path = run->folder.checkpoint;
    const json_t *list;
    json_t *extra = NULL;
    int err = checkpoint_extra(path, &extra);
    run->refit = json_incref(json_object_get(extra, "refit"));
    if (!err && run->refit && !(err = json_member_array(run->refit, path, "epochs", &list)))
        for (size_t k = 0; k < run->count && !err; k++)
            if (json_array_size(list) != run->count || json_integer_value(json_array_get(list, k)) < 1)
                err = sph_fail_of(SPH_EFORMAT, path, 0, "epochs",
                                  "\"epochs\" of the refit is no list of %zu numbers above 0", run->count);
    json_decref(extra);
    return err;
}

/* Scores that a file kept, with the names that this program has for them. */
static void read_scores(sph_scores *out, const json_t *scores, size_t rows)
{
    const char *name;
    json_t *value;
    *out = (sph_scores){.rows = rows};
    json_object_foreach((json_t *)scores, name, value)
    {
        int metric = sph_word_find(SPH_WORDS_METRIC, name);
        if (metric < 0 || out->count >= SPH_METRICS_MAX)
            continue;
        out->name[out->count] = sph_word(SPH_WORDS_METRIC, metric)->word;
        out->value[out->count++] = json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
}

/* What each member was when it was chosen; its test scores are those of the second training. */
static int merge_members(json_t *now, const json_t *then)
{
    static const char *const keys[] = {"epochs", "best_epoch", "val"};
    int bad = 0;
    for (size_t k = 0; k < json_array_size(now); k++)
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            json_t *value = json_object_get(json_array_get(then, k), keys[i]);
            if (value)
                bad |= json_object_set(json_array_get(now, k), keys[i], value);
        }
    return bad;
}

int job_refit_result(struct job_run *run, sph_result *result)
{
    int bad = 0;
    if (!run->refit)
        return 0;
    result->epochs = (size_t)json_integer_value(json_object_get(run->refit, "trained"));
    result->best_epoch = (size_t)json_integer_value(json_object_get(run->refit, "best_epoch"));
    result->improving = 0;
    read_scores(&result->val, json_object_get(run->refit, "val"),
                (size_t)json_integer_value(json_object_get(run->refit, "val_rows")));
    if (!run->more)
        run->more = json_object();
    else
        bad = merge_members(json_object_get(run->more, "members"), json_object_get(run->refit, "members"));
    bad |= json_object_set_new(run->more, "refit",
                               json_pack("{s:O, s:I}", "epochs", json_object_get(run->refit, "epochs"),
                                         "rows", (json_int_t)(run->split.train_rows + run->split.val_rows)));
    return bad ? sph_fail(SPH_EMEMORY, "out of memory") : 0;
}
