/* SPDX-License-Identifier: MIT
 *
 * Shared by all headers of spherelu: failures, names, progress, sinks. Conventions of the whole API:
 *
 *   - functions that can fail return 0 or a negative SPH_E... code; sph_failure() then has the details, and
 *     sph_error() is the message, one line for the user;
 *   - `out` comes first; the caller frees it with the matching _free function, and _free(NULL) is allowed;
 *   - a pointer may be NULL where its comment says so, and where its count is 0. Functions that return a code fail with
 *     SPH_EARG at any other NULL, and sph_failure()->key is the argument's name. Functions that return a number, a text or a
 *     pointer return 0, "" or NULL for a NULL handle, and functions without a result do nothing. Pointers that are not NULL
 *     are not checked;
 *   - options and results are passed by pointer. A struct of options begins with its size, so that a later version can add
 *     fields at its end: write {.size = sizeof(sph_mlp), ...}, where every field that is left out has its default, or
 *     call the struct's defaults function, which also sets the size. A smaller struct from an older header
 *     is accepted, and its missing fields have their defaults; a size of 0 or one that is too large is
 *     an error with the key size;
 *   - the library never prints and never exits; its only global state is the memory limit. Several threads may use different handles
 *     at the same time, but only one thread may use a handle at a time;
 *   - comments beside pointers give shapes: m units, n inputs of a unit, rows in a batch; matrices are row-major. */
#ifndef SPHERELU_BASE_H
#define SPHERELU_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(SPH_BUILD_SHARED) && defined(__GNUC__)
#define SPH_API __attribute__((visibility("default")))
#else
#define SPH_API
#endif

/* ---------------------------------------------------------------- failures */

enum {
    SPH_OK = 0,
    SPH_EARG = -1,     /* a wrong argument or option               */
    SPH_EIO = -2,      /* reading or writing failed                 */
    SPH_EFORMAT = -3,  /* a malformed file                          */
    SPH_EMEMORY = -4,  /* out of memory                             */
    SPH_EDIVERGED = -5 /* the loss is not a finite number           */
};

/* Texts are never NULL. They are valid in this thread until its next failure. */
struct sph_failure {
    int code;         /* SPH_E...; 0: nothing has failed yet                             */
    const char *key;  /* the option, key of a file, layer or tensor; "": none             */
    const char *path; /* the file or the name of the source; "": none                      */
    size_t line;      /* of the file, from 1; 0: none                                    */
    const char *what; /* the problem, without path and line                              */
    const char *text; /* the complete message in one line                                */
};

SPH_API const struct sph_failure *sph_failure(void); /* this thread's last failure */
SPH_API const char *sph_error(void);                 /* its text                   */

/* ---------------------------------------------------------------- versions */

SPH_API const char *sph_version(void); /* "0.2.0" */
/* Number of processors that the calling thread may use: those that the system allows the process, but at most the number of
 * OpenMP threads (OMP_NUM_THREADS, omp_set_num_threads). "As many as there are processors" in options means this number. */
SPH_API size_t sph_processors(void);

/* ---------------------------------------------------------------- memory */

/* Memory limit of the library in bytes, for the whole process. A call that needs more fails with
 * SPH_EMEMORY and the key max-memory before it allocates. The default is three quarters of the machine's memory;
 * 0 restores it. Mapped files and allocations of other libraries are not counted. */
SPH_API void sph_set_max_memory(size_t bytes);
SPH_API size_t sph_max_memory(void);

/* ---------------------------------------------------------------- progress of long calls, sinks */

/* Progress of a long call. */
typedef struct sph_progress {
    const char *what;             /* current item, or path of the last result; NULL: none            */
    double share;                 /* finished share of the work, 0 to 1; NaN: unknown            */
    size_t done, all;             /* regions, jobs or figures; all = 0: unknown                  */
    size_t running;               /* of these, currently running                                 */
    double seconds, seconds_left; /* NaN: unknown                                                */
} sph_progress;

/* Above 0: stop. */
typedef int sph_progress_call(void *self, const sph_progress *progress);

/* Receives the output of a call in pieces; a negative return value ends the call with this code. */
typedef struct sph_sink {
    void *self;
    int (*write)(void *self, const void *bytes, size_t length);
} sph_sink;

/* ---------------------------------------------------------------- names
 * One list gives the enum, the name in commands and files, and the help. */

#define SPH_DTYPES(X)                                                                                        \
    X(F32, "f32", "single precision")                                                                        \
    X(F64, "f64", "double precision")

#define SPH_PARAMS(X)                                                                                        \
    X(SP, "sp", "weight and bias")                                                                           \
    X(WN, "wn", "length and direction (weight normalization)")                                               \
    X(GMP, "gmp", "angles, offset and scale (geometric parameterization)")                                   \
    X(SPHERE, "sphere", "unit vector, offset and scale")

#define SPH_NORMS(X)                                                                                         \
    X(NONE, "none", "no normalization")                                                                      \
    X(BN, "bn", "batch normalization")                                                                       \
    X(LN, "ln", "layer normalization")                                                                       \
    X(MBN, "mbn", "mean-only batch normalization")                                                           \
    X(IMN, "imn", "input mean normalization")                                                                \
    X(GN, "gn", "group normalization")

#define SPH_ACTS(X)                                                                                          \
    X(IDENTITY, "identity", "no activation")                                                                 \
    X(RELU, "relu", "max(0, z)")                                                                             \
    X(LEAKY_RELU, "leaky_relu", "max(0.01 z, z)")                                                            \
    X(ELU, "elu", "z, or exp(z) - 1 below 0")                                                                \
    X(SRELU, "srelu", "learned slopes beyond two learned thresholds")

#define SPH_INITS(X)                                                                                         \
    X(DEFAULT, "default", "paper for gmp, glorot for the others")                                            \
    X(PAPER, "paper", "uniform directions, lambda 0, r 1")                                                   \
    X(GLOROT, "glorot", "Glorot uniform")                                                                    \
    X(HE, "he", "He normal")                                                                                 \
    X(AUTHORS, "authors",                                                                                    \
      "as in the papers' code: Glorot uniform; gmp: directions on half a sphere, r from the Glorot norm")

#define SPH_LOSSES(X)                                                                                        \
    X(MAE, "mae", "mean absolute error")                                                                     \
    X(MSE, "mse", "mean squared error")                                                                      \
    X(HUBER, "huber", "quadratic near 0, linear beyond --huber-delta")                                       \
    X(POISSON, "poisson", "Poisson loss for counts: the network returns the logarithm of the mean")          \
    X(BCE, "bce", "binary cross-entropy of a logit")                                                         \
    X(CE, "ce", "cross-entropy of class logits")

#define SPH_METRICS(X)                                                                                       \
    X(LOSS, "loss", "the loss that was minimized")                                                           \
    X(RMSE, "rmse", "root of the mean squared error")                                                        \
    X(MAE, "mae", "mean absolute error")                                                                     \
    X(ACCURACY, "accuracy", "share of rows whose true class has the highest score")                          \
    X(TOP5, "top5", "share of rows whose true class is among the five highest scores")                       \
    X(MSE, "mse", "mean squared error")                                                                      \
    X(R2, "r2", "coefficient of determination, mean over targets")                                           \
    X(LOG_LOSS, "log_loss", "mean of -log(predicted probability of the true class)")                         \
    X(AUC, "auc", "area under the ROC curve; with more than two classes, the mean of one-vs-rest")           \
    X(BALANCED_ACCURACY, "balanced_accuracy", "recall, mean over classes")                                   \
    X(F1, "f1", "macro F1: F1 score, mean over classes")                                                     \
    X(PRECISION, "precision", "two classes: precision of the second class")                                  \
    X(RECALL, "recall", "two classes: recall of the second class")

#define SPH_OPTIMIZERS(X)                                                                                    \
    X(ADAM, "adam", "Adam")                                                                                  \
    X(ADAMW, "adamw", "Adam with decoupled weight decay")                                                    \
    X(SGD, "sgd", "gradient descent with momentum")                                                          \
    X(RMSPROP, "rmsprop", "gradients over the root of their mean square")                                    \
    X(LION, "lion", "the sign of a mean of gradients")

/* Where Adam adds its epsilon. The form of Keras 2.15 uses betas rounded to f32 in the bias correction. */
#define SPH_ADAM_FORMS(X)                                                                                    \
    X(TORCH, "torch", "to the corrected root")                                                               \
    X(KERAS, "keras", "to the root before its correction, as Keras 2.15")

/* The syntax of schedules: a name and its arguments. */
#define SPH_SCHEDULES(X)                                                                                     \
    X(NONE, "none", "none: constant")                                                                        \
    X(STEP, "step:E,E:F", "step:30,60,80:0.1: multiplied by 0.1 after epochs 30, 60 and 80")                 \
    X(PLATEAU, "plateau:N:F:D",                                                                              \
      "plateau:50:0.1:0.0001: multiplied by 0.1 after 50 epochs without an improvement of more than 0.0001") \
    X(COSINE, "cosine", "cosine: decreases to 0 over the epochs")

#define SPH_TASKS(X)                                                                                         \
    X(REGRESSION, "regression", "numbers")                                                                   \
    X(BINARY, "binary", "two classes, one logit")                                                            \
    X(CLASSES, "classes", "several classes, one logit each")

#define SPH_SPLITS(X)                                                                                        \
    X(RANDOM, "random", "uniform")                                                                           \
    X(STRATIFIED, "stratified", "equal class proportions")                                                   \
    X(SKLEARN, "sklearn", "the rows of scikit-learn's train_test_split")

#define SPH_COLUMN_ORDERS(X)                                                                                 \
    X(AS_IS, "as-is", "features in the order of the source")                                                 \
    X(REVERSED, "reversed", "the last column first")

#define SPH_MISSINGS(X)                                                                                      \
    X(ERROR, "error", "an empty cell is an error")                                                           \
    X(MEAN, "mean", "an empty cell takes its column's training mean")                                        \
    X(DROP, "drop", "a row with an empty cell is left out")

#define SPH_STANDARDIZES(X)                                                                                  \
    X(AUTO, "auto", "both for regression, features for classes and counts")                                  \
    X(OFF, "off", "nothing")                                                                                 \
    X(FEATURES, "features", "features to mean 0 and standard deviation 1")                                   \
    X(BOTH, "both", "features and targets")                                                                  \
    X(MEAN, "mean", "features to mean 0; images divided by 255, tables by nothing")

#define SPH_AUGMENTS(X)                                                                                      \
    X(NONE, "none", "rows as they are")                                                                      \
    X(FLIP, "flip", "images left to right, every other time")                                                \
    X(CROP, "crop", "pictures of a folder: resized at random, a random part of that, flipped")               \
    X(COLOUR, "colour", "crop, and AlexNet's change of colours")

#define SPH_DECODES(X)                                                                                       \
    X(EXACT, "exact", "pictures whole, as PIL and torchvision decode them")                                  \
    X(SCALED, "scaled", "JPEG at 1/2, 1/4 or 1/8 where that leaves pixels enough: faster")

#define SPH_CONVS(X)                                                                                         \
    X(AUTO, "auto", "the fastest, Winograd's algorithm included")                                            \
    X(DIRECT, "direct", "no Winograd: slower, rounding as in a plain sum")

/* The variance of a batch in the running variance of bn. */
#define SPH_VARIANCES(X)                                                                                     \
    X(UNBIASED, "unbiased", "the sum of squares over n - 1, as PyTorch")                                     \
    X(BIASED, "biased", "over n, as Keras in dense layers")

/* Details of layers in which implementations differ (sph_details). */
#define SPH_IMN_PLACES(X)                                                                                    \
    X(INPUT, "input", "at the input of each layer but the first")                                            \
    X(OUTPUT, "output", "behind each activation, before pooling")

#define SPH_MBN_BIASES(X)                                                                                    \
    X(AFTER, "after", "behind the mean")                                                                     \
    X(NONE, "none", "none: one before the mean cancels")

#define SPH_ANGLE_ORDERS(X)                                                                                  \
    X(CHW, "chw", "channel, row, column")                                                                    \
    X(HWC, "hwc", "row, column, channel")

#define SPH_FAN_OUTS(X)                                                                                      \
    X(AREA, "area", "filters times the kernel's area")                                                       \
    X(FILTERS, "filters", "filters alone")

/* Kinds of networks. */
#define SPH_NETS(X)                                                                                          \
    X(MLP, "mlp", "dense layers")                                                                            \
    X(VGG6, "vgg6", "VGG-6")                                                                                 \
    X(RESNET18, "resnet18", "ResNet-18")                                                                     \
    X(RESNET50, "resnet50", "ResNet-50")                                                                     \
    X(MOBILE, "mobile", "MobileNet, of depthwise convolutions")                                              \
    X(WRN28_2, "wrn28-2", "Wide ResNet 28-2, for small images")

/* The first layers of a resnet: 7 x 7 with stride 2 and a pool, which leave 1/16 of the pixels, or 3 x 3. */
#define SPH_STEMS(X)                                                                                         \
    X(AUTO, "auto", "small below 64 pixels, else large")                                                     \
    X(SMALL, "small", "3 x 3, stride 1, no pool")                                                            \
    X(LARGE, "large", "7 x 7, stride 2, a pool of stride 2")

/* The values of the forward pass that a training step stores. */
#define SPH_MEMORIES(X)                                                                                      \
    X(NORMAL, "normal", "all that the way back reads")                                                       \
    X(SMALL, "small", "what bn and imn give is computed again on the way back; the same numbers, more time")

/* The weight of a row's loss by its class. */
#define SPH_CLASS_WEIGHTS(X)                                                                                 \
    X(NONE, "none", "as much as any other row")                                                              \
    X(BALANCED, "balanced", "the rarer its class, the more: all classes weigh the same")

/* Groups of parameters that an optimizer can treat differently. */
#define SPH_GROUPS(X)                                                                                        \
    X(THETA, "theta", "angles, or the unit vectors of sphere")                                               \
    X(LAMBDA, "lambda", "offsets of gmp and sphere")                                                         \
    X(R, "r", "scales of gmp and sphere")                                                                    \
    X(WEIGHT, "weight", "plain weights")                                                                     \
    X(V, "v", "directions of wn")                                                                            \
    X(G, "g", "lengths of wn")                                                                               \
    X(BIAS, "bias", "biases")                                                                                \
    X(NORM, "norm", "scales and shifts of normalizations")                                                   \
    X(ACT, "act", "parameters of activations")

/* Names of the tensors in a model file. */
#define SPH_NAMES(X)                                                                                         \
    X(SPHERELU, "spherelu", "PATH.weight, PATH.norm.mean, ... and a description of the network")             \
    X(TORCHVISION, "torchvision", "those of torchvision's resnets, no description")

/* The kind of boundary of a layer's units. */
#define SPH_BOUNDARY_KINDS(X)                                                                                \
    X(HYPERPLANE, "hyperplane", "every unit with a weight has one")                                          \
    X(NONE, "none", "no activation: no boundary, no arrays")                                                 \
    X(PER_SAMPLE, "per_sample", "ln: only units whose shift is 0 have a hyperplane")                         \
    X(CENTRED, "centred", "a padded conv under imn: in the patch less the running mean")

/* The data on the sides of a unit's boundary. */
#define SPH_UNIT_STATES(X)                                                                                   \
    X(UNKNOWN, "unknown", "no data")                                                                         \
    X(BOTH, "both", "data on both sides")                                                                    \
    X(DEAD, "dead", "active for no data point")                                                              \
    X(ALWAYS_ON, "always_on", "active for every data point")

/* All lists. sph_word() finds those that have a row here. */
#define SPH_WORD_KINDS(X)                                                                                    \
    X(DTYPE, SPH_DTYPES)                                                                                     \
    X(PARAM, SPH_PARAMS)                                                                                     \
    X(NORM, SPH_NORMS)                                                                                       \
    X(ACT, SPH_ACTS)                                                                                         \
    X(INIT, SPH_INITS)                                                                                       \
    X(LOSS, SPH_LOSSES)                                                                                      \
    X(METRIC, SPH_METRICS)                                                                                   \
    X(OPTIMIZER, SPH_OPTIMIZERS)                                                                             \
    X(SCHEDULE, SPH_SCHEDULES)                                                                               \
    X(TASK, SPH_TASKS)                                                                                       \
    X(SPLIT, SPH_SPLITS)                                                                                     \
    X(COLUMN_ORDER, SPH_COLUMN_ORDERS)                                                                       \
    X(MISSING, SPH_MISSINGS)                                                                                 \
    X(STANDARDIZE, SPH_STANDARDIZES)                                                                         \
    X(AUGMENT, SPH_AUGMENTS)                                                                                 \
    X(CONV, SPH_CONVS)                                                                                       \
    X(ADAM_FORM, SPH_ADAM_FORMS)                                                                             \
    X(VARIANCE, SPH_VARIANCES)                                                                               \
    X(IMN_PLACE, SPH_IMN_PLACES)                                                                             \
    X(MBN_BIAS, SPH_MBN_BIASES)                                                                              \
    X(ANGLE_ORDER, SPH_ANGLE_ORDERS)                                                                         \
    X(FAN_OUT, SPH_FAN_OUTS)                                                                                 \
    X(NET, SPH_NETS)                                                                                         \
    X(STEM, SPH_STEMS)                                                                                       \
    X(MEMORY, SPH_MEMORIES)                                                                                  \
    X(CLASS_WEIGHT, SPH_CLASS_WEIGHTS)                                                                       \
    X(GROUP, SPH_GROUPS)                                                                                     \
    X(NAMES, SPH_NAMES)                                                                                      \
    X(BOUNDARY_KIND, SPH_BOUNDARY_KINDS)                                                                     \
    X(UNIT_STATE, SPH_UNIT_STATES)                                                                           \
    X(DECODE, SPH_DECODES)

#define SPH_DTYPE_ENUM(id, word, help)         SPH_##id,
#define SPH_PARAM_ENUM(id, word, help)         SPH_PARAM_##id,
#define SPH_NORM_ENUM(id, word, help)          SPH_NORM_##id,
#define SPH_ACT_ENUM(id, word, help)           SPH_ACT_##id,
#define SPH_INIT_ENUM(id, word, help)          SPH_INIT_##id,
#define SPH_LOSS_ENUM(id, word, help)          SPH_LOSS_##id,
#define SPH_METRIC_ENUM(id, word, help)        SPH_METRIC_##id,
#define SPH_OPTIMIZER_ENUM(id, word, help)     SPH_OPTIMIZER_##id,
#define SPH_SCHEDULE_ENUM(id, word, help)      SPH_SCHEDULE_##id,
#define SPH_TASK_ENUM(id, word, help)          SPH_TASK_##id,
#define SPH_SPLIT_ENUM(id, word, help)         SPH_SPLIT_##id,
#define SPH_COLUMN_ORDER_ENUM(id, word, help)  SPH_COLUMNS_##id,
#define SPH_MISSING_ENUM(id, word, help)       SPH_MISSING_##id,
#define SPH_STANDARDIZE_ENUM(id, word, help)   SPH_STANDARDIZE_##id,
#define SPH_AUGMENT_ENUM(id, word, help)       SPH_AUGMENT_##id,
#define SPH_CONV_ENUM(id, word, help)          SPH_CONV_##id,
#define SPH_ADAM_FORM_ENUM(id, word, help)     SPH_ADAM_##id,
#define SPH_VARIANCE_ENUM(id, word, help)      SPH_VARIANCE_##id,
#define SPH_IMN_PLACE_ENUM(id, word, help)     SPH_IMN_AT_##id,
#define SPH_MBN_BIAS_ENUM(id, word, help)      SPH_MBN_BIAS_##id,
#define SPH_ANGLE_ORDER_ENUM(id, word, help)   SPH_ANGLES_##id,
#define SPH_FAN_OUT_ENUM(id, word, help)       SPH_FAN_OUT_##id,
#define SPH_NET_ENUM(id, word, help)           SPH_NET_##id,
#define SPH_STEM_ENUM(id, word, help)          SPH_STEM_##id,
#define SPH_MEMORY_ENUM(id, word, help)        SPH_MEMORY_##id,
#define SPH_CLASS_WEIGHT_ENUM(id, word, help)  SPH_CLASS_WEIGHT_##id,
#define SPH_GROUP_ENUM(id, word, help)         SPH_GROUP_##id,
#define SPH_NAMES_ENUM(id, word, help)         SPH_NAMES_##id,
#define SPH_BOUNDARY_KIND_ENUM(id, word, help) SPH_BOUNDARY_##id,
#define SPH_UNIT_STATE_ENUM(id, word, help)    SPH_UNIT_##id,
#define SPH_DECODE_ENUM(id, word, help)        SPH_DECODE_##id,
#define SPH_WORD_KIND_ENUM(id, list)           SPH_WORDS_##id,

typedef enum { SPH_DTYPES(SPH_DTYPE_ENUM) SPH_DTYPE_COUNT } sph_dtype; /* SPH_F32 ...  */
typedef enum { SPH_PARAMS(SPH_PARAM_ENUM) SPH_PARAM_COUNT } sph_param; /* SPH_PARAM_SP */
typedef enum { SPH_NORMS(SPH_NORM_ENUM) SPH_NORM_COUNT } sph_norm;     /* SPH_NORM_BN  */
typedef enum { SPH_ACTS(SPH_ACT_ENUM) SPH_ACT_COUNT } sph_act;         /* SPH_ACT_RELU */
typedef enum { SPH_INITS(SPH_INIT_ENUM) SPH_INIT_COUNT } sph_init;     /* ...          */
typedef enum { SPH_LOSSES(SPH_LOSS_ENUM) SPH_LOSS_COUNT } sph_loss;
typedef enum { SPH_METRICS(SPH_METRIC_ENUM) SPH_METRIC_COUNT } sph_metric;
typedef enum { SPH_OPTIMIZERS(SPH_OPTIMIZER_ENUM) SPH_OPTIMIZER_COUNT } sph_optimizer;
typedef enum { SPH_SCHEDULES(SPH_SCHEDULE_ENUM) SPH_SCHEDULE_COUNT } sph_schedule;
typedef enum { SPH_TASKS(SPH_TASK_ENUM) SPH_TASK_COUNT } sph_task;
typedef enum { SPH_SPLITS(SPH_SPLIT_ENUM) SPH_SPLIT_COUNT } sph_split_kind;
typedef enum { SPH_COLUMN_ORDERS(SPH_COLUMN_ORDER_ENUM) SPH_COLUMN_ORDER_COUNT } sph_column_order;
typedef enum { SPH_MISSINGS(SPH_MISSING_ENUM) SPH_MISSING_COUNT } sph_missing;
typedef enum { SPH_STANDARDIZES(SPH_STANDARDIZE_ENUM) SPH_STANDARDIZE_COUNT } sph_standardize;
typedef enum { SPH_AUGMENTS(SPH_AUGMENT_ENUM) SPH_AUGMENT_COUNT } sph_augment;
typedef enum { SPH_CONVS(SPH_CONV_ENUM) SPH_CONV_COUNT } sph_conv;
typedef enum { SPH_ADAM_FORMS(SPH_ADAM_FORM_ENUM) SPH_ADAM_FORM_COUNT } sph_adam_form;
typedef enum { SPH_VARIANCES(SPH_VARIANCE_ENUM) SPH_VARIANCE_COUNT } sph_variance;
typedef enum { SPH_IMN_PLACES(SPH_IMN_PLACE_ENUM) SPH_IMN_PLACE_COUNT } sph_imn_place;
typedef enum { SPH_MBN_BIASES(SPH_MBN_BIAS_ENUM) SPH_MBN_BIAS_COUNT } sph_mbn_bias;
typedef enum { SPH_ANGLE_ORDERS(SPH_ANGLE_ORDER_ENUM) SPH_ANGLE_ORDER_COUNT } sph_angle_order;
typedef enum { SPH_FAN_OUTS(SPH_FAN_OUT_ENUM) SPH_FAN_OUT_COUNT } sph_fan_out;
typedef enum { SPH_NETS(SPH_NET_ENUM) SPH_NET_COUNT } sph_net_kind;
typedef enum { SPH_STEMS(SPH_STEM_ENUM) SPH_STEM_COUNT } sph_stem;
typedef enum { SPH_MEMORIES(SPH_MEMORY_ENUM) SPH_MEMORY_COUNT } sph_memory;
typedef enum { SPH_CLASS_WEIGHTS(SPH_CLASS_WEIGHT_ENUM) SPH_CLASS_WEIGHT_COUNT } sph_class_weight;
typedef enum { SPH_GROUPS(SPH_GROUP_ENUM) SPH_GROUP_COUNT } sph_group;
typedef enum { SPH_NAMES(SPH_NAMES_ENUM) SPH_NAMES_COUNT } sph_names;
typedef enum { SPH_BOUNDARY_KINDS(SPH_BOUNDARY_KIND_ENUM) SPH_BOUNDARY_KIND_COUNT } sph_boundary_kind;
typedef enum { SPH_UNIT_STATES(SPH_UNIT_STATE_ENUM) SPH_UNIT_STATE_COUNT } sph_unit_state;
typedef enum { SPH_DECODES(SPH_DECODE_ENUM) SPH_DECODE_COUNT } sph_decode;
typedef enum { SPH_WORD_KINDS(SPH_WORD_KIND_ENUM) SPH_WORD_KIND_COUNT } sph_word_kind; /* SPH_WORDS_PARAM */

/* Rows of a list are contiguous in the order of its enum; a row of NULLs follows the last. */
typedef struct sph_word_row {
    const char *word, *help;
} sph_word_row;

SPH_API const sph_word_row *sph_word(sph_word_kind kind, int i); /* NULL: no such row            */
SPH_API int sph_word_find(sph_word_kind kind, const char *text); /* its number, or -1           */

#ifdef __cplusplus
}
#endif

#endif
