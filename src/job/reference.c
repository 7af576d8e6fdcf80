/* SPDX-License-Identifier: MIT
 *
 * Protocol reference: the constants of the authors' public code, each an option of its own, where the user says
 * nothing. uci_regression.py and the notebooks are one column, imagenet32.py the other. */
#include "job/reference.h"

#include <string.h>

#include "base/memory.h"
#include "net/zoo.h"
#include "param/param.h"
#include "rows/data.h"
#include "train/optimizer.h"

/* Keras' */
static const double adam_epsilon = 1e-7, bn_epsilon = 1e-3, bn_momentum = 0.01;

static void real_unless_given(struct sph_job *job, enum option_id id, double value)
{
    if (!job->given[id])
        options_set_real(job, id, value);
}

static void word_unless_given(struct sph_job *job, enum option_id id, int word)
{
    if (!job->given[id])
        options_set_word(job, id, word);
}

static void size_unless_given(struct sph_job *job, enum option_id id, size_t size)
{
    if (!job->given[id])
        options_set_size(job, id, size);
}

static int text_unless_given(struct sph_job *job, enum option_id id, const char *text)
{
    return job->given[id] ? 0 : options_put(job, id, text);
}

static void set_optimizer(struct sph_job *job, int images)
{
    word_unless_given(job, OPTION_OPTIMIZER, images ? SPH_OPTIMIZER_SGD : SPH_OPTIMIZER_ADAM);
    const struct optimizer_ops *ops = optimizer_ops((sph_optimizer)job->options.optimizer);
    if (ops->reads[OPTIMIZER_FORM]) {
        word_unless_given(job, OPTION_ADAM_FORM, SPH_ADAM_KERAS);
        real_unless_given(job, OPTION_EPSILON, adam_epsilon);
    }
    real_unless_given(job, OPTION_LR, param_has_radius((sph_param)job->options.param) ? 0.1 : 0.01);
}

static void set_net(struct sph_job *job, int images)
{
    const struct norm_ops *norm = norm_ops((sph_norm)job->options.norm);
    if (norm->divides)
        real_unless_given(job, OPTION_NORM_EPSILON, bn_epsilon);
    if (norm->batch)
        real_unless_given(job, OPTION_NORM_MOMENTUM, bn_momentum);
    if (norm->batch && norm->divides && !images) /* Keras' fused op, of images, has n - 1 */
        word_unless_given(job, OPTION_NORM_VARIANCE, SPH_VARIANCE_BIASED);
    if (norm->at_input)
        word_unless_given(job, OPTION_IMN_AT, SPH_IMN_AT_OUTPUT);
    if (norm->adds_bias)
        word_unless_given(job, OPTION_MBN_BIAS, SPH_MBN_BIAS_NONE);
    if (param_ops((sph_param)job->options.param)->may_be_output)
        word_unless_given(job, OPTION_WN_OUTPUT, 1);
    if (images && param_ops((sph_param)job->options.param)->tensor[0].extent == PARAM_ANGLES)
        word_unless_given(job, OPTION_ANGLE_ORDER, SPH_ANGLES_HWC);
}

/* Every one of the five best is right where there are no more than five classes. */
static int monitor_images(struct sph_job *job, size_t classes)
{
    size_t least = sph_metric_about(SPH_METRIC_TOP5)->least_outputs;
    if (job->given[OPTION_MONITOR] || classes >= least)
        return text_unless_given(job, OPTION_MONITOR, "val_top5");
    char *notes =
        mem_format("%s%s--protocol reference: val_accuracy chooses the epoch, because val_top5 needs "
                   "%zu classes and these images have %zu",
                   job->notes ? job->notes : "", job->notes ? "\n" : "", least, classes);
    if (!notes)
        return SPH_EMEMORY;
    mem_free(job->notes);
    job->notes = notes;
    return options_put(job, OPTION_MONITOR, "val_accuracy");
}

int reference_settle(struct sph_job *job, const sph_data *data)
{
    int images = net_kind((sph_net_kind)job->options.net)->make != NULL,
        regression = data->task == SPH_TASK_REGRESSION;
    set_optimizer(job, images);
    set_net(job, images);
    word_unless_given(job, OPTION_DTYPE, images ? SPH_F32 : SPH_F64);
    size_unless_given(job, OPTION_EPOCHS, images ? 500 : 5000);
    size_unless_given(job, OPTION_PATIENCE, images ? 10 : 100);
    if (images)
        word_unless_given(job, OPTION_STANDARDIZE, SPH_STANDARDIZE_MEAN);
    if (regression) {
        word_unless_given(job, OPTION_LOSS, SPH_LOSS_MAE);
        word_unless_given(job, OPTION_STANDARDIZE, SPH_STANDARDIZE_FEATURES);
    }
    int err =
        text_unless_given(job, OPTION_SCHEDULE, images ? "plateau:5:0.1:0.0001" : "plateau:50:0.1:0.0001");
    if (!err)
        err = images ? monitor_images(job, data->classes)
                     : text_unless_given(job, OPTION_MONITOR, regression ? "val_mse" : "val_accuracy");
    return err ? err : text_unless_given(job, OPTION_INIT, "authors");
}

int reference_leaks(const struct sph_job *job)
{
    const char *monitor = job->options.monitor;
    return job->options.protocol == PROTOCOL_REFERENCE && !(monitor && !strcmp(monitor, "train_loss"));
}
