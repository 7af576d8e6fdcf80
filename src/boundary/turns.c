/* SPDX-License-Identifier: MIT */
#include "boundary/turns.h"

#include <math.h>

#include "base/memory.h"

static const double two_pi = 6.283185307179586476925286766559;

int turns_new(struct turns *out, size_t n, size_t m)
{
    size_t angles = (n - 1) * m,
           lengths[] = {angles, angles, angles, m, m, m, n * m, n * m, angles, angles, polar_chunks(n) * m,
                        m};
    size_t all = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        all += kernel_pad(lengths[i]);
    *out = (struct turns){.k = kernels_pick(SPH_F64, KERNELS_FASTEST), .n = n, .m = m};
    double *next = mem_get(all, sizeof *next);
    double **const at[] = {&out->theta, &out->eps, &out->moved, &out->turn,   &out->length, &out->metric,
                           &out->u,     &out->v,   &out->sine,  &out->cosine, &out->prefix, &out->ones};
    if (!next)
        return SPH_EMEMORY;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        *at[i] = next;
        next += kernel_pad(lengths[i]);
    }
    for (size_t j = 0; j < m; j++)
        out->ones[j] = 1;
    return 0;
}

void turns_free(struct turns *turns)
{
    mem_free(turns->theta); /* the first of the memory */
    *turns = (struct turns){0};
}

/* Box and Muller, both of each pair. */
void turns_normals(const struct kernels *k, struct rng *rng, size_t count, double *out)
{
    enum { PAIRS = 128 };
    uint32_t words[2 * PAIRS];
    double angle[PAIRS], sine[PAIRS], cosine[PAIRS];
    for (size_t done = 0; done < count; done += 2 * PAIRS) {
        size_t left = count - done < 2 * PAIRS ? count - done : 2 * PAIRS, pairs = (left + 1) / 2;
        rng_words(rng, words, 2 * pairs);
        for (size_t i = 0; i < pairs; i++)
            angle[i] = two_pi * 0x1p-32 * (double)words[2 * i];
        k->sincos(pairs, angle, sine, cosine);
        for (size_t i = 0; i < pairs; i++) {
            double radius = sqrt(-2 * log(0x1p-32 * ((double)words[2 * i + 1] + 0.5)));
            out[done + 2 * i] = radius * cosine[i];
            if (2 * i + 1 < left)
                out[done + 2 * i + 1] = radius * sine[i];
        }
    }
}

/* theta_a = atan2(|x_{a+1..n}|, x_a), the last with x_n's sign; the squares of the tail gather in `turn`. */
void turns_draw_theta(struct turns *turns, struct rng *rng)
{
    size_t n = turns->n, m = turns->m;
    double *x = turns->u, *square = turns->turn;
    turns_normals(turns->k, rng, n * m, x);
    for (size_t j = 0; j < m; j++)
        square[j] = 0;
    for (size_t a = n - 1; a-- > 0;)
        for (size_t j = 0; j < m; j++) {
            double next = x[(a + 1) * m + j];
            square[j] += next * next;
            turns->theta[a * m + j] = a + 2 == n ? next : sqrt(square[j]);
        }
    turns->k->arcs((n - 1) * m, turns->theta, x, turns->theta);
}

void turns_draw_eps(struct turns *turns, struct rng *rng)
{
    size_t angles = turns->n - 1, m = turns->m;
    turns_normals(turns->k, rng, angles * m, turns->eps);
    turns->k->column_dots(angles, m, turns->eps, m, turns->eps, m, turns->length);
    for (size_t j = 0; j < m; j++)
        turns->turn[j] = 1 / sqrt(turns->length[j]);
    turns_scale_eps(turns, turns->turn);
}

void turns_scale_eps(struct turns *turns, const double *scale)
{
    for (size_t a = 0; a + 1 < turns->n; a++)
        for (size_t j = 0; j < turns->m; j++)
            turns->eps[a * turns->m + j] *= scale[j];
}

void turns_measure(struct turns *turns)
{
    size_t n = turns->n, m = turns->m;
    double *apart = turns->turn, *together = turns->metric;
    for (size_t j = 0; j < m; j++)
        apart[j] = together[j] = turns->length[j] = 0;
    for (size_t a = 0; a + 1 < n; a++)
        for (size_t j = 0; j < m; j++) {
            size_t at = a * m + j;
            turns->moved[at] = turns->theta[at] + turns->eps[at];
            double step = turns->moved[at] - turns->theta[at];
            turns->length[j] += step * step;
        }
    turns->k->polar(n, m, turns->moved, turns->ones, turns->v, m, turns->sine, turns->cosine, turns->prefix);
    turns->k->polar(n, m, turns->theta, turns->ones, turns->u, m, turns->sine, turns->cosine, turns->prefix);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            double u = turns->u[i * m + j], v = turns->v[i * m + j];
            apart[j] += (u - v) * (u - v);
            together[j] += (u + v) * (u + v);
        }
    for (size_t j = 0; j < m; j++) {
        turns->turn[j] = 2 * atan2(sqrt(apart[j]), sqrt(together[j]));
        turns->length[j] = sqrt(turns->length[j]);
    }
}

void turns_metric(struct turns *turns, double at, int sums)
{
    size_t angles = turns->n - 1, m = turns->m;
    double *before = turns->prefix; /* (m) product or sum of sin^2 so far */
    for (size_t e = 0; e < angles * m; e++)
        turns->cosine[e] = turns->theta[e] + at * (turns->moved[e] - turns->theta[e]);
    turns->k->sincos(angles * m, turns->cosine, turns->sine, turns->cosine);
    for (size_t j = 0; j < m; j++) {
        turns->metric[j] = 0;
        before[j] = 1;
    }
    for (size_t a = 0; a < angles; a++)
        for (size_t j = 0; j < m; j++) {
            double step = turns->moved[a * m + j] - turns->theta[a * m + j], s = turns->sine[a * m + j];
            turns->metric[j] += before[j] * step * step;
            before[j] = !sums ? before[j] * s * s : a == 0 ? s * s : before[j] + s * s;
        }
    for (size_t j = 0; j < m; j++)
        turns->metric[j] = sqrt(turns->metric[j]);
}
