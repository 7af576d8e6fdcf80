/* SPDX-License-Identifier: MIT
 *
 * Scores of a prediction that ignores the features: the mean of the training targets, or the class frequencies of the
 * training part. A network with one input of 0 predicts it, so every metric is defined as for the trained one. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "job/job_run.h"
#include "net/net.h"
#include "rows/data.h"
#include "train/losses.h"
#include "train/members.h"

struct targets {
    const sph_data *data;
    const uint32_t *rows; /* of a part */
    const struct scaling *scaling;
    const struct kernels *k;
    double *y; /* (targets) one row */
};

static int fetch(void *self, const uint32_t *index, size_t count, void *x, size_t ldx, void *y, size_t ldy)
{
    const struct targets *t = self;
    size_t targets = t->data->targets;
    for (size_t i = 0; i < count; i++) {
        scaling_apply_y(t->scaling, 1, t->data->y + t->rows[index[i]] * targets, t->y);
        t->k->from_double(targets, t->y, (char *)y + i * ldy * t->k->size);
        t->k->from_double(1, &(double){0}, (char *)x + i * ldx * t->k->size);
    }
    return 0;
}

/* If classes are equally frequent, the first one is predicted: a tie of logits would count as wrong for all of them. */
static void break_tie(double *counts, size_t classes)
{
    static const double little = 1e-6; /* of a sample */
    size_t most = 0;
    for (size_t j = 1; j < classes; j++)
        most = counts[j] > counts[most] ? j : most;
    counts[most] += little;
}

/* out (outputs): mean targets, in the units of the net, or logits of the class frequencies. A class that the training part
 * lacks counts as half a sample. */
static void constant_outputs(const struct targets *train, size_t rows, enum loss_link link, size_t outputs,
                             double *out)
{
    size_t targets = train->data->targets;
    for (size_t j = 0; j < outputs; j++)
        out[j] = 0;
    for (size_t i = 0; i < rows; i++) {
        const double *y = train->data->y + train->rows[i] * targets;
        scaling_apply_y(train->scaling, 1, y, train->y);
        if (link == LOSS_SOFTMAX)
            out[(size_t)*y]++;
        for (size_t j = 0; j < targets && link != LOSS_SOFTMAX; j++)
            out[j] += train->y[j];
    }
    if (link == LOSS_SOFTMAX)
        break_tie(out, outputs);
    for (size_t j = 0; j < outputs; j++)
        switch (link) {
        case LOSS_AS_IT_IS:
            out[j] /= (double)rows;
            break;
        case LOSS_EXP:
        case LOSS_SOFTMAX:
            out[j] = log(fmax(out[j], 0.5) / (double)rows);
            break;
        case LOSS_LOGISTIC:
            out[j] = log(fmax(out[j], 0.5) / fmax((double)rows - out[j], 0.5));
            break;
        }
}

static int constant_net(sph_net **out, const double *outputs, size_t count, const struct scaling *scaling)
{
    int err = sph_net_mlp(
        out,
        &(sph_mlp){
            .size = sizeof(sph_mlp), .dtype = SPH_F64, .inputs = 1, .outputs = count, .param = SPH_PARAM_SP});
    if (!err && !(err = sph_net_set(*out, "layers.0.bias", outputs, count)))
        err = scaling_copy(&(*out)->scaling, scaling);
    return err;
}

/* ---------------------------------------------------------------- warnings */

void job_warn(sph_result *result, const char *format, ...)
{
    size_t used = strlen(result->warning);
    if (used && used < sizeof result->warning - 2)
        used += (size_t)snprintf(result->warning + used, sizeof result->warning - used, "; ");
    va_list args;
    va_start(args, format);
    vsnprintf(result->warning + used, sizeof result->warning - used, format, args);
    va_end(args);
}

static double score_of(const sph_scores *scores, const char *name)
{
    for (size_t i = 0; i < scores->count; i++)
        if (!strcmp(scores->name[i], name))
            return scores->value[i];
    return (double)NAN;
}

/* The training did not work if the error or the log loss is so many times that of the baseline. Class weights alone bring the
 * log loss to that of equal probabilities, so it must be above twice that, too. */
enum { FAR_OFF = 10, CONFIDENTLY_WRONG = 3 };

static void warn_of_errors(sph_result *result)
{
    double rmse = score_of(&result->test, "rmse"), mean = score_of(&result->baseline, "rmse");
    if (rmse > FAR_OFF * mean)
        job_warn(result,
                 "test rmse %.4g is %.2g times that of predicting the training mean (%.4g), so the training "
                 "failed; try a smaller --lr",
                 rmse, rmse / mean, mean);
    else if (rmse >= mean)
        job_warn(result, "test rmse %.4g is not better than that of predicting the training mean (%.4g)",
                 rmse, mean);
}

/* A share of n rows is as good as another up to two standard errors. An auc is compared with its spread under chance (Mann and Whitney). */
static void warn_of_classes(sph_result *result, size_t classes)
{
    double accuracy = score_of(&result->test, "accuracy"), most = score_of(&result->baseline, "accuracy");
    double n = (double)result->test.rows, rare = n * (1 - most), auc = score_of(&result->test, "auc");
    int ranks =
        classes == 2 && rare > 0 && most > 0 && auc > 0.5 + 2 * sqrt((n + 1) / (12 * rare * (n - rare)));
    double loss = score_of(&result->test, "log_loss"), constant = score_of(&result->baseline, "log_loss");
    double error = sqrt(most * (1 - most) / n);
    if (accuracy > most + 2 * error)
        return;
    if (loss > CONFIDENTLY_WRONG * constant && loss > 2 * log((double)classes))
        job_warn(result,
                 "test log loss %.4g is %.2g times that of the class frequencies (%.4g), so the training "
                 "failed; try "
                 "a smaller --lr",
                 loss, loss / constant, constant);
    job_warn(result,
             "test accuracy %.4g is %s %.4g, the accuracy of always predicting the most "
             "frequent class%s",
             accuracy, accuracy < most - 2 * error ? "below" : "not clearly better than", most,
             ranks ? ", but auc is better than chance: the classes are imbalanced, so compare auc and "
                     "balanced_accuracy"
                   : "");
}

enum { FEW_ROWS = 10 };

static void warn_of_few_rows(sph_result *result)
{
    job_warn(result,
             "the test set has %zu row%s, too few to judge the network; use a larger --test or more data",
             result->test.rows, result->test.rows == 1 ? "" : "s");
}

int job_baseline(const struct job_run *run, sph_result *result)
{
    const sph_net *trained = run->nets[0];
    const sph_train_opts *opts = &run->trainers[0]->opts;
    const struct loss_row *loss = loss_row(opts->loss);
    size_t outputs = sph_net_outputs(trained);
    if (!result->test.rows)
        return 0;
    double *y = mem_get(run->data->targets + outputs, sizeof *y),
           *constant = y ? y + run->data->targets : NULL;
    if (!y)
        return SPH_EMEMORY;
    struct targets targets = {
        .data = run->data, .rows = run->split.train, .scaling = &trained->scaling, .y = y};
    sph_net *net = NULL;
    constant_outputs(&targets, run->split.train_rows, loss->link, outputs, constant);
    int err = constant_net(&net, constant, outputs, &trained->scaling);
    if (!err) {
        targets.rows = run->split.test;
        targets.k = net->k;
        struct source source = {
            .self = &targets, .rows = run->split.test_rows, .targets = run->data->targets, .fetch = fetch};
        err = members_score(&net, 1, opts, &source, NULL, 0, &result->baseline);
    }
    if (!err && result->test.rows < FEW_ROWS)
        warn_of_few_rows(result);
    else if (!err && loss->task == SPH_TASK_REGRESSION)
        warn_of_errors(result);
    else if (!err)
        warn_of_classes(result, loss->task == SPH_TASK_BINARY ? 2 : outputs);
    sph_net_free(net);
    mem_free(y);
    return err;
}
