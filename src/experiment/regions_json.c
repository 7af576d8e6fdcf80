/* SPDX-License-Identifier: MIT
 *
 * Regions as JSON, written as they come: a tree of them would be many times as large as they are. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "boundary/regions.h"
#include "figure/regions.h"

enum { PIECE = 1 << 16 };

#define WORD_ROW(id, word, help) word,
static const char *const task_words[] = {SPH_TASKS(WORD_ROW)};

/* Where the text goes: one of the two. */
struct sink {
    FILE *stream;
    struct file_replace *file;
    struct text text;
    int err;
};

static void flush(struct sink *sink)
{
    struct text *text = &sink->text;
    if (text->failed)
        sink->err = SPH_EMEMORY;
    if (!sink->err && sink->file && text->length)
        sink->err = file_replace_write(sink->file, text->chars, text->length);
    else if (!sink->err && sink->stream && text->length &&
             fwrite(text->chars, 1, text->length, sink->stream) != text->length)
        sink->err = sph_fail(SPH_EIO, "cannot write the regions: %s", strerror(errno));
    text->length = 0;
}

/* JSON has no other word for what is not finite. */
static void put_number(struct sink *sink, double value)
{
    if (isfinite(value))
        text_add(&sink->text, "%.17g", value);
    else
        text_add(&sink->text, "null");
}

static void put_numbers(struct sink *sink, const double *values, size_t count)
{
    text_add(&sink->text, "[");
    for (size_t i = 0; i < count; i++) {
        text_add(&sink->text, "%s", i ? ", " : "");
        put_number(sink, values[i]);
    }
    text_add(&sink->text, "]");
}

/* , "key": number */
static void put_member(struct sink *sink, const char *key, double value)
{
    text_add(&sink->text, ", \"%s\": ", key);
    put_number(sink, value);
}

/* [[...], ...] of (rows, columns) */
static void put_table(struct sink *sink, const double *values, size_t rows, size_t columns)
{
    text_add(&sink->text, "[");
    for (size_t i = 0; i < rows; i++) {
        text_add(&sink->text, "%s", i ? ", " : "");
        put_numbers(sink, values + i * columns, columns);
    }
    text_add(&sink->text, "]");
}

static void put_text(struct sink *sink, const char *text)
{
    json_t *value = json_string(text);
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    if (quoted)
        text_add(&sink->text, "%s", quoted);
    else
        text_add(&sink->text, "null"); /* a name that is not UTF-8 */
    free(quoted);
    json_decref(value);
}

/* ---------------------------------------------------------------- the parts */

static void put_head(struct sink *sink, const sph_regions *regions)
{
    sph_regions_total total;
    sph_regions_sum(regions, &total);
    text_add(&sink->text, "{\"inputs\": %zu, \"outputs\": %zu, \"task\": \"%s\", \"count\": %zu,\n",
             regions->inputs, regions->outputs, task_words[regions->task], regions->count);
    text_add(&sink->text, "\"window\": ");
    put_numbers(sink, regions->window, 4);
    text_add(&sink->text, ", \"names\": [");
    put_text(sink, regions->about.s_name ? regions->about.s_name : "s");
    text_add(&sink->text, ", ");
    put_text(sink, regions->about.t_name ? regions->about.t_name : "t");
    text_add(&sink->text, "],\n\"plane\": {\"origin\": ");
    put_numbers(sink, regions->origin, regions->inputs);
    text_add(&sink->text, ", \"first\": ");
    put_numbers(sink, regions->first, regions->inputs);
    text_add(&sink->text, ", \"second\": ");
    put_numbers(sink, regions->second, regions->inputs);
    text_add(&sink->text, "},\n\"layers\": [");
    for (size_t k = 0; k < regions->layer_count; k++) {
        text_add(&sink->text, "%s{\"path\": ", k ? ", " : "");
        put_text(sink, regions->layer[k].path);
        text_add(&sink->text, ", \"units\": %zu, \"regions\": %zu}", regions->layer[k].units,
                 regions->layer[k].regions);
    }
    text_add(&sink->text, "],\n\"stopped\": %s", total.stopped ? "true" : "false");
    put_member(sink, "area", total.area);
    put_member(sink, "largest", total.largest);
    put_member(sink, "smallest", total.smallest);
    if (total.task != SPH_TASK_REGRESSION)
        put_member(sink, "decision_length", total.length);
    text_add(&sink->text, ",\n\"regions\": [");
}

static void put_pattern(struct sink *sink, const sph_regions *regions, const uint8_t *pattern)
{
    text_add(&sink->text, "[");
    for (size_t k = 0; k < regions->layer_count; k++) {
        const struct regions_layer *layer = &regions->layer[k];
        text_add(&sink->text, "%s\"", k ? ", " : "");
        for (size_t i = 0; i < (layer->units + 7) / 8; i++)
            text_add(&sink->text, "%02x", pattern[layer->byte + i]);
        text_add(&sink->text, "\"");
    }
    text_add(&sink->text, "]");
}

static void put_regions(struct sink *sink, const sph_regions *regions)
{
    for (size_t r = 0; r < regions->count && !sink->err; r++) {
        sph_region region;
        sph_regions_at(regions, r, &region);
        text_add(&sink->text, "%s{\"area\": ", r ? ",\n" : "\n");
        put_number(sink, region.area);
        text_add(&sink->text, ", \"vertices\": ");
        put_table(sink, region.vertex, region.vertices, 2);
        text_add(&sink->text, ", \"pattern\": ");
        put_pattern(sink, regions, region.pattern);
        text_add(&sink->text, ", \"map\": ");
        put_table(sink, region.map, regions->outputs, 3);
        text_add(&sink->text, "}");
        if (sink->text.length > PIECE || sink->text.failed)
            flush(sink);
    }
}

static void put_decision(struct sink *sink, const sph_regions *regions)
{
    text_add(&sink->text, "],\n\"decision\": [");
    for (size_t i = 0; i < regions->segments && !sink->err; i++) {
        const sph_segment *s = &regions->segment[i];
        text_add(&sink->text, "%s{\"from\": ", i ? ",\n" : "\n");
        put_numbers(sink, s->from, 2);
        text_add(&sink->text, ", \"to\": ");
        put_numbers(sink, s->to, 2);
        text_add(&sink->text, ", \"classes\": [%zu, %zu], \"region\": %zu}", s->low, s->high, s->region);
        if (sink->text.length > PIECE || sink->text.failed)
            flush(sink);
    }
    text_add(&sink->text, "]}\n");
}

static int write_all(struct sink *sink, const sph_regions *regions)
{
    put_head(sink, regions);
    put_regions(sink, regions);
    put_decision(sink, regions);
    flush(sink);
    text_free(&sink->text);
    return sink->err;
}

int sph_regions_json(const sph_regions *regions, FILE *json)
{
    struct sink sink = {.stream = json};
    int err = write_all(&sink, regions);
    if (!err && (fflush(json) || ferror(json)))
        err = sph_fail(SPH_EIO, "cannot write the regions: %s", strerror(errno));
    return err;
}

int sph_regions_save(const sph_regions *regions, const char *dir)
{
    struct file_replace file = {0};
    struct sink sink = {.file = &file};
    int err = file_make_directory(dir);
    if (err < 0)
        return err;
    char *path = file_join(dir, "regions.json");
    if (!path)
        return SPH_EMEMORY;
    if (!(err = file_replace_begin(&file, path)) && !(err = write_all(&sink, regions)))
        err = file_replace_commit(&file);
    file_replace_abort(&file);
    mem_free(path);
    return err < 0 ? err : regions_figure(regions, dir, "regions");
}
