/* SPDX-License-Identifier: MIT */
#include "store/runfolder.h"

#include <inttypes.h>
#include <stdio.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "file/json.h"
#include "base/memory.h"

static const double flush_seconds = 1.0;
enum { FLUSH_BYTES = 1 << 20 };

static int out_of_memory(const char *name)
{
    return sph_fail_at(SPH_EMEMORY, name, "out of memory");
}

/* ---------------------------------------------------------------- metrics.jsonl */

int metrics_open(struct metrics *out, const char *dir, const char *name, uint64_t keep_bytes)
{
    *out = (struct metrics){.log.fd = -1, .flushed = clock_seconds()};
    char *path = file_join(dir, name);
    if (!path)
        return SPH_EMEMORY;
    int err = file_log_open(&out->log, path, keep_bytes);
    mem_free(path);
    return err;
}

int metrics_add(struct metrics *metrics, const sph_view *view)
{
    struct text line = {0};
    json_t *object = JSON_OF({"epoch", json_count(view->epoch)}, {"step", json_count(view->step)},
                             {"lr", json_number(view->lr)});
    int failed = !object;
    for (size_t i = 0; i < view->values; i++)
        failed |= json_object_set_new(object, view->names[i],
                                      strcmp(view->names[i], "members") != 0
                                          ? json_number(view->value[i])
                                          : json_count((size_t)view->value[i])); /* of an ensemble */
    failed |= json_object_set_new(object, "seconds", json_number(view->seconds));

    int err = failed ? out_of_memory(RUNFOLDER_METRICS) : json_print(&line, object, 0);
    json_decref(object);
    if (!err) {
        text_add(&line, "\n");
        err = line.failed ? SPH_EMEMORY : file_log_add(&metrics->log, line.chars, line.length);
    }
    text_free(&line);
    if (!err && (metrics->log.length >= FLUSH_BYTES || clock_seconds() - metrics->flushed >= flush_seconds))
        err = metrics_flush(metrics);
    return err;
}

int metrics_flush(struct metrics *metrics)
{
    metrics->flushed = clock_seconds();
    return file_log_flush(&metrics->log);
}

int metrics_sync(struct metrics *metrics, uint64_t *offset)
{
    metrics->flushed = clock_seconds();
    int err = file_log_sync(&metrics->log);
    *offset = metrics->log.offset;
    return err;
}

void metrics_close(struct metrics *metrics)
{
    file_log_close(&metrics->log);
}

int metrics_read(const char *dir, int (*take)(void *self, const json_t *line), void *self)
{
    char *path = file_join(dir, RUNFOLDER_METRICS), *text = NULL;
    size_t length = 0;
    int there = path && file_exists(path), err = !path   ? SPH_EMEMORY
                                                 : there ? file_read(&text, &length, path)
                                                         : 0;
    for (char *at = text, *end; !err && at && (end = memchr(at, '\n', (size_t)(text + length - at)));
         at = end + 1) {
        json_t *line = NULL;
        if (end > at && !(err = json_parse(&line, path, at, (size_t)(end - at))))
            err = take(self, line);
        json_decref(line);
    }
    mem_free(text);
    mem_free(path);
    return err < 0 ? err : there;
}

/* ---------------------------------------------------------------- split.json */

static int write_json(const char *dir, const char *name, const json_t *value, size_t indent)
{
    char *path = file_join(dir, name);
    if (!path)
        return SPH_EMEMORY;
    int err = json_write(path, value, indent);
    mem_free(path);
    return err;
}

static json_t *rows_to_json(const uint32_t *rows, size_t count)
{
    json_t *array = json_array();
    int bad = !array;
    for (size_t i = 0; i < count && !bad; i++)
        bad = json_array_append_new(array, json_integer(rows[i]));
    return json_whole(array, bad);
}

static void write_content(char out[17], uint64_t content)
{
    snprintf(out, 17, "%016" PRIx64, content);
}

int runfolder_write_split(const char *dir, const sph_split *split, uint64_t content)
{
    char number[17];
    write_content(number, content);
    json_t *object =
        JSON_OF({"content", json_string(number)}, {"train", rows_to_json(split->train, split->train_rows)},
                {"val", rows_to_json(split->val, split->val_rows)},
                {"test", rows_to_json(split->test, split->test_rows)});
    int err = object ? write_json(dir, RUNFOLDER_SPLIT, object, 0) : out_of_memory(RUNFOLDER_SPLIT);
    json_decref(object);
    return err;
}

/* seen: (rows) marks of the rows met so far, in this part and the ones before. */
static int read_part(uint32_t **out, size_t *count, const json_t *object, const char *path, const char *key,
                     unsigned char *seen, size_t rows)
{
    const json_t *array;
    int err = json_member_array(object, path, key, &array);
    if (err)
        return err;
    *count = json_array_size(array);
    *out = mem_get(*count, sizeof **out);
    if (!*out)
        return SPH_EMEMORY;
    for (size_t i = 0; i < *count; i++) {
        const json_t *value = json_array_get(array, i);
        json_int_t row = json_is_integer(value) ? json_integer_value(value) : -1;
        if (row < 0 || (size_t)row >= rows || row > UINT32_MAX)
            return sph_fail_of(SPH_EFORMAT, path, 0, key,
                               "\"%s\"[%zu] is not a row of the data, expected a whole number below %zu", key,
                               i, rows);
        if (seen[row]++)
            return sph_fail_of(SPH_EFORMAT, path, 0, key, "\"%s\"[%zu] is row %lld, which is given twice",
                               key, i, (long long)row);
        (*out)[i] = (uint32_t)row;
    }
    return 0;
}

int runfolder_read_split(sph_split *out, const char *dir, size_t rows)
{
    *out = (sph_split){0};
    int err = SPH_EMEMORY;
    json_t *object = NULL;
    char *path = file_join(dir, RUNFOLDER_SPLIT);
    unsigned char *seen = mem_get(rows, 1);
    if (!path || !seen)
        goto out;
    if ((err = json_read(&object, path)) < 0)
        goto out;
    if (!json_is_object(object)) {
        err = sph_fail_at(SPH_EFORMAT, path, "not an object, expected train, val and test");
        goto out;
    }
    if ((err = read_part(&out->train, &out->train_rows, object, path, "train", seen, rows)) < 0)
        goto out;
    if ((err = read_part(&out->val, &out->val_rows, object, path, "val", seen, rows)) < 0)
        goto out;
    err = read_part(&out->test, &out->test_rows, object, path, "test", seen, rows);
out:
    if (err) {
        mem_free(out->train);
        mem_free(out->val);
        mem_free(out->test);
        *out = (sph_split){0};
    }
    json_decref(object);
    mem_free(seen);
    mem_free(path);
    return err;
}

int runfolder_check_content(const char *dir, uint64_t content)
{
    json_t *object = NULL;
    const char *then;
    char now[17], *path = file_join(dir, RUNFOLDER_SPLIT);
    if (!path)
        return SPH_EMEMORY;
    write_content(now, content);
    int err = file_exists(path) ? json_read(&object, path) : 0;
    if (!err && json_object_get(object, "content") &&
        !(err = json_member_text(object, path, "content", &then)) && strcmp(then, now) != 0)
        err = sph_fail_at(SPH_EFORMAT, dir, "the data have changed since the run was started");
    json_decref(object);
    mem_free(path);
    return err;
}

/* ---------------------------------------------------------------- result.json */

json_t *runfolder_scores(const sph_scores *scores)
{
    json_t *part = json_object();
    int failed = !part;
    for (size_t i = 0; i < scores->count; i++)
        failed |= json_object_set_new(part, scores->name[i], json_number(scores->value[i]));
    return json_whole(part, failed);
}

/* A part that has no rows, or whose net diverged, is left out. */
static struct json_member part_of(const char *key, const sph_scores *scores, const sph_result *result)
{
    int there = scores->rows && !result->diverged;
    return (struct json_member){there ? key : "", there ? runfolder_scores(scores) : NULL};
}

static double score_of(const sph_scores *scores, const char *metric)
{
    for (size_t i = 0; i < scores->count; i++)
        if (!strcmp(scores->name[i], metric))
            return scores->value[i];
    return (double)NAN;
}

/* Of classes, log loss counts too: where one class is rare, a useful network can have the accuracy of the baseline. */
static int is_no_better(const sph_result *result)
{
    const sph_scores *test = &result->test, *constant = &result->baseline;
    return test->rows && constant->rows &&
           (score_of(test, "rmse") >= score_of(constant, "rmse") ||
            (score_of(test, "accuracy") <= score_of(constant, "accuracy") &&
             !(score_of(test, "log_loss") < score_of(constant, "log_loss"))));
}

int runfolder_write_result(const char *dir, const sph_result *result, const char *reason, const char *warning,
                           const json_t *more, json_t **out)
{
    json_t *object =
        JSON_OF(part_of("test", &result->test, result), part_of("val", &result->val, result),
                part_of("train", &result->train, result), part_of("baseline", &result->baseline, result),
                {"epochs", json_count(result->epochs)}, {"best_epoch", json_count(result->best_epoch)},
                {"seconds", json_number(result->seconds)}, {"diverged", json_boolean(result->diverged)},
                JSON_IF(result->diverged && reason, "reason", json_string(reason)),
                JSON_IF(is_no_better(result), "no_better_than_baseline", json_true()),
                JSON_IF(warning, "warning", json_string(warning)));
    int failed = !object || (more && json_object_update(object, (json_t *)more));
    int err = failed ? out_of_memory(RUNFOLDER_RESULT) : write_json(dir, RUNFOLDER_RESULT, object, 2);
    if (out && !err)
        *out = object;
    else
        json_decref(object);
    return err;
}

int runfolder_diverged(const char *dir)
{
    char *path = file_join(dir, RUNFOLDER_RESULT);
    if (!path)
        return SPH_EMEMORY;
    json_t *result = NULL;
    int diverged = 0, err = file_exists(path) ? json_read(&result, path) : 0;
    if (!err && result)
        err = json_member_bool(result, path, "diverged", &diverged);
    json_decref(result);
    mem_free(path);
    return err < 0 ? err : diverged;
}
