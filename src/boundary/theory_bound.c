/* SPDX-License-Identifier: MIT
 *
 * turn <= |eps|, for steps of any size: the great circle from u(theta) to u(theta + eps) is no longer than
 * the path u(theta + t eps), whose speed is |eps|_M <= |eps|. Pairs of several kinds, so that tight places
 * and the poles of the coordinates are met. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "boundary/theory.h"
#include "boundary/tool.h"
#include "boundary/turns.h"
#include "compute/threads.h"

static const double pi = 3.1415926535897932384626433832795;

enum kind {
    RANDOM,     /* a uniform direction, eps uniform as a direction          */
    FIRST_AXIS, /* eps along the first angle: the turn is |eps| up to pi     */
    ONE_AXIS,   /* eps along any other angle, if there is one               */
    CUBE,       /* angles uniform in [-pi, pi]: most are near a pole        */
    EQUATOR,    /* all angles pi/2, where M is the identity                 */
    POLE,       /* the first angle within 1e-9 to 0.1 of 0 or pi            */
    KINDS
};

enum { ROUND = 8 }; /* batches of each worker between two looks at the progress: milliseconds */

static const double shortest = 1e-6, longest = 10; /* |eps|, uniform in its logarithm       */
static const double ratio_least = 1e-3;            /* |eps| below is rounding more than ratio */

/* Where u is known to so much: the products of n sines round n times, at random. */
static double rounding(size_t n)
{
    return 8 * 0x1p-52 * sqrt((double)n);
}

/* Of some pairs. */
struct found {
    double first, other; /* largest turn / |eps| along the first axis, elsewhere */
    double excess;       /* largest turn - |eps|                                  */
    size_t pairs, violations;
};

static void merge(struct found *into, const struct found *from)
{
    into->first = theory_larger(into->first, from->first);
    into->other = theory_larger(into->other, from->other);
    into->excess = theory_larger(into->excess, from->excess);
    into->pairs += from->pairs;
    into->violations += from->violations;
}

struct bound {
    struct turns *turns; /* (workers) */
    struct found *found; /* (workers) */
    size_t first, end;   /* batches of this round, dealt to the workers in turn */
    size_t workers;
    uint64_t seed;
};

static void place_theta(struct turns *turns, enum kind kind, struct rng *rng)
{
    size_t count = (turns->n - 1) * turns->m;
    if (kind != CUBE && kind != EQUATOR)
        turns_draw_theta(turns, rng);
    for (size_t e = 0; kind == CUBE && e < count; e++)
        turns->theta[e] = pi * (0x1p-31 * (double)rng_u32(rng) - 1);
    for (size_t e = 0; kind == EQUATOR && e < count; e++)
        turns->theta[e] = pi / 2;
    for (size_t j = 0; kind == POLE && j < turns->m; j++) {
        double off = 1e-9 * pow(1e8, rng_unit(rng));
        turns->theta[j] = rng_below(rng, 2) ? off : pi - off;
    }
}

static void place_eps(struct turns *turns, enum kind kind, struct rng *rng)
{
    size_t angles = turns->n - 1, m = turns->m;
    if (kind == FIRST_AXIS || kind == ONE_AXIS) {
        for (size_t e = 0; e < angles * m; e++)
            turns->eps[e] = 0;
        for (size_t j = 0; j < m; j++) {
            size_t axis = kind == FIRST_AXIS || angles == 1 ? 0 : 1 + rng_below(rng, (uint32_t)(angles - 1));
            turns->eps[axis * m + j] = rng_below(rng, 2) ? 1 : -1;
        }
    } else {
        turns_draw_eps(turns, rng);
    }
    for (size_t j = 0; j < m; j++)
        turns->turn[j] = shortest * pow(longest / shortest, rng_unit(rng));
    turns_scale_eps(turns, turns->turn);
}

static void do_batch(struct bound *bound, size_t worker, size_t batch)
{
    struct turns *turns = &bound->turns[worker];
    struct found *found = &bound->found[worker];
    enum kind kind = (enum kind)(batch % KINDS);
    struct rng rng =
        rng_stream(bound->seed ^ (uint64_t)turns->n << 40, RNG_THEORY, 1u << 31 | (uint32_t)batch);
    place_theta(turns, kind, &rng);
    place_eps(turns, kind, &rng);
    turns_measure(turns);
    for (size_t j = 0; j < turns->m; j++) {
        double turn = turns->turn[j], length = turns->length[j],
               *ratio = kind == FIRST_AXIS ? &found->first : &found->other;
        if (length >= ratio_least)
            *ratio = theory_larger(*ratio, turn / length);
        found->excess = theory_larger(found->excess, turn - length);
        found->violations += !(turn <= length + rounding(turns->n));
    }
    found->pairs += turns->m;
}

static void do_round(void *context, size_t worker)
{
    struct bound *bound = context;
    for (size_t batch = bound->first + worker; batch < bound->end; batch += bound->workers)
        do_batch(bound, worker, batch);
}

/* How many pairs each dimension has, of a thousand: about the same time each. */
static const size_t share[THEORY_DIM_COUNT] = {300, 300, 215, 150, 30, 5},
                    dims[THEORY_DIM_COUNT] = THEORY_DIMS;

static size_t pairs_at_once(size_t n)
{
    size_t m = 32768 / n;
    return kernel_pad(m > 512 ? 512 : m < KERNEL_PAD ? KERNEL_PAD : m);
}

/* A whole number of batches of each kind. */
static size_t batches_of(size_t d, size_t samples)
{
    size_t pairs = samples / 1000 * share[d] + samples % 1000 * share[d] / 1000 + 1,
           at_once = KINDS * pairs_at_once(dims[d]);
    return KINDS * ((pairs + at_once - 1) / at_once);
}

struct course {
    double done, all; /* numbers */
};

static int run_dimension(struct theory *theory, size_t d, size_t workers, struct found *out,
                         struct course *course)
{
    size_t n = dims[d], m = pairs_at_once(n), batches = batches_of(d, theory->opts->samples), made = 0;
    struct bound bound = {.turns = mem_get(workers, sizeof *bound.turns),
                          .found = mem_get(workers, sizeof *bound.found),
                          .workers = workers,
                          .seed = theory->opts->seed};
    int err = bound.turns && bound.found ? 0 : SPH_EMEMORY;
    for (; made < workers && !err; made++) {
        err = turns_new(&bound.turns[made], n, m);
        bound.found[made].excess = -INFINITY;
    }
    for (; bound.first < batches && !err && !theory->result->stopped; bound.first = bound.end) {
        size_t left = batches - bound.first, round = ROUND * workers;
        bound.end = bound.first + (left < round ? left : round);
        threads_run(workers, do_round, &bound);
        course->done += (double)((bound.end - bound.first) * n * m);
        if (theory->opts->progress) {
            sph_progress progress = {
                .share = course->done / course->all, .seconds = (double)NAN, .seconds_left = (double)NAN};
            theory->result->stopped = theory->opts->progress(theory->opts->self, &progress) > 0;
        }
    }
    *out = (struct found){.excess = -INFINITY};
    for (size_t w = 0; w < workers && !err; w++)
        merge(out, &bound.found[w]);
    for (size_t w = 0; w < made; w++)
        turns_free(&bound.turns[w]);
    mem_free(bound.turns);
    mem_free(bound.found);
    return err;
}

static void dimension_row(struct theory *theory, size_t n, const struct found *found)
{
    double most = theory_larger(found->first, found->other);
    sph_theory_row *row = theory_row(theory, n, found->pairs, most, 0, 1 + rounding(n) / ratio_least);
    snprintf(row->check, sizeof row->check, "largest turn / |eps|");
    snprintf(row->measured, sizeof row->measured, "%.9f first axis, %.9f elsewhere", found->first,
             found->other);
    snprintf(row->expected, sizeof row->expected, "at most 1, rounding %.0e", rounding(n) / ratio_least);
}

int theory_bound(struct theory *theory)
{
    struct found found[THEORY_DIM_COUNT], total = {.excess = -INFINITY};
    struct course course = {0};
    size_t workers = (size_t)theory->opts->threads;
    double loosest = 1;
    char pairs[32];
    workers = workers > threads_limit() ? threads_limit() : workers;
    for (size_t d = 0; d < THEORY_DIM_COUNT; d++)
        course.all += (double)(batches_of(d, theory->opts->samples) * dims[d] * pairs_at_once(dims[d]));
    for (size_t d = 0; d < THEORY_DIM_COUNT; d++) {
        int err = run_dimension(theory, d, workers, &found[d], &course);
        if (err < 0 || theory->result->stopped)
            return err;
        dimension_row(theory, dims[d], &found[d]);
        merge(&total, &found[d]);
        loosest = -theory_larger(-loosest, -found[d].first);
    }
    theory_count(pairs, total.pairs);
    sph_theory_row *row = theory_row(theory, 0, total.pairs, (double)total.violations, 0, 0);
    snprintf(row->check, sizeof row->check, "turn > |eps|");
    snprintf(row->measured, sizeof row->measured, "%zu of %s pairs; excess %.1e at most", total.violations,
             pairs, total.excess);
    snprintf(row->expected, sizeof row->expected, "0 beyond rounding %.0e to %.0e", rounding(dims[0]),
             rounding(dims[THEORY_DIM_COUNT - 1]));
    row = theory_row(theory, 0, total.pairs / KINDS, loosest, 1 - 1e-9, 1 + 1e-9);
    snprintf(row->check, sizeof row->check, "turn = |eps| is reached");
    snprintf(row->measured, sizeof row->measured, "%.12f on the first axis in every dimension", loosest);
    snprintf(row->expected, sizeof row->expected, "1, to 1e-9");
    return 0;
}
