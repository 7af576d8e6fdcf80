/* SPDX-License-Identifier: MIT
 *
 * The contents of a run folder, an experiment's folder or a model file: network, data, training, scores. */
#include "report/show.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "job/run.h"
#include "net/net.h"
#include "net/zoo.h"
#include "report/columns.h"
#include "report/pages.h"
#include "report/tool.h"
#include "store/model.h"
#include "store/runfolder.h"

/* ---------------------------------------------------------------- shared with list */

const char *show_data(const struct job_spec *spec)
{
    const char *data = spec->options.data, *slash = data ? strrchr(data, '/') : NULL;
    const char *name = slash && slash[1] ? slash + 1 : data;
    if (name != data && (!strcmp(name, "train") || !strcmp(name, "data"))) /* as good as no name */
        for (name = slash; name > data && name[-1] != '/';)
            name--;
    return name;
}

void show_network(struct text *out, const struct job_spec *spec)
{
    text_add(out, "%s", options_word(spec, OPTION_NET));
    int images = net_kind((sph_net_kind)spec->options.net)->make != NULL;
    if (!images && options_has(spec, OPTION_HIDDEN)) {
        text_add(out, " ");
        options_add(out, spec, OPTION_HIDDEN);
    }
    if (images && options_has(spec, OPTION_WIDTH) && spec->options.width != 1)
        text_add(out, " x %g", spec->options.width);
}

void show_method(struct text *out, const struct job_spec *spec)
{
    if (spec->options.ensemble > 1)
        text_add(out, "%zu x ", spec->options.ensemble);
    text_add(out, "%s", options_word(spec, OPTION_PARAM));
    if (spec->options.norm != SPH_NORM_NONE)
        text_add(out, "+%s", options_word(spec, OPTION_NORM));
}

int show_text(struct text *out, int err, const sph_sink *sink)
{
    if (!err)
        err = out->failed ? SPH_EMEMORY : sink->write(sink->self, out->chars, out->length);
    text_free(out);
    return err;
}

int show_json(json_t *value, const sph_sink *sink)
{
    struct text out = {0};
    int err = value ? json_print(&out, value, JSON_LINE) : sph_fail(SPH_EMEMORY, "out of memory: the list");
    text_add(&out, "\n");
    json_decref(value);
    return show_text(&out, err, sink);
}

int show_table(const struct table *table, int json, const sph_sink *sink)
{
    struct text out = {0};
    if (json)
        return show_json(table_to_json(table), sink);
    int err = table_write(table, TABLE_TEXT, &out);
    return show_text(&out, err, sink);
}

/* ---------------------------------------------------------------- a network */

#define LAYERS(X)                                                                                            \
    X(PATH, (.head = "layer", .json = "path"), words, layer->path)                                           \
    X(KIND, (.head = "kind", .json = "kind"), take, &kind)                                                   \
    X(INPUTS, (.head = "inputs", .json = "inputs", .number = 1), count, inputs)                              \
    X(UNITS, (.head = "units", .json = "units", .number = 1), count, layer->units)                           \
    X(PARAM, (.head = "param", .json = "param"), words, sph_word(SPH_WORDS_PARAM, (int)layer->param)->word)  \
    X(NORM, (.head = "norm", .json = "norm"), words, sph_word(SPH_WORDS_NORM, (int)layer->norm)->word)       \
    X(ACT, (.head = "activation", .json = "activation"), words,                                              \
      sph_word(SPH_WORDS_ACT, (int)layer->act)->word)

TABLE_IDS(LAYERS);

static void layers_table(struct table *out, const sph_net *net)
{
    TABLE_COLUMNS(out, LAYERS);
    table_rows(out, sph_net_layers(net));
    for (size_t row = 0; row < out->row_count; row++) {
        size_t inputs;
        const sph_layer *layer = sph_net_layer(net, row, &inputs);
        struct text kind = {0};
        if (layer->kernel)
            text_add(&kind, "conv %zu x %zu%s", layer->kernel, layer->kernel,
                     layer->groups > 1 ? ", groups" : "");
        else
            text_add(&kind, "dense");
        LAYERS(TABLE_CELL)
    }
}

static int add_network(struct text *out, const sph_net *net, size_t members)
{
    struct table table = {0};
    layers_table(&table, net);
    if (members > 1)
        text_add(out, "members     %zu, each of them this\n", members);
    text_add(out, "network     inputs %zu, outputs %zu, parameters %zu, %s\n\n", sph_net_inputs(net),
             sph_net_outputs(net), sph_net_learned(net),
             sph_word(SPH_WORDS_DTYPE, (int)sph_net_dtype(net))->word);
    int err = table_write(&table, TABLE_TEXT, out);
    table_free(&table);
    return err;
}

static int network_to_json(json_t *object, const sph_net *net, size_t members)
{
    struct table table = {0};
    layers_table(&table, net);
    json_t *own = JSON_OF(
        JSON_IF(members > 1, "members", json_count(members)), {"inputs", json_count(sph_net_inputs(net))},
        {"outputs", json_count(sph_net_outputs(net))}, {"learned", json_count(sph_net_learned(net))},
        {"dtype", json_string(sph_word(SPH_WORDS_DTYPE, (int)sph_net_dtype(net))->word)},
        {"layers", table_to_json(&table)});
    int bad = json_object_update(object, own);
    json_decref(own);
    table_free(&table);
    return bad;
}

/* ---------------------------------------------------------------- a run */

static const char *const parts[] = {"train", "val", "test"};

static void add_scores(struct text *out, const json_t *result)
{
    const char *key;
    json_t *value;
    for (size_t p = 0; p < 3; p++) {
        const json_t *part = json_object_get(result, parts[p]);
        if (!part)
            continue;
        text_add(out, "%-11s", parts[p]);
        json_object_foreach((json_t *)part, key, value)
        {
            text_add(out, " %s ", key);
            if (json_is_number(value))
                text_add_general(out, 5, json_number_value(value));
            else
                text_add(out, "undefined");
        }
        text_add(out, "\n");
    }
}

static void add_result(struct text *out, const json_t *result)
{
    const char *warning = json_string_value(json_object_get(result, "warning"));
    const char *reason = json_string_value(json_object_get(result, "reason"));
    if (!result) {
        text_add(out, "result      not finished; continue with train --resume\n");
        return;
    }
    if (json_is_true(json_object_get(result, "diverged"))) {
        text_add(out, "result      diverged%s%s\n", reason ? ": " : "", reason ? reason : "");
        return;
    }
    text_add(out, "result      trained for %lld epochs, best epoch %lld; ",
             (long long)json_integer_value(json_object_get(result, "epochs")),
             (long long)json_integer_value(json_object_get(result, "best_epoch")));
    text_add_general(out, 3, json_number_value(json_object_get(result, "seconds")));
    text_add(out, " s\n");
    if (warning)
        text_add(out, "warning     %s\n", warning);
    add_scores(out, result);
}

/* ", lr 0.01", or nothing if the option has no value. */
static void add_option(struct text *out, const struct job_spec *spec, enum option_id id)
{
    if (!options_has(spec, id))
        return;
    text_add(out, ", %s ", option_row(id)->name);
    options_add(out, spec, id);
}

static void add_options(struct text *out, const struct job_spec *spec)
{
    static const enum option_id data[] = {OPTION_TARGET, OPTION_TASK,  OPTION_ROWS,       OPTION_TEST,
                                          OPTION_VAL,    OPTION_SPLIT, OPTION_STANDARDIZE};
    static const enum option_id training[] = {OPTION_LOSS,   OPTION_LR,       OPTION_BATCH,
                                              OPTION_EPOCHS, OPTION_SCHEDULE, OPTION_PATIENCE};
    text_add(out, "data        %s", spec->options.data ? spec->options.data : "");
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        add_option(out, spec, data[i]);
    if (spec->options.columns == SPH_COLUMNS_REVERSED)
        add_option(out, spec, OPTION_COLUMNS);
    text_add(out, "\nnet         ");
    show_network(out, spec);
    text_add(out, ", ");
    show_method(out, spec);
    add_option(out, spec, OPTION_ACTIVATION);
    add_option(out, spec, OPTION_INIT);
    text_add(out, "\ntraining    %s", options_word(spec, OPTION_OPTIMIZER));
    for (size_t i = 0; i < sizeof training / sizeof *training; i++)
        add_option(out, spec, training[i]);
    text_add(out, ", seed %llu\n", (unsigned long long)spec->options.seed);
}

/* Every option with its value and the origin of the value. */
static void add_origins(struct text *out, const struct job_spec *spec)
{
    const char *section = "";
    text_add(out, "\n%-20s %-24s %s\n", "option", "value", "origin");
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        const sph_option *option = option_row(id);
        const char *value = options_text(spec, id);
        if (!options_has(spec, id) || id == OPTION_OUT)
            continue;
        text_add(out, "%s%-20s %-24s %s\n", *section && strcmp(section, option->section) ? "\n" : "",
                 option->name, value ? value : "", option_origin_word((enum option_origin)spec->origin[id]));
        section = option->section;
    }
}

static json_t *run_to_json(const struct sph_run *run)
{
    const struct job_spec *spec = run->spec;
    json_t *options = json_object(), *origins = json_object();
    int bad = !options || !origins;
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        if (options_has(spec, id) && id != OPTION_OUT) {
            const char *name = option_row(id)->name;
            bad |= json_object_set_new(options, name, json_words(options_text(spec, id)));
            bad |= json_object_set_new(origins, name,
                                       json_words(option_origin_word((enum option_origin)spec->origin[id])));
        }
    json_t *object = JSON_OF({"run", json_words(run->dir)}, {"options", options}, {"origins", origins},
                             {"result", run->result ? json_incref(run->result) : json_null()});
    if (run->net)
        bad |= network_to_json(object, run->net, run->members);
    return json_whole(object, bad);
}

/* The columns of a run on a table, the first `most` of them. */
static int add_table_columns(struct text *out, const struct sph_run *run, size_t most, const char *before)
{
    struct table table = {0};
    sph_data *data = NULL;
    if (!run->schema || !run->net || !json_is_array(json_object_get(run->schema, "columns")))
        return 0;
    int err = data_of_schema(&data, run->schema);
    if (!err) {
        columns_table(&table, data, &run->net->scaling, most);
        text_add(out, "%s", before);
        err = table_write(&table, TABLE_TEXT, out);
    }
    table_free(&table);
    sph_data_free(data);
    return err;
}

int sph_run_columns(const sph_run *run, size_t most, const sph_sink *sink)
{
    struct text out = {0};
    int err = add_table_columns(&out, run, most, "");
    return err || !out.length ? err : show_text(&out, 0, sink);
}

static int show_run(const char *dir, int json, const sph_sink *sink)
{
    struct sph_run run;
    struct text out = {0};
    int err = run_read(&run, dir, RUN_MODEL, NULL);
    if (!err && json) {
        err = show_json(run_to_json(&run), sink);
    } else if (!err) {
        text_add(&out, "run         %s\n", dir);
        add_options(&out, run.spec);
        add_result(&out, run.result);
        if (run.net)
            err = add_network(&out, run.net, run.members);
        if (!err)
            err = add_table_columns(&out, &run, SIZE_MAX, "\n");
        add_origins(&out, run.spec);
        text_add(&out, "\nrepeat      ");
        run_add_command(&out, run.spec);
        text_add(&out, "\n");
        err = show_text(&out, err, sink);
    }
    run_close(&run);
    return err;
}

/* ---------------------------------------------------------------- an experiment, a file */

/* Prints the table that the experiment wrote. */
static int show_experiment(const char *dir, int json, const sph_sink *sink)
{
    static const char *const names[][2] = {{"table.txt", "table.json"}, {"perturb.txt", "perturb.json"}};
    int err = sph_fail_at(SPH_EFORMAT, dir, "the experiment is not finished; continue with run --resume");
    for (size_t i = 0; i < 2 && err != SPH_EMEMORY; i++) {
        char *path = file_join(dir, names[i][json != 0]), *text = NULL;
        size_t length;
        if (!path)
            err = SPH_EMEMORY;
        else if (file_exists(path) && !(err = file_read(&text, &length, path)))
            err = sink->write(sink->self, text, length);
        mem_free(text);
        mem_free(path);
    }
    return err;
}

static json_t *model_to_json(const char *path, const sph_net *net, size_t members, json_t *data)
{
    json_t *object = JSON_OF({"model", json_words(path)});
    int bad = network_to_json(object, net, members);
    if (data)
        bad |= json_object_set(object, "data", data);
    return json_whole(object, bad);
}

/* The names of the columns in a model file. */
static void add_columns(struct text *out, const json_t *data)
{
    const json_t *columns = json_object_get(data, "columns"), *column;
    size_t i;
    if (!json_is_array(columns))
        return;
    text_add(out, "columns     ");
    json_array_foreach(columns, i, column)
    {
        const char *name = json_is_string(column) ? json_string_value(column)
                                                  : json_string_value(json_object_get(column, "name"));
        text_add(out, "%s%s", i ? ", " : "", name ? name : "?");
    }
    text_add(out, "%s\n",
             json_is_true(json_object_get(data, "reversed")) ? " (the network takes the last one first)"
                                                             : "");
}

static int show_model(const char *path, int json, const sph_sink *sink)
{
    sph_net **nets = NULL;
    size_t members = 0;
    json_t *data = NULL;
    struct text out = {0};
    int err = model_open_members(&nets, &members, &data, path);
    if (!err && json)
        err = show_json(model_to_json(path, nets[0], members, data), sink);
    else if (!err) {
        text_add(&out, "model       %s\n", path);
        add_columns(&out, data);
        err = show_text(&out, add_network(&out, nets[0], members), sink);
    }
    json_decref(data);
    model_free_members(nets, members);
    return err;
}

static int show(const char *path, int json, const sph_sink *sink)
{
    char *config = file_join(path, RUNFOLDER_CONFIG), *experiment = file_join(path, RUNFOLDER_EXPERIMENT);
    int err = config && experiment ? 0 : SPH_EMEMORY;
    if (!err && !file_exists(path))
        err = sph_fail_at(SPH_EIO, path, "no such run folder or model file");
    else if (!err && !file_is_directory(path))
        err = show_model(path, json, sink);
    else if (!err && file_exists(config))
        err = show_run(path, json, sink);
    else if (!err && file_exists(experiment))
        err = show_experiment(path, json, sink);
    else if (!err)
        err = sph_fail_at(
            SPH_EFORMAT, path,
            "not the folder of a run or an experiment; use spherelu list to search its subfolders");
    mem_free(experiment);
    mem_free(config);
    return err;
}

int sph_show(const char *path, int json, const sph_sink *sink)
{
    int err = file_enter(path);
    if (!err) {
        err = show(path, json, sink);
        file_leave(path);
    }
    return err;
}
