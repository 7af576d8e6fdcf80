/* SPDX-License-Identifier: MIT
 *
 * The key `directory` of an experiment file: the folder where relative paths in the file start, relative to the folder of the
 * file. experiment.yaml in a results folder has this key, so that the experiment can be repeated from there. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compare/experiment.h"
#include "data/registry.h"
#include "file/file.h"

/* Calls `use` for the value of each option that may be a path, until it returns something other than 0. */
typedef int path_call(struct job_spec *spec, enum option_id id, const char *dir);

static int each_path(struct job_spec *spec, path_call *use, const char *dir)
{
    static const enum option_id paths[] = {OPTION_DATA, OPTION_INIT};
    int found = 0;
    for (size_t i = 0; i < sizeof paths / sizeof *paths && !found; i++)
        if (options_has(spec, paths[i]))
            found = use(spec, paths[i], dir);
    return found;
}

static int each_path_of_all(const struct sph_experiment *e, path_call *use, const char *dir)
{
    int found = each_path(e->base, use, dir);
    for (size_t i = 0; i < e->set_count && !found; i++)
        found = each_path(e->sets[i].asked, use, dir);
    for (size_t i = 0; i < e->method_count && !found; i++)
        found = each_path(e->methods[i].asked, use, dir);
    for (size_t a = 0; a < e->grid.count && !found; a++)
        for (size_t i = 0; i < e->grid.axes[a].count && !found; i++)
            found = each_path(e->grid.axes[a].values[i], use, dir);
    return found;
}

/* 1 if the value is a relative path that exists below dir (NULL: the current folder). *path is the path seen from the current
 * folder, to be freed. Values that are names of datasets or initializations are no paths. */
static int find_path(char **path, const char *value, enum option_id id, const char *dir)
{
    *path = dir ? file_join(dir, value) : mem_text(value);
    if (!*path)
        return SPH_EMEMORY;
    int known = id == OPTION_INIT ? sph_word_find(SPH_WORDS_INIT, value) >= 0
                                  : registry_find(value) && file_is_directory(*path);
    return *value && *value != '/' && !known && file_exists(*path);
}

static int is_relative(struct job_spec *spec, enum option_id id, const char *dir)
{
    char *path = NULL;
    const char *value = options_text(spec, id);
    int found = value ? find_path(&path, value, id, dir) : SPH_EMEMORY;
    mem_free(path);
    return found;
}

static int move_path(struct job_spec *spec, enum option_id id, const char *dir)
{
    char *path = NULL;
    const char *value = options_text(spec, id);
    int found = value ? find_path(&path, value, id, dir) : SPH_EMEMORY;
    int err = found > 0 ? options_put(spec, id, path, (enum option_origin)spec->origin[id]) : found;
    mem_free(path);
    return err;
}

int experiment_apply_directory(struct sph_experiment *e, struct node value)
{
    char *directory = NULL, *joined = NULL, *dir = NULL;
    const char *slash = strrchr(e->path, '/');
    int err = node_read_text(&directory, value, "directory", "a folder, relative to the folder of this file");
    if (!err && !(joined = mem_format("%.*s%s", slash ? (int)(slash + 1 - e->path) : 0, e->path, directory)))
        err = SPH_EMEMORY;
    /* Without the folder, paths start in the current folder, as in files without this key. */
    if (!err && file_is_directory(joined))
        err = file_between(&dir, ".", joined);
    if (!err && dir && strcmp(dir, ".") != 0)
        err = each_path_of_all(e, move_path, dir);
    mem_free(dir);
    mem_free(joined);
    mem_free(directory);
    return err;
}

int experiment_yaml_directory(const struct sph_experiment *e, const char *dir, struct yaml_out *out)
{
    char *directory = NULL;
    int relative = each_path_of_all(e, is_relative, NULL);
    int err = relative > 0 ? file_between(&directory, dir, ".") : relative;
    if (directory)
        yaml_pair(out, "directory", directory);
    mem_free(directory);
    return err;
}
