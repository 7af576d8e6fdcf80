/* SPDX-License-Identifier: MIT */
#include "data/cache.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/build.h"

/* What was asked for, and what that is. Where no rows are to be chosen the data are settled, and shared. */
struct data_kept {
    char *source, *target, *drop, *needed, *missing_words, *group, *time, *weights;
    sph_data_opts opts; /* its texts are not looked at */
    sph_data *data;
    char *path;
};

static void forget(struct data_kept *kept)
{
    mem_free(kept->source);
    mem_free(kept->target);
    mem_free(kept->drop);
    mem_free(kept->needed);
    mem_free(kept->missing_words);
    mem_free(kept->group);
    mem_free(kept->time);
    mem_free(kept->weights);
    mem_free(kept->path);
    sph_data_free(kept->data);
}

static int same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* Rows are chosen of what was read; a set that is made has them by the seed. */
static int same_rows(const struct data_kept *kept, const sph_data_opts *opts)
{
    const sph_data_opts *own = &kept->opts;
    if (own->permutes != opts->permutes || (own->permutes && own->permute != opts->permute))
        return 0;
    if (!kept->data->reading.made)
        return !own->rows == !opts->rows && !(opts->noise > 0) && !opts->by_numpy;
    if (own->by_numpy != opts->by_numpy || own->draw != opts->draw)
        return 0;
    return own->rows == opts->rows && own->seed == opts->seed &&
           (own->noise == opts->noise || (isnan(own->noise) && isnan(opts->noise)));
}

static int is_whole(const sph_data *data, const sph_data_opts *opts)
{
    return !opts->rows || data->reading.made;
}

/* A task that was found out serves who asks for it. Rows that are yet to be chosen have none. */
static int same_task(const struct data_kept *kept, const sph_data_opts *opts)
{
    return !is_whole(kept->data, opts) || kept->opts.task == opts->task ||
           (int)kept->data->task == opts->task;
}

static const struct data_kept *find(const struct data_cache *cache, const char *source,
                                    const sph_data_opts *opts)
{
    for (size_t i = 0; i < cache->count; i++) {
        const struct data_kept *kept = &cache->list[i];
        if (!strcmp(kept->source, source) && same_text(kept->target, opts->target) &&
            same_text(kept->drop, opts->drop) && same_text(kept->needed, opts->needed) &&
            same_text(kept->missing_words, opts->missing_words) && same_text(kept->group, opts->group) &&
            same_text(kept->time, opts->time) && same_text(kept->weights, opts->weights) &&
            kept->opts.delimiter == opts->delimiter && kept->opts.missing == opts->missing &&
            !kept->opts.gray == !opts->gray && kept->opts.side == opts->side &&
            kept->opts.eval_side == opts->eval_side &&
            (!kept->data->image.pictures || kept->opts.decode == opts->decode) &&
            kept->opts.workers == opts->workers && !kept->opts.skip_bad == !opts->skip_bad &&
            same_rows(kept, opts) && same_task(kept, opts))
            return kept;
    }
    return NULL;
}

/* NULL stays NULL. */
static int copy_text(char **out, const char *text)
{
    *out = text ? mem_text(text) : NULL;
    return !text || *out;
}

static int keep(struct data_cache *cache, const char *source, const sph_data_opts *opts)
{
    struct data_kept kept = {.opts = *opts};
    int err = data_read(&kept.data, &kept.path, source, opts);
    if (!err && opts->permutes)
        err = data_permute(&kept.data, kept.path, opts->permute);
    if (!err && is_whole(kept.data, opts) && !data_is_images(kept.data))
        err = targets_settle(kept.data, kept.path, opts->task);
    if (!err &&
        (!(kept.source = mem_text(source)) || !copy_text(&kept.target, opts->target) ||
         !copy_text(&kept.drop, opts->drop) || !copy_text(&kept.needed, opts->needed) ||
         !copy_text(&kept.missing_words, opts->missing_words) || !copy_text(&kept.group, opts->group) ||
         !copy_text(&kept.time, opts->time) || !copy_text(&kept.weights, opts->weights) ||
         !mem_reserve((void **)&cache->list, &cache->capacity, cache->count + 1, sizeof kept)))
        err = SPH_EMEMORY;
    if (err < 0)
        forget(&kept);
    else
        cache->list[cache->count++] = kept;
    return err;
}

int data_cache_open(struct data_cache *cache, sph_data **out, const char *source, const sph_data_opts *opts)
{
    const struct data_kept *kept = source ? find(cache, source, opts) : NULL;
    int err = kept ? 0 : keep(cache, source, opts);
    *out = NULL;
    if (err < 0)
        return err;
    if (!kept)
        kept = &cache->list[cache->count - 1];
    sph_data *chosen = NULL;
    if (is_whole(kept->data, opts)) {
        chosen = data_share(kept->data);
    } else {
        err = data_choose(&chosen, kept->data, kept->path, opts->rows, opts->seed);
        if (!err && !data_is_images(chosen))
            err = targets_settle(chosen, kept->path, opts->task);
    }
    if (!err && opts->columns == SPH_COLUMNS_REVERSED)
        err = data_reverse(&chosen, kept->path);
    if (!err && chosen->notes.failed)
        err = SPH_EMEMORY;
    if (err < 0)
        sph_data_free(chosen);
    else
        *out = chosen;
    return err;
}

void data_cache_free(struct data_cache *cache)
{
    for (size_t i = 0; i < cache->count; i++)
        forget(&cache->list[i]);
    mem_free(cache->list);
    *cache = (struct data_cache){0};
}
