/* SPDX-License-Identifier: MIT
 *
 * spherelu import: a network of other programs, from ONNX. */
#include <stdio.h>

#include "cli.h"

static int run_import(const struct args *args)
{
    char network[256];
    sph_imported result = {0};
    sph_net **nets = NULL;
    size_t members = 0;
    int code = 0, err = sph_nets_import(&nets, &members, args->word[0], &result);
    if (!err)
        err = sph_nets_save(nets, members, args->word[1]);
    if (err < 0) {
        sph_nets_free(nets, members);
        return cli_fail_with(args->command, err);
    }
    const sph_net *net = nets[0];
    size_t learned = members * sph_net_learned(net);
    cli_network(network, sizeof network, NULL, net);
    if (!result.rows && !args_on(args, "quiet"))
        cli_note(args->command, "rows",
                 "%s: the graph is too large to be computed here: the network was not compared with it",
                 args->word[0]);
    if (result.dropped && !args_on(args, "quiet"))
        cli_note(args->command, result.first, "%s: %zu node%s from %s on left out: the network gives scores",
                 args->word[0], result.dropped, cli_plural(result.dropped), result.first);
    if (!args_on(args, "json")) {
        printf("%s: ", args->word[1]);
        if (members > 1)
            printf("%zu x ", members);
        printf("%s, %zu parameters\n", network, learned);
    } else {
        json_t *object = json_object();
        json_object_set_new(object, "out", json_string(args->word[1]));
        json_object_set_new(object, "network", json_string(network));
        json_object_set_new(object, "layers", json_integer((json_int_t)sph_net_layers(net)));
        json_object_set_new(object, "members", json_integer((json_int_t)members));
        json_object_set_new(object, "learned", json_integer((json_int_t)learned));
        json_object_set_new(object, "nodes", json_integer((json_int_t)result.nodes));
        json_object_set_new(object, "left_out", json_integer((json_int_t)result.dropped));
        json_object_set_new(object, "rows_compared", json_integer((json_int_t)result.rows));
        code = cli_print_json(args->command, object, 17);
    }
    sph_nets_free(nets, members);
    return code;
}

static const sph_option options[] = {
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_import = {
    .name = "import",
    .summary = "import a network from ONNX",
    .usage = "MODEL.onnx OUT.safetensors",
    .about = "Reads graphs as torch and skl2onnx write them, with the operators Gemm, MatMul, Conv, "
             "BatchNormalization, Relu, LeakyRelu, Elu, MaxPool, AveragePool, GlobalAveragePool, Add, "
             "Flatten, Reshape, and constants that can be folded into them. Other operators raise an error "
             "that names the node. Operations on the input before the first layer become standardization; "
             "softmax, labels and everything after the last layer are left out. The export of an ensemble "
             "becomes a file with all members. Before OUT is written, network and graph are compared on "
             "random rows. `convert`, `export` and `train --init` accept OUT.",
    .examples = "  spherelu import resnet18.onnx resnet18.safetensors\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"MODEL.onnx", "OUT.safetensors"},
    .words_needed = 2,
    .run = run_import,
};
