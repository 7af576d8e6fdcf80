/* SPDX-License-Identifier: MIT
 *
 * spherelu bench: what this machine does in a second. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

enum { HIDDEN_MAX = 16 };

struct bench {
    size_t rows, units, inputs, threads, repeats;
    size_t hidden[HIDDEN_MAX], depth;
    int dtype, param, norm, act, optimizer;
};

static int read_options(struct bench *bench, const struct args *args)
{
    int code;
    if ((code = args_check_common(args)) || (code = args_size(args, "rows", 1, &bench->rows)) ||
        (code = args_size(args, "units", 1, &bench->units)) ||
        (code = args_size(args, "inputs", 1, &bench->inputs)) ||
        (code = args_size(args, "threads", 1, &bench->threads)) ||
        (code = args_size(args, "repeats", 3, &bench->repeats)) ||
        (code = args_sizes(args, "hidden", bench->hidden, HIDDEN_MAX, &bench->depth)) ||
        (code = args_word(args, "dtype", cli_dtypes, SPH_DTYPE_COUNT, &bench->dtype)) ||
        (code = args_word(args, "param", cli_params, SPH_PARAM_COUNT, &bench->param)) ||
        (code = args_word(args, "norm", cli_norms, SPH_NORM_COUNT, &bench->norm)) ||
        (code = args_word(args, "activation", cli_acts, SPH_ACT_COUNT, &bench->act)) ||
        (code = args_word(args, "optimizer", cli_optimizers, SPH_OPTIMIZER_COUNT, &bench->optimizer)))
        return code;
    if (bench->threads > 1024)
        return cli_fail(args->command, EXIT_USAGE,
                        "--threads: found '%zu', expected a whole number from 1 to 1024", bench->threads);
    return 0;
}

static void add_count(json_t *object, const char *key, size_t value)
{
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

static void add_word(json_t *object, const char *key, const char *value)
{
    json_object_set_new(object, key, json_string(value));
}

static int print_bench(const struct args *args, const struct bench *bench, size_t threads, json_t *object)
{
    add_count(object, "repeats", bench->repeats);
    add_count(object, "threads", threads);
    add_word(object, "dtype", cli_dtypes[bench->dtype]);
    add_word(object, "version", sph_version());
    add_word(object, "cpu", sph_cpu());
    return cli_print_json(args->command, object, 6);
}

static int bench_param(const struct args *args, const struct bench *bench)
{
    sph_bench_param_opts opts = {.dtype = (sph_dtype)bench->dtype,
                                 .param = (sph_param)bench->param,
                                 .units = bench->units,
                                 .inputs = args_value(args, "inputs") ? bench->inputs : 4608,
                                 .repeats = bench->repeats};
    double forward, backward;
    int err = sph_bench_param(&opts, &forward, &backward);
    if (err)
        return cli_fail_with(args->command, err);
    if (!args_on(args, "json")) {
        printf("param  %s %s, %zu units x %zu inputs: %.3g ns per weight forward, %.3g backward\n",
               cli_params[bench->param], cli_dtypes[bench->dtype], opts.units, opts.inputs, forward,
               backward);
        return EXIT_DONE;
    }
    json_t *object = json_object();
    add_word(object, "what", "param");
    add_count(object, "units", opts.units);
    add_count(object, "inputs", opts.inputs);
    add_word(object, "param", cli_params[bench->param]);
    json_object_set_new(object, "ns_per_weight_forward", cli_number(forward));
    json_object_set_new(object, "ns_per_weight_backward", cli_number(backward));
    return print_bench(args, bench, 1, object);
}

static int bench_mlp(const struct args *args, const struct bench *bench)
{
    sph_bench_mlp_opts opts = {.dtype = (sph_dtype)bench->dtype,
                               .rows = bench->rows,
                               .inputs = args_value(args, "inputs") ? bench->inputs : 13,
                               .hidden = bench->hidden,
                               .depth = bench->depth,
                               .param = (sph_param)bench->param,
                               .norm = (sph_norm)bench->norm,
                               .act = (sph_act)bench->act,
                               .optimizer = (sph_optimizer)bench->optimizer,
                               .threads = (int)bench->threads,
                               .repeats = bench->repeats};
    double us;
    int err = sph_bench_mlp(&opts, &us);
    if (err)
        return cli_fail_with(args->command, err);
    if (!args_on(args, "json")) {
        printf("mlp    %zu", opts.inputs);
        for (size_t i = 0; i < opts.depth; i++)
            printf("-%zu", opts.hidden[i]);
        printf("-1 %s, norm %s, %s, %s, %s, %zu rows: %.4g us per step\n", cli_params[bench->param],
               cli_norms[bench->norm], cli_acts[bench->act], cli_optimizers[bench->optimizer],
               cli_dtypes[bench->dtype], opts.rows, us);
        return EXIT_DONE;
    }
    json_t *object = json_object(), *hidden = json_array();
    for (size_t i = 0; i < opts.depth; i++)
        json_array_append_new(hidden, json_integer((json_int_t)opts.hidden[i]));
    add_word(object, "what", "mlp");
    add_count(object, "rows", opts.rows);
    add_count(object, "inputs", opts.inputs);
    json_object_set_new(object, "hidden", hidden);
    add_word(object, "param", cli_params[bench->param]);
    add_word(object, "norm", cli_norms[bench->norm]);
    add_word(object, "activation", cli_acts[bench->act]);
    add_word(object, "optimizer", cli_optimizers[bench->optimizer]);
    json_object_set_new(object, "us_per_step", cli_number(us));
    return print_bench(args, bench, bench->threads, object);
}

static int run_bench(const struct args *args)
{
    static const char *const names[] = {"param", "mlp"};
    const char *what = args->words ? args->word[0] : NULL;
    struct bench bench = {.rows = 404,
                          .units = 512,
                          .threads = 1,
                          .repeats = 5,
                          .hidden = {100},
                          .depth = 1,
                          .param = SPH_PARAM_GMP,
                          .norm = SPH_NORM_NONE,
                          .act = SPH_ACT_RELU,
                          .optimizer = SPH_OPTIMIZER_ADAM};
    int code = read_options(&bench, args);
    if (code)
        return code;
    if (what && strcmp(what, "param") && strcmp(what, "mlp")) {
        const char *nearest = args_nearest(what, names, 2);
        return cli_fail(args->command, EXIT_USAGE, "unknown bench '%s'%s%s%s (param|mlp)", what,
                        nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    }
    if (!what || !strcmp(what, "param"))
        code = bench_param(args, &bench);
    if (!code && (!what || !strcmp(what, "mlp")))
        code = bench_mlp(args, &bench);
    return code;
}

static const sph_option options[] = {
    {"units", "N", "512", "param", "units of the layer"},
    {"rows", "N", "404", "mlp", "rows of the batch"},
    {"hidden", "N,...", "100", "mlp", "units of each hidden layer"},
    {"norm", CLI_WORDS(SPH_NORMS), "none", "mlp", "normalization"},
    {"activation", CLI_WORDS(SPH_ACTS), "relu", "mlp", "activation"},
    {"optimizer", CLI_WORDS(SPH_OPTIMIZERS), "adam", "mlp", "update"},
    {"inputs", "N", "", "both", "inputs of a unit (default 4608 in param, 13 in mlp)"},
    {"param", CLI_WORDS(SPH_PARAMS), "gmp", "both", "parameterization"},
    {"repeats", "N", "5", "both", "the best of N is printed; at least 3"},
    {"threads", "N", "1", "common", "threads of one network; param runs in one"},
    {"seed", "S", "", "common", "taken by every command; speed does not depend on it"},
    {"dtype", CLI_WORDS(SPH_DTYPES), "f32", "common", "precision"},
};

const struct command command_bench = {
    .name = "bench",
    .summary = "measure the speed of this machine",
    .usage = "[param|mlp] [--json]",
    .about =
        "param: building a layer's weights from its raw numbers and pulling the gradient back, in "
        "nanoseconds per "
        "weight. mlp: whole training steps (forward, loss, backward, update) in microseconds. Without a word "
        "both run. Each figure is the best of several repetitions after a warm-up; with --json one object "
        "per "
        "line.",
    .examples =
        "  spherelu bench\n"
        "  spherelu bench param --units 512 --inputs 4608 --json\n"
        "  spherelu bench mlp --rows 404 --inputs 13 --hidden 100 --param gmp --norm none --optimizer adam\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"param|mlp"},
    .words_needed = 0,
    .run = run_bench,
};
