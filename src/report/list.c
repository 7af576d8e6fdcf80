/* SPDX-License-Identifier: MIT
 *
 * The runs and experiments below a folder, one row each. */
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "file/json.h"
#include "job/run.h"
#include "report/show.h"
#include "report/table.h"
#include "report/tool.h"
#include "store/runfolder.h"
#include "train/tool.h"

enum { DEPTH_MOST = 8, NAMES_MOST = 1000000 };
enum {
    LIST_RUN,
    LIST_DATA,
    LIST_NET,
    LIST_METHOD,
    LIST_METRIC,
    LIST_TEST,
    LIST_EPOCHS,
    LIST_STATE,
    LIST_WHEN
};

struct found {
    char **paths;
    size_t count, capacity;
    struct failure lost; /* the first file that exists but could not be read; code 0: none */
    struct place {
        dev_t device;
        ino_t number;
    } above[DEPTH_MOST + 1]; /* the current folder, preceded by its parents */
    size_t names;            /* number of names seen */
};

/* 1 or 0, or a failure. */
static int has(const char *dir, const char *name)
{
    char *path = file_join(dir, name);
    int there = path ? file_exists(path) : SPH_EMEMORY;
    mem_free(path);
    return there;
}

static int add(struct found *found, const char *path)
{
    if (!mem_reserve((void **)&found->paths, &found->capacity, found->count + 1, sizeof *found->paths) ||
        !(found->paths[found->count] = mem_text(path)))
        return SPH_EMEMORY;
    found->count++;
    return 0;
}

/* 1: the folder is one of its own parents, reached through a link. */
static int comes_back(struct found *found, const char *dir, size_t depth)
{
    struct stat info;
    if (stat(dir, &info) != 0)
        return 0;
    found->above[depth] = (struct place){info.st_dev, info.st_ino};
    for (size_t i = 0; i < depth; i++)
        if (found->above[i].device == info.st_dev && found->above[i].number == info.st_ino)
            return 1;
    return 0;
}

/* Does not look into runs and experiments. Links are followed. Links to the same folders can multiply the work, so the number of names
 * is limited. */
static int look(struct found *found, const char *dir, size_t depth)
{
    char **names = NULL;
    size_t count = 0;
    if (comes_back(found, dir, depth))
        return 0;
    int err = has(dir, RUNFOLDER_CONFIG);
    if (!err)
        err = has(dir, RUNFOLDER_EXPERIMENT);
    if (err || depth == DEPTH_MOST)
        return err > 0 ? add(found, dir) : err;
    err = file_list(&names, &count, dir);
    if (!err && (found->names += count) > NAMES_MOST)
        err = sph_fail_at(SPH_EFORMAT, dir,
                          "more than %d files and folders, including links; choose a subfolder", NAMES_MOST);
    for (size_t i = 0; i < count && !err; i++) {
        char *path = *names[i] == '.' ? NULL : file_join(dir, names[i]);
        if (*names[i] != '.' && !path)
            err = SPH_EMEMORY;
        else if (path && file_is_directory(path))
            err = look(found, path, depth + 1);
        mem_free(path);
    }
    mem_free_texts(names, count);
    return err;
}

static int put_when(struct table *table, size_t row, const char *dir, const char *name)
{
    double seconds;
    struct tm parts;
    char text[32], *path = file_join(dir, name);
    if (path && file_time(path, &seconds)) {
        time_t when = (time_t)seconds;
        if (localtime_r(&when, &parts) && strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts))
            table_words(table, row, LIST_WHEN, text);
    }
    mem_free(path);
    return path ? 0 : SPH_EMEMORY;
}

static void put_result(struct table *table, size_t row, const json_t *result, const char *metric)
{
    if (json_is_true(json_object_get(result, "diverged"))) {
        table_words(table, row, LIST_STATE, "diverged");
        return;
    }
    table_words(table, row, LIST_STATE, "finished");
    table_words(table, row, LIST_METRIC, metric);
    table_number(table, row, LIST_TEST, result_score(result, "test", metric));
    table_count(table, row, LIST_EPOCHS, (size_t)json_integer_value(json_object_get(result, "epochs")));
}

/* The row of a broken folder says why it cannot be read, so the other rows are still printed. If the system failed to read a file,
 * the list is incomplete, and the command fails after printing it. */
static int put_failure(struct table *table, size_t row, struct found *found, int err)
{
    if (err == SPH_EMEMORY)
        return err;
    table_words(table, row, LIST_STATE, sph_failure()->what);
    if (!found->lost.code && file_unread(err, sph_failure()->path))
        failure_save(&found->lost);
    return 0;
}

static int put_run(struct table *table, size_t row, struct found *found, const char *dir)
{
    struct sph_run run;
    struct text words = {0};
    int err = run_read(&run, dir, 0, NULL);
    const struct job_spec *spec = run.spec;
    const json_t *result = run.result;
    if (!err) {
        table_words(table, row, LIST_DATA, show_data(spec));
        show_network(&words, spec);
        table_take(table, row, LIST_NET, &words);
        show_method(&words, spec);
        table_take(table, row, LIST_METHOD, &words);
        if (result && spec->options.task >= 0)
            put_result(table, row, result,
                       sph_word(SPH_WORDS_METRIC, (int)sph_metric_of((sph_task)spec->options.task))->word);
        else
            table_words(table, row, LIST_STATE, "not finished");
        err = put_when(table, row, dir, result ? RUNFOLDER_RESULT : RUNFOLDER_CONFIG);
    } else
        err = put_failure(table, row, found, err);
    run_close(&run);
    return err;
}

static int put_experiment(struct table *table, size_t row, struct found *found, const char *dir)
{
    json_t *results = NULL;
    char *path = file_join(dir, "results.json");
    int err = path ? 0 : SPH_EMEMORY, finished = !err && file_exists(path);
    table_words(table, row, LIST_NET, "experiment");
    if (finished && !(err = json_read(&results, path))) {
        table_text(table, row, LIST_METHOD, "%zu jobs", json_array_size(json_object_get(results, "jobs")));
        table_words(table, row, LIST_METRIC, json_string_value(json_object_get(results, "metric")));
    }
    if (err)
        err = put_failure(table, row, found, err);
    else {
        table_words(table, row, LIST_STATE, finished ? "finished" : "not finished");
        err = put_when(table, row, dir, finished ? "results.json" : RUNFOLDER_EXPERIMENT);
    }
    json_decref(results);
    mem_free(path);
    return err;
}

static int fill(struct table *table, struct found *found)
{
    static const struct table_column columns[] = {{.head = "run", .json = "run"},
                                                  {.head = "data", .json = "data"},
                                                  {.head = "net", .json = "net"},
                                                  {.head = "method", .json = "method"},
                                                  {.head = "metric", .json = "metric"},
                                                  {.head = "test", .json = "test", .number = 1, .digits = 5},
                                                  {.head = "epochs", .json = "epochs", .number = 1},
                                                  {.head = "state", .json = "state"},
                                                  {.head = "when", .json = "when"}};
    int err = 0;
    table_columns(table, columns, sizeof columns / sizeof *columns);
    table_rows(table, found->count);
    for (size_t i = 0; i < found->count && !err; i++) {
        table_words(table, i, LIST_RUN, found->paths[i]);
        int run = has(found->paths[i], RUNFOLDER_CONFIG);
        err = run < 0 ? run
              : run   ? put_run(table, i, found, found->paths[i])
                      : put_experiment(table, i, found, found->paths[i]);
    }
    return err;
}

static int list(const char *dir, int json, const sph_sink *sink)
{
    struct found found = {0};
    struct table table = {0};
    int err = file_is_directory(dir) ? look(&found, dir, 0) : sph_fail_at(SPH_EIO, dir, "no such folder");
    if (!err && !found.count && !json)
        err = sph_fail_at(SPH_EIO, dir, "the folder contains no run and no experiment");
    if (!err)
        err = fill(&table, &found);
    if (!err)
        err = show_table(&table, json, sink);
    if (!err && found.lost.code)
        err = failure_set(&found.lost);
    table_free(&table);
    mem_free_texts(found.paths, found.count);
    return err;
}

int sph_list(const char *dir, int json, const sph_sink *sink)
{
    int err = file_enter(dir);
    if (!err) {
        err = list(dir, json, sink);
        file_leave(dir);
    }
    return err;
}
