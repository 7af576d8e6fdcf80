/* SPDX-License-Identifier: MIT
 *
 * Analytic gradients against differences of the loss, in f64, for every learned number.
 *
 * A number's difference quotient is the four-point one, (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h: its
 * error is O(h^4), so that h can be large enough for rounding (1e-16 / h) not to matter. It is tried for
 * three h, because a kink of relu, srelu or mae may lie within the reach of the larger ones, and rounding
 * spoils the smaller ones; a wrong gradient agrees with none of them. Numbers that sit on a kink so closely
 * that the slopes to their left and right differ at the smallest h are left out and counted: at most 1 % of
 * all. */
#ifndef SPH_TESTS_GRADIENT_CHECK_H
#define SPH_TESTS_GRADIENT_CHECK_H

#include "layer.h"
#include "support.h"

enum { STEPS = 3 };
static const double step_size[STEPS] = {1e-4, 1e-5, 1e-6};

static const double bar = 1e-6;

static struct {
    size_t entries, skipped, alive; /* alive: gradient clearly not 0 */
    double worst;
} count;

/* ---------------------------------------------------------------- one unit of one tensor */

SUPPORT double quotient(struct probe *p, double *number, double h)
{
    double at = *number, f[4];
    static const double way[4] = {-2, -1, 1, 2};
    for (int i = 0; i < 4; i++) {
        *number = at + way[i] * h;
        f[i] = probe_loss(p);
    }
    *number = at;
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h);
}

/* A kink within the reach of the smallest quotient, which is twice its h. */
SUPPORT int on_kink(struct probe *p, double *number, double scale)
{
    double h = 2 * step_size[STEPS - 1], at = *number, here = probe_loss(p);
    *number = at + h;
    double right = (probe_loss(p) - here) / h;
    *number = at - h;
    double left = (here - probe_loss(p)) / h;
    *number = at;
    return fabs(right - left) > 1e-3 * scale;
}

/* sphere: what the step may use of a gradient at u is its part in the tangent plane. */
SUPPORT void project(size_t n, const double *u, size_t stride, double *gradient)
{
    double along = 0;
    for (size_t i = 0; i < n; i++)
        along += gradient[i] * u[i * stride];
    for (size_t i = 0; i < n; i++)
        gradient[i] -= along * u[i * stride];
}

/* Below `floor` a difference counts as if the gradient were that large: the tensor's typical size / 1000, and
 * never less than what makes the quotient's own rounding error, `rounding` / h, a difference within the bar.
 */
SUPPORT void check_unit(struct probe *p, const struct net_tensor *tensor, size_t unit, const double *analytic,
                        double floor, double rounding, const char *what)
{
    size_t n = tensor->per_unit, units = tensor->units;
    double *number = (double *)p->net->params + tensor->at + unit;
    double *numeric = numbers(n), *error = numbers(n), *best = numbers(n);
    int is_u = !strcmp(strrchr(tensor->view.name, '.'), ".u"), good = 0;
    for (size_t i = 0; i < n; i++)
        best[i] = INFINITY;
    for (int s = 0; s < STEPS && !good; s++) {
        for (size_t i = 0; i < n; i++)
            numeric[i] = quotient(p, number + i * units, step_size[s]);
        if (is_u)
            project(n, number, units, numeric);
        good = 1;
        double least = fmax(floor, rounding / step_size[s] / bar);
        for (size_t i = 0; i < n; i++) {
            double a = analytic[i * units + unit], size = fabs(a) + fabs(numeric[i]);
            error[i] = fabs(a - numeric[i]) / (size > least ? size : least);
            if (!(error[i] >= best[i]))
                best[i] = error[i];
            good = good && best[i] < bar;
        }
    }
    int kinks = 0;
    for (size_t i = 0; i < n && !good && is_u; i++)
        kinks |= on_kink(p, number + i * units, floor);
    for (size_t i = 0; i < n; i++) {
        double a = analytic[i * units + unit];
        count.entries++;
        count.alive += fabs(a) > 1e-5;
        if (best[i] < bar) {
            if (best[i] > count.worst)
                count.worst = best[i];
        } else if (kinks || on_kink(p, number + i * units, floor)) {
            count.skipped++;
        } else {
            fail_msg("%s: %s unit %zu number %zu: gradient %.12g, differences say %.12g (error %.1e)", what,
                     tensor->view.name, unit, i, a, numeric[i], best[i]);
        }
    }
    free(numeric);
    free(error);
    free(best);
}

/* The gradient that `analytic_probe` gives against differences of p's loss, for every `stride`-th unit of
 * every tensor; a quick check takes one in three of those, other ones in each tensor. */
SUPPORT void check_gradient(struct probe *analytic_probe, struct probe *p, size_t stride, const char *what)
{
    size_t learned = sph_net_learned(p->net);
    double *analytic = numbers(learned), loss = probe_gradient(analytic_probe);
    assert_true(isfinite(loss));
    memcpy(analytic, analytic_probe->weights->learned_grad, learned * sizeof *analytic);
    for (size_t i = 0; i < p->net->tensor_count; i++) {
        const struct net_tensor *tensor = &p->net->tensors[i];
        if (!tensor->view.learned)
            continue;
        double square = 0;
        for (size_t e = 0; e < tensor->view.count; e++)
            square += analytic[tensor->at + e] * analytic[tensor->at + e];
        double floor = fmax(1e-5 * fmax(1, loss), 1e-3 * sqrt(square / (double)tensor->view.count));
        double rounding = 1e-15 * fmax(1, loss);
        size_t step = stride * quick_step(3);
        for (size_t unit = i * stride % step; unit < tensor->units; unit += step)
            check_unit(p, tensor, unit, analytic + tensor->at, floor, rounding, what);
    }
    free(analytic);
}

SUPPORT void check_net(struct probe *p, const char *what)
{
    check_gradient(p, p, 1, what);
}

SUPPORT void begin_count(void)
{
    memset(&count, 0, sizeof count);
}

SUPPORT void end_count(void)
{
    printf("    %zu numbers, worst error %.1e, %zu on a kink (%.3f %%), %zu with a gradient above 1e-5\n",
           count.entries, count.worst, count.skipped, 100.0 * (double)count.skipped / (double)count.entries,
           count.alive);
    assert_true(count.entries > 0);
    assert_true(count.skipped * 100 <= count.entries);
    assert_true(count.alive * 3 > count.entries); /* else the check proves little */
}

/* ---------------------------------------------------------------- where the raw parameters stand */

/* DRAWN: as initialisation leaves them (r = 1 for gmp: the scale is seen by nobody, and still has a
 * gradient). POSITIVE: all scales folded away. MIXED: scales of both signs and exactly 0, sines exactly 0. */
enum mood { DRAWN, POSITIVE, MIXED, MOODS };
static const char *const mood_word[MOODS] = {"drawn", "positive", "mixed"};

SUPPORT void set_mood(sph_net *net, enum mood mood, struct rng *rng)
{
    stir(net, rng);
    for (size_t i = 0; i < net->tensor_count; i++) {
        const struct net_tensor *tensor = &net->tensors[i];
        double *number = (double *)net->params + tensor->at;
        sph_group group = tensor->view.group;
        if (!tensor->view.learned)
            continue;
        if (group == SPH_GROUP_R || group == SPH_GROUP_G)
            for (size_t j = 0; j < tensor->units; j++) {
                if (mood == DRAWN && group == SPH_GROUP_R)
                    number[j] = 1;
                if (mood != DRAWN)
                    number[j] = between(rng, 0.5, 1.5);
                if (mood == MIXED && j % 3 == 1)
                    number[j] = -number[j];
                if (mood == MIXED && j % 3 == 2)
                    number[j] = 0;
            }
        if (group == SPH_GROUP_THETA && mood == MIXED && !strcmp(strrchr(tensor->view.name, '.'), ".theta"))
            for (size_t a = 0; a < tensor->per_unit; a++)
                for (size_t j = 0; j < tensor->units; j++)
                    if ((a + j) % 4 == 0)
                        number[a * tensor->units + j] = 0;
    }
}

#endif
