/* SPDX-License-Identifier: MIT
 *
 * Updates: fast kernels against their plain twins, those against formulas written out anew. */
#include "kernel_compare.h"

#include <float.h>

#include "compute/denormals.h"
#include "compute/threads.h"
#include "skip.h"

/* One number, one step, as PyTorch's documentation and the paper of Lion write it. slot: as struct update_args
 * says. */
static void textbook(enum update_kind update, const struct update_args *u, double *p, double g, double *slot)
{
    g *= u->grad_scale;
    if (u->decoupled)
        *p -= u->lr * u->decay * *p;
    else
        g += u->decay * *p;
    switch (update) {
    case UPDATE_SGD:
        slot[0] = u->momentum * slot[0] + g;
        *p -= u->lr * (u->nesterov ? g + u->momentum * slot[0] : slot[0]);
        return;
    case UPDATE_RMSPROP:
        slot[0] = u->beta2 * slot[0] + (1 - u->beta2) * g * g;
        slot[1] = u->momentum * slot[1] + g / (sqrt(slot[0]) + u->epsilon);
        *p -= u->lr * slot[1];
        return;
    case UPDATE_LION: {
        double mixed = u->beta1 * slot[0] + (1 - u->beta1) * g;
        *p -= u->lr * (double)((mixed > 0) - (mixed < 0));
        slot[0] = u->beta2 * slot[0] + (1 - u->beta2) * g;
        return;
    }
    default:
        slot[0] = u->beta1 * slot[0] + (1 - u->beta1) * g;
        slot[1] = u->beta2 * slot[1] + (1 - u->beta2) * g * g;
        *p -= u->lr * (slot[0] / u->correct1) / (sqrt(slot[1] / u->correct2) + u->epsilon);
    }
}

/* How many slots a kernel touches; the others it is given are NULL. */
static size_t slots_of(enum update_kind update, double momentum)
{
    static const size_t slots[UPDATE_COUNT] = {
        [UPDATE_ADAM] = 2, [UPDATE_SGD] = 0, [UPDATE_RMSPROP] = 1, [UPDATE_LION] = 1};
    return slots[update] + (momentum != 0 && (update == UPDATE_SGD || update == UPDATE_RMSPROP));
}

enum { STEPS = 5, FORMS = 16 };

static void compare_update(int n, size_t count, enum update_kind update, int form)
{
    struct pair on = pair_of(n);
    dice = 9 + 1000 * count;
    struct array p1 = vector(on.plain, count, -1, 1), g = vector(on.plain, count, -1, 1), p2 = same_as(&p1),
                 want = same_as(&p1);
    struct array a1 = vector(on.plain, count, 0, 0), b1 = same_as(&a1), a2 = same_as(&a1), b2 = same_as(&a1);
    struct update_args u = {.count = count,
                            .g = g.at,
                            .lr = 0.01,
                            .grad_scale = 0.5,
                            .beta1 = 0.9,
                            .beta2 = update == UPDATE_ADAM ? 0.999 : 0.99,
                            .epsilon = 1e-8,
                            .momentum = form & 4 ? 0.9 : 0,
                            .nesterov = form & 1,
                            .decay = form & 2 ? 0.1 : 0,
                            .decoupled = (form & 8) != 0};
    size_t slots = slots_of(update, u.momentum);
    for (int step = 1; step <= STEPS; step++) {
        u.correct1 = 1 - pow(u.beta1, step), u.correct2 = 1 - pow(u.beta2, step);
        u.p = p1.at, u.slot[0] = slots > 0 ? a1.at : NULL, u.slot[1] = slots > 1 ? b1.at : NULL;
        on.plain->update[update](&u);
        u.p = p2.at, u.slot[0] = slots > 0 ? a2.at : NULL, u.slot[1] = slots > 1 ? b2.at : NULL;
        on.fast->update[update](&u);
    }
    for (size_t i = 0; i < count; i++) {
        double p = get(&want, 0, i), slot[2] = {0, 0};
        for (int step = 1; step <= STEPS; step++) {
            u.correct1 = 1 - pow(u.beta1, step), u.correct2 = 1 - pow(u.beta2, step);
            textbook(update, &u, &p, get(&g, 0, i), slot);
        }
        set(&want, 0, i, p);
    }
    struct array copy = same_as(&p1);
    same("update, plain", &want, &copy, STEPS * close_to(&on));
    same("update", &p1, &p2, STEPS * close_to(&on));
    same("slot 0", &a1, &a2, STEPS * close_to(&on));
    /* rmsprop's second slot sums quotients by the gradient's own size: where gradient and decay nearly cancel, the
     * rounding of their sum counts as many times more */
    same("slot 1", &b1, &b2, 20 * STEPS * close_to(&on));
    drop(&g);
}

static void updates_match_textbook_for_some_steps(void **state)
{
    (void)state;
    for (int n = 0; n < PAIRS; n++)
        for (size_t count = 1; count < 60; count += 1 + count / 4)
            for (int update = 0; update < UPDATE_COUNT; update++)
                for (int form = 0; form < FORMS; form++)
                    compare_update(n, count, (enum update_kind)update, form);
}

/* One mean of squares a unit: m units of a (count, ld) matrix, whose other columns nobody touches. */
static void compare_units(int n, size_t count, size_t units, enum update_kind update, int form)
{
    struct pair on = pair_of(n);
    dice = 5 + 1000 * count + units;
    size_t ld = units + (size_t)form % 3;
    struct array p1 = matrix(on.plain, count, units, ld, -1, 1),
                 g = matrix(on.plain, count, units, ld, -1, 1), p2 = same_as(&p1), want = same_as(&p1);
    struct array a1 = matrix(on.plain, count, units, ld, 0, 0), b1 = same_as(&a1), a2 = same_as(&a1),
                 b2 = same_as(&a1);
    struct update_args u = {.count = count,
                            .units = units,
                            .ld = ld,
                            .g = g.at,
                            .lr = 0.01,
                            .grad_scale = 0.5,
                            .beta1 = 0.9,
                            .beta2 = 0.99,
                            .epsilon = 1e-8,
                            .momentum = form & 4 ? 0.9 : 0,
                            .decay = form & 2 ? 0.1 : 0,
                            .decoupled = (form & 8) != 0};
    size_t slots = slots_of(update, u.momentum), second = update == UPDATE_ADAM ? 1 : 0;
    for (int step = 1; step <= STEPS; step++) {
        u.correct1 = 1 - pow(u.beta1, step), u.correct2 = 1 - pow(u.beta2, step);
        u.p = p1.at, u.slot[0] = a1.at, u.slot[1] = slots > 1 ? b1.at : NULL;
        on.plain->update[update](&u);
        u.p = p2.at, u.slot[0] = a2.at, u.slot[1] = slots > 1 ? b2.at : NULL;
        on.fast->update[update](&u);
    }
    for (size_t j = 0; j < units; j++) {
        double slot[2][64] = {{0}};
        for (int step = 1; step <= STEPS; step++) {
            double mean = 0, v = 0;
            for (size_t a = 0; a < count; a++) {
                double slope = u.grad_scale * get(&g, a, j) + (u.decoupled ? 0 : u.decay * get(&want, a, j));
                mean += slope * slope / (double)count;
            }
            v = slot[second][0] = u.beta2 * slot[second][0] + (1 - u.beta2) * mean;
            for (size_t a = 0; a < count; a++) {
                double p = get(&want, a, j);
                double slope = u.grad_scale * get(&g, a, j) + (u.decoupled ? 0 : u.decay * p);
                p -= u.decoupled ? u.lr * u.decay * p : 0;
                double *held = &slot[1 - second][a];
                if (update == UPDATE_ADAM) {
                    *held = u.beta1 * *held + (1 - u.beta1) * slope;
                    p -= u.lr * *held / (1 - pow(u.beta1, step)) /
                         (sqrt(v / (1 - pow(u.beta2, step))) + u.epsilon);
                } else {
                    *held = u.momentum * *held + slope / (sqrt(v) + u.epsilon);
                    p -= u.lr * *held;
                }
                set(&want, a, j, p);
            }
        }
    }
    struct array copy = same_as(&p1);
    double error = STEPS * sum_error(&on, count);
    same("update of units, plain", &want, &copy, error);
    same("update of units", &p1, &p2, error);
    same("slot 0 of units", &a1, &a2, error);
    same("slot 1 of units", &b1, &b2, error);
    drop(&g);
}

static void updates_of_units_match_textbook_for_some_steps(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 13, 50}, units[] = {1, 7, 8, 63, 64, 65, 150};
    for (int n = 0; n < PAIRS; n++)
        for (int c = 0; c < 4; c++)
            for (int m = 0; m < 7; m++)
                for (int form = 0; form < FORMS; form++) {
                    compare_units(n, counts[c], units[m], UPDATE_ADAM, form);
                    compare_units(n, counts[c], units[m], UPDATE_RMSPROP, form);
                }
}

/* A gradient of 0 moves nothing that had none before; one that is no number is not hidden behind a sign. */
static void the_sign_of_nothing_is_nothing_and_of_nan_is_nan(void **state)
{
    (void)state;
    for (int n = 0; n < PAIRS; n++) {
        struct pair on = pair_of(n);
        const struct kernels *tables[] = {on.plain, on.fast};
        for (int t = 0; t < 2; t++) {
            struct array p = vector(on.plain, 19, 0.5, 0.5), g = vector(on.plain, 19, 0, 0), m = same_as(&g);
            set(&g, 0, 17, (double)NAN);
            struct update_args u = {.count = 19,
                                    .p = p.at,
                                    .g = g.at,
                                    .slot = {m.at},
                                    .lr = 0.1,
                                    .grad_scale = 1,
                                    .beta1 = 0.9,
                                    .beta2 = 0.99,
                                    .decoupled = 1};
            tables[t]->update[UPDATE_LION](&u);
            for (size_t i = 0; i < 19; i++)
                assert_true(i == 17 ? isnan(get(&p, 0, i)) : get(&p, 0, i) == 0.5);
            drop(&p), drop(&g), drop(&m);
        }
    }
}

/* Half of the smallest normal number: 0 only where denormal numbers count as 0. */
static int halves_to_nothing(void)
{
    volatile float least = FLT_MIN;
    return least * 0.5F == 0;
}

/* Every slot of every update falls by a tenth or a hundredth a step. With denormal numbers it would stop above 0: 0.9
 * times the fourth smallest rounds to itself. */
static void slots_that_nothing_feeds_end_at_zero(void **state)
{
    (void)state;
#ifndef __x86_64__
    skip_because("denormal numbers are as quick as others here, or nothing is known of them");
#endif
    enum { COUNT = 19, FALLING = 6000 };
    for (int n = 0; n < PAIRS; n++)
        for (int update = 0; update < UPDATE_COUNT; update++) {
            struct pair on = pair_of(n);
            const struct kernels *tables[] = {on.plain, on.fast};
            for (int t = 0; t < 2; t++) {
                double start = on.plain->dtype == SPH_F64 ? 1e-300 : 1e-30;
                struct array p = vector(on.plain, COUNT, 0.5, 0.5), g = vector(on.plain, COUNT, 0, 0),
                             a = vector(on.plain, COUNT, start, start), b = same_as(&a);
                struct update_args u = {.count = COUNT,
                                        .p = p.at,
                                        .g = g.at,
                                        .slot = {a.at, b.at},
                                        .lr = 0.1,
                                        .grad_scale = 1,
                                        .momentum = 0.9,
                                        .beta1 = 0.9,
                                        .beta2 = 0.99,
                                        .epsilon = 1e-8,
                                        .correct1 = 1,
                                        .correct2 = 1};
                unsigned before = denormals_as_zero();
                for (int step = 0; step < FALLING; step++)
                    tables[t]->update[update](&u);
                denormals_mode_set(before);
                size_t slots = slots_of((enum update_kind)update, u.momentum);
                for (size_t i = 0; i < COUNT; i++)
                    assert_true((slots < 1 || get(&a, 0, i) == 0) && (slots < 2 || get(&b, 0, i) == 0));
                drop(&p), drop(&g), drop(&a), drop(&b);
            }
        }
}

enum { TEAM = 5 };

static void note_mode(void *context, size_t worker)
{
    ((int *)context)[worker] = halves_to_nothing();
}

static void the_mode_is_the_callers_and_reaches_his_workers(void **state)
{
    (void)state;
#ifndef __x86_64__
    skip_because("there is no such mode here");
#endif
    int seen[TEAM];
    for (int as_zero = 0; as_zero < 4; as_zero++) {
        unsigned before = as_zero % 2 ? denormals_as_zero() : denormals_mode();
        threads_run(TEAM, note_mode, seen);
        assert_int_equal(halves_to_nothing(), as_zero % 2);
        denormals_mode_set(before);
        for (int i = 0; i < TEAM; i++)
            assert_int_equal(seen[i], as_zero % 2);
        assert_false(halves_to_nothing());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_match_textbook_for_some_steps),
        cmocka_unit_test(updates_of_units_match_textbook_for_some_steps),
        cmocka_unit_test(the_sign_of_nothing_is_nothing_and_of_nan_is_nan),
        cmocka_unit_test(slots_that_nothing_feeds_end_at_zero),
        cmocka_unit_test(the_mode_is_the_callers_and_reaches_his_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
