/* SPDX-License-Identifier: MIT
 *
 * The page of the playground with the recorded boundaries of a run. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "job/run.h"
#include "net/net.h"
#include "report/html.h"
#include "report/tool.h"

enum { POINTS_MOST = 5000, DIGITS = 9 };

static const char mark[] = "/*REPLAY*/"; /* in the page: the place of the record */

int sph_playground_find(char **out)
{
    int found = file_beside_program(out, "share/spherelu/playground.html");
    return found ? found : file_beside_program(out, "playground.html");
}

void sph_playground_free(char *path)
{
    mem_free(path);
}

/* Adds the points of the run's data. If the data have moved or changed, the page shows only the boundaries. */
static int add_points(json_t *object, sph_run *run)
{
    int err = run_own_data(run, NULL);
    const sph_data *data = run->data;
    if (err < 0 || data->features != sph_net_inputs(run->net) || !data->x)
        return err == SPH_EMEMORY ? err : 0;
    size_t count = data->rows < POINTS_MOST ? data->rows : POINTS_MOST;
    json_t *x = json_array(), *y = json_array(), *classes = json_array();
    int bad = !x || !y || !classes;
    for (size_t i = 0; i < count * data->features && !bad; i++)
        bad = json_array_append_new(x, json_number(data->x[i]));
    for (size_t i = 0; i < count && !bad; i++)
        bad = json_array_append_new(y, json_number(data->y[i * data->targets]));
    for (size_t k = 0; data->task != SPH_TASK_REGRESSION && k < data->classes && !bad; k++)
        bad = json_array_append_new(classes, json_words(data->labels[k]));
    json_t *points =
        JSON_OF({"x", json_whole(x, bad)}, {"y", json_whole(y, bad)}, {"classes", json_whole(classes, bad)},
                {"task", json_string(sph_word(SPH_WORDS_TASK, (int)data->task)->word)});
    err = !points || json_object_update(object, points) ? SPH_EMEMORY : 0;
    json_decref(points);
    return err;
}

/* Appends what the page needs to replay the run. */
static int add_record(struct text *out, sph_run *run)
{
    size_t inputs, length = 0;
    const sph_layer *layer = sph_net_layer(run->net, 0, &inputs);
    char *path = file_join(run->dir, "boundaries.npz"), *bytes = NULL;
    struct text npz = {0};
    json_t *object = NULL;
    int err = path ? 0 : SPH_EMEMORY;
    if (!err && inputs > 2)
        err = sph_fail_at(SPH_EIO, run->dir,
                          "the network has %zu inputs; the playground shows networks with 1 or 2", inputs);
    else if (!err && !file_exists(path))
        err = sph_fail_at(SPH_EIO, run->dir,
                          "no boundaries were recorded; train with --record boundaries:every");
    if (!err && !(err = file_read(&bytes, &length, path))) {
        html_add_base64(&npz, bytes, length);
        object = JSON_OF({"run", json_words(run->dir)},
                         {"param", json_string(sph_word(SPH_WORDS_PARAM, (int)layer->param)->word)},
                         {"norm", json_string(sph_word(SPH_WORDS_NORM, (int)layer->norm)->word)},
                         {"inputs", json_count(inputs)}, {"units", json_count(layer->units)},
                         {"npz", npz.failed ? NULL : json_string(npz.chars)});
        err = object ? add_points(object, run) : SPH_EMEMORY;
        if (!err)
            err = html_add_json(out, object, DIGITS);
    }
    json_decref(object);
    text_free(&npz);
    mem_free(bytes);
    mem_free(path);
    return err;
}

int sph_playground_write(const char *page, sph_run *run, const char *path)
{
    char *text = NULL;
    struct text out = {0};
    int err = file_read(&text, NULL, page);
    const char *at = !err && run ? strstr(text, mark) : NULL;
    if (!err && run && !at)
        err = sph_fail_at(SPH_EIO, page, "not a page of the playground");
    if (!err && at) {
        text_add_bytes(&out, text, (size_t)(at - text));
        err = add_record(&out, run);
        text_add(&out, "%s", at + sizeof mark - 1);
    } else if (!err) {
        text_add(&out, "%s", text);
    }
    if (!err)
        err = out.failed ? SPH_EMEMORY : file_replace_with(path, out.chars, out.length);
    text_free(&out);
    mem_free(text);
    return err;
}
