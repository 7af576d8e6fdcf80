/* SPDX-License-Identifier: MIT
 *
 * spherelu bench: what this machine does in a second. Started by the tool, with the same arguments. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tool.h"
#include "bench.h"
#include "cli/bench.h"
#include "net/zoo.h"

enum { HIDDEN_MAX = 16 };

/* A layer's parameterization, or training steps of each kind of network. */
#define NAME_OF(id, word, help) word,
static const char *const names[] = {"param", SPH_NETS(NAME_OF) "loader"};
enum { NAMES = sizeof names / sizeof *names, PARAM = 0, FIRST_NET = 1, LOADER = NAMES - 1 };

static const char *word(sph_word_kind kind, int i)
{
    return sph_word(kind, i)->word;
}

struct setup {
    size_t rows, units, inputs, batch, size, threads, repeats;
    size_t hidden[HIDDEN_MAX], depth;
    double width, natural;
    int dtype, param, norm, act, optimizer, conv, memory;
};

static int read_positive(const struct args *args, const char *name, double *out)
{
    const char *value = args_value(args, name);
    char *end;
    if (!value)
        return 0;
    *out = strtod(value, &end);
    if (end == value || *end || !(*out > 0) || !isfinite(*out))
        return cli_fail_option(args->command, name, "found '%s', expected a number above 0", value);
    return 0;
}

static int read_options(struct setup *bench, const struct args *args)
{
    int code;
    if ((code = args_size(args, "rows", 1, &bench->rows)) ||
        (code = args_size(args, "units", 1, &bench->units)) ||
        (code = args_size(args, "inputs", 1, &bench->inputs)) ||
        (code = args_size(args, "batch", 1, &bench->batch)) ||
        (code = args_size(args, "size", 1, &bench->size)) ||
        (code = read_positive(args, "width", &bench->width)) ||
        (code = read_positive(args, "natural", &bench->natural)) ||
        (code = args_word(args, "conv", SPH_WORDS_CONV, &bench->conv)) ||
        (code = args_word(args, "memory", SPH_WORDS_MEMORY, &bench->memory)) ||
        (code = args_size(args, "threads", 1, &bench->threads)) ||
        (code = args_size(args, "repeats", 1, &bench->repeats)) ||
        (code = args_sizes(args, "hidden", bench->hidden, HIDDEN_MAX, &bench->depth)) ||
        (code = args_word(args, "dtype", SPH_WORDS_DTYPE, &bench->dtype)) ||
        (code = args_word(args, "param", SPH_WORDS_PARAM, &bench->param)) ||
        (code = args_word(args, "norm", SPH_WORDS_NORM, &bench->norm)) ||
        (code = args_word(args, "activation", SPH_WORDS_ACT, &bench->act)) ||
        (code = args_word(args, "optimizer", SPH_WORDS_OPTIMIZER, &bench->optimizer)))
        return code;
    if (bench->threads > 1024)
        return cli_fail_option(args->command, "threads",
                               "found '%zu', expected a whole number from 1 to 1024", bench->threads);
    const char *clock = args_value(args, "clock");
    int processor = clock && !strcmp(clock, "processor");
    if (clock && !processor && strcmp(clock, "wall"))
        return cli_fail_option(args->command, "clock", "found '%s', expected wall or processor", clock);
    bench_clock(processor ? bench->threads : 0);
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

static int print_bench(const struct args *args, const struct setup *bench, size_t threads, json_t *object)
{
    add_count(object, "repeats", bench->repeats);
    add_count(object, "threads", threads);
    add_word(object, "dtype", word(SPH_WORDS_DTYPE, bench->dtype));
    add_word(object, "version", sph_version());
    add_word(object, "cpu", sph_cpu());
    return cli_print_json(args->command, object, 6);
}

static int print_param(const struct args *args, const struct setup *bench)
{
    bench_param_opts opts = {.dtype = (sph_dtype)bench->dtype,
                             .param = (sph_param)bench->param,
                             .units = bench->units,
                             .inputs = args_value(args, "inputs") ? bench->inputs : 4608,
                             .repeats = bench->repeats,
                             .natural = bench->natural};
    bench_param_result result;
    int err = bench_param(&opts, &result);
    if (err)
        return cli_fail_with(args->command, err);
    if (!args_on(args, "json")) {
        printf("param  %s %s, %zu units x %zu inputs: %.3g ns per weight forward, %.3g backward",
               word(SPH_WORDS_PARAM, bench->param), word(SPH_WORDS_DTYPE, bench->dtype), opts.units,
               opts.inputs, result.forward_ns, result.backward_ns);
        if (bench->natural > 0)
            printf(", %.3g natural", result.natural_ns);
        printf("\n");
        return EXIT_DONE;
    }
    json_t *object = json_object();
    add_word(object, "what", "param");
    add_count(object, "units", opts.units);
    add_count(object, "inputs", opts.inputs);
    add_word(object, "param", word(SPH_WORDS_PARAM, bench->param));
    json_object_set_new(object, "ns_per_weight_forward", cli_number(result.forward_ns));
    json_object_set_new(object, "ns_per_weight_backward", cli_number(result.backward_ns));
    if (bench->natural > 0)
        json_object_set_new(object, "ns_per_weight_natural", cli_number(result.natural_ns));
    return print_bench(args, bench, 1, object);
}

static int print_mlp(const struct args *args, const struct setup *bench)
{
    bench_mlp_opts opts = {.dtype = (sph_dtype)bench->dtype,
                           .rows = bench->rows,
                           .inputs = args_value(args, "inputs") ? bench->inputs : 13,
                           .hidden = bench->hidden,
                           .depth = bench->depth,
                           .param = (sph_param)bench->param,
                           .norm = (sph_norm)bench->norm,
                           .act = (sph_act)bench->act,
                           .optimizer = (sph_optimizer)bench->optimizer,
                           .natural = bench->natural,
                           .threads = (int)bench->threads,
                           .repeats = bench->repeats};
    double us, recorded = NAN;
    const char *dir = args_value(args, "record");
    int err = dir ? bench_record(&opts, dir, &us, &recorded) : bench_mlp(&opts, &us);
    if (err)
        return cli_fail_with(args->command, err);
    if (!args_on(args, "json")) {
        printf("mlp    %zu", opts.inputs);
        for (size_t i = 0; i < opts.depth; i++)
            printf("-%zu", opts.hidden[i]);
        printf("-1 %s, norm %s, %s, %s, %s, %zu rows: %.4g us per step", word(SPH_WORDS_PARAM, bench->param),
               word(SPH_WORDS_NORM, bench->norm), word(SPH_WORDS_ACT, bench->act),
               word(SPH_WORDS_OPTIMIZER, bench->optimizer), word(SPH_WORDS_DTYPE, bench->dtype), opts.rows,
               us);
        if (dir)
            printf(", %.4g recorded (%+.2f us, %+.1f %%)", recorded, recorded - us,
                   100 * (recorded / us - 1));
        printf("\n");
        return EXIT_DONE;
    }
    json_t *object = json_object(), *hidden = json_array();
    for (size_t i = 0; i < opts.depth; i++)
        json_array_append_new(hidden, json_integer((json_int_t)opts.hidden[i]));
    add_word(object, "what", "mlp");
    add_count(object, "rows", opts.rows);
    add_count(object, "inputs", opts.inputs);
    json_object_set_new(object, "hidden", hidden);
    add_word(object, "param", word(SPH_WORDS_PARAM, bench->param));
    add_word(object, "norm", word(SPH_WORDS_NORM, bench->norm));
    add_word(object, "activation", word(SPH_WORDS_ACT, bench->act));
    add_word(object, "optimizer", word(SPH_WORDS_OPTIMIZER, bench->optimizer));
    if (bench->natural > 0)
        json_object_set_new(object, "natural", cli_number(bench->natural));
    json_object_set_new(object, "us_per_step", cli_number(us));
    if (dir)
        json_object_set_new(object, "us_per_step_recorded", cli_number(recorded));
    return print_bench(args, bench, bench->threads, object);
}

static int print_images(const struct args *args, const struct setup *bench, sph_net_kind net)
{
    bench_images_opts opts = {.dtype = (sph_dtype)bench->dtype,
                              .net = net,
                              .size = bench->size,
                              .batch = bench->batch,
                              .scale = bench->width,
                              .param = (sph_param)bench->param,
                              .norm = (sph_norm)bench->norm,
                              .act = (sph_act)bench->act,
                              .optimizer = (sph_optimizer)bench->optimizer,
                              .conv = (sph_conv)bench->conv,
                              .memory = (sph_memory)bench->memory,
                              .steps_only = args_on(args, "steps-only"),
                              .threads = (int)bench->threads,
                              .repeats = bench->repeats};
    bench_images_result result;
    int err = bench_images(&opts, &result);
    if (err)
        return cli_fail_with(args->command, err);
    if (!args_on(args, "json")) {
        printf("%s  %zux%zu, width %g, %s, norm %s, %s, %s, conv %s, %s, batch %zu, %zu thread%s: "
               "%.4g images per second",
               word(SPH_WORDS_NET, (int)net), result.size, result.size, bench->width,
               word(SPH_WORDS_PARAM, bench->param), word(SPH_WORDS_NORM, bench->norm),
               word(SPH_WORDS_ACT, bench->act), word(SPH_WORDS_OPTIMIZER, bench->optimizer),
               word(SPH_WORDS_CONV, bench->conv), word(SPH_WORDS_DTYPE, bench->dtype), result.batch,
               bench->threads, cli_plural(bench->threads), result.images_per_second);
        if (isfinite(result.conv_only))
            printf(", bare convolutions on one thread %.4g", result.conv_only);
        else
            printf(", bare convolutions -");
        if (isfinite(result.peak_bytes))
            printf(", peak %.0f MB", result.peak_bytes / 1e6);
        printf("\n");
        return EXIT_DONE;
    }
    json_t *object = json_object();
    add_word(object, "what", word(SPH_WORDS_NET, (int)net));
    add_count(object, "size", result.size);
    add_count(object, "batch", result.batch);
    json_object_set_new(object, "width", json_real(bench->width));
    add_word(object, "param", word(SPH_WORDS_PARAM, bench->param));
    add_word(object, "norm", word(SPH_WORDS_NORM, bench->norm));
    add_word(object, "activation", word(SPH_WORDS_ACT, bench->act));
    add_word(object, "optimizer", word(SPH_WORDS_OPTIMIZER, bench->optimizer));
    add_word(object, "conv", word(SPH_WORDS_CONV, bench->conv));
    add_word(object, "memory", word(SPH_WORDS_MEMORY, bench->memory));
    json_object_set_new(object, "images_per_second", cli_number(result.images_per_second));
    json_object_set_new(object, "conv_only_images_per_second", cli_number(result.conv_only));
    add_count(object, "parameters", result.learned);
    json_object_set_new(object, "peak_bytes",
                        isfinite(result.peak_bytes) ? json_integer((json_int_t)result.peak_bytes)
                                                    : json_null());
    return print_bench(args, bench, bench->threads, object);
}

static int print_loader(const struct args *args)
{
    struct setup bench = {.threads = 1, .repeats = 3};
    bench_loader_opts opts = {.data = args_value(args, "data"), .workers = 1};
    int code, decode = SPH_DECODE_EXACT;
    if (!opts.data)
        return cli_fail(args->command, EXIT_USAGE, "data",
                        "--data is missing, expected a folder of pictures");
    if ((code = args_size(args, "size", 1, &opts.size)) ||
        (code = args_size(args, "workers", 1, &opts.workers)) ||
        (code = args_word(args, "decode", SPH_WORDS_DECODE, &decode)) ||
        (code = args_size(args, "repeats", 1, &bench.repeats)))
        return code;
    opts.decode = (sph_decode)decode;
    opts.repeats = bench.repeats;
    bench_loader_result result;
    int err = bench_loader(&opts, &result);
    if (err)
        return cli_fail_with(args->command, err);
    if (!args_on(args, "json")) {
        printf("loader  %zu pictures, %zux%zu, decode %s, %zu worker%s: %.4g pictures per second, the "
               "decoder alone on one "
               "thread %.4g; for a second of processors %.4g and %.4g: %.2f\n",
               result.images, result.size, result.size, sph_word(SPH_WORDS_DECODE, decode)->word,
               opts.workers, cli_plural(opts.workers), result.images_per_second, result.decode_only,
               result.per_processor_second, result.decode_per_processor_second,
               result.per_processor_second / result.decode_per_processor_second);
        return EXIT_DONE;
    }
    json_t *object = json_object();
    add_word(object, "what", "loader");
    add_count(object, "images", result.images);
    add_count(object, "size", result.size);
    add_word(object, "decode", sph_word(SPH_WORDS_DECODE, decode)->word);
    add_count(object, "workers", opts.workers);
    json_object_set_new(object, "images_per_second", cli_number(result.images_per_second));
    json_object_set_new(object, "decode_only_images_per_second", cli_number(result.decode_only));
    json_object_set_new(object, "images_per_processor_second", cli_number(result.per_processor_second));
    json_object_set_new(object, "decode_only_per_processor_second",
                        cli_number(result.decode_per_processor_second));
    return print_bench(args, &bench, opts.workers, object);
}

int bench_run(const struct args *args)
{
    const char *what = args->words ? args->word[0] : NULL;
    struct setup bench = {.rows = 404,
                          .units = 512,
                          .threads = 1,
                          .hidden = {100},
                          .depth = 1,
                          .width = 1,
                          .param = SPH_PARAM_GMP,
                          .norm = SPH_NORM_NONE,
                          .act = SPH_ACT_RELU};
    size_t which = PARAM;
    while (what && which < NAMES && strcmp(what, names[which]))
        which++;
    if (which == NAMES) {
        const char *nearest = sph_nearest(what, names, NAMES);
        return cli_fail(args->command, EXIT_USAGE, what, "unknown bench '%s'%s%s%s (%s)", what,
                        nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "",
                        args->command->words[0]);
    }
    if (which == LOADER)
        return print_loader(args);
    sph_net_kind net = (sph_net_kind)(which > PARAM ? which - FIRST_NET : 0);
    int images = which > PARAM && net_kind(net)->make;
    bench.optimizer = images ? SPH_OPTIMIZER_SGD : SPH_OPTIMIZER_ADAM;
    bench.repeats = images ? 3 : 5;
    int code = read_options(&bench, args);
    if (code)
        return code;
    if (images)
        return print_images(args, &bench, net);
    if (which == PARAM)
        code = print_param(args, &bench);
    if (!code && (!what || which > PARAM))
        code = print_mlp(args, &bench);
    return code;
}

int main(int argc, char **argv)
{
    struct args args;
    int code = args_parse(&args, &command_bench, argc, argv, 2);
    if (!code)
        code = args_set_memory(&args);
    if (!code)
        code = bench_run(&args);
    if (!code && fflush(stdout))
        code = cli_fail_at(&command_bench, "stdout", "cannot be written");
    return code;
}
