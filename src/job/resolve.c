/* SPDX-License-Identifier: MIT */
#include "job/resolve.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "job/defaults.h"
#include "net/net.h"
#include "train/losses.h"
#include "train/optimizer.h"
#include "train/schedule.h"

/* ---------------------------------------------------------------- network and data */

static const char *source_of(const struct job_spec *spec)
{
    return spec->options.data ? spec->options.data : "the array";
}

static int check_net(const struct resolving *r)
{
    const struct job_spec *spec = r->spec;
    const char *net = options_word(spec, OPTION_NET);
    if (r->kind->make && !r->facts->images)
        return sph_fail_key(SPH_EARG, "net", "%s requires images, but %s is a table; use --net mlp", net,
                            source_of(spec));
    if (r->kind->make && options_given(spec, OPTION_HIDDEN))
        return sph_fail_key(SPH_EARG, "hidden", "not used with --net %s; use --width", net);
    if (!r->kind->make && options_given(spec, OPTION_WIDTH))
        return sph_fail_key(SPH_EARG, "width", "not used with --net mlp; use --hidden");
    if (options_named(spec, OPTION_STEM) && !r->kind->stems)
        return sph_fail_key(SPH_EARG, "stem", "not used with --net %s; only used with the resnets", net);
    if (options_has(spec, OPTION_GROUPS) && !norm_ops((sph_norm)spec->options.norm)->grouped)
        return sph_fail_key(SPH_EARG, "groups", "only used with --norm gn, but --norm is %s",
                            options_word(spec, OPTION_NORM));
    return 0;
}

/* Options that only tables have, and those that only images have. */
static int check_data(const struct resolving *r)
{
    static const enum option_id of_tables[] = {OPTION_GROUP, OPTION_TIME, OPTION_WEIGHTS, OPTION_SCALE,
                                               OPTION_INDICATORS};
    const struct job_spec *spec = r->spec;
    const struct job_options *o = &spec->options;
    for (size_t i = 0; i < sizeof of_tables / sizeof *of_tables; i++)
        if (r->facts->images && options_has(spec, of_tables[i]))
            return sph_fail_key(SPH_EARG, option_key(of_tables[i]),
                                "only used with tables, but %s contains images", source_of(spec));
    if (o->augment > SPH_AUGMENT_NONE && !r->facts->images)
        return sph_fail_key(SPH_EARG, "augment", "only used with images, but %s is a table", source_of(spec));
    if (o->augment > SPH_AUGMENT_FLIP && !r->facts->pictures)
        return sph_fail_key(SPH_EARG, "augment",
                            "%s contains images of one size; %s is for image folders; use flip",
                            source_of(spec), options_word(spec, OPTION_AUGMENT));
    if (options_given(spec, OPTION_SIZE) && !r->facts->images)
        return sph_fail_key(SPH_EARG, "size", "only used with images, but %s is a table", source_of(spec));
    if (o->gray > 0 && !r->facts->images)
        return sph_fail_key(SPH_EARG, "gray", "only used with images, but %s is a table", source_of(spec));
    return 0;
}

/* A written experiment file names the defaults of these for all kinds of data. */
static int check_pictures(const struct resolving *r)
{
    const struct job_spec *spec = r->spec;
    const struct job_options *o = &spec->options;
    int decodes = options_given(spec, OPTION_DECODE) &&
                  (o->decode != SPH_DECODE_EXACT || options_named(spec, OPTION_DECODE));
    const struct {
        enum option_id id;
        int wanted;
    } of_folders[] = {{OPTION_EVAL_SIDE, options_given(spec, OPTION_EVAL_SIDE)},
                      {OPTION_WORKERS, options_given(spec, OPTION_WORKERS)},
                      {OPTION_SKIP_BAD, o->skip_bad > 0},
                      {OPTION_DECODE, decodes}};
    for (size_t i = 0; i < sizeof of_folders / sizeof *of_folders; i++)
        if (of_folders[i].wanted && !r->facts->pictures)
            return sph_fail_key(SPH_EARG, option_key(of_folders[i].id),
                                "only used with image folders, but %s is not one", source_of(spec));
    if (decodes && o->decode != (int)r->facts->decode)
        return sph_fail_key(SPH_EARG, "decode", "%s was packed with --decode %s; remove this option",
                            source_of(spec), sph_word(SPH_WORDS_DECODE, (int)r->facts->decode)->word);
    return 0;
}

/* A clipped feature is no affine function of its column, which what is recorded counts on. */
static int check_scale(const struct job_spec *spec)
{
    const struct job_options *o = &spec->options;
    if (o->scale != SPH_SCALE_ROBUST)
        return 0;
    if (o->standardize != SPH_STANDARDIZE_FEATURES && o->standardize != SPH_STANDARDIZE_BOTH)
        return sph_fail_key(SPH_EARG, "scale", "robust is only used with --standardize features or both");
    if (options_has(spec, OPTION_RECORD))
        return sph_fail_key(SPH_EARG, "scale",
                            "robust cannot be used with --record, whose boundaries are straight in the "
                            "units of the data; use --scale standard");
    return 0;
}

/* ---------------------------------------------------------------- protocol, ensemble, second training */

/* Under cv and reference another part validates. */
static int check_protocol(const struct job_spec *spec)
{
    const struct job_options *o = &spec->options;
    int folds = options_given(spec, OPTION_FOLDS), fold = options_given(spec, OPTION_FOLD);
    if (o->protocol != PROTOCOL_CV && (fold || folds))
        return sph_fail_key(SPH_EARG, fold ? "fold" : "folds", "only used with --protocol cv");
    if (o->protocol == PROTOCOL_HOLDOUT)
        return 0;
    if (o->val > 0)
        return sph_fail_key(SPH_EARG, "val", "found %g, expected 0: %s", o->val,
                            o->protocol == PROTOCOL_CV
                                ? "--protocol cv uses its folds for validation"
                                : "--protocol reference uses the test set for validation");
    if (o->protocol == PROTOCOL_CV && !options_has(spec, OPTION_FOLD))
        return sph_fail_key(SPH_EARG, "fold", "missing, expected the number of the fold to leave out");
    if (o->protocol == PROTOCOL_REFERENCE && !(o->test > 0))
        return sph_fail_key(SPH_EARG, "test", "found 0, but --protocol reference needs a test set");
    return 0;
}

/* No net of an ensemble is the one whose boundaries move. */
static int check_ensemble(const struct job_spec *spec)
{
    const struct job_options *o = &spec->options;
    int drawn = !o->init || sph_word_find(SPH_WORDS_INIT, o->init) >= 0;
    if (!(o->ensemble > 1))
        return options_named(spec, OPTION_ENSEMBLE_VAL)
                   ? sph_fail_key(SPH_EARG, "ensemble_val", "only used with --ensemble K, K > 1")
                   : 0;
    if (options_has(spec, OPTION_RECORD))
        return sph_fail_key(SPH_EARG, "record",
                            "only used with a single network, but --ensemble is %zu; use --ensemble 1",
                            o->ensemble);
    if (!drawn && !(o->new_head > 0))
        return sph_fail_key(SPH_EARG, "ensemble",
                            "all %zu networks would start from %s and be nearly equal; use --ensemble 1",
                            o->ensemble, o->init);
    if (o->ensemble_val != ENSEMBLE_VAL_FOLDS)
        return 0;
    if (o->protocol != PROTOCOL_HOLDOUT || !(o->val > 0))
        return sph_fail_key(SPH_EARG, "ensemble_val",
                            "folds need a validation set; use --val above 0 and --protocol holdout");
    enum option_id by = options_has(spec, OPTION_GROUP) ? OPTION_GROUP : OPTION_TIME;
    return options_has(spec, by)
               ? sph_fail_key(SPH_EARG, "ensemble_val",
                              "folds would separate samples that --%s keeps together; use one",
                              option_key(by))
               : 0;
}

/* The second training takes from the first when to end, and nothing else. */
static int check_refit(const struct job_spec *spec)
{
    const struct job_options *o = &spec->options;
    struct schedule schedule;
    if (!(o->refit > 0))
        return 0;
    if (o->protocol != PROTOCOL_HOLDOUT || !(o->val > 0))
        return sph_fail_key(
            SPH_EARG, "refit",
            "needs a validation set that selects the epoch; use --val above 0 and --protocol holdout");
    if (options_has(spec, OPTION_RECORD))
        return sph_fail_key(SPH_EARG, "record", "not used with --refit");
    int err = schedule_parse(&schedule, o->schedule, o->warmup);
    return !err && schedule_watches(&schedule)
               ? sph_fail_key(SPH_EARG, "refit",
                              "--schedule %s needs a validation set, which the second training run does "
                              "not have; use another schedule",
                              o->schedule)
               : err;
}

static int check_tune(const struct resolving *r)
{
    const struct job_options *o = &r->spec->options;
    if (!options_has(r->spec, OPTION_TUNE))
        return 0;
    if (r->kind->make)
        return sph_fail_key(SPH_EARG, "tune", "only supported with --net mlp");
    if (o->protocol != PROTOCOL_HOLDOUT || !(o->val > 0))
        return sph_fail_key(SPH_EARG, "tune",
                            "needs a validation set; use --val above 0 and --protocol holdout");
    return 0;
}

/* ---------------------------------------------------------------- optimizer and loss */

static const enum option_id optimizer_options[OPTIMIZER_OPTIONS] = {
    [OPTIMIZER_MOMENTUM] = OPTION_MOMENTUM, [OPTIMIZER_NESTEROV] = OPTION_NESTEROV,
    [OPTIMIZER_BETA1] = OPTION_BETA1,       [OPTIMIZER_BETA2] = OPTION_BETA2,
    [OPTIMIZER_EPSILON] = OPTION_EPSILON,   [OPTIMIZER_FORM] = OPTION_ADAM_FORM,
};

int job_reads(const struct job_spec *spec, enum option_id id)
{
    const struct optimizer_ops *ops = optimizer_ops((sph_optimizer)spec->options.optimizer);
    for (int i = 0; i < OPTIMIZER_OPTIONS; i++)
        if (optimizer_options[i] == id)
            return ops->reads[i];
    return 1;
}

/* "--momentum: not used by adam, only by sgd, rmsprop" */
static int unread(const struct job_spec *spec, enum optimizer_option option)
{
    char readers[128] = "";
    for (int i = 0; i < SPH_OPTIMIZER_COUNT; i++) {
        const struct optimizer_ops *ops = optimizer_ops((sph_optimizer)i);
        size_t length = strlen(readers);
        if (ops->reads[option])
            snprintf(readers + length, sizeof readers - length, "%s%s", length ? ", " : "", ops->name);
    }
    return sph_fail_key(SPH_EARG, option_key(optimizer_options[option]),
                        "not used with %s; only used with %s", options_word(spec, OPTION_OPTIMIZER), readers);
}

/* Written files name momentum, nesterov and epsilon for every optimizer, the others only if they were given. */
static int check_optimizer(const struct job_spec *spec)
{
    for (int i = 0; i < OPTIMIZER_OPTIONS; i++) {
        enum option_id id = optimizer_options[i];
        int in_files = id == OPTION_MOMENTUM || id == OPTION_NESTEROV || id == OPTION_EPSILON;
        int given = in_files ? options_named(spec, id) : options_given(spec, id);
        if (given && !job_reads(spec, id))
            return unread(spec, (enum optimizer_option)i);
    }
    if (options_has(spec, OPTION_HUBER_DELTA) && !loss_row((sph_loss)spec->options.loss)->reads_delta)
        return sph_fail_key(SPH_EARG, "huber_delta", "only used with --loss huber, but --loss is %s",
                            options_word(spec, OPTION_LOSS));
    return 0;
}

/* ---------------------------------------------------------------- the whole */

static int check(const struct resolving *r)
{
    int err = check_net(r);
    if (!err)
        err = check_data(r);
    if (!err)
        err = check_pictures(r);
    if (!err)
        err = check_scale(r->spec);
    if (!err)
        err = check_protocol(r->spec);
    if (!err)
        err = check_ensemble(r->spec);
    if (!err)
        err = check_refit(r->spec);
    if (!err)
        err = check_tune(r);
    return err ? err : check_optimizer(r->spec);
}

/* Unsets options that a file names although they have no meaning here, and replaces `auto` by what the data decide. */
static void settle_given(const struct resolving *r)
{
    struct job_spec *spec = r->spec;
    if (r->kind->stems)
        options_set_word(spec, OPTION_STEM,
                         (int)net_stem((sph_stem)spec->options.stem, r->facts->height, r->facts->width),
                         (enum option_origin)spec->origin[OPTION_STEM]);
    else
        options_unset(spec, OPTION_STEM);
    if (!r->facts->images)
        options_unset(spec, OPTION_GRAY);
    if (!r->facts->pictures) {
        options_unset(spec, OPTION_SKIP_BAD);
        options_unset(spec, OPTION_DECODE);
    } else {
        options_set_size(spec, OPTION_SIZE, r->facts->height, (enum option_origin)spec->origin[OPTION_SIZE]);
    }
    if (!(spec->options.ensemble > 1))
        options_unset(spec, OPTION_ENSEMBLE_VAL);
    options_set_word(spec, OPTION_TASK, (int)r->facts->task,
                     options_given(spec, OPTION_TASK) ? (enum option_origin)spec->origin[OPTION_TASK]
                                                      : ORIGIN_RECOMMENDED);
}

static int recommends(const struct job_request *request)
{
    const struct job_spec *asked = &request->asked;
    int reference = options_given(asked, OPTION_PROTOCOL) && asked->options.protocol == PROTOCOL_REFERENCE;
    return request->recommends && !reference;
}

/* Whether `train` takes an image network if the data are images: no other was asked for. */
static int takes_image_net(const struct job_request *request)
{
    const struct job_spec *asked = &request->asked;
    if (!recommends(request))
        return 0;
    return options_given(asked, OPTION_NET) ? net_kind((sph_net_kind)asked->options.net)->make != NULL
                                            : !options_given(asked, OPTION_HIDDEN);
}

size_t resolve_folder_side(const struct job_request *request)
{
    return recommends(request) && spec_is_new(&request->asked) ? 64 : 0;
}

static int resolve(const struct job_request *request, struct resolving *r)
{
    const struct job_options *asked = &request->asked.options;
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        if (!options_given(&request->asked, id))
            options_unset(r->spec, id);
    int reference = asked->protocol == PROTOCOL_REFERENCE && options_given(&request->asked, OPTION_PROTOCOL);
    r->is[FOR_ALL] = 1;
    r->is[FOR_REFERENCE] = reference;
    r->is[FOR_IMAGES] = r->facts->images && takes_image_net(request);
    int err = defaults_put_net(r);
    if (err < 0)
        return err;
    r->kind = net_kind((sph_net_kind)r->spec->options.net);
    r->is[FOR_IMAGE_NETS] = r->kind->make != NULL;
    r->is[FOR_TABLES] = request->recommends && !reference && !r->kind->make;
    if (!(err = defaults_put(r)))
        err = check(r);
    if (!err)
        settle_given(r);
    return err;
}

int job_resolve(struct job_spec *out, const struct job_request *request, const struct data_facts *facts)
{
    struct resolving r = {.spec = out, .facts = facts};
    int err = options_copy(out, &request->asked);
    if (err < 0)
        return err;
    if ((err = resolve(request, &r)) < 0) {
        options_free(out);
        options_init(out);
    }
    return err;
}

int job_leaks(const struct job_spec *spec)
{
    const char *monitor = spec->options.monitor;
    return spec->options.protocol == PROTOCOL_REFERENCE && !(monitor && !strcmp(monitor, "train_loss"));
}
