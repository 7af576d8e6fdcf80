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

/* What else is known of arrays. */
typedef struct sph_array_opts {
    size_t size; /* sizeof(sph_array_opts) */
    /* (rows) in training, 0 or more, relative to each other; NULL: 1. A row of weight 2 counts as two rows in the loss, the
     * validation loss, and the means and standard deviations of the standardization. Scores do not use weights. */
    const double *weights;
    /* (classes) 0 or more, multiplied by the weights of the rows; NULL: 1. They are used in the loss and the validation loss, but
     * not in the standardization. */
    const double *class_weights;
    size_t classes; /* if the rows may not contain all of them; 0: those of the rows */
    /* So many last rows are the validation part of every split with val above 0; the shares of the other parts are of the rows
     * before them. 0: no such rows. */
    size_t val;
} sph_array_opts;

/* Copies x (rows, features), y (rows, targets) and what opts has. opts may be NULL: all 0. */
SPH_API int sph_data_from_arrays(sph_data **out, const double *x, const double *y, size_t rows,
                                 size_t features, size_t targets, sph_task task, const sph_array_opts *opts);

/* Synthetic data: "crescents" (two interleaved crescents, two classes), "spirals" (twenty arms, a class each) or "levy" (a function of one variable,
 * with a test part). rows 0: the default number; noise: standard deviation, NaN: 0.1. */
SPH_API int sph_data_synthetic(sph_data **out, const char *name, size_t rows, double noise, uint64_t seed);
SPH_API void sph_data_free(sph_data *data);

SPH_API size_t sph_data_rows(const sph_data *data);
SPH_API size_t sph_data_features(const sph_data *data); /* including indicators of text columns */
SPH_API size_t sph_data_outputs(const sph_data *data);  /* outputs a net needs: columns of y, 1 or classes */
SPH_API sph_task sph_data_task(const sph_data *data);
SPH_API const double *sph_data_x(const sph_data *data); /* (rows, features), raw units; NULL for images */
/* (rows, outputs); class tasks: (rows), class number 0.. */
SPH_API const double *sph_data_y(const sph_data *data);

/* Writes the name of a feature into name, cut to size; a text column has a feature "column=level" for each level. */
SPH_API int sph_data_feature(const sph_data *data, size_t feature, char *name, size_t size);

/* The label of a class, borrowed; NULL past the last. */
SPH_API const char *sph_data_class(const sph_data *data, size_t number);

typedef struct sph_split {
    uint32_t *train, *val, *test; /* zero-based data rows, in the order used */
    size_t train_rows, val_rows, test_rows;
} sph_split;

/* test: share of all rows; val: share of the rest. If the data have a test part, it is used for any test
 * above 0; likewise for a validation part. Data with a column of groups or times are split by it: whole groups, or the latest rows for the test, with rows of
 * the same time in the same part; kind must be RANDOM. A part has at least its share of the rows. */
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
    double
        huber_delta; /* huber: error at which the loss becomes linear, in units of the standardized target */
    sph_optimizer optimizer;
    sph_adam_form adam_form; /* for adam and adamw */
    double lr;
    double lr_theta, lr_lambda, lr_r; /* factors on lr for these groups (SPH_GROUPS); 1 each by default */
    uint32_t
        decay_groups; /* bits 1 << sph_group: weight_decay applies to these; weight, g and r by default */
    double momentum, beta1, beta2, epsilon, weight_decay;
    int nesterov;
    double natural; /* gmp: divide the gradient of the angles by their metric plus this; 0: off */
    double clip;    /* largest gradient norm; 0: off                                */
    const char
        *freeze;  /* "layers.0,layers.1": tensors that are not trained, by name or first part of the name;
                           NULL: none. A layer with only such tensors also keeps its running statistics and
                           works in training as in evaluation */
    size_t batch; /* 0: full                                                      */
    sph_memory memory;
    size_t micro; /* rows at a time within a batch; 0: all (gradient accumulation) */
    size_t epochs;
    size_t last_epoch;             /* the training ends here, while the schedule uses epochs; 0: at epochs */
    const char *schedule;          /* "none", "step:30,60,80:0.1": SPH_SCHEDULES */
    double warmup;                 /* epochs                                                       */
    size_t patience;               /* epochs without a better monitored value; 0: never stop early */
    const char *monitor;           /* NULL: val_loss, or train_loss without a validation part */
    sph_class_weight class_weight; /* multiplied by the weights of the rows; only in the loss */
    int train_scores;              /* also score the training part after each epoch: train_accuracy, ... */
    double norm_momentum;          /* weight of the batch in running statistics                    */
    sph_variance norm_variance;    /* of the batch in the running variance of bn             */
    sph_standardize standardize;
    sph_augment augment; /* of the training part; only images                            */
    uint64_t seed;
    int threads;
    sph_scale scale; /* of a table's features, where standardize scales them */
    sph_indicators indicators;
} sph_train_opts;

/* Defaults with Adam; sph_train_optimizer sets another optimizer and its default rate, momentum, betas and epsilon. */
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

/* The state after a step. Borrowed for the duration of the call. */
typedef struct sph_view {
    const sph_net *net;
    const sph_view_layer *layer; /* (weight layers) after the update */
    size_t epoch, epochs;        /* finished epochs, all epochs */
    uint64_t step, steps;        /* finished steps, all steps without early stopping */
    double lr;
    double loss;              /* step: of this batch; epoch: mean over its samples, during the steps;
                                 ensembles: mean over the members (NaN: no step yet) */
    const char *const *names; /* (values) epoch only: "train_loss", "val_loss", "val_rmse", ... */
    const double *value;      /* (values) */
    size_t values;
    double seconds; /* since the start */
    int improved;   /* epoch: this one is the best so far */
} sph_view;

/* Any function may be NULL. Return 0: continue; above 0: stop after this step; below 0: fail with this code. */
typedef struct sph_observer {
    void *self;
    int (*start)(void *self, const sph_view *view);
    int (*step)(void *self, const sph_view *view);
    int (*epoch)(void *self, const sph_view *view);
    int (*end)(void *self, const sph_view *view);
} sph_observer;

/* An observer that stops after a step if *flag is not 0. Another thread or a signal handler
 * may set it; it must exist until the training ends. */
SPH_API void sph_stop_observer(const volatile int *flag, sph_observer *out);

/* ---------------------------------------------------------------- scores */

enum { SPH_METRICS_MAX = 16 };

/* In the order of SPH_METRICS, the loss first. */
typedef struct sph_scores {
    size_t rows;
    size_t count;
    const char *name[SPH_METRICS_MAX]; /* "loss", "rmse", "accuracy", ... */
    double value[SPH_METRICS_MAX];     /* NaN: undefined for these rows   */
} sph_scores;

typedef struct sph_result {
    sph_scores train, val, test; /* rows is 0 if a part is empty */
    sph_scores
        baseline; /* sph_job_run: test scores of the mean of the training targets or of the class frequencies */
    char warning[320]; /* sph_job_run: a warning about these scores, or "" */
    size_t epochs;
    size_t best_epoch; /* the net has the weights at its end; the last epoch if no epoch is chosen */
    uint64_t steps;
    double seconds;
    double waited; /* part of seconds spent waiting for images to be decoded */
    int diverged;  /* there are no scores       */
    int stopped;   /* by an observer    */
    int improving; /* the last epoch was the best, and not because of the schedule: more epochs may be better */
} sph_result;

/* Trains net on data's training part. With a validation part, a monitor or a patience, net has the weights at the
 * end of the best epoch afterwards, otherwise the last ones. train_loss is measured before each update: with a full batch,
 * the weights at the end of an epoch are one update ahead of those with its train_loss. Standardization is fitted on
 * the training part and stored in the net. observers: (count). If one of them stops the training, the call succeeds with
 * result->stopped set, and net has the current weights; after SPH_EDIVERGED it has those of the best epoch so
 * far, if there is one; with train_loss, the step after these weights may have diverged. result may be NULL. */
SPH_API int sph_train(sph_net *net, const sph_data *data, const sph_split *split, const sph_train_opts *opts,
                      const sph_observer *observers, size_t count, sph_result *result);

/* ---------------------------------------------------------------- step by step */

/* One training that is continued step by step. sph_train is sph_trainer_new, sph_trainer_run and sph_trainer_free. */
typedef struct sph_trainer sph_trainer;

typedef enum { SPH_PART_TRAIN, SPH_PART_VAL, SPH_PART_TEST } sph_part;

/* As sph_train. net and data are borrowed until the trainer is freed; split and opts are copied, the strings in opts are
 * borrowed. Caller frees. */
SPH_API int sph_trainer_new(sph_trainer **out, sph_net *net, const sph_data *data, const sph_split *split,
                            const sph_train_opts *opts);
SPH_API void sph_trainer_free(sph_trainer *trainer);

/* Takes n steps, or fewer if the training ends. After the last step of an epoch the validation part is scored, and
 * opts->patience may end the training. net holds the weights after the last step. SPH_EDIVERGED as in sph_train. */
SPH_API int sph_trainer_step(sph_trainer *trainer, size_t n);

/* The same with observers: `step` and `epoch` are called, `start` and `end` are not. An observer that returns 1 ends this call
 * after the current step or epoch. */
SPH_API int sph_trainer_observe(sph_trainer *trainer, size_t n, const sph_observer *observers, size_t count);

SPH_API int sph_trainer_epoch(sph_trainer *trainer);          /* the rest of the current epoch */
SPH_API int sph_trainer_finished(const sph_trainer *trainer); /* 1: no more steps         */

/* Sets opts->lr from the next step on; the schedule still multiplies it. */
SPH_API int sph_trainer_set_lr(sph_trainer *trainer, double lr);

/* Scores of the current net. rows is 0 if the part is empty. */
SPH_API int sph_trainer_score(sph_trainer *trainer, sph_part part, sph_scores *out);

/* The position of the training and the values of the last finished epoch. Borrowed until the next call. */
SPH_API int sph_trainer_view(sph_trainer *trainer, sph_view *out);

/* Runs the rest of the training with observers; then net has the best or the last weights, as after sph_train.
 * result may be NULL. */
SPH_API int sph_trainer_run(sph_trainer *trainer, const sph_observer *observers, size_t count,
                            sph_result *result);

/* The complete state of the training as bytes: weights, optimizer, best weights, position in the epoch, rate. A trainer
 * with the same net, data, split and options that loads them continues with the same bits. *bytes: caller frees with
 * sph_bytes_free. Bytes of another training fail with SPH_EFORMAT, and the trainer is not changed. */
SPH_API int sph_trainer_save_state(sph_trainer *trainer, void **bytes, size_t *size);
SPH_API int sph_trainer_load_state(sph_trainer *trainer, const void *bytes, size_t size);
SPH_API void sph_bytes_free(void *bytes);

#ifdef __cplusplus
}
#endif

#endif
