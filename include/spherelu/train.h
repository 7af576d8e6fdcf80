/* SPDX-License-Identifier: MIT
 *
 * Data in memory, splits, training, observers. */
#ifndef SPHERELU_TRAIN_H
#define SPHERELU_TRAIN_H

#include "spherelu/net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- data in memory */

typedef struct sph_data sph_data;

/* Copies. */
SPH_API int sph_data_from_arrays(sph_data **out, const double *x, const double *y, size_t rows,
                                 size_t features, size_t targets, sph_task task);

/* What each row counts in training (rows, copied): numbers from 0 on, relative to one another. A row of weight 2 counts as
 * two rows, in the loss, the validation loss, and the means and standard deviations of the standardisation. Scores
 * do not use weights. */
SPH_API int sph_data_set_weights(sph_data *data, const double *weights);

/* What the rows of each class count (classes, copied), times the weights of the rows: numbers from 0 on. They weigh the
 * loss and the validation loss, and never the standardisation. */
SPH_API int sph_data_set_class_weights(sph_data *data, const double *weights);

/* Of a task of classes: there are so many, though the rows at hand may not hold the last of them. */
SPH_API int sph_data_set_classes(sph_data *data, size_t classes);

/* Made by a seed: "crescents" (two interleaved crescents, two classes), "spirals" (twenty arms, a class each) or "levy" (a function of one number,
 * with its own test part). rows 0: the set's own number; noise: standard deviation, NaN: 0.1. */
SPH_API int sph_data_synthetic(sph_data **out, const char *name, size_t rows, double noise, uint64_t seed);
SPH_API void sph_data_free(sph_data *data);

SPH_API size_t sph_data_rows(const sph_data *data);
SPH_API size_t sph_data_features(const sph_data *data); /* after text columns became indicators */
SPH_API size_t sph_data_targets(const sph_data *data);  /* columns of y; class tasks: 1 */
SPH_API size_t sph_data_outputs(const sph_data *data);  /* outputs a net needs: targets, 1 or classes */
SPH_API sph_task sph_data_task(const sph_data *data);
SPH_API const double *sph_data_x(const sph_data *data); /* (rows, features), raw units; NULL for images */
SPH_API const double *sph_data_y(const sph_data *data); /* (rows, targets); class tasks: class number 0.. */

/* The name of a feature into name, cut to size; a text column gives one feature a level, "column=level". */
SPH_API int sph_data_feature(const sph_data *data, size_t feature, char *name, size_t size);

/* The label of a class, borrowed; NULL past the last. */
SPH_API const char *sph_data_class(const sph_data *data, size_t number);

typedef struct sph_split {
    uint32_t *train, *val, *test; /* zero-based data rows, in the order used */
    size_t train_rows, val_rows, test_rows;
} sph_split;

/* test: share of all rows; val: share of the rest. A set that has its own test part gives that, whatever share above 0 is asked
 * for. Data with a column of groups or of times are split by it: whole groups, or the last rows for the test, those of
 * the same time in the same part; kind RANDOM. A part has its share of the rows at least. */
SPH_API int sph_split_make(sph_split *out, const sph_data *data, sph_split_kind kind, double test, double val,
                           uint64_t seed);
SPH_API void sph_split_free(sph_split *split);

/* ---------------------------------------------------------------- training */

/* How the features of a table are scaled, where sph_standardize scales them. */
#define SPH_SCALES(X)                                                                                        \
    X(STANDARD, "standard", "mean and standard deviation")                                                   \
    X(ROBUST, "robust", "median and interquartile range, then smoothly clipped to -3 to 3")

/* Columns of 0 and 1 that text columns become. */
#define SPH_INDICATORS(X)                                                                                    \
    X(SCALED, "scaled", "scaled like other features")                                                        \
    X(RAW, "raw", "left as 0 and 1")

#define SPH_SCALE_ENUM(id, word, help)      SPH_SCALE_##id,
#define SPH_INDICATORS_ENUM(id, word, help) SPH_INDICATORS_##id,
typedef enum { SPH_SCALES(SPH_SCALE_ENUM) SPH_SCALE_COUNT } sph_scale;
typedef enum { SPH_INDICATORS(SPH_INDICATORS_ENUM) SPH_INDICATORS_COUNT } sph_indicators;

typedef struct sph_train_opts {
    size_t size; /* set by sph_train_defaults */
    sph_loss loss;
    double label_smoothing;
    double huber_delta; /* huber: where its straight part begins, in units of the standardised target */
    sph_optimizer optimizer;
    sph_adam_form adam_form; /* of adam and adamw */
    double lr;
    double lr_theta, lr_lambda, lr_r; /* factors on lr for these groups (SPH_GROUPS); 1 each by default */
    uint32_t
        decay_groups; /* bits 1 << sph_group: weight_decay applies to these; weight, g and r by default */
    double momentum, beta1, beta2, epsilon, weight_decay;
    int nesterov;
    double natural; /* gmp: the angles' gradient is divided by their metric plus this; 0: off */
    double clip;    /* largest gradient norm; 0: off                                */
    const char *
        freeze; /* "layers.0,layers.1": tensors by their names or the beginnings of them, which stay as they are;
                           NULL: none. A layer all of whose tensors stay keeps its running statistics too, and is in
                           training what it is in evaluation */
    size_t batch; /* 0: full                                                      */
    sph_memory memory;
    size_t micro; /* rows at a time within a batch; 0: all (gradient accumulation) */
    size_t epochs;
    size_t last_epoch;    /* the training ends there, though the schedule counts more; 0: at epochs */
    const char *schedule; /* "none", "step:30,60,80:0.1": SPH_SCHEDULES */
    double warmup;        /* epochs                                                       */
    size_t patience;      /* epochs without a better monitored value; 0: never stop early */
    const char *monitor;  /* NULL: val_loss if there is a validation part, else train_loss */
    sph_class_weight class_weight; /* times the weights of the data's rows, where they have them; loss only */
    int train_scores;     /* after each epoch the metrics of the training part too: train_accuracy, ... */
    double norm_momentum; /* share of the batch in running statistics                     */
    sph_variance norm_variance; /* of the batch, in that of bn                            */
    sph_standardize standardize;
    sph_augment augment; /* of the training part; images only                            */
    uint64_t seed;
    int threads;
    sph_scale scale; /* of a table's features, where standardize scales them */
    sph_indicators indicators;
} sph_train_opts;

/* With Adam; or another optimizer, with the rate, momentum, betas and epsilon that are its own. */
#define sph_train_defaults(out, task) sph_train_defaults_sized(out, sizeof *(out), task)
SPH_API void sph_train_defaults_sized(sph_train_opts *out, size_t size, sph_task task);
SPH_API void sph_train_optimizer(sph_train_opts *opts, sph_optimizer optimizer);

/* A weight layer as the next step will use it, in the net's dtype (float or double). */
typedef struct sph_view_layer {
    const void *w; /* (n, ldw) unit-minor: input i of unit j at [i * ldw + j] */
    size_t ldw;
    const void *b; /* (m), NULL: none */
    const void *s; /* (m), NULL: 1    */
} sph_view_layer;

/* What a step looks like from outside. Borrowed for the duration of the call. */
typedef struct sph_view {
    const sph_net *net;
    const sph_view_layer *layer; /* (weight layers) after the update */
    size_t epoch, epochs;        /* epochs finished, epochs in all */
    uint64_t step, steps;        /* steps finished, steps in all if no early stop */
    double lr;
    double loss;              /* step: of this batch; epoch: mean over its samples, as the steps saw them;
                                 ensembles: mean over the members (NaN: none has taken a step) */
    const char *const *names; /* (values) epoch only: "train_loss", "val_loss", "val_rmse", ... */
    const double *value;      /* (values) */
    size_t values;
    double seconds; /* since the start */
    int improved;   /* epoch: this one is the best so far */
} sph_view;

/* Any function may be NULL. 0: go on; above 0: stop after this step; below 0: fail with this code. */
typedef struct sph_observer {
    void *self;
    int (*start)(void *self, const sph_view *view);
    int (*step)(void *self, const sph_view *view);
    int (*epoch)(void *self, const sph_view *view);
    int (*end)(void *self, const sph_view *view);
} sph_observer;

/* One that asks to stop after the step at which it finds *flag other than 0. Another thread, or a signal's handler,
 * may set it; it has to stay where it is until the training is over. */
SPH_API void sph_stop_observer(const volatile int *flag, sph_observer *out);

/* ---------------------------------------------------------------- scores */

enum { SPH_METRICS_MAX = 16 };

/* In the order of the list of metrics, the loss first. */
typedef struct sph_scores {
    size_t rows;
    size_t count;
    const char *name[SPH_METRICS_MAX]; /* "loss", "rmse", "accuracy", ... */
    double value[SPH_METRICS_MAX];     /* NaN: undefined for these rows   */
} sph_scores;

typedef struct sph_result {
    sph_scores train, val, test; /* rows 0 where a part is empty */
    sph_scores
        baseline; /* sph_job_run: on the test part, of the mean of the training targets or of the class frequencies */
    char warning[320]; /* sph_job_run: what to know about these scores, or "" */
    size_t epochs;
    size_t best_epoch; /* the net has the weights of its end; the last one where nothing chooses */
    uint64_t steps;
    double seconds;
    double waited; /* of these seconds, for images that were still being decoded */
    int diverged;  /* then the scores are absent */
    int stopped;   /* an observer asked */
    int improving; /* it was best at the end of all its epochs, and no schedule saw to that: more might be better */
} sph_result;

/* Trains net on data's training part. With a validation part, a monitor or a patience, net ends with the weights that it had
 * at the end of the best epoch, otherwise with the last ones. train_loss is measured before each update: with a full batch,
 * the weights at the end of an epoch are one update ahead of those that had its train_loss. Standardisation is fitted on
 * the training part and kept with the net. observers: (count). When one of them asks to stop, the call succeeds with
 * result->stopped set, and net holds the weights of that moment; after SPH_EDIVERGED it holds those of the best epoch so
 * far, if there is one, which under train_loss may be the ones whose next step diverged. result may be NULL. */
SPH_API int sph_train(sph_net *net, const sph_data *data, const sph_split *split, const sph_train_opts *opts,
                      const sph_observer *observers, size_t count, sph_result *result);

/* ---------------------------------------------------------------- step by step */

/* One training that goes on when it is asked to. sph_train is sph_trainer_new, sph_trainer_run and sph_trainer_free. */
typedef struct sph_trainer sph_trainer;

typedef enum { SPH_PART_TRAIN, SPH_PART_VAL, SPH_PART_TEST } sph_part;

/* As sph_train. net and data are borrowed until the trainer is freed; split and opts are copied, the texts of opts are
 * borrowed. Caller frees. */
SPH_API int sph_trainer_new(sph_trainer **out, sph_net *net, const sph_data *data, const sph_split *split,
                            const sph_train_opts *opts);
SPH_API void sph_trainer_free(sph_trainer *trainer);

/* Takes n steps, fewer if the training ends before. After the last step of an epoch the validation part is scored, and
 * opts->patience may end the training. net holds the weights after the last step. SPH_EDIVERGED as in sph_train. */
SPH_API int sph_trainer_step(sph_trainer *trainer, size_t n);
SPH_API int sph_trainer_epoch(sph_trainer *trainer);          /* the rest of the epoch at work */
SPH_API int sph_trainer_finished(const sph_trainer *trainer); /* 1: no more steps to come */

/* opts->lr from the next step on; the schedule still multiplies it. */
SPH_API int sph_trainer_set_lr(sph_trainer *trainer, double lr);

/* Scores of the net as it is. rows is 0 where the part is empty. */
SPH_API int sph_trainer_score(sph_trainer *trainer, sph_part part, sph_scores *out);

/* The position of the training and the values of the last finished epoch. Borrowed until the next call. */
SPH_API int sph_trainer_view(sph_trainer *trainer, sph_view *out);

/* All the rest of the training, with observers; then net holds the best or the last weights, as after sph_train.
 * result may be NULL. */
SPH_API int sph_trainer_run(sph_trainer *trainer, const sph_observer *observers, size_t count,
                            sph_result *result);

/* Everything that the training depends on, as bytes: weights, optimizer, best weights, place in the epoch, rate. A trainer
 * of the same net, data, split and options that loads them goes on with the same bits. *bytes: caller frees with
 * sph_bytes_free. Bytes of another training are refused with SPH_EFORMAT, and the trainer stays as it is. */
SPH_API int sph_trainer_save_state(sph_trainer *trainer, void **bytes, size_t *size);
SPH_API int sph_trainer_load_state(sph_trainer *trainer, const void *bytes, size_t size);
SPH_API void sph_bytes_free(void *bytes);

/* Only what the optimizer remembers, and its count of steps, out of such bytes: the trainer's net may have learned from other
 * data before. The net keeps its weights. */
SPH_API int sph_trainer_load_optimizer(sph_trainer *trainer, const void *bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
