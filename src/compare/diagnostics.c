/* SPDX-License-Identifier: MIT */
#include "compare/diagnostics.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "compare/results.h"
#include "data/open.h"
#include "file/file.h"
#include "file/json.h"
#include "job/run.h"

static void count_layer(struct unit_counts *out, const sph_boundary *layer)
{
    for (size_t j = 0; j < layer->m; j++) {
        double share = layer->active_share[j], pole = layer->pole[j];
        out->units++;
        out->dead += share == 0;
        out->always += share == 1;
        out->angled += isnan(pole) ? 0 : 1;
        out->poles += pole < diagnostics_near_pole;
    }
}

int diagnostics_count(struct unit_counts *out, const struct results *results, size_t job)
{
    struct sph_run run = {0};
    sph_boundaries *all = NULL;
    *out = (struct unit_counts){0};
    char *folder = results_folder(results, job);
    int err = folder ? run_read(&run, folder, RUN_DATA | RUN_MODEL, experiment_cache(results->experiment))
                     : SPH_EMEMORY;
    if (!err && run_single(&run) && run.data && !run.data->image.pixels)
        err = sph_boundaries_new(&all, run.net, SPH_EVERY_LAYER, 0, run.data, run.split.train,
                                 run.split.train_rows);
    for (size_t i = 0; !err && all && i < all->count; i++)
        if (all->layer[i].kind != SPH_BOUNDARY_NONE)
            count_layer(out, &all->layer[i]);
    sph_boundaries_free(all);
    run_close(&run);
    mem_free(folder);
    return err;
}

void diagnostics_of(struct diagnostics *out, const struct results *r, size_t method, size_t line)
{
    struct unit_counts sum = {0};
    double finished = 0;
    *out = (struct diagnostics){0};
    for (size_t s = 0; s < r->experiment->seed_count; s++) {
        const struct experiment_outcome *outcome = &r->outcomes[results_final(r, method, line, s)];
        const struct unit_counts *own =
            r->units ? &r->units[experiment_report(r->experiment, r->set, method, line, s)] : &sum;
        if (outcome->finished && !outcome->diverged) {
            finished++;
            out->best_epoch += (double)outcome->best_epoch;
            out->epochs += (double)outcome->epochs;
            out->seconds += outcome->seconds;
        }
        if (own == &sum || !own->units)
            continue;
        out->runs++;
        sum.units += own->units;
        sum.dead += own->dead;
        sum.always += own->always;
        sum.angled += own->angled;
        sum.poles += own->poles;
    }
    double units = sum.units ? (double)sum.units : (double)NAN;
    out->units = units / (double)out->runs;
    out->dead = (double)sum.dead / units;
    out->always = (double)sum.always / units;
    out->poles = sum.angled ? (double)sum.poles / (double)sum.angled : (double)NAN;
    finished = finished > 0 ? finished : (double)NAN;
    out->best_epoch /= finished;
    out->epochs /= finished;
    out->seconds /= finished;
}

int diagnostics_load(struct results *r)
{
    size_t count = experiment_reports(r->experiment);
    char *path = file_join(r->dir, DIAGNOSTICS_FILE ".json");
    json_t *object = NULL;
    const json_t *runs = NULL;
    int err = !path ? SPH_EMEMORY : file_exists(path) ? json_read(&object, path) : 0;
    if (!err && object && !(err = json_member_array(object, path, "runs", &runs)) &&
        json_array_size(runs) != count)
        err =
            sph_fail_of(SPH_EFORMAT, path, 0, "runs", "%zu runs, expected %zu", json_array_size(runs), count);
    if (!err && object && !(r->units = mem_get(count, sizeof *r->units)))
        err = SPH_EMEMORY;
    for (size_t i = 0; !err && object && i < count; i++) {
        const json_t *run = json_array_get(runs, i);
        struct unit_counts *own = &r->units[i];
        if ((err = json_member_size(run, path, "units", &own->units)) < 0 ||
            (err = json_member_size(run, path, "dead", &own->dead)) < 0 ||
            (err = json_member_size(run, path, "always_on", &own->always)) < 0 ||
            (err = json_member_size(run, path, "with_poles", &own->angled)) < 0)
            break;
        err = json_member_size(run, path, "near_pole", &own->poles);
    }
    json_decref(object);
    mem_free(path);
    return err;
}
