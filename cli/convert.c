/* SPDX-License-Identifier: MIT
 *
 * spherelu convert: the same function in another parameterization. */
#include <stdio.h>

#include "cli.h"
#include "store/tool.h"

static int print_converted(const struct args *args, const sph_converted *result)
{
    char network[256] = "";
    cli_network(network, sizeof network, NULL, result->net);
    if (!args_on(args, "json")) {
        printf("%s: %s, %zu parameters\n", args->word[1], network, result->learned);
        return EXIT_DONE;
    }
    json_t *object = json_object();
    json_object_set_new(object, "out", json_string(args->word[1]));
    json_object_set_new(object, "param", json_string(args_value(args, "to")));
    json_object_set_new(object, "network", json_string(network));
    json_object_set_new(object, "layers", json_integer((json_int_t)result->layers));
    json_object_set_new(object, "learned", json_integer((json_int_t)result->learned));
    return cli_print_json(args->command, object, 17);
}

/* What the file did not say, and what was made of it. */
static void print_notes(const struct args *args, const sph_converted *result)
{
    if (args_on(args, "quiet"))
        return;
    if (result->dropped)
        cli_note(args->command, "names",
                 "%s: standardization and class names cannot be stored with torchvision's names",
                 args->word[1]);
    if (!result->members)
        cli_note(args->command, "net",
                 "%s does not describe a network; read as the chain %s with relu in between", args->word[0],
                 result->order);
}

static int run_convert(const struct args *args)
{
    sph_converted result;
    int to = 0, names = SPH_NAMES_SPHERELU, code;
    if ((code = args_word(args, "to", SPH_WORDS_PARAM, &to)) ||
        (code = args_word(args, "names", SPH_WORDS_NAMES, &names)))
        return code;
    if (!args_value(args, "to"))
        return cli_fail(args->command, EXIT_USAGE, "to", "--to is missing, expected %s",
                        CLI_WORDS(SPH_PARAMS));
    sph_convert_opts opts = {.to = (sph_param)to,
                             .flags = (args_on(args, "strict") ? SPH_CONVERT_STRICT : 0) |
                                      (args_on(args, "keep-bn") ? SPH_CONVERT_KEEP_BN : 0),
                             .names = (sph_names)names};
    int err = sph_convert(args->word[0], args->word[1], &opts, &result);
    if (err)
        return cli_fail_with(args->command, err);
    print_notes(args, &result);
    code = print_converted(args, &result);
    sph_net_free(result.net);
    return code;
}

static const sph_option options[] = {
    {"to", CLI_WORDS(SPH_PARAMS), "", "network",
     "parameterization of the hidden layers; the output layer keeps weight and bias"},
    {"keep-bn", NULL, "", "network",
     "to gmp or sphere: keep bn, with rescaled mean and variance, instead of folding its running statistics "
     "into the weights"},
    {"strict", NULL, "", "network",
     "stop with an error if a negative scale cannot be folded away, instead of keeping it"},
    {"names", CLI_WORDS(SPH_NAMES), "spherelu", "network",
     "names of the tensors in OUT; torchvision requires a resnet with bn and --to sp"},
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_convert = {
    .name = "convert",
    .summary = "convert a network to another parameterization",
    .usage = "IN.safetensors|RUN OUT.safetensors --to sp|wn|gmp|sphere [--keep-bn] [--strict] "
             "[--names spherelu|torchvision]",
    .about = "Converts the hidden layers so that the network computes the same function. This is exact for "
             "relu, leaky_relu and identity; other cases raise an error. For a run folder, its "
             "model.safetensors is used. Standardization and class names are kept. Also accepted are "
             "torchvision's resnet18 and resnet50 with torchvision's tensor names, and files of dense layers "
             "with only PATH.weight and PATH.bias, which are read as a chain with relu in between.",
    .examples = "  spherelu convert runs/prices plain.safetensors --to sp\n"
                "  spherelu convert plain.safetensors angles.safetensors --to gmp\n"
                "  spherelu convert resnet18.safetensors gmp.safetensors --to gmp --keep-bn\n"
                "  spherelu convert gmp.safetensors back.safetensors --to sp --names torchvision\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"IN.safetensors|RUN", "OUT.safetensors"},
    .words_needed = 2,
    .run = run_convert,
};
