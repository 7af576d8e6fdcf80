/* SPDX-License-Identifier: MIT
 *
 * spherelu data: the sets that have a name. */
#include <stdio.h>
#include <string.h>

#include "base/tool.h"
#include "cli.h"
#include "data/tool.h"
#include "progress.h"

enum { PATH_MOST = 4096, NAMES_MOST = 100 };

/* *out: where it lies; "" for one that is made, NULL where it is not found. 0, or an exit code after a message. */
static int find_path(const struct args *args, const sph_data_set *set, char *buffer, const char **out)
{
    int err = sph_data_set_path(set, buffer, PATH_MOST);
    *out = err < 0 ? NULL : buffer;
    return err == SPH_EMEMORY ? cli_fail_with(args->command, err) : 0;
}

static const char *task_of(const sph_data_set *set)
{
    return sph_word(SPH_WORDS_TASK, (int)set->task)->word;
}

static void put_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, text ? json_string(text) : json_null());
}

static json_t *files_array(const sph_data_set *set)
{
    json_t *list = json_array();
    for (size_t i = 0; i < set->file_count; i++) {
        json_t *file = json_object();
        put_text(file, "url", set->files[i].url);
        put_text(file, "sha256", set->files[i].sha256);
        json_object_set_new(file, "cited", json_boolean(set->files[i].cited));
        put_text(file, "path", set->files[i].path);
        json_array_append_new(list, file);
    }
    return list;
}

static json_t *set_object(const sph_data_set *set, const char *path)
{
    json_t *object = json_object();
    put_text(object, "name", set->name);
    put_text(object, "task", task_of(set));
    json_object_set_new(object, "rows", json_integer((json_int_t)set->rows));
    json_object_set_new(object, "features", json_integer((json_int_t)set->features));
    json_object_set_new(object, "classes",
                        set->classes ? json_integer((json_int_t)set->classes) : json_null());
    json_object_set_new(object, "images", json_boolean(set->images != 0));
    put_text(object, "file", set->file);
    put_text(object, "columns", set->images ? NULL : set->names);
    put_text(object, "target", set->target);
    put_text(object, "from", set->from);
    json_object_set_new(object, "sources", files_array(set));
    put_text(object, "path", path);
    return object;
}

static int list_sets(const struct args *args)
{
    const sph_data_set *sets;
    size_t count = sph_data_sets(&sets);
    char buffer[PATH_MOST];
    const char *path;
    int code = 0;
    if (args_on(args, "json")) {
        json_t *list = json_array();
        for (size_t i = 0; i < count && !(code = find_path(args, &sets[i], buffer, &path)); i++)
            json_array_append_new(list, set_object(&sets[i], path));
        if (!code)
            return cli_print_json(args->command, list, 17);
        json_decref(list);
        return code;
    }
    printf("%-14s %-10s %9s %8s  %s\n", "name", "task", "rows", "features", "where");
    for (size_t i = 0; i < count && !(code = find_path(args, &sets[i], buffer, &path)); i++)
        printf("%-14s %-10s %9zu %8zu  %s\n", sets[i].name, task_of(&sets[i]), sets[i].rows, sets[i].features,
               !path   ? "not found"
               : *path ? path
                       : "synthetic");
    return code;
}

static void put_line(const char *key, const char *text)
{
    if (text)
        printf("%-9s %s\n", key, text);
}

static int show_set(const struct args *args, const sph_data_set *set)
{
    char buffer[PATH_MOST];
    const char *path;
    int code = find_path(args, set, buffer, &path);
    if (code)
        return code;
    if (args_on(args, "json"))
        return cli_print_json(args->command, set_object(set, path), 17);
    put_line("name", set->name);
    put_line("from", set->from);
    put_line("task", task_of(set));
    printf("%-9s %zu rows, %zu %s", "shape", set->rows, set->features,
           set->images ? "bytes an image" : "features");
    printf(set->classes ? ", %zu classes\n" : "\n", set->classes);
    put_line(set->images ? "classes" : "columns", set->names);
    put_line("target", set->target);
    put_line("dropped", set->drop);
    put_line("file", set->file);
    for (size_t i = 0; i < set->file_count; i++) {
        put_line("source", set->files[i].url);
        printf("%-9s %s%s\n", "sha256", set->files[i].sha256, set->files[i].cited ? ", as published" : "");
    }
    put_line("source", set->how);
    put_line("where", path ? *path ? path : "synthetic" : "not found");
    return EXIT_DONE;
}

/* ---------------------------------------------------------------- get and verify */

static int see(void *self, const sph_progress *view)
{
    progress_share(self, view->what, view->share);
    return 0;
}

static int get_set(const struct args *args, const sph_data_set *set)
{
    struct progress progress;
    char path[PATH_MOST];
    const char *was;
    int code = find_path(args, set, path, &was);
    if (code)
        return code;
    progress_init(&progress, args_on(args, "quiet"), args_on(args, "verbose"));
    int err = sph_data_get(set, args_value(args, "from"), see, &progress);
    progress_clear(&progress);
    if (!err)
        err = sph_data_set_path(set, path, sizeof path);
    if (err)
        return cli_fail_with(args->command, err);
    if (args_on(args, "json"))
        return cli_print_json(args->command, set_object(set, path), 17);
    printf("%-14s %s%s\n", set->name, *path ? path : "synthetic", was && *path ? ", as before" : "");
    return EXIT_DONE;
}

/* One set, or all that are there. */
static int verify_sets(const struct args *args, const sph_data_set *sets, size_t count)
{
    char buffer[PATH_MOST];
    json_t *list = args_on(args, "json") ? json_array() : NULL;
    int code = EXIT_DONE;
    for (size_t i = 0; i < count; i++) {
        size_t files = 0;
        const char *path;
        int unknown = find_path(args, &sets[i], buffer, &path);
        if (unknown) {
            code = unknown;
            break;
        }
        if (count > 1 && (!path || !*path))
            continue;
        int err = sph_data_verify(&sets[i], &files);
        if (err == SPH_EMEMORY) {
            code = cli_fail_with(args->command, err);
            break;
        }
        if (err < 0) {
            cli_fail_with(args->command, err);
            code = EXIT_FAILED;
        }
        const char *state = err < 0 ? "not as published" : files ? "as published" : "not known";
        if (list)
            json_array_append_new(list, json_pack("{s:s, s:s, s:i}", "name", sets[i].name, "state", state,
                                                  "files", (int)files));
        else
            printf("%-14s %s%s\n", sets[i].name, state,
                   err < 0 || files ? "" : ": no SHA-256 is known for it");
    }
    int printed = list ? cli_print_json(args->command, list, 17) : EXIT_DONE;
    return code ? code : printed;
}

static int run_data(const struct args *args)
{
    const sph_data_set *sets;
    const char *names[NAMES_MOST];
    size_t count = sph_data_sets(&sets);
    const char *what = args->word[0], *name = args->words > 1 ? args->word[1] : NULL;
    if (!strcmp(what, "list") && !name)
        return list_sets(args);
    if (!strcmp(what, "verify") && !name)
        return verify_sets(args, sets, count);
    int info = !strcmp(what, "info"), get = !strcmp(what, "get"), verify = !strcmp(what, "verify");
    if (!(info || get || verify) || !name)
        return cli_fail(args->command, EXIT_USAGE, what,
                        "found '%s%s%s', expected list, info NAME, get NAME or verify [NAME]", what,
                        name ? " " : "", name ? name : "");
    for (size_t i = 0; i < count; i++)
        if (!strcmp(sets[i].name, name))
            return info  ? show_set(args, &sets[i])
                   : get ? get_set(args, &sets[i])
                         : verify_sets(args, &sets[i], 1);
    if (count > NAMES_MOST)
        count = NAMES_MOST;
    for (size_t i = 0; i < count; i++)
        names[i] = sets[i].name;
    const char *nearest = sph_nearest(name, names, count);
    return cli_fail(args->command, EXIT_USAGE, name,
                    "unknown dataset '%s'%s%s%s (spherelu data list prints all names)", name,
                    nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static const sph_option options[] = {
    {"from", "URL", "", "data",
     "get: download from a mirror with the same file names; SHA-256 is checked as usual"},
    CLI_JSON,
};

const struct command command_data = {
    .name = "data",
    .summary = "list, download and verify the built-in datasets",
    .usage = "list | info NAME | get NAME [--from URL] | verify [NAME]",
    .about =
        "Built-in datasets are used by name: --data banana. list prints their tasks, published shapes and "
        "files. info prints columns, origin, licence and SHA-256 of one dataset. get downloads a dataset "
        "into the cache and continues interrupted downloads; a file gets its name only when its SHA-256 is "
        "correct. verify compares the files on this machine with their SHA-256. Datasets are searched in the "
        "folders of SPHERELU_DATA, then in SPHERELU_CACHE or ~/.cache/spherelu, then in share/spherelu/data "
        "of the installation, which contains banana and the UCI tables. Tables may be compressed with gzip.",
    .examples = "  spherelu data list\n"
                "  spherelu data info banana --json\n"
                "  spherelu data get boston\n"
                "  spherelu data verify\n",
    .often = 1,
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"list|info|get|verify", "NAME"},
    .words_needed = 1,
    .run = run_data,
};
