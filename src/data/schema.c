/* SPDX-License-Identifier: MIT
 *
 * The columns of a data set as JSON, written and read. */
#include <string.h>

#include "base/error.h"
#include "file/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/words.h"
#include "data/build.h"
#include "data/images.h"
#include "base/levels.h"
#include "data/registry.h"

static const sph_word_row roles[] = {
    {"feature", "an input"}, {"target", "what is predicted"}, {"dropped", "left out"}, {NULL, NULL}};
static const sph_word_row kinds[] = {{"number", "as it is"},
                                     {"text", "one level of several"},
                                     {"date", "year, month, day of the week, days since the first"},
                                     {NULL, NULL}};
static const sph_word_row orders[] = {
    {"ymd", "2024-12-31"}, {"dmy", "31/12/2024"}, {"mdy", "12/31/2024"}, {NULL, NULL}};

static const char where[] = "data schema";

/* ---------------------------------------------------------------- writing */

static json_t *text_array(char *const *texts, size_t count)
{
    json_t *array = json_array();
    int bad = !array;
    for (size_t i = 0; i < count && !bad; i++)
        bad = json_array_append_new(array, json_string(texts[i]));
    return json_whole(array, bad);
}

static json_t *column_object(const struct column *column)
{
    int feature = column->role == COLUMN_FEATURE, text = feature && column->kind == COLUMN_TEXT,
        date = feature && column->kind == COLUMN_DATE;
    return JSON_OF({"name", json_string(column->name)}, {"role", json_string(roles[column->role].word)},
                   {"kind", json_string(kinds[column->kind].word)},
                   JSON_IF(text, "levels", text_array(column->levels, column->level_count)),
                   JSON_IF(column->why, "why", json_string(column->why)),
                   JSON_IF(feature && column->filled, "filled", json_count(column->filled)),
                   JSON_IF(text && column->other, "other", json_true()),
                   JSON_IF(text && column->rare, "rare", text_array(column->rare, column->rare_count)),
                   JSON_IF(text && column->statistics, "statistics",
                           json_numbers(column->statistics, column_levels(column) * column->encoded)),
                   JSON_IF(date, "order", json_string(orders[column->order].word)),
                   JSON_IF(date, "first", json_real(column->first)),
                   JSON_IF(date && column->times, "times", json_true()),
                   JSON_IF(column->role == COLUMN_TARGET, "at", json_count(column->at)),
                   JSON_IF(column->unit, "unit", json_string(cell_unit((enum unit)column->unit))),
                   JSON_IF(column->decimal_comma, "decimal_comma", json_true()));
}

static int images_schema(const sph_data *data, json_t **out)
{
    json_t *images =
        JSON_OF({"channels", json_count(data->image.channels)}, {"height", json_count(data->image.height)},
                {"width", json_count(data->image.width)},
                {"decode", json_string(sph_word(SPH_WORDS_DECODE, (int)data->image.decode)->word)},
                JSON_IF(data->image.eval_side, "eval_side", json_count(data->image.eval_side)),
                JSON_IF(data->image.gray, "gray", json_true()),
                JSON_IF(data->image.shrink, "shrink", json_count(data->image.shrink)));
    *out = JSON_OF({"images", images}, {"classes", text_array(data->labels, data->classes)});
    return *out ? 0 : sph_fail(SPH_EMEMORY, "out of memory: the data schema of %zu classes", data->classes);
}

static json_t *column_array(const sph_data *data)
{
    json_t *columns = json_array();
    int bad = !columns;
    for (size_t i = 0; i < data->column_count && !bad; i++)
        bad = json_array_append_new(columns, column_object(&data->columns[i]));
    return json_whole(columns, bad);
}

int schema_write_columns(const sph_data *data, const sph_sink *to)
{
    struct text text = {0};
    json_t *columns = column_array(data);
    int err = columns ? json_print(&text, columns, 0) : SPH_EMEMORY;
    if (!err)
        err = to->write(to->self, text.chars, text.length);
    text_free(&text);
    json_decref(columns);
    return err;
}

int data_schema(const sph_data *data, json_t **out)
{
    if (data_is_images(data))
        return images_schema(data, out);
    *out = JSON_OF(
        {"named", json_boolean(data->reading.named)},
        {"missing", json_string(sph_word(SPH_WORDS_MISSING, (int)data->reading.missing)->word)},
        {"task", json_string(sph_word(SPH_WORDS_TASK, (int)data->task)->word)},
        JSON_IF(data->reading.missing_words, "missing_words", json_words(data->reading.missing_words)),
        JSON_IF(data->reading.delimiter, "delimiter", json_stringn(&data->reading.delimiter, 1)),
        JSON_IF(data->reading.reversed, "reversed", json_true()),
        JSON_IF(data->reading.units, "units", json_true()),
        JSON_IF(data->labels, "classes", text_array(data->labels, data->classes)),
        {"columns", column_array(data)});
    return *out ? 0
                : sph_fail(SPH_EMEMORY, "out of memory: the data schema of %zu columns", data->column_count);
}

/* ---------------------------------------------------------------- reading */

static int member_texts(const json_t *object, const char *key, char ***out, size_t *count)
{
    const json_t *array;
    int err = json_member_array(object, where, key, &array);
    if (err < 0)
        return err;
    *out = mem_get(json_array_size(array), sizeof **out);
    if (!*out)
        return SPH_EMEMORY;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *text = json_string_value(json_array_get(array, i));
        if (!text)
            return sph_fail_of(SPH_EFORMAT, where, 0, key, "\"%s\" holds something that is not a string",
                               key);
        if (!((*out)[i] = mem_text(text)))
            return SPH_EMEMORY;
        ++*count;
    }
    return 0;
}

static double label_value(const char *label)
{
    struct cell cell;
    cell_read(&cell, label);
    return cell.value;
}

/* Searches rely on the order. */
static int check_order(char *const *texts, size_t count, int by_value, const char *key)
{
    for (size_t i = 1; i < count; i++)
        if (by_value ? label_value(texts[i - 1]) >= label_value(texts[i])
                     : strcmp(texts[i - 1], texts[i]) >= 0)
            return sph_fail_of(SPH_EFORMAT, where, 0, key,
                               "\"%s\" has '%.60s' before '%.60s', expected ascending order", key,
                               texts[i - 1], texts[i]);
    return 0;
}

/* The unit that is written so, or none. */
static enum unit unit_of(const char *text)
{
    for (enum unit unit = UNIT_PERCENT; text && unit < UNITS; unit++)
        if (!strcmp(text, cell_unit(unit)))
            return unit;
    return UNIT_NONE;
}

static int read_column(struct column *out, const json_t *object)
{
    const char *name;
    int role, kind, err;
    if (!json_is_object(object))
        return sph_fail_of(SPH_EFORMAT, where, 0, "columns",
                           "\"columns\" holds something that is not an object");
    if ((err = json_member_text(object, where, "name", &name)) < 0 ||
        (err = json_member_word(object, where, "role", roles, &role)) < 0 ||
        (err = json_member_word(object, where, "kind", kinds, &kind)) < 0)
        return err;
    out->role = (enum column_role)role;
    out->kind = (enum column_kind)kind;
    out->unit = (int)unit_of(json_string_value(json_object_get(object, "unit")));
    out->decimal_comma = json_is_true(json_object_get(object, "decimal_comma"));
    if (!(out->name = mem_text(name)))
        return SPH_EMEMORY;
    if (json_object_get(object, "why") &&
        ((err = json_member_text(object, where, "why", &name)) < 0 || !(out->why = mem_text(name))))
        return err < 0 ? err : SPH_EMEMORY;
    if (json_object_get(object, "filled") &&
        (err = json_member_size(object, where, "filled", &out->filled)) < 0)
        return err;
    if (out->role == COLUMN_TARGET)
        return json_member_size(object, where, "at", &out->at);
    if (out->role == COLUMN_FEATURE && out->kind == COLUMN_DATE) {
        int order;
        if ((err = json_member_word(object, where, "order", orders, &order)) < 0 ||
            (err = json_member_real(object, where, "first", &out->first)) < 0)
            return err;
        out->order = (enum date_order)order;
        out->times = json_is_true(json_object_get(object, "times"));
    }
    if (out->role != COLUMN_FEATURE || out->kind != COLUMN_TEXT)
        return 0;
    if ((err = member_texts(object, "levels", &out->levels, &out->level_count)) < 0)
        return err;
    if ((err = check_order(out->levels, out->level_count, 0, "levels")) < 0)
        return err;
    out->other = json_is_true(json_object_get(object, "other"));
    if (json_object_get(object, "rare") &&
        ((err = member_texts(object, "rare", &out->rare, &out->rare_count)) < 0 ||
         (err = check_order(out->rare, out->rare_count, 0, "rare")) < 0))
        return err;
    return json_object_get(object, "statistics") ? encode_read(out, object, where) : 0;
}

static int check_targets(sph_data *data)
{
    for (size_t i = 0; i < data->column_count; i++)
        data->targets += data->columns[i].role == COLUMN_TARGET;
    unsigned char *taken = mem_get(data->targets, 1);
    int err = taken ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < data->column_count && !err; i++) {
        const struct column *column = &data->columns[i];
        if (column->role == COLUMN_TARGET && (column->at >= data->targets || taken[column->at]++))
            err = sph_fail_of(SPH_EFORMAT, where, 0, column->name,
                              "target column '%.60s' at place %zu, expected 0 to %zu, each once",
                              column->name, column->at, data->targets - 1);
    }
    mem_free(taken);
    if (err < 0)
        return err;
    if (!data->targets)
        return sph_fail_at(SPH_EFORMAT, where, "no target column");
    if (data->task != SPH_TASK_REGRESSION && data->targets != 1)
        return sph_fail_at(SPH_EFORMAT, where, "%zu target columns for a task of classes", data->targets);
    return 0;
}

/* Absent in older files, and where the user gave none. */
static int read_missing_words(sph_data *data, const json_t *schema)
{
    const char *words;
    if (!json_object_get(schema, "missing_words"))
        return 0;
    int err = json_member_text(schema, where, "missing_words", &words);
    return err < 0 ? err : (data->reading.missing_words = mem_text(words)) ? 0 : SPH_EMEMORY;
}

static int read_delimiter(sph_data *data, const json_t *schema)
{
    const json_t *value = json_object_get(schema, "delimiter");
    const char *text = json_string_value(value);
    if (!value)
        return 0;
    if (!text || json_string_length(value) != 1 || !*text || strchr("\"\r\n", *text))
        return sph_fail_of(SPH_EFORMAT, where, 0, "delimiter",
                           "\"delimiter\" is '%.60s', expected one character to separate cells",
                           text ? text : "");
    data->reading.delimiter = *text;
    return 0;
}

static int read_columns(sph_data *data, const json_t *columns)
{
    size_t count = json_array_size(columns);
    int err = 0;
    if (!(data->columns = mem_get(count, sizeof *data->columns)))
        return SPH_EMEMORY;
    data->column_count = count;
    for (size_t i = 0; i < count && !err; i++)
        err = read_column(&data->columns[i], json_array_get(columns, i));
    return err;
}

int schema_columns(sph_data *data, const char *text)
{
    json_t *columns = NULL;
    int err = json_parse(&columns, where, text, strlen(text));
    if (!err)
        err = json_is_array(columns) ? read_columns(data, columns)
                                     : sph_fail_at(SPH_EFORMAT, where, "not an array of columns");
    json_decref(columns);
    return err;
}

static int read_schema(sph_data *data, const json_t *schema)
{
    const json_t *columns;
    int task, missing, err;
    if (!json_is_object(schema))
        return sph_fail_at(SPH_EFORMAT, where, "not a JSON object");
    if ((err = json_member_bool(schema, where, "named", &data->reading.named)) < 0 ||
        (err = json_member_word(schema, where, "missing", sph_word(SPH_WORDS_MISSING, 0), &missing)) < 0 ||
        (err = json_member_word(schema, where, "task", sph_word(SPH_WORDS_TASK, 0), &task)) < 0 ||
        (err = read_delimiter(data, schema)) < 0 || (err = read_missing_words(data, schema)) < 0 ||
        (err = json_member_array(schema, where, "columns", &columns)) < 0)
        return err;
    data->reading.missing = (sph_missing)missing;
    data->task = (sph_task)task;
    data->reading.reversed = json_is_true(json_object_get(schema, "reversed")); /* absent in older files */
    data->reading.units = json_is_true(json_object_get(schema, "units"));       /* likewise */
    if (data->task != SPH_TASK_REGRESSION) {
        if ((err = member_texts(schema, "classes", &data->labels, &data->classes)) < 0)
            return err;
        if (data->classes < 2 || (data->task == SPH_TASK_BINARY && data->classes != 2))
            return sph_fail_at(SPH_EFORMAT, where, "%zu classes for the task %s", data->classes,
                               sph_word(SPH_WORDS_TASK, task)->word);
        if ((err = check_order(data->labels, data->classes, targets_are_numbers(data->labels, data->classes),
                               "classes")) < 0)
            return err;
    }
    if ((err = read_columns(data, columns)) < 0)
        return err;
    for (size_t i = 0; i < data->column_count; i++) {
        const struct column *column = &data->columns[i];
        if (column->role == COLUMN_FEATURE && !column_width(column))
            return sph_fail_of(SPH_EFORMAT, where, 0, column->name, "column '%s' is text without levels",
                               column->name);
    }
    return check_targets(data);
}

static int read_images_schema(sph_data *data, const json_t *schema)
{
    const json_t *images;
    int err;
    if ((err = json_member_object(schema, where, "images", &images)) < 0 ||
        (err = json_member_size(images, where, "channels", &data->image.channels)) < 0 ||
        (err = json_member_size(images, where, "height", &data->image.height)) < 0 ||
        (err = json_member_size(images, where, "width", &data->image.width)) < 0 ||
        (err = member_texts(schema, "classes", &data->labels, &data->classes)) < 0)
        return err;
    if (!data->image.channels || !data->image.height || !data->image.width ||
        data->image.channels > IMAGES_SIDE || data->image.height > IMAGES_SIDE ||
        data->image.width > IMAGES_SIDE)
        return sph_fail_at(SPH_EFORMAT, where, "images of %zu x %zu x %zu, expected sizes from 1 to %d",
                           data->image.channels, data->image.height, data->image.width, IMAGES_SIDE);
    /* absent in models of 0.2.0 and before, whose pictures were decoded so */
    int decode = SPH_DECODE_SCALED;
    if (json_object_get(images, "decode") &&
        (err = json_member_word(images, where, "decode", sph_word(SPH_WORDS_DECODE, 0), &decode)) < 0)
        return err;
    data->image.decode = (sph_decode)decode;
    if (json_object_get(images, "eval_side") &&
        (err = json_member_size(images, where, "eval_side", &data->image.eval_side)) < 0)
        return err;
    if (json_object_get(images, "shrink") &&
        ((err = json_member_size(images, where, "shrink", &data->image.shrink)) < 0 ||
         data->image.shrink < 2 || data->image.shrink > IMAGES_SIDE / data->image.height ||
         data->image.shrink > IMAGES_SIDE / data->image.width))
        return err < 0 ? err
                       : sph_fail_at(SPH_EFORMAT, where, "shrink %zu, expected a factor from 2 on",
                                     data->image.shrink);
    data->image.gray = json_is_true(json_object_get(images, "gray"));
    if (data->image.gray && data->image.channels != 1)
        return sph_fail_at(SPH_EFORMAT, where, "gray images of %zu channels", data->image.channels);
    if (data->classes < 2)
        return sph_fail_at(SPH_EFORMAT, where, "%zu classes of images", data->classes);
    data->features = data->image.channels * data->image.height * data->image.width;
    data->task = SPH_TASK_CLASSES;
    data->targets = 1;
    return 0;
}

int schema_read(sph_data *data, const json_t *schema)
{
    return json_object_get(schema, "images") ? read_images_schema(data, schema) : read_schema(data, schema);
}

int data_of_schema(sph_data **out, const json_t *schema)
{
    *out = NULL;
    sph_data *data = mem_get(1, sizeof *data);
    if (!data)
        return SPH_EMEMORY;
    int err = schema_read(data, schema);
    if (!err && !data_is_images(data))
        err = columns_place(data, where);
    if (err < 0) {
        sph_data_free(data);
        return err;
    }
    *out = data;
    return 0;
}

int sph_data_of_note(sph_data **out, const char *note)
{
    NEED(out, note);
    json_t *schema = NULL;
    *out = NULL;
    int err = json_parse(&schema, where, note, strlen(note));
    if (!err)
        err = data_of_schema(out, schema);
    json_decref(schema);
    return err;
}
