/* SPDX-License-Identifier: MIT
 *
 * Regions as JSON, written as they come: a tree of them would be many times as large as they are. */
#include <math.h>

#include "base/error.h"
#include "file/json.h"
#include "boundary/regions.h"
#include "job/tool.h"
#include "spherelu/job.h"

enum { PIECE = 1 << 16 };

/* Text gathers here before it goes out. */
struct gathered {
    const sph_sink *out;
    struct text text;
    int err;
};

static void flush(struct gathered *json)
{
    struct text *text = &json->text;
    if (text->failed)
        json->err = SPH_EMEMORY;
    if (!json->err && text->length)
        json->err = json->out->write(json->out->self, text->chars, text->length);
    text->length = 0;
}

/* JSON has no other word for what is not finite. */
static void put_number(struct gathered *json, double value)
{
    if (isfinite(value))
        text_add(&json->text, "%.17g", value);
    else
        text_add(&json->text, "null");
}

static void put_numbers(struct gathered *json, const double *values, size_t count)
{
    text_add(&json->text, "[");
    for (size_t i = 0; i < count; i++) {
        text_add(&json->text, "%s", i ? ", " : "");
        put_number(json, values[i]);
    }
    text_add(&json->text, "]");
}

/* , "key": number */
static void put_member(struct gathered *json, const char *key, double value)
{
    text_add(&json->text, ", \"%s\": ", key);
    put_number(json, value);
}

/* [[...], ...] of (rows, columns) */
static void put_table(struct gathered *json, const double *values, size_t rows, size_t columns)
{
    text_add(&json->text, "[");
    for (size_t i = 0; i < rows; i++) {
        text_add(&json->text, "%s", i ? ", " : "");
        put_numbers(json, values + i * columns, columns);
    }
    text_add(&json->text, "]");
}

static void put_text(struct gathered *json, const char *text)
{
    json_t *value = json_words(text);
    int err = value ? json_print(&json->text, value, 0) : sph_fail(SPH_EMEMORY, "out of memory");
    json->err = json->err ? json->err : err;
    json_decref(value);
}

/* ---------------------------------------------------------------- the parts */

static void put_head(struct gathered *json, const sph_regions *regions)
{
    sph_regions_total total;
    sph_regions_sum(regions, &total);
    text_add(&json->text, "{\"inputs\": %zu, \"outputs\": %zu, \"task\": \"%s\", \"count\": %zu,\n",
             regions->inputs, regions->outputs, sph_word(SPH_WORDS_TASK, (int)regions->task)->word,
             regions->count);
    text_add(&json->text, "\"window\": ");
    put_numbers(json, regions->plane.window, 4);
    text_add(&json->text, ", \"names\": [");
    put_text(json, regions->about.s_name ? regions->about.s_name : "s");
    text_add(&json->text, ", ");
    put_text(json, regions->about.t_name ? regions->about.t_name : "t");
    text_add(&json->text, "],\n");
    for (size_t c = 0; c < regions->about.classes; c++) {
        text_add(&json->text, c ? ", " : "\"classes\": [");
        put_text(json, regions->about.class_names[c]);
    }
    text_add(&json->text, "%s\"plane\": {\"origin\": ", regions->about.classes ? "],\n" : "");
    put_numbers(json, regions->plane.origin, regions->inputs);
    text_add(&json->text, ", \"first\": ");
    put_numbers(json, regions->plane.first, regions->inputs);
    text_add(&json->text, ", \"second\": ");
    put_numbers(json, regions->plane.second, regions->inputs);
    text_add(&json->text, "},\n\"layers\": [");
    for (size_t k = 0; k < regions->layer_count; k++) {
        text_add(&json->text, "%s{\"path\": ", k ? ", " : "");
        put_text(json, regions->layer[k].path);
        text_add(&json->text, ", \"units\": %zu, \"regions\": %zu}", regions->layer[k].units,
                 regions->layer[k].regions);
    }
    text_add(&json->text, "],\n\"stopped\": %s", total.stopped ? "true" : "false");
    put_member(json, "area", total.area);
    put_member(json, "largest", total.largest);
    put_member(json, "smallest", total.smallest);
    if (total.task != SPH_TASK_REGRESSION)
        put_member(json, "decision_length", total.length);
    text_add(&json->text, ",\n\"regions\": [");
}

static void put_pattern(struct gathered *json, const sph_regions *regions, const uint8_t *pattern)
{
    text_add(&json->text, "[");
    for (size_t k = 0; k < regions->layer_count; k++) {
        const sph_regions_layer *layer = &regions->layer[k];
        text_add(&json->text, "%s\"", k ? ", " : "");
        for (size_t i = 0; i < (layer->units + 7) / 8; i++)
            text_add(&json->text, "%02x", pattern[layer->byte + i]);
        text_add(&json->text, "\"");
    }
    text_add(&json->text, "]");
}

static void put_regions(struct gathered *json, const sph_regions *regions)
{
    for (size_t r = 0; r < regions->count && !json->err; r++) {
        sph_region region;
        sph_regions_at(regions, r, &region);
        text_add(&json->text, "%s{\"area\": ", r ? ",\n" : "\n");
        put_number(json, region.area);
        text_add(&json->text, ", \"vertices\": ");
        put_table(json, region.vertex, region.vertices, 2);
        text_add(&json->text, ", \"pattern\": ");
        put_pattern(json, regions, region.pattern);
        text_add(&json->text, ", \"map\": ");
        put_table(json, region.map, regions->outputs, 3);
        text_add(&json->text, "}");
        if (json->text.length > PIECE || json->text.failed)
            flush(json);
    }
}

static void put_decision(struct gathered *json, const sph_regions *regions)
{
    text_add(&json->text, "],\n\"decision\": [");
    for (size_t i = 0; i < regions->segments && !json->err; i++) {
        const sph_segment *s = &regions->segment[i];
        text_add(&json->text, "%s{\"from\": ", i ? ",\n" : "\n");
        put_numbers(json, s->from, 2);
        text_add(&json->text, ", \"to\": ");
        put_numbers(json, s->to, 2);
        text_add(&json->text, ", \"classes\": [%zu, %zu], \"region\": %zu}", s->low, s->high, s->region);
        if (json->text.length > PIECE || json->text.failed)
            flush(json);
    }
    text_add(&json->text, "]}\n");
}

int sph_regions_json(const sph_regions *regions, const sph_sink *sink)
{
    NEED(regions, sink);
    NEED_CALL(sink->write);
    struct gathered json = {.out = sink};
    put_head(&json, regions);
    put_regions(&json, regions);
    put_decision(&json, regions);
    flush(&json);
    text_free(&json.text);
    return json.err;
}
