/* SPDX-License-Identifier: MIT */
#include "train/losses.h"

#include <math.h>

#include "base/error.h"
#include "base/text.h"
#include "train/metrics.h"

void loss_predict(enum loss_link link, size_t outputs, double *y)
{
    if (link == LOSS_SOFTMAX)
        metric_softmax(outputs, y);
    for (size_t j = 0; j < outputs; j++)
        if (link == LOSS_EXP)
            y[j] = exp(y[j]);
        else if (link == LOSS_LOGISTIC)
            y[j] = 1 / (1 + exp(-y[j]));
}

/* log(exp(a) + exp(b)) */
static double log_add(double a, double b)
{
    double high = a > b ? a : b, low = a > b ? b : a;
    return low == high ? high + log(2) : high + log1p(exp(low - high));
}

/* log of the softmax's denominator */
static double log_sum(size_t outputs, const double *y)
{
    double sum = y[0];
    for (size_t j = 1; j < outputs; j++)
        sum = log_add(sum, y[j]);
    return sum;
}

/* log p and log (1 - p) of two classes are summed, so that a probability near 1 loses nothing. The number of members cancels
 * between the two. */
static double join_logits(size_t members, const double *each, size_t stride)
{
    double sum = 0, other = 0;
    for (size_t k = 0; k < members; k++) {
        double y = each[k * stride], p = -log_add(0, -y), q = -log_add(0, y);
        sum = k ? log_add(sum, p) : p;
        other = k ? log_add(other, q) : q;
    }
    return sum - other;
}

void loss_join(enum loss_link link, size_t outputs, size_t members, const double *each, size_t stride,
               double *out)
{
    for (size_t j = 0; j < outputs && link == LOSS_LOGISTIC; j++)
        out[j] = join_logits(members, each + j, stride);
    for (size_t k = 0; k < members && link != LOSS_LOGISTIC; k++) {
        const double *y = each + k * stride;
        double norm = link == LOSS_SOFTMAX ? log_sum(outputs, y) : 0;
        for (size_t j = 0; j < outputs; j++) {
            double value = link == LOSS_SOFTMAX ? y[j] - norm : y[j];
            out[j] = !k ? value : link == LOSS_AS_IT_IS ? out[j] + value : log_add(out[j], value);
        }
    }
    for (size_t j = 0; j < outputs && link != LOSS_LOGISTIC; j++)
        out[j] = link == LOSS_AS_IT_IS ? out[j] / (double)members : out[j] - log((double)members);
}

static const struct loss_row rows[SPH_LOSS_COUNT] = {
    [SPH_LOSS_MAE] = {.task = SPH_TASK_REGRESSION},
    [SPH_LOSS_MSE] = {.task = SPH_TASK_REGRESSION, .first = 1},
    [SPH_LOSS_HUBER] = {.task = SPH_TASK_REGRESSION, .reads_delta = 1},
    [SPH_LOSS_POISSON] = {.task = SPH_TASK_REGRESSION, .own_units = 1, .link = LOSS_EXP},
    [SPH_LOSS_BCE] = {.task = SPH_TASK_BINARY, .first = 1, .link = LOSS_LOGISTIC},
    [SPH_LOSS_CE] = {.task = SPH_TASK_CLASSES, .first = 1, .of_rows = 1, .link = LOSS_SOFTMAX},
};

const struct loss_row *loss_row(sph_loss loss)
{
    return &rows[loss];
}

sph_loss loss_first(sph_task task)
{
    int loss = 0;
    while (loss < SPH_LOSS_COUNT && (rows[loss].task != task || !rows[loss].first))
        loss++;
    return (sph_loss)loss;
}

size_t loss_targets(sph_loss loss, size_t outputs)
{
    return rows[loss].of_rows ? 1 : outputs;
}

/* "mae or mse" */
static void add_losses(struct text *out, sph_task task)
{
    size_t count = 0, at = 0;
    for (int i = 0; i < SPH_LOSS_COUNT; i++)
        count += rows[i].task == task;
    for (int i = 0; i < SPH_LOSS_COUNT; i++)
        if (rows[i].task == task) {
            at++;
            text_add(out, "%s%s",
                     at == 1       ? ""
                     : at == count ? " or "
                                   : ", ",
                     sph_word(SPH_WORDS_LOSS, i)->word);
        }
}

sph_standardize loss_standardize(sph_loss loss)
{
    return rows[loss].task == SPH_TASK_REGRESSION && !rows[loss].own_units ? SPH_STANDARDIZE_BOTH
                                                                           : SPH_STANDARDIZE_FEATURES;
}

static int wrong_task(sph_loss loss)
{
    struct text known = {0};
    for (int i = 0; i < SPH_TASK_COUNT; i++) {
        text_add(&known, "%s%s%s ", i ? ", " : "", sph_word(SPH_WORDS_TASK, i)->word, i ? "" : " takes");
        add_losses(&known, (sph_task)i);
    }
    int err = known.failed ? SPH_EMEMORY
                           : sph_fail_key(SPH_EARG, "loss", "%s cannot be used for this task: %s",
                                          sph_word(SPH_WORDS_LOSS, (int)loss)->word, known.chars);
    text_free(&known);
    return err;
}

int loss_check(sph_loss loss, sph_task task, sph_standardize standardize, const double *y, size_t count)
{
    const char *word = sph_word(SPH_WORDS_LOSS, (int)loss)->word;
    if (rows[loss].task != task)
        return wrong_task(loss);
    if (rows[loss].own_units && standardize == SPH_STANDARDIZE_BOTH)
        return sph_fail_key(SPH_EARG, "standardize",
                            "both cannot be used with --loss %s, whose targets are counts; use features",
                            word);
    for (size_t i = 0; rows[loss].own_units && i < count; i++)
        if (y[i] < 0)
            return sph_fail_key(SPH_EARG, "loss", "%s takes targets of 0 or more, and one is %g", word, y[i]);
    return 0;
}
