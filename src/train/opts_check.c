/* SPDX-License-Identifier: MIT */
#include "train/trainer.h"

#include <math.h>

#include "base/error.h"
#include "compute/threads.h"
#include "train/losses.h"
#include "train/optimizer.h"

static int check_words(const sph_train_opts *o)
{
    if ((unsigned)o->loss >= SPH_LOSS_COUNT)
        return sph_fail_key(SPH_EARG, "loss", "unknown value %d", (int)o->loss);
    if ((unsigned)o->optimizer >= SPH_OPTIMIZER_COUNT)
        return sph_fail_key(SPH_EARG, "optimizer", "unknown value %d", (int)o->optimizer);
    if ((unsigned)o->adam_form >= SPH_ADAM_FORM_COUNT)
        return sph_fail_key(SPH_EARG, "adam_form", "unknown value %d", (int)o->adam_form);
    if ((unsigned)o->norm_variance >= SPH_VARIANCE_COUNT)
        return sph_fail_key(SPH_EARG, "norm_variance", "unknown value %d", (int)o->norm_variance);
    if ((unsigned)o->memory >= SPH_MEMORY_COUNT)
        return sph_fail_key(SPH_EARG, "memory", "unknown value %d", (int)o->memory);
    return 0;
}

static int check_factor(const char *key, double factor)
{
    if (factor >= 0 && isfinite(factor))
        return 0;
    return sph_fail_key(SPH_EARG, key, "%g, expected 0 or more; sph_train_defaults sets it", factor);
}

static int check_numbers(const sph_train_opts *o)
{
    int err;
    if ((err = check_factor("lr_theta", o->lr_theta)) < 0 ||
        (err = check_factor("lr_lambda", o->lr_lambda)) < 0 || (err = check_factor("lr_r", o->lr_r)) < 0)
        return err;
    if (!(o->beta1 >= 0 && o->beta1 < 1) || !(o->beta2 >= 0 && o->beta2 < 1) || !(o->epsilon >= 0) ||
        !isfinite(o->epsilon))
        return sph_fail_of(SPH_EARG, "", 0,
                           !(o->beta1 >= 0 && o->beta1 < 1)   ? "beta1"
                           : !(o->beta2 >= 0 && o->beta2 < 1) ? "beta2"
                                                              : "epsilon",
                           "beta1 %g, beta2 %g, epsilon %g: expected 0 or more, the betas below 1", o->beta1,
                           o->beta2, o->epsilon);
    if (!(o->lr > 0) || !isfinite(o->lr))
        return sph_fail_key(SPH_EARG, "lr", "%g, expected a number above 0", o->lr);
    if (!o->epochs)
        return sph_fail_key(SPH_EARG, "epochs", "0, expected at least 1");
    if (!(o->momentum >= 0 && o->momentum < 1))
        return sph_fail_key(SPH_EARG, "momentum", "%g, expected 0 or more and below 1", o->momentum);
    if (!(o->weight_decay >= 0) || !isfinite(o->weight_decay))
        return sph_fail_key(SPH_EARG, "weight_decay", "%g, expected 0 or more", o->weight_decay);
    if (!(o->clip >= 0) || !isfinite(o->clip))
        return sph_fail_key(SPH_EARG, "clip", "%g, expected 0 or more", o->clip);
    if (!(o->label_smoothing >= 0 && o->label_smoothing < 1))
        return sph_fail_key(SPH_EARG, "label_smoothing", "%g, expected 0 or more and below 1",
                            o->label_smoothing);
    if (!(o->huber_delta > 0) || !isfinite(o->huber_delta))
        return sph_fail_key(SPH_EARG, "huber_delta", "%g, expected a number above 0", o->huber_delta);
    if (!(o->norm_momentum > 0 && o->norm_momentum <= 1))
        return sph_fail_key(SPH_EARG, "norm_momentum", "%g, expected above 0 and at most 1",
                            o->norm_momentum);
    if (o->threads < 1 || (size_t)o->threads > threads_limit())
        return sph_fail_key(SPH_EARG, "threads", "%d, this build runs 1 to %zu", o->threads, threads_limit());
    return 0;
}

/* Natural directions want a parameterization with a metric of its own and an optimizer that keeps sizes. */
static int check_natural(const sph_train_opts *o, const sph_net *net)
{
    const struct optimizer_ops *optimizer = optimizer_ops(o->optimizer);
    const char *without = NULL;
    if (!(o->natural >= 0) || !isfinite(o->natural))
        return sph_fail_key(SPH_EARG, "natural", "%g, expected 0 or more", o->natural);
    if (o->natural == 0)
        return 0;
    if (optimizer->no_natural)
        return sph_fail_key(SPH_EARG, "natural", "%s %s", optimizer->name, optimizer->no_natural);
    for (size_t l = 0; l < net->layer_count; l++) {
        const struct param_ops *ops = net->layers[l].ops;
        if (ops->natural || ops->is_natural)
            return 0;
        if (!without)
            without = ops->name;
    }
    return sph_fail_key(SPH_EARG, "natural", "only used with --param gmp, but --param is %s", without);
}

int opts_check(const sph_train_opts *o, const sph_net *net)
{
    int err = check_words(o);
    if (err < 0 || (err = check_numbers(o)) < 0)
        return err;
    if (loss_row(o->loss)->of_rows && sph_net_outputs(net) < 2)
        return sph_fail_key(SPH_EARG, "loss",
                            "%s needs a network with one output per class, but this one has 1 output; use %s",
                            sph_word(SPH_WORDS_LOSS, (int)o->loss)->word,
                            sph_word(SPH_WORDS_LOSS, (int)loss_first(SPH_TASK_BINARY))->word);
    return check_natural(o, net);
}
