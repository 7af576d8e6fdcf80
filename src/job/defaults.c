/* SPDX-License-Identifier: MIT
 *
 * The defaults that depend on the data, the network or the protocol. Of the rows of an option the first one that applies
 * counts; where none does, the fixed default of options.h. docs/results/defaults.md has the study behind those of tables. */
#include "job/defaults.h"

#include <math.h>
#include <string.h>

#include "param/param.h"
#include "train/losses.h"
#include "train/optimizer.h"
#include "train/tool.h"

/* ---------------------------------------------------------------- tables */

/* From this number of rows on a table is large: two layers pay, and half the epochs have enough steps. */
enum { LARGE = 5000 };
enum { MEMBERS = 5, BATCH_LEAST = 32, BATCH_MOST = 256, ROWS_OF_A_BATCH = 32, EPOCHS_LEAST = 20 };

/* Rows that all epochs see, at most: above it there are fewer epochs, to save time. */
static const double rows_seen = 5e6;

static double training_rows(const struct resolving *r)
{
    return floor((double)r->facts->rows * (1 - r->spec->options.test) * (1 - r->spec->options.val));
}

static int table_hidden(const struct resolving *r, enum option_id id)
{
    return options_put(r->spec, id, r->facts->rows < LARGE ? "100" : "128,128", ORIGIN_RECOMMENDED);
}

static int table_lr(const struct resolving *r, enum option_id id)
{
    double rate = optimizer_ops((sph_optimizer)r->spec->options.optimizer)->rate;
    options_set_real(r->spec, id, (r->facts->rows < LARGE ? 0.02 : 0.01) * rate, ORIGIN_RECOMMENDED);
    return 0;
}

/* A power of two near a 32nd of the rows. */
static int put_batch(const struct resolving *r, enum option_id id, size_t most)
{
    size_t batch = BATCH_LEAST;
    while (batch < most && (double)batch * ROWS_OF_A_BATCH * sqrt(2) < training_rows(r))
        batch *= 2;
    options_set_size(r->spec, id, batch, ORIGIN_RECOMMENDED);
    return 0;
}

static int table_batch(const struct resolving *r, enum option_id id)
{
    return put_batch(r, id, BATCH_MOST);
}

/* So many epochs, or fewer where all of them would see more than `seen` rows. */
static int put_epochs(const struct resolving *r, enum option_id id, double seen, size_t epochs, size_t least)
{
    double most = seen / training_rows(r);
    size_t fitting = most >= (double)least ? (size_t)most : least;
    options_set_size(r->spec, id, most >= (double)epochs ? epochs : fitting, ORIGIN_RECOMMENDED);
    return 0;
}

static int table_epochs(const struct resolving *r, enum option_id id)
{
    return put_epochs(r, id, rows_seen, r->facts->rows < LARGE ? 200 : 100, EPOCHS_LEAST);
}

/* A rate that falls to 0 ends by itself. The same is true if --schedule names the default. */
static int falls_to_zero(const struct resolving *r)
{
    return !options_given(r->spec, OPTION_SCHEDULE) || !strcmp(r->spec->options.schedule, "cosine");
}

/* No network and no way to train it was asked for. Weights of classes are about the task, and --tune looks for what was
 * not asked for. */
static int is_left_open(const struct resolving *r)
{
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        const char *section = option_row(id)->section;
        int names = !strcmp(section, "net") || !strcmp(section, "training");
        if (options_given(r->spec, id) && names && id != OPTION_TUNE && id != OPTION_CLASS_WEIGHT)
            return 0;
    }
    return r->spec->options.protocol == PROTOCOL_HOLDOUT && r->spec->options.val > 0;
}

static int is_ensemble(const struct resolving *r)
{
    return r->spec->options.ensemble > 1;
}

static int table_threads(const struct resolving *r, enum option_id id)
{
    size_t members = r->spec->options.ensemble, processors = sph_processors();
    options_set_size(r->spec, id, processors < members ? processors : members, ORIGIN_RECOMMENDED);
    return 0;
}

/* ---------------------------------------------------------------- images */

enum { IMAGES_SEEN = 300000, IMAGE_EPOCHS = 30, IMAGE_EPOCHS_LEAST = 5 };

/* If --epochs is not given, a large dataset gets fewer epochs, to save time. */
static int image_epochs(const struct resolving *r, enum option_id id)
{
    return put_epochs(r, id, IMAGES_SEEN, IMAGE_EPOCHS, IMAGE_EPOCHS_LEAST);
}

static int image_batch(const struct resolving *r, enum option_id id)
{
    return put_batch(r, id, r->kind->batch);
}

/* A file with the first values fixes the width, and its network expects larger images. */
int spec_is_new(const struct job_spec *spec)
{
    const char *init = spec->options.init;
    return !init || sph_word_find(SPH_WORDS_INIT, init) >= 0;
}

static int is_our_choice(const struct resolving *r)
{
    return spec_is_new(r->spec) && !options_given(r->spec, OPTION_NET);
}

/* The net's own rate is meant for its own batch; another one changes it. A batch of 0 is all rows. */
static int image_lr(const struct resolving *r, enum option_id id)
{
    const struct optimizer_ops *ops = optimizer_ops((sph_optimizer)r->spec->options.optimizer);
    size_t asked = r->spec->options.batch, rows = r->facts->rows;
    double batch = (double)(asked && asked < rows ? asked : rows), scale = 1;
    if (options_given(r->spec, OPTION_BATCH) || r->is[FOR_IMAGES])
        scale = pow(batch / (double)r->kind->batch, ops->batch_power);
    options_set_real(r->spec, id, ops->rate * r->kind->lr * scale, ORIGIN_RECOMMENDED);
    return 0;
}

static int has_pictures(const struct resolving *r)
{
    return r->facts->pictures;
}

static int has_images(const struct resolving *r)
{
    return r->facts->images;
}

static int has_stems(const struct resolving *r)
{
    return r->kind->stems;
}

static int picture_size(const struct resolving *r, enum option_id id)
{
    options_set_size(r->spec, id, r->facts->height, ORIGIN_DEFAULT);
    return 0;
}

static int picture_decode(const struct resolving *r, enum option_id id)
{
    options_set_word(r->spec, id, (int)r->facts->decode, ORIGIN_DEFAULT);
    return 0;
}

/* ---------------------------------------------------------------- protocol reference */

static const struct norm_ops *norm_of(const struct resolving *r)
{
    return norm_ops((sph_norm)r->spec->options.norm);
}

static const struct param_ops *param_of(const struct resolving *r)
{
    return param_ops((sph_param)r->spec->options.param);
}

static int has_form(const struct resolving *r)
{
    return optimizer_ops((sph_optimizer)r->spec->options.optimizer)->reads[OPTIMIZER_FORM];
}

static int norm_divides(const struct resolving *r)
{
    return norm_of(r)->divides;
}

static int norm_is_batch(const struct resolving *r)
{
    return norm_of(r)->batch;
}

/* Keras' fused op, which images have, divides by n - 1. */
static int norm_is_biased(const struct resolving *r)
{
    return norm_of(r)->batch && norm_of(r)->divides && !r->kind->make;
}

static int norm_is_at_input(const struct resolving *r)
{
    return norm_of(r)->at_input;
}

static int norm_adds_bias(const struct resolving *r)
{
    return norm_of(r)->adds_bias;
}

static int may_be_output(const struct resolving *r)
{
    return param_of(r)->may_be_output;
}

static int has_conv_angles(const struct resolving *r)
{
    return r->kind->make && param_of(r)->tensor[0].extent == PARAM_ANGLES;
}

static int has_radius(const struct resolving *r)
{
    return param_has_radius((sph_param)r->spec->options.param);
}

static int is_regression(const struct resolving *r)
{
    return r->facts->task == SPH_TASK_REGRESSION;
}

static int is_image_net(const struct resolving *r)
{
    return r->kind->make != NULL;
}

static int is_mlp(const struct resolving *r)
{
    return !r->kind->make;
}

/* Every one of the five best is right where there are no more than five classes. */
static int has_top5(const struct resolving *r)
{
    return r->kind->make && r->facts->classes >= sph_metric_about(SPH_METRIC_TOP5)->least_outputs;
}

/* ---------------------------------------------------------------- by other options */

static int is_cv(const struct resolving *r)
{
    return r->spec->options.protocol == PROTOCOL_CV;
}

static int optimizer_real(const struct resolving *r, enum option_id id)
{
    const struct optimizer_ops *ops = optimizer_ops((sph_optimizer)r->spec->options.optimizer);
    options_set_real(r->spec, id, id == OPTION_MOMENTUM ? ops->momentum : ops->epsilon, ORIGIN_DEFAULT);
    return 0;
}

static int optimizer_lr(const struct resolving *r, enum option_id id)
{
    sph_train_opts own;
    sph_train_defaults(&own, r->facts->task);
    sph_train_optimizer(&own, (sph_optimizer)r->spec->options.optimizer);
    options_set_real(r->spec, id, own.lr, ORIGIN_DEFAULT);
    return 0;
}

static int net_batch(const struct resolving *r, enum option_id id)
{
    options_set_size(r->spec, id, r->kind->batch, r->kind->make ? ORIGIN_RECOMMENDED : ORIGIN_DEFAULT);
    return 0;
}

static int task_loss(const struct resolving *r, enum option_id id)
{
    sph_train_opts own;
    sph_train_defaults(&own, r->facts->task);
    options_set_word(r->spec, id, (int)own.loss, ORIGIN_DEFAULT);
    return 0;
}

static int loss_scaling(const struct resolving *r, enum option_id id)
{
    options_set_word(r->spec, id, (int)loss_standardize((sph_loss)r->spec->options.loss), ORIGIN_DEFAULT);
    return 0;
}

static int first_values(const struct resolving *r, enum option_id id)
{
    return options_put(r->spec, id, sph_word(SPH_WORDS_INIT, (int)param_of(r)->first_init)->word,
                       ORIGIN_DEFAULT);
}

/* Folds deal rows out one by one, which groups and times forbid. */
static int can_fold(const struct resolving *r)
{
    const struct job_options *o = &r->spec->options;
    return o->ensemble > 1 && o->protocol == PROTOCOL_HOLDOUT && o->val > 0 &&
           !options_has(r->spec, OPTION_GROUP) && !options_has(r->spec, OPTION_TIME) && !r->facts->own_val;
}

int defaults_drop(const struct job_spec *spec)
{
    int reference = options_has(spec, OPTION_PROTOCOL) && spec->options.protocol == PROTOCOL_REFERENCE;
    return !reference && spec_is_new(spec);
}

static int is_drawn(const struct resolving *r)
{
    return !r->facts->images && defaults_drop(r->spec);
}

/* The option has no meaning for the job. */
static int leave_unset(const struct resolving *r, enum option_id id)
{
    (void)r;
    (void)id;
    return 0;
}

/* ---------------------------------------------------------------- the rows */

/* Computed values stand in the order in which they depend on each other. */
static const struct default_row rows[] = {
    {OPTION_VAL, FOR_REFERENCE, NULL, "0", NULL, NULL},
    {OPTION_VAL, FOR_ALL, is_cv, "0", NULL, NULL},
    {OPTION_FOLDS, FOR_ALL, is_cv, "5", NULL, "5"},
    {OPTION_GRAY, FOR_ALL, has_images, "false", NULL, NULL},
    {OPTION_GRAY, FOR_ALL, NULL, NULL, leave_unset, NULL},
    {OPTION_SKIP_BAD, FOR_ALL, has_pictures, "false", NULL, NULL},
    {OPTION_SKIP_BAD, FOR_ALL, NULL, NULL, leave_unset, NULL},
    {OPTION_SIZE, FOR_ALL, has_pictures, NULL, picture_size,
     "64 for image folders, 224 for image folders with --init FILE; built-in and stored images keep their "
     "size"},
    {OPTION_DECODE, FOR_ALL, has_pictures, NULL, picture_decode, "exact"},
    {OPTION_DECODE, FOR_ALL, NULL, NULL, leave_unset, NULL},
    {OPTION_AUGMENT, FOR_ALL, has_pictures, "crop", NULL, "crop for folders of images"},
    {OPTION_AUGMENT, FOR_ALL, has_images, "flip", NULL, "flip for other images"},

    {OPTION_DROP, FOR_TABLES, is_drawn, "auto", NULL, NULL},
    {OPTION_NET, FOR_IMAGES, NULL, "resnet18", NULL, NULL},
    {OPTION_HIDDEN, FOR_TABLES, NULL, NULL, table_hidden, "100; 128,128 for 5,000 samples and more"},
    {OPTION_HIDDEN, FOR_ALL, is_mlp, "100", NULL, NULL},
    {OPTION_HIDDEN, FOR_ALL, NULL, NULL, leave_unset, NULL},
    {OPTION_WIDTH, FOR_IMAGES, is_our_choice, "0.25", NULL, "0.25 if --net is not given, otherwise 1"},
    {OPTION_WIDTH, FOR_ALL, is_image_net, "1", NULL, NULL},
    {OPTION_WIDTH, FOR_ALL, NULL, NULL, leave_unset, NULL},
    {OPTION_STEM, FOR_ALL, has_stems, "auto", NULL, "auto"},
    {OPTION_STEM, FOR_ALL, NULL, NULL, leave_unset, NULL},
    {OPTION_PARAM, FOR_TABLES, NULL, "sphere", NULL, NULL},
    {OPTION_PARAM, FOR_IMAGES, NULL, "sp", NULL, NULL},
    {OPTION_NORM, FOR_IMAGES, NULL, "bn", NULL, NULL},
    {OPTION_NORM_EPSILON, FOR_REFERENCE, norm_divides, "0.001", NULL, NULL},
    {OPTION_NORM_EPSILON, FOR_ALL, NULL, NULL, leave_unset, "1e-5"},
    {OPTION_IMN_AT, FOR_REFERENCE, norm_is_at_input, "output", NULL, NULL},
    {OPTION_IMN_AT, FOR_IMAGES, norm_is_at_input, "output", NULL, NULL},
    {OPTION_IMN_AT, FOR_ALL, NULL, NULL, leave_unset, "input"},
    {OPTION_MBN_BIAS, FOR_REFERENCE, norm_adds_bias, "none", NULL, NULL},
    {OPTION_MBN_BIAS, FOR_ALL, NULL, NULL, leave_unset, "after"},
    {OPTION_WN_OUTPUT, FOR_REFERENCE, may_be_output, "true", NULL, NULL},
    {OPTION_ANGLE_ORDER, FOR_REFERENCE, has_conv_angles, "hwc", NULL, NULL},
    {OPTION_ANGLE_ORDER, FOR_ALL, NULL, NULL, leave_unset, "chw"},
    {OPTION_INIT, FOR_REFERENCE, NULL, "authors", NULL, NULL},
    {OPTION_INIT, FOR_ALL, NULL, NULL, first_values, "paper for gmp, glorot for the others"},

    {OPTION_OPTIMIZER, FOR_REFERENCE, is_image_net, "sgd", NULL, NULL},
    {OPTION_ADAM_FORM, FOR_REFERENCE, has_form, "keras", NULL, NULL},
    {OPTION_ADAM_FORM, FOR_ALL, NULL, NULL, leave_unset, "torch"},
    {OPTION_EPSILON, FOR_REFERENCE, has_form, "1e-7", NULL, NULL},
    {OPTION_EPSILON, FOR_ALL, NULL, NULL, optimizer_real, "1e-8"},
    {OPTION_MOMENTUM, FOR_ALL, NULL, NULL, optimizer_real, "0.9; 0 for rmsprop"},
    {OPTION_NORM_MOMENTUM, FOR_REFERENCE, norm_is_batch, "0.01", NULL, NULL},
    {OPTION_NORM_VARIANCE, FOR_REFERENCE, norm_is_biased, "biased", NULL, NULL},
    {OPTION_NORM_VARIANCE, FOR_ALL, NULL, NULL, leave_unset, "unbiased"},
    {OPTION_DTYPE, FOR_REFERENCE, is_mlp, "f64", NULL, NULL},

    {OPTION_BATCH, FOR_TABLES, NULL, NULL, table_batch,
     "about 1/32 of the training samples, at least 32, at most 256"},
    {OPTION_BATCH, FOR_IMAGES, NULL, NULL, image_batch,
     "about 1/32 of the training samples, at least 32, at most 128"},
    {OPTION_BATCH, FOR_IMAGE_NETS, NULL, NULL, net_batch, "128"},
    {OPTION_BATCH, FOR_ALL, NULL, NULL, net_batch, NULL},
    {OPTION_LR, FOR_REFERENCE, has_radius, "0.1", NULL, NULL},
    {OPTION_LR, FOR_REFERENCE, NULL, "0.01", NULL, NULL},
    {OPTION_LR, FOR_TABLES, NULL, NULL, table_lr, "0.02; 0.01 for 5,000 samples and more"},
    {OPTION_LR, FOR_IMAGE_NETS, NULL, NULL, image_lr, "0.002 at batch size 128"},
    {OPTION_LR, FOR_ALL, NULL, NULL, optimizer_lr, NULL},
    {OPTION_EPOCHS, FOR_REFERENCE, is_image_net, "500", NULL, NULL},
    {OPTION_EPOCHS, FOR_REFERENCE, NULL, "5000", NULL, NULL},
    {OPTION_EPOCHS, FOR_TABLES, falls_to_zero, NULL, table_epochs, "200; 100 for 5,000 samples and more"},
    {OPTION_EPOCHS, FOR_IMAGES, NULL, NULL, image_epochs, "30"},
    {OPTION_EPOCHS, FOR_IMAGE_NETS, NULL, "30", NULL, NULL},
    {OPTION_SCHEDULE, FOR_REFERENCE, is_image_net, "plateau:5:0.1:0.0001", NULL, NULL},
    {OPTION_SCHEDULE, FOR_REFERENCE, NULL, "plateau:50:0.1:0.0001", NULL, NULL},
    {OPTION_SCHEDULE, FOR_TABLES, NULL, "cosine", NULL, NULL},
    {OPTION_SCHEDULE, FOR_IMAGE_NETS, NULL, "cosine", NULL, NULL},
    {OPTION_PATIENCE, FOR_REFERENCE, is_image_net, "10", NULL, NULL},
    {OPTION_PATIENCE, FOR_REFERENCE, NULL, "100", NULL, NULL},
    {OPTION_PATIENCE, FOR_TABLES, falls_to_zero, "0", NULL, "0, or 100 with another --schedule than cosine"},
    {OPTION_MONITOR, FOR_REFERENCE, has_top5, "val_top5", NULL, NULL},
    {OPTION_MONITOR, FOR_REFERENCE, is_image_net, "val_accuracy", NULL, NULL},
    {OPTION_MONITOR, FOR_REFERENCE, is_regression, "val_mse", NULL, NULL},
    {OPTION_MONITOR, FOR_REFERENCE, NULL, "val_accuracy", NULL, NULL},
    {OPTION_MONITOR, FOR_ALL, NULL, NULL, leave_unset, "val_loss; train_loss without a validation set"},
    {OPTION_LOSS, FOR_REFERENCE, is_regression, "mae", NULL, NULL},
    {OPTION_LOSS, FOR_ALL, NULL, NULL, task_loss, "mse for regression, bce or ce for classes"},
    {OPTION_STANDARDIZE, FOR_REFERENCE, is_regression, "features", NULL, NULL},
    {OPTION_STANDARDIZE, FOR_REFERENCE, is_image_net, "mean", NULL, NULL},
    {OPTION_STANDARDIZE, FOR_ALL, NULL, NULL, loss_scaling, "auto"},

    {OPTION_ENSEMBLE, FOR_TABLES, is_left_open, "5", NULL,
     "5, or 1 if another network or training option is set"},
    {OPTION_ENSEMBLE_VAL, FOR_ALL, can_fold, "folds", NULL, "folds"},
    {OPTION_ENSEMBLE_VAL, FOR_ALL, is_ensemble, "one", NULL, "one with --group, --time or another protocol"},
    {OPTION_THREADS, FOR_TABLES, is_ensemble, NULL, table_threads,
     "the number of processors for an ensemble, otherwise 1"},
    /* never written down unless they are asked for */
    {OPTION_TARGET, FOR_ALL, NULL, NULL, leave_unset, "the last column"},
    {OPTION_KEEP, FOR_ALL, NULL, NULL, leave_unset, NULL},
    {OPTION_TEXT, FOR_ALL, NULL, NULL, leave_unset, NULL},
    {OPTION_SCALE, FOR_ALL, NULL, NULL, leave_unset, "standard"},
    {OPTION_INDICATORS, FOR_ALL, NULL, NULL, leave_unset, "scaled"},
    {OPTION_MISSING_WORDS, FOR_ALL, NULL, NULL, leave_unset, NULL},
    {OPTION_DELIMITER, FOR_ALL, NULL, NULL, leave_unset, "detected"},
    {OPTION_TASK, FOR_ALL, NULL, NULL, leave_unset, "detected"},
    {OPTION_ROWS, FOR_ALL, NULL, NULL, leave_unset, "all"},
    {OPTION_COLUMNS, FOR_ALL, NULL, NULL, leave_unset, "as-is"},
    {OPTION_DRAW, FOR_ALL, NULL, NULL, leave_unset, "seed"},
    {OPTION_NOISE, FOR_ALL, NULL, NULL, leave_unset, "0.1"},
    {OPTION_EVAL_SIDE, FOR_ALL, NULL, NULL, leave_unset, "8/7 of --size"},
    {OPTION_WORKERS, FOR_ALL, NULL, NULL, leave_unset, "the number of processors minus 1"},
    {OPTION_GROUPS, FOR_ALL, NULL, NULL, leave_unset, "32, or fewer so that each group has 4 units"},
    {OPTION_FAN_OUT, FOR_ALL, NULL, NULL, leave_unset, "area"},
    {OPTION_CLASS_WEIGHT, FOR_ALL, NULL, NULL, leave_unset, "none"},
    {OPTION_HUBER_DELTA, FOR_ALL, NULL, NULL, leave_unset, "1"},
    {OPTION_BETA1, FOR_ALL, NULL, NULL, leave_unset, "0.9"},
    {OPTION_BETA2, FOR_ALL, NULL, NULL, leave_unset, "0.999; 0.99 for rmsprop and lion"},
    {OPTION_NATURAL, FOR_ALL, NULL, NULL, leave_unset, "off"},
    {OPTION_MICRO, FOR_ALL, NULL, NULL, leave_unset, "the whole batch"},
    {OPTION_MEMORY, FOR_ALL, NULL, NULL, leave_unset, "normal"},
    {OPTION_SYNC_NORM, FOR_ALL, NULL, NULL, leave_unset, "on"},
    {OPTION_SEED_SPLIT, FOR_ALL, NULL, NULL, leave_unset, "--seed"},
    {OPTION_SEED_INIT, FOR_ALL, NULL, NULL, leave_unset, "--seed"},
};

enum { ROWS = sizeof rows / sizeof *rows };

static int applies(const struct resolving *r, const struct default_row *row)
{
    return r->is[row->when] && (!row->fits || row->fits(r));
}

static enum option_origin origin_of(const struct default_row *row)
{
    return row->when == FOR_REFERENCE ? ORIGIN_PROTOCOL
           : row->when == FOR_ALL     ? ORIGIN_DEFAULT
                                      : ORIGIN_RECOMMENDED;
}

static int put_fixed(struct job_spec *spec, enum option_id id)
{
    const char *fixed = option_row(id)->initial;
    return options_has(spec, id) || !*fixed ? 0 : options_put(spec, id, fixed, ORIGIN_DEFAULT);
}

int defaults_fixed(struct job_spec *spec)
{
    int err = 0;
    for (enum option_id id = 0; id < OPTION_COUNT && !err; id++)
        err = put_fixed(spec, id);
    return err;
}

static int may_be_unset(enum option_id id)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].id == id && rows[i].compute == leave_unset)
            return 1;
    return 0;
}

int defaults_older(struct job_spec *spec)
{
    int err = 0;
    for (enum option_id id = 0; id < OPTION_COUNT && !err; id++)
        if (!may_be_unset(id))
            err = put_fixed(spec, id);
    return err;
}

static int has_rows(enum option_id id)
{
    size_t i = 0;
    while (i < ROWS && rows[i].id != id)
        i++;
    return i < ROWS;
}

/* The rows of one option, from the first one on. */
static int put_default(const struct resolving *r, const struct default_row *row)
{
    enum option_id id = row->id;
    if (options_has(r->spec, id))
        return 0;
    for (; row < rows + ROWS && row->id == id; row++)
        if (applies(r, row))
            return row->compute ? row->compute(r, id) : options_put(r->spec, id, row->value, origin_of(row));
    return put_fixed(r->spec, id);
}

int defaults_put_net(const struct resolving *r)
{
    size_t i = 0;
    while (rows[i].id != OPTION_NET)
        i++;
    return put_default(r, &rows[i]);
}

int defaults_put(const struct resolving *r)
{
    int err = 0;
    for (enum option_id id = 0; id < OPTION_COUNT && !err; id++)
        if (!has_rows(id))
            err = put_fixed(r->spec, id);
    for (size_t i = 0; i < ROWS && !err; i++)
        if (!i || rows[i].id != rows[i - 1].id)
            err = put_default(r, &rows[i]);
    return err;
}

int defaults_vary(enum option_id id)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].id == id && rows[i].when == FOR_TABLES)
            return id != OPTION_THREADS && id != OPTION_ENSEMBLE;
    return id == OPTION_NET;
}

/* ---------------------------------------------------------------- help */

/* What a row of the option says in the help; NULL: nothing. */
static const char *row_words(const struct default_row *row)
{
    return row->words ? row->words : row->when == FOR_ALL ? NULL : row->value;
}

static void add_words(struct text *out, const char *words)
{
    text_add(out, "%s%s", out->length ? "; " : "", words);
}

/* The words of the option's rows, for whom they are. */
static void words_of(enum option_id id, struct text words[DEFAULT_FORS])
{
    int rest = 1; /* what is not said for all is the fixed default */
    for (size_t i = 0; i < ROWS; i++) {
        const struct default_row *row = &rows[i];
        if (row->id != id || row->when == FOR_REFERENCE)
            continue;
        rest &= row->when == FOR_TABLES || row->when == FOR_IMAGES ||
                (!row_words(row) && row->compute != leave_unset);
        if (row_words(row) && !(row->when == FOR_IMAGE_NETS && words[FOR_IMAGES].length))
            add_words(&words[row->when == FOR_IMAGE_NETS ? FOR_IMAGES : row->when], row_words(row));
    }
    enum default_for whom = words[FOR_TABLES].length ? FOR_IMAGES : FOR_ALL;
    if (rest && *option_row(id)->initial && !words[whom].length)
        add_words(&words[whom], option_row(id)->initial);
}

void defaults_words(struct text *out, enum option_id id)
{
    static const char *const whom[] = {
        [FOR_ALL] = "",
        [FOR_TABLES] = " for tables",
        [FOR_IMAGES] = " for images",
    };
    struct text words[DEFAULT_FORS] = {0};
    words_of(id, words);
    const char *tables = words[FOR_TABLES].chars, *images = words[FOR_IMAGES].chars;
    int alike = tables && images && !strcmp(tables, images);
    for (int of = 0; of <= FOR_IMAGES; of++)
        if (words[of].length && !(alike && of == FOR_IMAGES))
            text_add(out, "%s%s: %s", out->length ? ";" : "default", alike ? "" : whom[of], words[of].chars);
    for (int of = 0; of < DEFAULT_FORS; of++)
        text_free(&words[of]);
}
