/* SPDX-License-Identifier: MIT
 *
 * spherelu convert: the same function in another parameterization. */
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli.h"

static int print_converted(const struct args *args, const sph_net *net)
{
    char network[256] = "";
    cli_network(network, sizeof network, NULL, net);
    if (!args_on(args, "json")) {
        printf("%s: %s, %zu learned numbers\n", args->word[1], network, sph_net_learned(net));
        return EXIT_DONE;
    }
    json_t *object = json_object();
    json_object_set_new(object, "out", json_string(args->word[1]));
    json_object_set_new(object, "param", json_string(args_value(args, "to")));
    json_object_set_new(object, "network", json_string(network));
    json_object_set_new(object, "learned", json_integer((json_int_t)sph_net_learned(net)));
    return cli_print_json(args->command, object, 17);
}

/* A run folder stands for its model; a path too long to hold is left for the library to refuse. */
static int open_net(sph_net **out, const char *path)
{
    char model[PATH_MAX];
    struct stat status;
    int length = snprintf(model, sizeof model, "%s/model.safetensors", path);
    int folder = !stat(path, &status) && S_ISDIR(status.st_mode) && length > 0 && length < PATH_MAX;
    return sph_net_open(out, folder ? model : path);
}

static int run_convert(const struct args *args)
{
    sph_net *net = NULL, *converted = NULL;
    int to = 0, code = args_check_common(args);
    if (code || (code = args_word(args, "to", cli_params, SPH_PARAM_COUNT, &to)))
        return code;
    if (!args_value(args, "to"))
        return cli_fail(args->command, EXIT_USAGE, "--to is missing, expected %s", CLI_WORDS(SPH_PARAMS));
    int err = open_net(&net, args->word[0]);
    if (!err)
        err = sph_net_convert(&converted, net, (sph_param)to, args_on(args, "strict"));
    if (!err)
        err = sph_net_save(converted, args->word[1]);
    code = err ? cli_fail_with(args->command, err) : print_converted(args, converted);
    sph_net_free(converted);
    sph_net_free(net);
    return code;
}

static const sph_option options[] = {
    {"to", CLI_WORDS(SPH_PARAMS), "", "network",
     "parameterization of the hidden layers; the output layer stays plain"},
    {"strict", NULL, "", "network",
     "refuse where a negative scale cannot be folded away, instead of keeping it"},
    {"threads", "N", "", "common", "taken by every command; one thread works here"},
    {"seed", "S", "", "common", "taken by every command; nothing is random here"},
    {"dtype", CLI_WORDS(SPH_DTYPES), "", "common",
     "taken by every command; the file's own precision holds here"},
};

const struct command command_convert = {
    .name = "convert",
    .summary = "write a network in another parameterization",
    .usage = "IN.safetensors|RUN OUT.safetensors --to sp|wn|gmp|sphere [--strict]",
    .about = "Rewrites the hidden layers so that the network computes the same function: exact for relu, "
             "leaky_relu "
             "and identity, refused where no exact form exists. A run folder stands for its "
             "model.safetensors. Standardisation and class names go along.",
    .examples = "  spherelu convert runs/prices plain.safetensors --to sp\n"
                "  spherelu convert plain.safetensors angles.safetensors --to gmp\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"IN.safetensors|RUN", "OUT.safetensors"},
    .words_needed = 2,
    .run = run_convert,
};
