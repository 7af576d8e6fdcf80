/* SPDX-License-Identifier: MIT
 *
 * spherelu perturb: what a small change of a unit's numbers does to its boundary, and the theory of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boundary/tool.h"
#include "cli.h"
#include "progress.h"
#include "report/tool.h"

enum { LIST_MOST = 1024, DIM_MOST = 65536, SHOWN_MOST = 4 };

struct perturb {
    sph_perturb_opts opts;
    double eps[LIST_MOST], weight[LIST_MOST];
    size_t samples, threads, seed;
};

/* ---------------------------------------------------------------- options */

static int read_number(const struct args *args, const char *name, double least, const char *expected,
                       double *out)
{
    const char *value = args_value(args, name);
    char *end;
    if (!value)
        return 0;
    *out = strtod(value, &end);
    if (end == value || *end || !isfinite(*out) || !(*out > least))
        return cli_fail_option(args->command, name, "found '%s', expected %s", value, expected);
    return 0;
}

static int read_size(const struct args *args, const char *name, size_t least, size_t most, size_t *out)
{
    int code = args_size(args, name, least, out);
    if (!code && args_value(args, name) && *out > most)
        return cli_fail_option(args->command, name, "found '%zu', expected a whole number from %zu to %zu",
                               *out, least, most);
    return code;
}

static int read_options(struct perturb *perturb, const struct args *args)
{
    sph_perturb_opts *opts = &perturb->opts;
    size_t weights = 0;
    int code;
    if ((code = args_numbers(args, "eps", "1e-3,1e-2", perturb->eps, 1, LIST_MOST, &opts->count)) ||
        (code = args_numbers(args, "weight", "6e-4,-8e-4", perturb->weight, 1, LIST_MOST, &weights)) ||
        (code = read_size(args, "dim", 2, DIM_MOST, &opts->inputs)) ||
        (code = read_number(args, "length", 0, "a number above 0", &opts->length)) ||
        (code = read_number(args, "distance", -INFINITY, "a number", &opts->distance)) ||
        (code = read_size(args, "rows", 2, DIM_MOST, &opts->rows)) ||
        (code = read_size(args, "units", 2, LIST_MOST, &opts->units)) ||
        (code = read_size(args, "samples", 0, 1000000000000, &perturb->samples)) ||
        (code = read_size(args, "threads", 1, LIST_MOST, &perturb->threads)) ||
        (code = args_size(args, "seed", 0, &perturb->seed)))
        return code;
    opts->seed = perturb->seed;
    if (args_value(args, "eps"))
        opts->eps = perturb->eps;
    if (!args_value(args, "weight"))
        return 0;
    if (weights < 2 || (args_value(args, "dim") && weights != opts->inputs))
        return cli_fail_option(args->command, "weight", "found %zu number%s, expected %s%s", weights,
                               cli_plural(weights), weights < 2 ? "2 or more" : "as many as --dim says: ",
                               weights < 2 ? "" : args_value(args, "dim"));
    if (args_value(args, "length"))
        return cli_fail_option(args->command, "length",
                               "cannot be combined with --weight; remove one of them");
    opts->w = perturb->weight;
    opts->inputs = weights;
    return 0;
}

/* ---------------------------------------------------------------- what happened to the boundaries */

static void print_base(const sph_perturb_result *result, const sph_perturb_opts *opts)
{
    printf("one unit with %zu inputs; the distance of its boundary from the origin is %g;\n"
           "eps is added to every parameter below\n"
           "(BN: batch of %zu standard normal samples; LN: layer of %zu units, of which only this one "
           "changes)\n\n",
           result->inputs, opts->distance, opts->rows, opts->units);
    for (size_t m = 0; m < SPH_PERTURB_METHODS; m++) {
        const sph_perturb_method *method = &result->method[m];
        printf("  %-4s", method->name);
        for (size_t t = 0; t < method->tensors; t++) {
            const sph_perturb_tensor *tensor = &method->tensor[t];
            if (!tensor->perturbed)
                continue;
            printf("%s %s =", t ? "," : "", tensor->name);
            for (size_t i = 0; i < tensor->count && i < SHOWN_MOST; i++)
                printf(" %.9g", tensor->value[i]);
            printf("%s", tensor->count > SHOWN_MOST ? " ..." : "");
        }
        printf("\n");
    }
}

static void print_cell(size_t method, const char *turn, const char *shift)
{
    int last = method + 1 == SPH_PERTURB_METHODS;
    printf("  %10s%s%-*s%s", turn, *shift || !last ? " " : "", last ? 0 : 9, shift, last ? "\n" : "");
}

static int is_zero(const double *w, size_t n)
{
    while (n && *w == 0)
        w++, n--;
    return !n;
}

static void print_table(const sph_perturb_result *result)
{
    int plane = result->inputs == 2;
    printf("\nturn in degrees%s, and how far phi moves\n\n  %-8s",
           plane ? " (counter-clockwise above 0)" : "", "eps");
    for (size_t m = 0; m < SPH_PERTURB_METHODS; m++)
        print_cell(m, result->method[m].name, "");
    printf("  %-8s", "");
    for (size_t m = 0; m < SPH_PERTURB_METHODS; m++)
        print_cell(m, "turn", "shift");
    for (size_t e = 0; e < result->count; e++) {
        printf("  %-8g", result->method[0].after[e].eps);
        for (size_t m = 0; m < SPH_PERTURB_METHODS; m++) {
            const sph_perturb_plane *after = &result->method[m].after[e];
            char turn[32], shift[32];
            snprintf(turn, sizeof turn, plane ? "%+.5f" : "%.5f", after->turn);
            snprintf(shift, sizeof shift, "%.4g", after->shift);
            if (is_zero(after->w, result->inputs))
                print_cell(m, "none", "(w is 0)");
            else
                print_cell(m, turn, shift);
        }
    }
}

/* ---------------------------------------------------------------- the checks */

static void dimension(char out[32], size_t inputs)
{
    snprintf(out, 32, inputs ? "%zu" : "2-4608", inputs);
}

static void print_checks(const sph_theory_result *theory)
{
    size_t check = 0, measured = 0, expected = 0;
    for (size_t i = 0; i < theory->count; i++) {
        const sph_theory_row *row = &theory->row[i];
        check = strlen(row->check) > check ? strlen(row->check) : check;
        measured = strlen(row->measured) > measured ? strlen(row->measured) : measured;
        expected = strlen(row->expected) > expected ? strlen(row->expected) : expected;
    }
    printf("\n  %-*s  %6s  %8s  %-*s  %s\n", (int)check, "check", "n", "cases", (int)measured, "measured",
           "expected");
    for (size_t i = 0; i < theory->count; i++) {
        const sph_theory_row *row = &theory->row[i];
        char inputs[32];
        dimension(inputs, row->inputs);
        printf("  %-*s  %6s  %8zu  %-*s  %-*s  %s\n", (int)check, row->check, inputs, row->tries,
               (int)measured, row->measured, (int)expected, row->expected, row->passed ? "ok" : "FAILED");
    }
}

/* ---------------------------------------------------------------- the command */

static int on_progress(void *self, const sph_progress *progress)
{
    progress_share(self, "checking turn <= |eps|", progress->share);
    return 0;
}

static int run_checks(const struct args *args, const struct perturb *perturb, sph_theory_result *theory)
{
    struct progress progress;
    sph_theory_opts opts;
    sph_theory_defaults(&opts);
    progress_init(&progress, args_on(args, "quiet"), args_on(args, "verbose"));
    opts.samples = perturb->samples;
    opts.seed = perturb->seed;
    opts.threads = (int)perturb->threads;
    opts.self = &progress;
    opts.progress = on_progress;
    int err = perturb->samples ? sph_theory(theory, &opts) : 0;
    progress_clear(&progress);
    return err;
}

static int print_json(const struct command *command, const struct perturb *perturb,
                      const sph_perturb_result *result, const sph_theory_result *theory)
{
    int err = sph_perturb_json(result, &perturb->opts, theory, &(sph_sink){stdout, cli_write});
    return cli_written(command, err, stdout, "the numbers");
}

static int run_perturb(const struct args *args)
{
    struct perturb perturb = {.threads = 1};
    sph_theory_opts usual;
    sph_theory_result theory = {0};
    sph_perturb_result result;
    sph_perturb_defaults(&perturb.opts);
    sph_theory_defaults(&usual);
    perturb.samples = usual.samples;
    int json = args_on(args, "json"), err, code = read_options(&perturb, args);
    if (code)
        return code;
    if ((err = sph_perturb(&result, &perturb.opts)) < 0)
        return cli_fail_with(args->command, err);
    if (!json) {
        print_base(&result, &perturb.opts);
        print_table(&result);
        fflush(stdout); /* before the checks, which take a while */
    }
    if ((err = run_checks(args, &perturb, &theory)) < 0)
        code = cli_fail_with(args->command, err);
    else if (json)
        code = print_json(args->command, &perturb, &result, &theory);
    else if (theory.count)
        print_checks(&theory);
    sph_perturb_free(&result);
    if (!code && theory.failed)
        return cli_fail(args->command, EXIT_FAILED, NULL, "%zu of %zu checks failed", theory.failed,
                        theory.count);
    return code;
}

static const sph_option options[] = {
    {"eps", "X,X,...", "1e-4,1e-3,1e-2,1e-1", "perturbation", "values added to each parameter of the unit"},
    {"dim", "N", "2", "perturbation", "inputs of the unit"},
    {"length", "X", "1e-3", "perturbation",
     "length of the weight vector before the perturbation; its direction is random. The papers' code uses "
     "lengths near 1e-3"},
    {"weight", "X,X,...", "", "perturbation",
     "weight vector before the perturbation, instead of --dim and --length"},
    {"distance", "X", "1", "perturbation",
     "distance of the boundary from the origin before the perturbation"},
    {"rows", "N", "256", "perturbation", "BN: number of samples in the batch that gives the statistics"},
    {"units", "N", "8", "perturbation", "LN: number of units in the layer"},
    {"samples", "N", "1000000", "checks",
     "number of pairs (theta, eps) that check turn <= |eps|, rounded up to whole batches of at least 11,520 "
     "in total; 0: no checks"},
    {"threads", "N", "1", "output and resources", "threads of the checks; does not change results"},
    {"seed", "S", "0", "output and resources", "random seed"},
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_perturb = {
    .name = "perturb",
    .summary = "perturb the parameters of one unit and measure its boundary; check the theory",
    .usage = "[--eps X,X,...] [--dim N] [--length X | --weight X,X,...] [--samples N] [--json]",
    .about = "Repeats Figure 1(b)-(e) of the papers. One unit is parameterized by SP, WN, BN, LN and GmP "
             "with the same boundary; eps is added to each of its parameters, and the change of the "
             "boundary's direction and offset is printed. With LN, the shift is not changed, because the "
             "boundary is a plane only if the shift is 0. Then the papers' statements are checked "
             "numerically: flips by 180 degrees, the metric of the angles, the limit of the turn for small "
             "eps, and the bound turn <= |eps| for every eps. Exit code 1 if a check fails.",
    .examples = "  spherelu perturb\n"
                "  spherelu perturb --eps 1e-3 --weight 6e-4,-8e-4 --samples 0\n"
                "  spherelu perturb --dim 784 --seed 3 --json > perturb.json\n"
                "  spherelu perturb --samples 100000000 --threads 8\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .run = run_perturb,
};
