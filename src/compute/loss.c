/* SPDX-License-Identifier: MIT
 *
 * Losses and their gradients with respect to the predictions; sums are kept in f64. */
#include "compute/real.h"
#include "compute/simd.h"

KERNEL double plain_mae(const struct loss_args *args)
{
    const real *p = args->p, *t = args->t;
    real *dp = args->dp, weight = (real)args->weight;
    double sum = 0;
    for (size_t i = 0; i < args->rows; i++)
        for (size_t j = 0; j < args->k; j++) {
            real off = p[i * args->ldp + j] - t[i * args->ldt + j];
            sum += (double)real_fabs(off);
            if (dp)
                dp[i * args->lddp + j] = off > 0 ? weight : off < 0 ? -weight : 0;
        }
    return args->weight * sum;
}

KERNEL double plain_mse(const struct loss_args *args)
{
    const real *p = args->p, *t = args->t;
    real *dp = args->dp, twice = (real)(2 * args->weight);
    double sum = 0;
    for (size_t i = 0; i < args->rows; i++)
        for (size_t j = 0; j < args->k; j++) {
            real off = p[i * args->ldp + j] - t[i * args->ldt + j];
            sum += (double)off * (double)off;
            if (dp)
                dp[i * args->lddp + j] = twice * off;
        }
    return args->weight * sum;
}

/* Half a square up to delta, straight beyond: with the distance cut to +-delta, cut (off - cut / 2). */
KERNEL double plain_huber(const struct loss_args *args)
{
    const real *p = args->p, *t = args->t;
    real *dp = args->dp, weight = (real)args->weight, delta = (real)args->delta;
    double sum = 0;
    for (size_t i = 0; i < args->rows; i++)
        for (size_t j = 0; j < args->k; j++) {
            real off = p[i * args->ldp + j] - t[i * args->ldt + j];
            real cut = off > delta ? delta : off < -delta ? -delta : off;
            sum += (double)cut * ((double)off - 0.5 * (double)cut);
            if (dp)
                dp[i * args->lddp + j] = weight * cut;
        }
    return args->weight * sum;
}

KERNEL double plain_poisson(const struct loss_args *args)
{
    const real *p = args->p, *t = args->t;
    real *dp = args->dp, weight = (real)args->weight;
    double sum = 0;
    for (size_t i = 0; i < args->rows; i++)
        for (size_t j = 0; j < args->k; j++) {
            real log_mean = p[i * args->ldp + j], target = t[i * args->ldt + j], mean = real_exp(log_mean);
            sum += (double)mean - (double)target * (double)log_mean;
            if (dp)
                dp[i * args->lddp + j] = weight * (mean - target);
        }
    return args->weight * sum;
}

KERNEL double plain_bce(const struct loss_args *args)
{
    const real *p = args->p, *t = args->t;
    real *dp = args->dp, weight = (real)args->weight;
    real keep = (real)(1 - args->smoothing), lift = (real)(args->smoothing / 2);
    double sum = 0;
    for (size_t i = 0; i < args->rows; i++)
        for (size_t j = 0; j < args->k; j++) {
            real logit = p[i * args->ldp + j], target = keep * t[i * args->ldt + j] + lift;
            real small = real_exp(-real_fabs(logit)); /* never overflows */
            sum += (double)((logit < 0 ? 0 : logit) - logit * target + real_log1p(small));
            if (dp) {
                real chance = (logit < 0 ? small : 1) / (1 + small);
                dp[i * args->lddp + j] = weight * (chance - target);
            }
        }
    return args->weight * sum;
}

/* One row of ce: log sum exp(p) - (1 - smoothing) p[label] - smoothing * mean(p). */
KERNEL double plain_ce_row(const struct loss_args *args, const real *p, size_t label, real *dp)
{
    size_t k = args->k;
    real top = p[0];
    double sum = 0, all = 0;
    for (size_t j = 1; j < k; j++)
        top = p[j] > top ? p[j] : top;
    for (size_t j = 0; j < k; j++) {
        real power = real_exp(p[j] - top);
        sum += (double)power;
        all += (double)(p[j] - top);
        if (dp)
            dp[j] = power;
    }
    if (dp) {
        real scale = (real)(args->weight / sum), spread = (real)(args->weight * args->smoothing / (double)k);
        for (size_t j = 0; j < k; j++)
            dp[j] = scale * dp[j] - spread;
        dp[label] -= (real)(args->weight * (1 - args->smoothing));
    }
    return log(sum) - (1 - args->smoothing) * (double)(p[label] - top) - args->smoothing * all / (double)k;
}

KERNEL double plain_ce(const struct loss_args *args)
{
    const real *p = args->p, *t = args->t;
    real *dp = args->dp;
    double sum = 0;
    for (size_t i = 0; i < args->rows; i++)
        sum +=
            plain_ce_row(args, p + i * args->ldp, (size_t)t[i * args->ldt], dp ? dp + i * args->lddp : NULL);
    return args->weight * sum;
}

#ifdef KERNELS_FAST
/* A few hundred losses at most are added in the table's dtype before they go to f64. */
enum { LOSS_SPAN = 256, LOSS_PACK = 256 };

struct loss_terms {
    real weight;       /* of a gradient: 2 weight for mse */
    real keep, lift;   /* a bce target t becomes keep t + lift */
    real delta;        /* huber's */
    double sum[LANES]; /* lane by lane */
};

/* The loss at one place and, in *dp, its gradient. */
typedef vec loss_at(const struct loss_terms *terms, vec p, vec t, vec *dp);

KERNEL_INLINE vec mae_at(const struct loss_terms *terms, vec p, vec t, vec *dp)
{
    vec off = p - t, weight = vec_all(terms->weight);
    *dp = vec_keep((vec_mask)(off > 0), weight) - vec_keep((vec_mask)(off < 0), weight);
    return vec_abs(off);
}

KERNEL_INLINE vec mse_at(const struct loss_terms *terms, vec p, vec t, vec *dp)
{
    vec off = p - t;
    *dp = terms->weight * off;
    return off * off;
}

KERNEL_INLINE vec huber_at(const struct loss_terms *terms, vec p, vec t, vec *dp)
{
    vec off = p - t, delta = vec_all(terms->delta);
    vec cut = vec_select((vec_mask)(off > delta), delta, vec_select((vec_mask)(off < -delta), -delta, off));
    *dp = terms->weight * cut;
    return cut * (off - (real)0.5 * cut);
}

KERNEL_INLINE vec poisson_at(const struct loss_terms *terms, vec p, vec t, vec *dp)
{
    vec mean = vec_exp(p);
    *dp = terms->weight * (mean - t);
    return mean - t * p;
}

KERNEL_INLINE vec bce_at(const struct loss_terms *terms, vec p, vec t, vec *dp)
{
    vec_mask negative = (vec_mask)(p < 0);
    vec target = terms->keep * t + terms->lift, small = vec_exp(-vec_abs(p));
    *dp = terms->weight * (vec_select(negative, small, vec_all(1)) / (1 + small) - target);
    return vec_drop(negative, p) - p * target + vec_log1p(small);
}

KERNEL_INLINE void loss_span(loss_at *at, struct loss_terms *terms, size_t count, const real *p,
                             const real *t, real *dp)
{
    vec sum = {0}, grad;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        sum += at(terms, vec_load(p + i), vec_load(t + i), &grad);
        if (dp)
            vec_store(dp + i, grad);
    }
    if (i < count) {
        vec value = at(terms, vec_load_few(p + i, count - i), vec_load_few(t + i, count - i), &grad);
        sum += vec_first(value, count - i);
        if (dp)
            vec_store_few(dp + i, grad, count - i);
    }
    for (size_t lane = 0; lane < LANES; lane++)
        terms->sum[lane] += (double)sum[lane];
}

/* count rows of k < LANES numbers, side by side. */
KERNEL_INLINE void loss_pack(size_t count, size_t k, const real *restrict from, size_t ld, real *restrict to)
{
    if (k == 1) {
        for (size_t i = 0; i < count; i++)
            to[i] = from[i * ld];
        return;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < k; j++)
            to[i * k + j] = from[i * ld + j];
}

KERNEL_INLINE void loss_unpack(size_t count, size_t k, const real *restrict from, real *restrict to,
                               size_t ld)
{
    if (k == 1) {
        for (size_t i = 0; i < count; i++)
            to[i * ld] = from[i];
        return;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < k; j++)
            to[i * ld + j] = from[i * k + j];
}

KERNEL_INLINE double fast_loss(const struct loss_args *args, loss_at *at, double weight)
{
    size_t rows = args->rows, k = args->k;
    const real *p = args->p, *t = args->t;
    real *dp = args->dp;
    struct loss_terms terms = {.weight = (real)weight,
                               .keep = (real)(1 - args->smoothing),
                               .lift = (real)(args->smoothing / 2),
                               .delta = (real)args->delta};
    if (args->ldp == k && args->ldt == k && (!dp || args->lddp == k)) { /* one long row */
        k *= rows;
        rows = rows > 0;
    }
    if (k >= LANES) {
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < k; j += LOSS_SPAN)
                loss_span(at, &terms, smaller(k - j, LOSS_SPAN), p + i * args->ldp + j, t + i * args->ldt + j,
                          dp ? dp + i * args->lddp + j : NULL);
    } else if (k) {
        real packed_p[LOSS_PACK], packed_t[LOSS_PACK], packed_dp[LOSS_PACK];
        size_t step = LOSS_PACK / k;
        for (size_t i = 0; i < rows; i += step) {
            size_t count = smaller(rows - i, step);
            loss_pack(count, k, p + i * args->ldp, args->ldp, packed_p);
            loss_pack(count, k, t + i * args->ldt, args->ldt, packed_t);
            loss_span(at, &terms, count * k, packed_p, packed_t, packed_dp);
            if (dp)
                loss_unpack(count, k, packed_dp, dp + i * args->lddp, args->lddp);
        }
    }
    double sum = 0;
    for (size_t lane = 0; lane < LANES; lane++)
        sum += terms.sum[lane];
    return args->weight * sum;
}

KERNEL double fast_mae(const struct loss_args *args)
{
    return fast_loss(args, mae_at, args->weight);
}
KERNEL double fast_mse(const struct loss_args *args)
{
    return fast_loss(args, mse_at, 2 * args->weight);
}
KERNEL double fast_huber(const struct loss_args *args)
{
    return fast_loss(args, huber_at, args->weight);
}
KERNEL double fast_poisson(const struct loss_args *args)
{
    return fast_loss(args, poisson_at, args->weight);
}
KERNEL double fast_bce(const struct loss_args *args)
{
    return fast_loss(args, bce_at, args->weight);
}

/* dp holds exp(p - top) between the passes. */
KERNEL double fast_ce_row(const struct loss_args *args, const real *p, size_t label, real *dp)
{
    size_t k = args->k, whole = k / LANES * LANES;
    vec tops = vec_load(p), sum = {0}, all = {0};
    for (size_t j = LANES; j < whole; j += LANES) {
        vec at = vec_load(p + j);
        tops = vec_select((vec_mask)(at > tops), at, tops);
    }
    real top = tops[0];
    for (size_t lane = 1; lane < LANES; lane++)
        top = tops[lane] > top ? tops[lane] : top;
    for (size_t j = whole; j < k; j++)
        top = p[j] > top ? p[j] : top;

    for (size_t j = 0; j < k; j += LANES) {
        vec off = (j < whole ? vec_load(p + j) : columns_tail(p, k)) - top, power = vec_exp(off);
        if (dp)
            columns_store(dp, j, k, power);
        if (j == whole) {
            vec_mask real_columns = vec_lanes(k - j);
            off = vec_keep(real_columns, off);
            power = vec_keep(real_columns, power);
        }
        sum += power;
        all += off;
    }
    double total = (double)vec_sum(sum), smoothing = args->smoothing;
    if (dp) {
        real scale = (real)(args->weight / total), spread = (real)(args->weight * smoothing / (double)k);
        for (size_t j = 0; j < k; j++)
            dp[j] = scale * dp[j] - spread;
        dp[label] -= (real)(args->weight * (1 - smoothing));
    }
    return log(total) - (1 - smoothing) * (double)(p[label] - top) -
           smoothing * (double)vec_sum(all) / (double)k;
}

KERNEL double fast_ce(const struct loss_args *args)
{
    if (args->k < LANES)
        return plain_ce(args);
    const real *p = args->p, *t = args->t;
    real *dp = args->dp;
    double sum = 0;
    for (size_t i = 0; i < args->rows; i++)
        sum +=
            fast_ce_row(args, p + i * args->ldp, (size_t)t[i * args->ldt], dp ? dp + i * args->lddp : NULL);
    return args->weight * sum;
}
#endif
