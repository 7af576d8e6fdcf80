/* SPDX-License-Identifier: MIT
 *
 * Where the known sets lie. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/registry.h"
#include "data/tool.h"

static const char *nonempty(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value ? value : NULL;
}

int registry_cache(char **out)
{
    const char *folder;
    *out = NULL;
    if ((folder = nonempty("SPHERELU_CACHE")))
        *out = mem_text(folder);
    else if ((folder = nonempty("XDG_CACHE_HOME")))
        *out = file_join(folder, "spherelu");
    else if ((folder = nonempty("HOME")))
        *out = file_join(folder, ".cache/spherelu");
    return folder && !*out ? SPH_EMEMORY : 0;
}

int registry_file(char **out, const char *folder, const char *file, const char *end)
{
    char *path = mem_format("%s/%s%s", folder, file, end);
    if (!path)
        return SPH_EMEMORY;
    if (file_exists(path)) {
        *out = path;
        return 1;
    }
    mem_free(path);
    return 0;
}

/* 1: there; *out holds the path. 0: not there, and looked[] says so. */
static int look(char **out, struct text *looked, const char *folder, const sph_data_set *set)
{
    int found = registry_file(out, folder, set->file, "");
    if (!found && !set->images)
        found = registry_file(out, folder, set->file, ".gz");
    if (!found && set->stand_in)
        found = registry_file(out, folder, set->stand_in, "");
    if (found)
        return found;
    text_add(looked, "%s%s", looked->length ? ", " : "", folder);
    return looked->failed ? SPH_EMEMORY : 0;
}

static int look_in_list(char **out, struct text *looked, const char *list, const sph_data_set *set)
{
    int found = 0;
    while (list && !found) {
        size_t length = strcspn(list, ":");
        if (length) {
            char *folder = mem_text_of(list, length);
            found = folder ? look(out, looked, folder, set) : SPH_EMEMORY;
            mem_free(folder);
        }
        list = list[length] ? list + length + 1 : NULL;
    }
    return found;
}

int registry_path(char **out, const sph_data_set *set)
{
    struct text looked = {0};
    char *cache = NULL, *own = NULL;
    int found = look_in_list(out, &looked, nonempty("SPHERELU_DATA"), set);
    if (!found && !(found = registry_cache(&cache)) && cache)
        found = look(out, &looked, cache, set);
    if (!found && (found = file_beside_program(&own, "share/spherelu/data")) > 0)
        found = look(out, &looked, own, set);
    if (!found)
        found = sph_fail_at(
            SPH_EIO, set->name,
            "%s was not found in %s; set SPHERELU_DATA to its folder, or run spherelu data %s %s, which %s",
            set->file, looked.length ? looked.chars : "any folder", set->file_count ? "get" : "info",
            set->name, set->file_count ? "downloads it" : "prints where to get it");
    mem_free(cache);
    mem_free(own);
    text_free(&looked);
    return found < 0 ? found : 0;
}

int sph_data_set_path(const sph_data_set *set, char *path, size_t size)
{
    NEED(set, path);
    char *found = NULL;
    int err = set->file ? registry_path(&found, set) : 0;
    if (!err)
        snprintf(path, size, "%s", found ? found : "");
    mem_free(found);
    return err;
}
