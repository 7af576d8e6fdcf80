/* SPDX-License-Identifier: MIT */
#include "data/cache.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/build.h"

/* What was asked for, and what that is. Where no rows are to be chosen the data are settled, and shared. */
struct data_kept {
    char *key;
    sph_data_opts opts; /* its texts are not looked at */
    sph_data *data;
    char *path;
};

static void forget(struct data_kept *kept)
{
    mem_free(kept->key);
    mem_free(kept->path);
    sph_data_free(kept->data);
}

/* The source and all options by which it is read, as one text; caller frees. An option that is not given differs from an empty one. */
static char *key_of(const char *source, const sph_data_opts *o)
{
    const char *const texts[] = {source,   o->target, o->drop, o->needed, o->missing_words,
                                 o->group, o->time,   o->text, o->weights};
    struct text key = {0};
    text_add(&key, "%d %d %d %zu %zu %zu %d", o->delimiter, (int)o->missing, o->gray != 0, o->side,
             o->eval_side, o->workers, o->skip_bad != 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        text_add(&key, " %zu %s", texts[i] ? strlen(texts[i]) + 1 : 0, texts[i] ? texts[i] : "");
    if (key.failed)
        text_free(&key);
    return key.chars;
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

/* Data that no refusal stopped are the same if nothing is refused. */
static int same_refusals(const struct data_kept *kept, const sph_data_opts *opts)
{
    return !kept->opts.again || opts->again;
}

/* A task that was found out serves who asks for it. Rows that are yet to be chosen have none. */
static int same_task(const struct data_kept *kept, const sph_data_opts *opts)
{
    return !is_whole(kept->data, opts) || kept->opts.task == opts->task ||
           (int)kept->data->task == opts->task;
}

static const struct data_kept *find(const struct data_cache *cache, const char *key,
                                    const sph_data_opts *opts)
{
    for (size_t i = 0; i < cache->count; i++) {
        const struct data_kept *kept = &cache->list[i];
        if (!strcmp(kept->key, key) && (!kept->data->image.pictures || kept->opts.decode == opts->decode) &&
            same_rows(kept, opts) && same_refusals(kept, opts) && same_task(kept, opts))
            return kept;
    }
    return NULL;
}

/* Takes the key. */
static int keep(struct data_cache *cache, char *key, const char *source, const sph_data_opts *opts)
{
    struct data_kept kept = {.key = key, .opts = *opts};
    int err = data_read(&kept.data, &kept.path, source, opts);
    if (!err && opts->permutes)
        err = data_permute(&kept.data, kept.path, opts->permute);
    if (!err && is_whole(kept.data, opts) && !data_is_images(kept.data))
        err = targets_settle(kept.data, kept.path, opts->task);
    if (!err && !mem_reserve((void **)&cache->list, &cache->capacity, cache->count + 1, sizeof kept))
        err = SPH_EMEMORY;
    if (err < 0)
        forget(&kept);
    else
        cache->list[cache->count++] = kept;
    return err;
}

int data_cache_open(struct data_cache *cache, sph_data **out, const char *source, const sph_data_opts *opts)
{
    *out = NULL;
    char *key = key_of(source ? source : "", opts);
    if (!key)
        return SPH_EMEMORY;
    const struct data_kept *kept = find(cache, key, opts);
    int err = kept ? 0 : keep(cache, key, source, opts);
    if (kept)
        mem_free(key);
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
