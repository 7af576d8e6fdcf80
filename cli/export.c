/* SPDX-License-Identifier: MIT
 *
 * spherelu export: a run's network for other programs, as ONNX. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "job/tool.h"
#include "store/tool.h"

static int print_exported(const struct args *args, const sph_net *net, int opset)
{
    char network[256];
    cli_network(network, sizeof network, NULL, net);
    if (!args_on(args, "json")) {
        printf("%s: %s, ONNX opset %d, %zu inputs, %zu output%s\n", args->word[1], network, opset,
               sph_net_inputs(net), sph_net_outputs(net), cli_plural(sph_net_outputs(net)));
        return EXIT_DONE;
    }
    json_t *object = json_object();
    json_object_set_new(object, "out", json_string(args->word[1]));
    json_object_set_new(object, "network", json_string(network));
    json_object_set_new(object, "opset", json_integer(opset));
    json_object_set_new(object, "inputs", json_integer((json_int_t)sph_net_inputs(net)));
    json_object_set_new(object, "outputs", json_integer((json_int_t)sph_net_outputs(net)));
    return cli_print_json(args->command, object, 17);
}

static int ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a > b && !strcmp(text + a - b, end);
}

static int run_export(const struct args *args)
{
    size_t opset = 13;
    int code = args_size(args, "opset", 1, &opset), err = 0;
    if (code)
        return code;
    sph_export_opts opts = {.size = sizeof(sph_export_opts),
                            .opset = opset > INT_MAX ? INT_MAX : (int)opset,
                            .flags = (args_on(args, "raw") ? SPH_EXPORT_RAW : 0) |
                                     (args_on(args, "keep-bn") ? SPH_EXPORT_KEEP_BN : 0)};
    sph_run *run = NULL;
    sph_net *model = NULL;
    if (ends_with(args->word[0], ".safetensors")) {
        if (!(err = sph_net_open(&model, args->word[0])))
            err = sph_net_export(model, args->word[1], &opts);
    } else if (!(err = sph_run_open(&run, args->word[0])) && !(code = cli_take_member(args, run))) {
        err = sph_run_export(run, args->word[1], &opts);
    }
    if (code) {
        sph_run_free(run);
        return code;
    }
    code = err ? cli_fail_with(args->command, err)
               : print_exported(args, run ? sph_run_net(run) : model, opts.opset);
    sph_net_free(model);
    sph_run_free(run);
    return code;
}

static const sph_option options[] = {
    CLI_MEMBER,
    {"opset", "N", "13", "graph", "ONNX operator set version, 12 to 22"},
    {"raw", NULL, "", "graph",
     "return the raw outputs of the network (logits, logarithm of counts) instead of predictions"},
    {"keep-bn", NULL, "", "graph",
     "keep bn as a separate node instead of folding its running statistics into the weights"},
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_export = {
    .name = "export",
    .summary = "export a model to ONNX",
    .usage = "RUN|MODEL.safetensors OUT.onnx [--opset N] [--raw] [--keep-bn]",
    .about = "Writes a graph that includes the standardization and returns what `predict` prints: `variable` "
             "(rows, targets) for regression, or `label` (rows) and `probabilities` (rows, classes), the "
             "names that skl2onnx uses without ZipMap. The input X is (rows, features), with one column per "
             "level of a text column, or (rows, channels, height, width) of bytes 0 to 255; the number of "
             "rows is variable. The metadata contain the names of columns and classes. A model file has no "
             "prediction step: its graph returns `scores`, as with --raw.",
    .examples = "  spherelu export runs/prices prices.onnx\n"
                "  spherelu export runs/prices scores.onnx --member 0 --raw --opset 17\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"RUN|MODEL.safetensors", "OUT.onnx"},
    .words_needed = 2,
    .run = run_export,
};
