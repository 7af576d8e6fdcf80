/* SPDX-License-Identifier: MIT
 *
 * spherelu boundaries: the boundary of each unit of a run's network, and the samples on both sides. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "job/tool.h"
#include "layer/tool.h"
#include "report/tool.h"
#include "rows/tool.h"

/* Finds a layer with boundaries by its number or name. */
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

/* If the data of the run are gone, the values that need data are left out. */
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

/* The elements of phi are in the order of the network's inputs, which can differ from the order of the columns. */
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

/* With clipped features, a boundary is a hyperplane only in the scaled features. */
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
        if (!code) {
            int json = args_on(args, "json"), csv = !isatty(STDOUT_FILENO) || args_on(args, "csv");
            tell_units(args, found);
            if (vectors && !json)
                tell_order(args, found, columns);
            err = sph_boundaries_print(found, columns, vectors,
                                       json  ? SPH_PRINT_JSON
                                       : csv ? SPH_PRINT_CSV
                                             : SPH_PRINT_TEXT,
                                       &(sph_sink){stdout, cli_write});
            code = cli_written(args->command, err, stdout, "the boundaries");
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
     "samples to measure, with the columns of the training data (default: the run's training set)"},
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
