/* SPDX-License-Identifier: MIT
 *
 * spherelu boundaries: where each unit of a run's network switches, and what its data see of that. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "job/tool.h"
#include "layer/tool.h"
#include "rows/tool.h"

/* ---------------------------------------------------------------- CSV */

/* A comma and the number, with as few digits as bring it back; nothing where there is none. */
static void put(double value)
{
    char text[40];
    putchar(',');
    if (isnan(value))
        return;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fputs(text, stdout);
}

static void put_names(const char *name, size_t count)
{
    for (size_t i = 1; i <= count; i++)
        printf(",%s_%zu", name, i);
}

/* what the listing has beyond the columns that are always there */
struct columns {
    int vectors; /* of one layer: phi and direction */
    int right;   /* srelu's second break            */
};

static struct columns find_columns(const sph_boundaries *all, int vectors)
{
    struct columns columns = {.vectors = vectors};
    for (size_t i = 0; i < all->count; i++)
        columns.right |= all->layer[i].offset_right != NULL;
    return columns;
}

static void put_unit(const sph_boundary *b, size_t j, const struct columns *columns)
{
    printf("%zu,%zu", b->layer, j);
    put(b->norm[j]);
    put(b->offset[j]);
    put(b->active_share[j]);
    for (size_t i = 0; columns->vectors && i < b->n; i++)
        put(b->phi[j * b->n + i]);
    printf(",%s",
           b->state[j] == SPH_UNIT_UNKNOWN ? "" : sph_word(SPH_WORDS_UNIT_STATE, (int)b->state[j])->word);
    put(b->nearest[j]);
    put(b->pole[j]);
    if (columns->right)
        put(b->offset_right ? b->offset_right[j] : NAN);
    for (size_t i = 0; columns->vectors && i < b->n; i++)
        put(b->direction[j * b->n + i]);
    for (size_t i = 0; columns->vectors && b->phi_net && i < b->n; i++)
        put(b->phi_net[j * b->n + i]);
    putchar('\n');
}

static int print_csv(const sph_boundaries *all, int vectors)
{
    struct columns columns = find_columns(all, vectors);
    size_t n = vectors ? all->layer[0].n : 0;
    fputs("layer,unit,norm,offset,active_share", stdout);
    put_names("phi", n);
    fputs(",state,nearest,pole", stdout);
    fputs(columns.right ? ",offset_right" : "", stdout);
    put_names("direction", n);
    put_names("phi_net", vectors && all->layer[0].phi_net ? n : 0);
    putchar('\n');
    for (size_t i = 0; i < all->count; i++)
        for (size_t j = 0; all->layer[i].kind != SPH_BOUNDARY_NONE && j < all->layer[i].m; j++)
            put_unit(&all->layer[i], j, &columns);
    return EXIT_DONE;
}

/* ---------------------------------------------------------------- a table for people */

enum { VECTOR_SHOWN = 3 }; /* numbers of phi; the CSV has all */

static void show_number(double value)
{
    if (isnan(value))
        printf(" %10s", "-");
    else
        printf(" %10.4g", value);
}

static void print_table(const sph_boundaries *all, int vectors)
{
    size_t shown = !vectors ? 0 : all->layer[0].n < VECTOR_SHOWN ? all->layer[0].n : VECTOR_SHOWN;
    printf("%5s %5s %10s %10s %10s %-10s %10s", "layer", "unit", "norm", "offset", "active", "state",
           "nearest");
    for (size_t i = 1; i <= shown; i++)
        printf("      phi_%zu", i);
    putchar('\n');
    for (size_t i = 0; i < all->count; i++) {
        const sph_boundary *b = &all->layer[i];
        for (size_t j = 0; b->kind != SPH_BOUNDARY_NONE && j < b->m; j++) {
            printf("%5zu %5zu", b->layer, j);
            show_number(b->norm[j]);
            show_number(b->offset[j]);
            show_number(b->active_share[j]);
            printf(" %-10s", b->state[j] == SPH_UNIT_UNKNOWN
                                 ? "-"
                                 : sph_word(SPH_WORDS_UNIT_STATE, (int)b->state[j])->word);
            show_number(b->nearest[j]);
            for (size_t k = 0; k < shown; k++)
                show_number(b->phi[j * b->n + k]);
            putchar('\n');
        }
    }
}

/* ---------------------------------------------------------------- JSON */

static json_t *vector(const double *values, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, cli_number(values[i]));
    return list;
}

static json_t *describe_unit(const sph_boundary *b, size_t j, int vectors)
{
    json_t *unit = json_object();
    json_object_set_new(unit, "unit", json_integer((json_int_t)j));
    json_object_set_new(unit, "norm", cli_number(b->norm[j]));
    json_object_set_new(unit, "offset", cli_number(b->offset[j]));
    if (b->offset_right)
        json_object_set_new(unit, "offset_right", cli_number(b->offset_right[j]));
    json_object_set_new(unit, "active_share", cli_number(b->active_share[j]));
    json_object_set_new(unit, "state", json_string(sph_word(SPH_WORDS_UNIT_STATE, (int)b->state[j])->word));
    json_object_set_new(unit, "nearest", cli_number(b->nearest[j]));
    json_object_set_new(unit, "pole", cli_number(b->pole[j]));
    if (vectors) {
        json_object_set_new(unit, "phi", vector(b->phi + j * b->n, b->n));
        json_object_set_new(unit, "direction", vector(b->direction + j * b->n, b->n));
        if (b->phi_net)
            json_object_set_new(unit, "phi_net", vector(b->phi_net + j * b->n, b->n));
    }
    return unit;
}

/* The names of a net's inputs, in the order of phi and direction. */
static json_t *feature_names(const sph_data *data)
{
    json_t *list = json_array();
    char name[512];
    for (size_t i = 0; i < sph_data_features(data); i++)
        json_array_append_new(list,
                              sph_data_feature(data, i, name, sizeof name) ? json_null() : json_string(name));
    return list;
}

static int print_json(const struct command *command, const sph_boundaries *all, const sph_data *columns,
                      int vectors)
{
    json_t *object = json_object(), *layers = json_array();
    for (size_t i = 0; i < all->count; i++) {
        const sph_boundary *b = &all->layer[i];
        json_t *layer = json_object(), *units = json_array();
        json_object_set_new(layer, "layer", json_integer((json_int_t)b->layer));
        json_object_set_new(layer, "path", json_string(b->path));
        json_object_set_new(layer, "kind",
                            json_string(sph_word(SPH_WORDS_BOUNDARY_KIND, (int)b->kind)->word));
        json_object_set_new(layer, "raw", json_boolean(b->raw));
        json_object_set_new(layer, "inputs", json_integer((json_int_t)b->n));
        if (vectors && b->raw && sph_data_features(columns) == b->n)
            json_object_set_new(layer, "features", feature_names(columns));
        json_object_set_new(layer, "points", json_integer((json_int_t)b->points));
        for (size_t j = 0; b->kind != SPH_BOUNDARY_NONE && j < b->m; j++)
            json_array_append_new(units, describe_unit(b, j, vectors));
        json_object_set_new(layer, "units", units);
        json_array_append_new(layers, layer);
    }
    json_object_set_new(object, "layers", layers);
    return cli_print_json(command, object, 17);
}

/* ---------------------------------------------------------------- the command */

/* A layer by its number or its name, that has a boundary. */
static int find_layer(const struct args *args, const sph_net *net, size_t *out)
{
    const char *word = args_value(args, "layer");
    size_t layers = sph_net_layers(net), at = layers;
    if (!word)
        return 0;
    if (*word >= '0' && *word <= '9') {
        int code = args_size(args, "layer", 0, &at);
        if (code)
            return code;
    } else {
        for (at = 0; at < layers && strcmp(sph_net_layer(net, at, NULL)->path, word); at++)
            ;
    }
    if (at >= layers)
        return cli_fail_option(args->command, "layer",
                               "found '%s', expected a layer of the run: 0 to %zu, or a name such as %s",
                               word, layers - 1, sph_net_layer(net, 0, NULL)->path);
    if (!sph_act_breaks(sph_net_layer(net, at, NULL)->act))
        return cli_fail_option(args->command, "layer", "%s has no activation and therefore no boundaries",
                               sph_net_layer(net, at, NULL)->path);
    *out = at;
    return 0;
}

/* Without --data a run that has lost its data still has boundaries: what only data can say is left out. */
static int find_boundaries(const struct args *args, sph_run *run, size_t layer, size_t rows,
                           sph_boundaries **out)
{
    const char *data = args_value(args, "data");
    int err = sph_run_boundaries(out, run, layer, data, rows);
    if (!err || data || err == SPH_EMEMORY)
        return err;
    if (!args_on(args, "quiet"))
        cli_note(args->command, "data", "%s; active_share, state and nearest are left out; use --data",
                 sph_error());
    return sph_boundaries_new(out, sph_run_net(run), layer, 1, NULL, NULL, 0);
}

/* The numbers of phi_1, phi_2, ... are those of the net's inputs, which need not be in the order of the table. */
static void tell_order(const struct args *args, const sph_boundaries *all, const sph_data *columns)
{
    char first[256], last[256];
    size_t n = sph_data_features(columns);
    if (args_on(args, "quiet") || !all->layer[0].raw || sph_data_order(columns) != SPH_COLUMNS_REVERSED ||
        sph_data_feature(columns, 0, first, sizeof first) ||
        sph_data_feature(columns, n - 1, last, sizeof last))
        return;
    cli_note(args->command, "columns",
             "the run was trained with --columns reversed: phi_1 and direction_1 belong to '%s', phi_%zu and "
             "direction_%zu to '%s' (--json lists all names)",
             first, n, n, last);
}

/* Clipping bends a straight boundary of what the network takes. */
static void tell_units(const struct args *args, const sph_boundaries *all)
{
    const sph_boundary *first = &all->layer[0];
    if (args_on(args, "quiet") || first->raw || !first->phi_net)
        return;
    cli_note(args->command, "scale",
             "features are clipped (--scale robust), so the boundaries of layer %zu are hyperplanes in the "
             "scaled features, and norm, offset, phi, direction and nearest are in these; phi_net is in the "
             "units of the data",
             first->layer);
}

static int run_boundaries(const struct args *args)
{
    sph_run *run = NULL;
    sph_boundaries *found = NULL;
    sph_data *columns = NULL;
    size_t layer = SPH_EVERY_LAYER, rows = 0;
    int code, err;
    if ((code = args_size(args, "rows", 1, &rows)) ||
        (code = cli_open_run(args->command, args->word[0], &run)))
        return code;
    if (!(code = cli_take_one(args, run)) && !(code = find_layer(args, sph_run_net(run), &layer))) {
        int vectors = layer != SPH_EVERY_LAYER;
        if ((err = find_boundaries(args, run, layer, rows, &found)) < 0 ||
            (err = sph_data_of_note(&columns, sph_net_note(sph_run_net(run)))) < 0)
            code = cli_fail_with(args->command, err);
        if (!code)
            tell_units(args, found);
        if (!code && args_on(args, "json"))
            code = print_json(args->command, found, columns, vectors);
        else if (!code) {
            if (vectors)
                tell_order(args, found, columns);
            if (isatty(STDOUT_FILENO) && !args_on(args, "csv"))
                print_table(found, vectors);
            else
                code = print_csv(found, vectors);
        }
    }
    sph_data_free(columns);
    sph_boundaries_free(found);
    sph_run_free(run);
    return code;
}

static const sph_option options[] = {
    CLI_ONE_MEMBER,
    {"layer", "K", "", "boundaries",
     "print only this layer, given by name or by number from 0, and also phi and direction of each unit"},
    {"data", "FILE|NAME", "", "data",
     "samples to measure, with the columns of the training data (default: the run's training part)"},
    {"rows", "N", "", "data", "use only the first N rows (default: all)"},
    {"csv", NULL, "", "boundaries", "print CSV with all digits also on a terminal"},
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_boundaries = {
    .name = "boundaries",
    .summary = "list the boundary of each unit: position, active samples, dead units",
    .usage = "RUN [--layer K] [--data FILE|NAME] [--rows N] [--csv] [--json]",
    .about =
        "Prints one line for each unit with an activation: a table on a terminal, CSV with all digits in a "
        "pipe or with --csv. A unit's boundary is w x + b = 0, where x is the input of its layer; "
        "normalization is folded into w and b.\nnorm is |w|, offset is b/|w|, and phi = -offset w/|w| is "
        "the point of the boundary nearest to the origin. For the first layer, all are in the units of the "
        "data, before standardization. With --layer, phi_net is added for the first layer: the point of the "
        "boundary that is nearest to the mean of the data after standardization, in data units; figures draw "
        "this point. phi_1, phi_2, ... follow the order in which the network reads the features (--json "
        "prints their names).\nactive_share is the share of samples (for convolutions: of samples and "
        "pixels) on the active side, and state marks units as dead or always_on. nearest is the distance to "
        "the nearest sample. pole, for gmp, is the smallest |sin theta| of the angles except the last; 0 is "
        "a pole of the coordinates. Undefined values are empty: all but active_share after a norm with "
        "statistics of each sample and a nonzero shift, offset and phi where |w| is 0, and all values that "
        "need data if the run's data are gone or changed, which is reported on stderr.\nA run with --scale "
        "robust clips its features: the first layer is then given in the scaled features, and only phi_net "
        "in the units of the data; it is empty where a clipped feature does not reach the point.",
    .examples = "  spherelu boundaries runs/first\n"
                "  spherelu boundaries runs/first --layer 0 > first-layer.csv\n"
                "  spherelu boundaries runs/prices --data new-houses.csv --json\n"
                "  spherelu boundaries runs/first | awk -F, '$6 == \"dead\"'\n",
    .often = 1,
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"RUN"},
    .words_needed = 1,
    .run = run_boundaries,
};
