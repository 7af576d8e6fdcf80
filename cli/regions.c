/* SPDX-License-Identifier: MIT
 *
 * spherelu regions: the polygons on which a run's network is linear. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "job/tool.h"
#include "progress.h"
#include "report/tool.h"

/* ---------------------------------------------------------------- arguments */

static int read_plane(const struct args *args, size_t rows[3])
{
    const char *value = args_value(args, "plane"), *at = value;
    size_t count = 0;
    while (count < 3 && *at >= '0' && *at <= '9') {
        char *end;
        rows[count++] = (size_t)strtoull(at, &end, 10);
        at = *end == ',' && count < 3 ? end + 1 : end;
    }
    if (count == 3 && !*at)
        return 0;
    return cli_fail_option(args->command, "plane",
                           "found '%s', expected three zero-based data rows such as 0,1,2", value);
}

static int read_window(const struct args *args, size_t inputs, double window[4])
{
    size_t count, wanted = inputs == 1 ? 2 : 4;
    return args_numbers(args, "window", wanted == 2 ? "-1,1" : "-1,1,-1,1", window, wanted, wanted, &count);
}

/* ---------------------------------------------------------------- results */

static void print_summary(const sph_regions *regions, size_t inputs)
{
    sph_regions_total total;
    sph_regions_sum(regions, &total);
    size_t pieces = total.segments;
    printf("%-18s %zu\n", "regions", total.regions);
    for (size_t k = 0; k < total.layers; k++) {
        const sph_regions_layer *layer = &total.layer[k];
        printf("  %-16s %zu, with %zu unit%s\n", layer->path, layer->regions, layer->units,
               cli_plural(layer->units));
    }
    printf("%-18s %.6g\n", inputs == 1 ? "length" : "area", total.area);
    printf("  %-16s %.6g\n  %-16s %.6g\n", "largest", total.largest, "smallest", total.smallest);
    if (total.task != SPH_TASK_REGRESSION && inputs == 1)
        printf("%-18s %zu\n", "decision points", pieces);
    else if (total.task != SPH_TASK_REGRESSION)
        printf("%-18s %.6g long, in %zu piece%s\n", "decision boundary", total.length, pieces,
               cli_plural(pieces));
}

static int see(void *self, const sph_progress *progress)
{
    progress_regions(self, progress->done, progress->share);
    return 0;
}

static int show(const struct args *args, const sph_regions *regions, sph_run *run)
{
    const char *out = args_value(args, "out");
    int err = out ? sph_regions_save(regions, out) : 0;
    if (err < 0)
        return cli_fail_with(args->command, err);
    if (err > 0 && !args_on(args, "quiet"))
        cli_note(args->command, "out", "the picture could not be drawn: %s", sph_error());
    if (out && !args_on(args, "quiet"))
        cli_note(args->command, "out", "wrote %s/regions.json%s", out,
                 err ? "" : ", regions.png, regions.svg, regions.pdf and regions.gp with its data files");
    if (!args_on(args, "json")) {
        print_summary(regions, sph_net_inputs(sph_run_net(run)));
        return EXIT_DONE;
    }
    err = sph_regions_json(regions, &(sph_sink){stdout, cli_write});
    return cli_written(args->command, err, stdout, "the regions");
}

static int run_regions(const struct args *args)
{
    sph_run *run = NULL;
    sph_regions *regions = NULL;
    sph_run_regions_opts opts = {.data = args_value(args, "data"), .progress = see};
    struct progress progress;
    size_t plane[3];
    double window[4];
    int code = args_size(args, "most", 1, &opts.most), err;
    if (code)
        return code;
    const char *colour = args_value(args, "colour");
    opts.colour_output = colour && !strcmp(colour, "output");
    if (colour && !opts.colour_output && strcmp(colour, "units") != 0)
        return cli_fail_option(args->command, "colour", "found '%s', expected units or output", colour);
    if (args_value(args, "plane")) {
        if ((code = read_plane(args, plane)))
            return code;
        opts.plane = plane;
    }
    if ((code = cli_open_run(args->command, args->word[0], &run)))
        return code;
    code = cli_take_one(args, run);
    if (!code && args_value(args, "window")) {
        code = read_window(args, sph_net_inputs(sph_run_net(run)), window);
        opts.window = window;
    }
    if (!code) {
        progress_init(&progress, args_on(args, "quiet"), args_on(args, "verbose"));
        opts.self = &progress;
        err = sph_run_regions(&regions, run, &opts);
        progress_clear(&progress);
        code = err ? cli_fail_with(args->command, err) : show(args, regions, run);
    }
    sph_regions_free(regions);
    sph_run_free(run);
    return code;
}

static const sph_option options[] = {
    CLI_ONE_MEMBER,
    {"plane", "A,B,C", "", "regions",
     "plane through these three rows of the data, counted from 0; required if the network has more than two "
     "inputs"},
    {"window", "S0,S1,T0,T1", "", "regions",
     "part of the plane to cut, in data units, or in coordinates of the plane with --plane; S0,S1 for a "
     "network with one input (default: the range of the data, or of the three rows, extended by 10 % on each "
     "side)"},
    {"most", "N", "1000000", "regions", "stop with an error at more regions than this"},
    {"data", "FILE|NAME", "", "data",
     "data with the columns of the training data, used for --plane, the default of --window and the points "
     "in the picture (default: the run's data)"},
    {"out", "DIR", "", "data",
     "folder for regions.json, the pictures regions.png, .svg and .pdf, and their gnuplot script"},
    {"colour", "units|output", "units", "data",
     "colors of the picture: number of active units, or output of a network with one output"},
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_regions = {
    .name = "regions",
    .summary = "compute the regions on which a network is linear, and its decision boundary",
    .usage = "RUN [--plane A,B,C] [--window S0,S1,T0,T1] [--data FILE|NAME] [--json] [--out DIR]",
    .about = "Cuts the input plane, or a plane through three rows of the data, exactly along the boundaries "
             "of all units of all layers. In each of the resulting polygons the network is affine. Prints "
             "the number of regions after each layer, their areas, and for a classifier the length of the "
             "decision boundary. --json prints every polygon with its active units and its affine map. "
             "Supported are dense networks with relu or leaky_relu and without a norm that uses statistics "
             "of each sample (ln, gn). With one input, regions are intervals.",
    .examples = "  spherelu regions runs/first --out pictures\n"
                "  spherelu regions runs/first --window -1,2,-1,1.5 --json > regions.json\n"
                "  spherelu regions runs/prices --plane 0,17,23\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"RUN"},
    .words_needed = 1,
    .run = run_regions,
};
