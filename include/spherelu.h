/* SPDX-License-Identifier: MIT
 *
 * spherelu: train ReLU networks in the coordinates their features live in.
 *
 * The whole public API. Conventions:
 *   - functions that can fail return 0 or a negative SPH_E... code; sph_error() then holds one line for the
 * user;
 *   - `out` comes first; the caller frees what it is given with the matching _free, and _free(NULL) is fine;
 *   - the library never prints and never exits; there is no global state, so handles may be used side by side
 * by several threads, one thread per handle at a time;
 *   - shapes stand beside pointers: m units, n inputs of a unit, rows in a batch; matrices are row-major. */
#ifndef SPHERELU_H
#define SPHERELU_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(SPH_BUILD_SHARED) && defined(__GNUC__)
#define SPH_API __attribute__((visibility("default")))
#else
#define SPH_API
#endif

/* ---------------------------------------------------------------- errors and version */

enum {
    SPH_OK = 0,
    SPH_EARG = -1,     /* the call or an option is wrong            */
    SPH_EIO = -2,      /* the system refused to read or write       */
    SPH_EFORMAT = -3,  /* a file is not what it should be           */
    SPH_EMEMORY = -4,  /* out of memory                             */
    SPH_EDIVERGED = -5 /* the loss stopped being a finite number    */
};

SPH_API const char *sph_error(void);    /* this thread's last failure, one line */
SPH_API const char *sph_version(void);  /* "0.1.0" */
SPH_API const char *sph_features(void); /* what is compiled in, one "name: value" per line */
SPH_API const char *sph_cpu(void);      /* the processor's name */

/* ---------------------------------------------------------------- words
 * One list gives the enum, the word in commands and files, and the help. */

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
    X(IMN, "imn", "input mean normalization")

#define SPH_ACTS(X)                                                                                          \
    X(IDENTITY, "identity", "no activation")                                                                 \
    X(RELU, "relu", "max(0, z)")                                                                             \
    X(LEAKY_RELU, "leaky_relu", "max(0.01 z, z)")                                                            \
    X(ELU, "elu", "z, or exp(z)-1 below 0")                                                                  \
    X(SRELU, "srelu", "learned slopes beyond two learned thresholds")

#define SPH_INITS(X)                                                                                         \
    X(DEFAULT, "default", "paper for gmp, glorot for the others")                                            \
    X(PAPER, "paper", "uniform directions, lambda 0, r 1")                                                   \
    X(GLOROT, "glorot", "Glorot uniform")                                                                    \
    X(HE, "he", "He normal")

#define SPH_LOSSES(X)                                                                                        \
    X(MAE, "mae", "mean absolute error")                                                                     \
    X(MSE, "mse", "mean squared error")                                                                      \
    X(BCE, "bce", "binary cross-entropy of a logit")                                                         \
    X(CE, "ce", "cross-entropy of class logits")

#define SPH_OPTIMIZERS(X)                                                                                    \
    X(ADAM, "adam", "Adam")                                                                                  \
    X(ADAMW, "adamw", "Adam with decoupled weight decay")                                                    \
    X(SGD, "sgd", "gradient descent with momentum")

#define SPH_TASKS(X)                                                                                         \
    X(REGRESSION, "regression", "real targets")                                                              \
    X(BINARY, "binary", "two classes, one logit")                                                            \
    X(CLASSES, "classes", "several classes, a logit each")

#define SPH_SPLITS(X)                                                                                        \
    X(RANDOM, "random", "uniform")                                                                           \
    X(STRATIFIED, "stratified", "each class in proportion")                                                  \
    X(SKLEARN, "sklearn", "the rows scikit-learn's train_test_split gives")

#define SPH_MISSINGS(X)                                                                                      \
    X(ERROR, "error", "an empty cell is an error")                                                           \
    X(MEAN, "mean", "an empty cell takes its column's training mean")                                        \
    X(DROP, "drop", "a row with an empty cell is left out")

#define SPH_STANDARDIZES(X)                                                                                  \
    X(AUTO, "auto", "both for regression, features otherwise")                                               \
    X(OFF, "off", "nothing")                                                                                 \
    X(FEATURES, "features", "features to mean 0 and deviation 1")                                            \
    X(BOTH, "both", "features and targets")

#define SPH_AUGMENTS(X)                                                                                      \
    X(NONE, "none", "rows as they are")                                                                      \
    X(FLIP, "flip", "images left to right, every other time")

#define SPH_CONVS(X)                                                                                         \
    X(AUTO, "auto", "the fastest, Winograd's algorithm included")                                            \
    X(DIRECT, "direct", "no Winograd: slower, rounding as in a plain sum")

/* Groups of learned numbers: what an optimizer may treat alike. */
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

/* What tensors of a model file are called. */
#define SPH_NAMES(X)                                                                                         \
    X(SPHERELU, "spherelu", "PATH.weight, PATH.norm.mean, ... and a description of the network")             \
    X(TORCHVISION, "torchvision", "those of torchvision's resnets, no description")

#define SPH_ENUM_ROW(prefix, id)             prefix##id,
#define SPH_DTYPE_ENUM(id, word, help)       SPH_##id,
#define SPH_PARAM_ENUM(id, word, help)       SPH_PARAM_##id,
#define SPH_NORM_ENUM(id, word, help)        SPH_NORM_##id,
#define SPH_ACT_ENUM(id, word, help)         SPH_ACT_##id,
#define SPH_INIT_ENUM(id, word, help)        SPH_INIT_##id,
#define SPH_LOSS_ENUM(id, word, help)        SPH_LOSS_##id,
#define SPH_OPTIMIZER_ENUM(id, word, help)   SPH_OPTIMIZER_##id,
#define SPH_TASK_ENUM(id, word, help)        SPH_TASK_##id,
#define SPH_SPLIT_ENUM(id, word, help)       SPH_SPLIT_##id,
#define SPH_MISSING_ENUM(id, word, help)     SPH_MISSING_##id,
#define SPH_STANDARDIZE_ENUM(id, word, help) SPH_STANDARDIZE_##id,
#define SPH_AUGMENT_ENUM(id, word, help)     SPH_AUGMENT_##id,
#define SPH_CONV_ENUM(id, word, help)        SPH_CONV_##id,
#define SPH_GROUP_ENUM(id, word, help)       SPH_GROUP_##id,
#define SPH_NAMES_ENUM(id, word, help)       SPH_NAMES_##id,

typedef enum { SPH_DTYPES(SPH_DTYPE_ENUM) SPH_DTYPE_COUNT } sph_dtype; /* SPH_F32 ...  */
typedef enum { SPH_PARAMS(SPH_PARAM_ENUM) SPH_PARAM_COUNT } sph_param; /* SPH_PARAM_SP */
typedef enum { SPH_NORMS(SPH_NORM_ENUM) SPH_NORM_COUNT } sph_norm;     /* SPH_NORM_BN  */
typedef enum { SPH_ACTS(SPH_ACT_ENUM) SPH_ACT_COUNT } sph_act;         /* SPH_ACT_RELU */
typedef enum { SPH_INITS(SPH_INIT_ENUM) SPH_INIT_COUNT } sph_init;     /* ...          */
typedef enum { SPH_LOSSES(SPH_LOSS_ENUM) SPH_LOSS_COUNT } sph_loss;
typedef enum { SPH_OPTIMIZERS(SPH_OPTIMIZER_ENUM) SPH_OPTIMIZER_COUNT } sph_optimizer;
typedef enum { SPH_TASKS(SPH_TASK_ENUM) SPH_TASK_COUNT } sph_task;
typedef enum { SPH_SPLITS(SPH_SPLIT_ENUM) SPH_SPLIT_COUNT } sph_split_kind;
typedef enum { SPH_MISSINGS(SPH_MISSING_ENUM) SPH_MISSING_COUNT } sph_missing;
typedef enum { SPH_STANDARDIZES(SPH_STANDARDIZE_ENUM) SPH_STANDARDIZE_COUNT } sph_standardize;
typedef enum { SPH_AUGMENTS(SPH_AUGMENT_ENUM) SPH_AUGMENT_COUNT } sph_augment;
typedef enum { SPH_CONVS(SPH_CONV_ENUM) SPH_CONV_COUNT } sph_conv;
typedef enum { SPH_GROUPS(SPH_GROUP_ENUM) SPH_GROUP_COUNT } sph_group;
typedef enum { SPH_NAMES(SPH_NAMES_ENUM) SPH_NAMES_COUNT } sph_names;

/* ---------------------------------------------------------------- networks
 * A net is a description (a graph of layers) and its learned numbers. Build it node by node, then
 * sph_net_ready() infers the shapes, lays out the numbers and draws their first values; or let sph_net_mlp()
 * do all of it. */

typedef struct sph_net sph_net;

/* One weight layer: s * act(norm(W x + b)). Zeroes mean: a plain linear layer. */
typedef struct sph_layer {
    const char *path; /* "layers.0"; NULL: layers.K, K counting weight layers */
    size_t units;     /* m */
    sph_param param;
    sph_norm norm;
    sph_act act;
    sph_init init;

    /* conv: a window of kernel x kernel, every stride pixels, pad zeros around the image; dense: 0 each */
    size_t kernel, stride, pad;

    /* sp, wn: constants PATH.r of +-1 scale the output; a conversion leaves them where a sign cannot pass */
    int signs;
} sph_layer;

SPH_API int sph_net_new(sph_net **out, sph_dtype dtype);
SPH_API void sph_net_free(sph_net *net);

/* Each returns the new node's number (>= 0) or an error. */
SPH_API int sph_net_input(sph_net *net, size_t features);
SPH_API int sph_net_dense(sph_net *net, int from, const sph_layer *layer);

/* Images: values of a node are (channels, height, width). Pools act on each channel; the global one averages
 * all pixels and leaves (channels, 1, 1), which a dense layer takes. */
SPH_API int sph_net_image(sph_net *net, size_t channels, size_t height, size_t width);
SPH_API int sph_net_conv(sph_net *net, int from, const sph_layer *layer);
SPH_API int sph_net_max_pool(sph_net *net, int from, size_t kernel, size_t stride, size_t pad);
SPH_API int sph_net_avg_pool(sph_net *net, int from, size_t kernel, size_t stride, size_t pad);
SPH_API int sph_net_global_pool(sph_net *net, int from);

/* A residual addition; an activation by itself (srelu belongs to a layer). */
SPH_API int sph_net_add(sph_net *net, int a, int b);
SPH_API int sph_net_act(sph_net *net, int from, sph_act act);

/* Ends the description; output is the node whose values the net returns. */
SPH_API int sph_net_ready(sph_net *net, int output, uint64_t seed);

typedef struct sph_mlp {
    sph_dtype dtype;
    size_t inputs, outputs;
    const size_t *hidden; /* (depth) */
    size_t depth;
    sph_param param;
    sph_norm norm;
    sph_act act;
    sph_init init;
    uint64_t seed;
} sph_mlp;

SPH_API int sph_net_mlp(sph_net **out, const sph_mlp *spec);

/* Networks for images. Every conv is of the given parameterization, the classifier is plain; imn leaves the
 * first conv's input alone. vgg6: 3x3 convs of 128, 128, 256, 256, 512, 512 units, a max pool after each
 * pair, the mean of all pixels, layers.6. The resnets are torchvision's, paths included (conv1,
 * layer1.0.conv1, layer1.0.downsample.0, fc). */
typedef struct sph_image_net {
    sph_dtype dtype;
    size_t channels, height, width, classes;
    double scale; /* of all widths; 0: 1 */
    sph_param param;
    sph_norm norm;
    sph_act act;
    sph_init init;
    uint64_t seed;
} sph_image_net;

SPH_API int sph_net_vgg6(sph_net **out, const sph_image_net *spec);
SPH_API int sph_net_resnet18(sph_net **out, const sph_image_net *spec);
SPH_API int sph_net_resnet50(sph_net **out, const sph_image_net *spec);

/* How f32 convolutions are computed from now on; a net starts with auto. */
SPH_API void sph_net_set_conv(sph_net *net, sph_conv way);

SPH_API int sph_net_copy(sph_net **out, const sph_net *net);

SPH_API sph_dtype sph_net_dtype(const sph_net *net);
SPH_API size_t sph_net_inputs(const sph_net *net);
SPH_API size_t sph_net_outputs(const sph_net *net);
SPH_API size_t sph_net_layers(const sph_net *net);  /* weight layers           */
SPH_API size_t sph_net_learned(const sph_net *net); /* learned numbers in all  */
SPH_API const sph_layer *sph_net_layer(const sph_net *net, size_t k, size_t *inputs); /* borrowed */

/* y (rows, outputs) <- x (rows, inputs), in evaluation mode. f64 at the interface whatever the net computes
 * in. */
SPH_API int sph_net_forward(sph_net *net, const double *x, size_t rows, double *y);

/* The materialised layer: w (m,n), b (m), s (m); any may be NULL. */
SPH_API int sph_net_weight(const sph_net *net, size_t k, double *w, double *b, double *s);

/* Named tensors (DESIGN of names: PATH.theta, PATH.norm.mean, ...), learned ones first. */
typedef struct sph_tensor {
    char name[128];
    size_t shape[4], ndim, count;
    int learned;     /* 0: running statistic or constant */
    sph_group group; /* of a learned one */
} sph_tensor;

SPH_API size_t sph_net_tensors(const sph_net *net);
SPH_API int sph_net_tensor(const sph_net *net, size_t i, sph_tensor *out);
SPH_API int sph_net_get(const sph_net *net, const char *name, double *values, size_t count);
SPH_API int sph_net_set(sph_net *net, const char *name, const double *values, size_t count);

/* The same function in another parameterization (hidden layers; the output layer stays plain). On the way to
 * gmp and sphere bn becomes part of the weights, by its running statistics. */
enum {
    SPH_CONVERT_STRICT = 1, /* refuse where negative scales cannot be folded away, instead of keeping them  */
    SPH_CONVERT_KEEP_BN = 2 /* bn stays: its mean and variance are rescaled instead                        */
};
SPH_API int sph_net_convert(sph_net **out, const sph_net *net, sph_param to, int flags);

/* Files are safetensors. Without a description a file is read if its tensors are those of torchvision's
 * resnet18 or resnet50 (images of 224 x 224), or dense layers PATH.weight, PATH.bias (or of another
 * parameterization) and nothing else: a chain with relu between. f16 and bf16 become f32. */
SPH_API int sph_net_save(const sph_net *net, const char *path);
SPH_API int sph_net_open(sph_net **out, const char *path);

/* Under other names: torchvision's are for its resnets, sp with bn; standardisation and class names do not go
 * along. */
SPH_API int sph_net_save_as(const sph_net *net, const char *path, sph_names names);

/* From file to file: open, convert, save. A chain of dense layers without a description is not opened but
 * streamed, so that it may be larger than memory: its hidden layers become PATH.theta, PATH.lambda, PATH.r or
 * what the target has, in the same order; a unit without weights but with a bias is refused. */
typedef struct sph_convert_opts {
    sph_param to;
    int flags; /* SPH_CONVERT_... */
    sph_names names;
    int threads;
} sph_convert_opts;

typedef struct sph_converted {
    sph_net *net; /* what was written, caller frees; NULL: a chain was streamed */
    size_t layers, learned;
    int dropped;     /* standardisation or class names had no place under the names chosen */
    char order[256]; /* a chain's layers as they were taken to follow each other, "0, 2, 4", cut where long */
} sph_converted;

SPH_API int sph_convert(const char *in, const char *out, const sph_convert_opts *opts, sph_converted *result);

/* Takes the learned numbers of a file, under our names or torchvision's: every learned tensor of the net must
 * be there and no other. */
SPH_API int sph_net_load_tensors(sph_net *net, const char *path);

/* ---------------------------------------------------------------- data */

typedef struct sph_data sph_data;

typedef struct sph_data_opts {
    const char *target; /* column names or zero-based numbers, comma-separated; NULL: the last column   */
    const char *drop;   /* columns to leave out                                                          */
    char delimiter;     /* 0: find out; ' ' means runs of blanks and tabs                                 */
    int task;           /* sph_task, or -1: find out                                                      */
    sph_missing missing;
    uint64_t seed; /* of the synthetic sets and of `rows`                                            */
    size_t rows;   /* take this many rows only (numpy's RandomState(seed).choice); 0: all            */
    double noise;  /* deviation of the noise in the synthetic sets; NaN: 0.1                         */
} sph_data_opts;

SPH_API sph_data_opts sph_data_defaults(void);

/* source: a file (.csv .tsv .txt .npy .npz), or the name of a known set (crescents, levy, banana, boston,
 * ...). Or images, which stay bytes in memory: a known set (cifar10, cifar100, mnist, fashion-mnist,
 * imagenet32), or a folder or file as these are distributed: CIFAR binary and IDX, gzip or not, and
 * ImageNet32's npz. Of a set with its own test part `rows` takes that many training images, and test images
 * in proportion. */
SPH_API int sph_data_open(sph_data **out, const char *source, const sph_data_opts *opts);
SPH_API int sph_data_from_arrays(sph_data **out, const double *x, const double *y, size_t rows,
                                 size_t features, size_t targets, sph_task task);
SPH_API void sph_data_free(sph_data *data);

SPH_API size_t sph_data_rows(const sph_data *data);
SPH_API size_t sph_data_left_out(const sph_data *data); /* rows of the source dropped for missing cells */
SPH_API size_t sph_data_filled(const sph_data *data);   /* missing feature cells of the rows that were not */
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

/* test: share of all rows; val: share of the rest. A set that has its own test part gives that, whatever
 * share above 0 is asked for. */
SPH_API int sph_split_make(sph_split *out, const sph_data *data, sph_split_kind kind, double test, double val,
                           uint64_t seed);
SPH_API void sph_split_free(sph_split *split);

/* ---------------------------------------------------------------- training */

typedef struct sph_train_opts {
    sph_loss loss;
    double label_smoothing;
    sph_optimizer optimizer;
    double lr;
    double group_lr[SPH_GROUP_COUNT];    /* factors on lr                                   */
    double group_decay[SPH_GROUP_COUNT]; /* factors on weight_decay                         */
    double momentum, beta1, beta2, epsilon, weight_decay;
    int nesterov;
    double clip;  /* largest gradient norm; 0: off                                */
    size_t batch; /* 0: full                                                      */
    size_t micro; /* rows at a time within a batch; 0: all (gradient accumulation) */
    size_t epochs;
    const char *schedule; /* "none", "step:30,60,80:0.1", "plateau:50:0.1:0.0001", "cosine" */
    double warmup;        /* epochs                                                       */
    size_t patience;      /* epochs without a better monitored value; 0: never stop early */
    const char *monitor;  /* NULL: val_loss if there is a validation part, else train_loss */
    double norm_momentum; /* share of the batch in running statistics                     */
    sph_standardize standardize;
    sph_augment augment; /* of the training part; images only                            */
    uint64_t seed;
    int threads;
} sph_train_opts;

SPH_API sph_train_opts sph_train_defaults(sph_task task);

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
    double loss;              /* step: of this batch; epoch: mean over the epoch's steps */
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

enum { SPH_METRICS_MAX = 8 };

typedef struct sph_scores {
    size_t rows;
    size_t count;
    const char *name[SPH_METRICS_MAX]; /* "loss", "rmse", "mae", "accuracy", "top5" */
    double value[SPH_METRICS_MAX];
} sph_scores;

typedef struct sph_result {
    sph_scores train, val, test; /* rows 0 where a part is empty */
    size_t epochs, best_epoch;
    uint64_t steps;
    double seconds;
    int diverged; /* then the scores are absent */
    int stopped;  /* an observer asked */
} sph_result;

/* Trains net on data's training part; the best (by monitor) or last weights end up in net. Standardisation is
 * fitted on the training part and kept with the net. observers: (count). When one of them asks to stop, the
 * call succeeds with result->stopped set, and net holds the weights of that moment; after SPH_EDIVERGED it
 * holds the best weights so far, if there are any. result may be NULL. */
SPH_API int sph_train(sph_net *net, const sph_data *data, const sph_split *split, const sph_train_opts *opts,
                      const sph_observer *observers, size_t count, sph_result *result);

/* ---------------------------------------------------------------- jobs and run folders
 * A job is everything `spherelu train` takes, by name. A run folder is what it leaves. */

typedef struct sph_job sph_job;

typedef struct sph_option {
    const char *name;     /* "lr-theta"; "lr_theta" in files */
    const char *argument; /* "X", "N", "COL[,COL]", "mae|mse|bce|ce"; NULL: a switch */
    const char *initial;  /* default as text, "" if none or chosen by other options */
    const char *section;  /* "data", "net", "training" */
    const char *help;
} sph_option;

SPH_API size_t sph_options(const sph_option **out); /* the table, borrowed; returns its length */

SPH_API int sph_job_new(sph_job **out);
SPH_API void sph_job_free(sph_job *job);
SPH_API int sph_job_set(sph_job *job, const char *name, const char *value); /* '-' and '_' are the same */
SPH_API const char *sph_job_get(const sph_job *job, const char *name); /* as text, borrowed; NULL: unknown */

/* What the option `record` costs, in bytes of the run folder. */
typedef struct sph_record_size {
    uint64_t step;     /* each step: how far boundaries moved */
    uint64_t frame;    /* each moment of boundaries           */
    uint64_t patterns; /* each moment of patterns             */
} sph_record_size;

/* Known to observers of sph_job_run from their start on; 0 before, and where nothing is recorded. */
SPH_API sph_record_size sph_job_record_size(const sph_job *job);

/* Trains and writes the run folder `out`. resume: go on from its checkpoint; what is set must agree with the
 * folder's config.yaml, what is not set is taken from it. */
SPH_API int sph_job_run(sph_job *job, int resume, const sph_observer *observers, size_t count,
                        sph_result *result);

typedef struct sph_run sph_run;

SPH_API int sph_run_open(sph_run **out, const char *dir);
SPH_API void sph_run_free(sph_run *run);
SPH_API const sph_net *sph_run_net(const sph_run *run);

/* Scores on other data with the run's own columns, standardisation and loss. */
SPH_API int sph_run_eval(sph_run *run, const char *source, sph_scores *scores);

/* Writes predictions as CSV. */
SPH_API int sph_run_predict(sph_run *run, const char *source, FILE *csv);

/* ---------------------------------------------------------------- boundaries
 * A unit switches where w x + b = 0, in evaluation, x being the input of its layer and w, b its weight and
 * bias with the normalization folded in. Undefined (|w| = 0, or nothing to fold) is NaN, never a number. */

#define SPH_BOUNDARY_KINDS(X)                                                                                \
    X(HYPERPLANE, "hyperplane", "every unit with a weight has one")                                          \
    X(NONE, "none", "no activation: no boundary, no arrays")                                                 \
    X(PER_SAMPLE, "per_sample", "ln: only units whose shift is 0 have a hyperplane")                         \
    X(CENTRED, "centred", "a padded conv under imn: in the patch less the running mean")

#define SPH_UNIT_STATES(X)                                                                                   \
    X(UNKNOWN, "unknown", "no data")                                                                         \
    X(BOTH, "both", "data on both sides")                                                                    \
    X(DEAD, "dead", "active for no data point")                                                              \
    X(ALWAYS_ON, "always_on", "active for every data point")

#define SPH_BOUNDARY_KIND_ENUM(id, word, help) SPH_BOUNDARY_##id,
#define SPH_UNIT_STATE_ENUM(id, word, help)    SPH_UNIT_##id,

typedef enum { SPH_BOUNDARY_KINDS(SPH_BOUNDARY_KIND_ENUM) SPH_BOUNDARY_KIND_COUNT } sph_boundary_kind;
typedef enum { SPH_UNIT_STATES(SPH_UNIT_STATE_ENUM) SPH_UNIT_STATE_COUNT } sph_unit_state;

/* One layer: m units of n inputs, conv n = cin * kh * kw in that order. A data point is a row, of a conv each
 * patch of a row; its sides and distances are those of the forward pass as the net computes it. */
typedef struct sph_boundary {
    size_t layer, m, n;
    const char *path; /* borrowed from the net */
    sph_boundary_kind kind;
    int raw;              /* 1: in the units of the data, standardisation undone; 0: as the net computes */
    uint64_t points;      /* data points looked at                                                     */
    double *direction;    /* (m, n) w / |w|, pointing to the active side                               */
    double *norm;         /* (m) |w|                                                                   */
    double *offset;       /* (m) b / |w|: the signed distance of the origin; srelu: at its left break  */
    double *offset_right; /* (m) srelu: at its right break; NULL: another activation                  */
    double *phi;          /* (m, n) the point of the boundary that is nearest to the origin            */
    double *phi_net;      /* (m, n) raw: the one nearest to the origin of the standardised input, which is the
                             data's mean, in raw units: what figures draw; NULL: not raw, the same as phi */
    double *active_share; /* (m) of the data points on the active side, 0 to 1; NaN without data       */
    double *nearest;      /* (m) distance of the data point nearest to the boundary                    */
    double *pole;         /* (m) gmp, n > 2: smallest |sin theta_k|, k < n-1; 0 is a pole              */
    sph_unit_state *state; /* (m)                                                                      */
} sph_boundary;

typedef struct sph_boundaries {
    size_t count;
    sph_boundary *layer; /* (count) */
} sph_boundaries;

#define SPH_EVERY_LAYER ((size_t)-1)

/* raw 1: layers that read the net's input are given in the units of the data, the others as ever. rows:
 * (count) of data to look at; NULL: all of them. data NULL: no data points. */
SPH_API int sph_boundaries_new(sph_boundaries **out, const sph_net *net, size_t layer, int raw,
                               const sph_data *data, const uint32_t *rows, size_t count);
SPH_API void sph_boundaries_free(sph_boundaries *boundaries);

/* Of a run, in raw units. source: other data with the run's columns; NULL: the rows it was trained on, opened
 * as config.yaml names them. rows: look at the first so many; 0: at all. */
SPH_API int sph_run_boundaries(sph_boundaries **out, sph_run *run, size_t layer, const char *source,
                               size_t rows);

/* ---- on the move: an observer that follows every boundary from step to step, in the layer's input as the
 * net computes it. One tracker belongs to one net; it remembers the step before, and no more. */
typedef struct sph_tracker sph_tracker;

enum { SPH_MOTION_MAX, SPH_MOTION_MEDIAN, SPH_MOTION_P90, SPH_MOTION_COUNT };

/* How the units of a layer moved in a step: over those that had a boundary before and have one after it.
 * Moves are squared on the way: in an f32 net those above 1.8e19 are inf. A unit whose weights stay moves and
 * turns by exactly 0, one of a single input turns by 0 or by pi; weights that change in length alone turn by
 * their rounding, about 1e-7 in an f32 net. */
typedef struct sph_motion {
    size_t units;                  /* how many those are; one at infinity may count in turn alone         */
    double move[SPH_MOTION_COUNT]; /* of |phi_t - phi_{t-1}|: largest, median and 90 %; NaN without units */
    double turn[SPH_MOTION_COUNT]; /* of the angle between the normals, radians, 0 to pi: likewise        */
} sph_motion;

SPH_API int sph_tracker_new(sph_tracker **out, const sph_net *net);
SPH_API void sph_tracker_free(sph_tracker *tracker);
SPH_API sph_observer sph_tracker_observer(sph_tracker *tracker);

/* The last step's; NaN before the first. 1, or 0: its units have no boundaries (no activation), or none that
 * last (ln). Both may be called by a later observer of the same step. */
SPH_API int sph_tracker_layer(const sph_tracker *tracker, size_t layer, sph_motion *out);

/* Where the boundaries are now: phi and the unit normal, (m, n) each or NULL; NaN where a unit has none, and
 * everywhere before the training starts. 1, or 0 as above: then nothing is written. */
SPH_API int sph_tracker_frame(const sph_tracker *tracker, size_t layer, double *phi, double *normal);

/* ---------------------------------------------------------------- experiments
 * An experiment file names data, methods, a grid and seeds; each combination is a job with a run folder of
 * its own. The tables in the experiment's folder are made of their results. */

typedef struct sph_experiment sph_experiment;

SPH_API int sph_experiment_open(sph_experiment **out, const char *path);
SPH_API void sph_experiment_free(sph_experiment *experiment);

/* Changes a key: train.epochs, methods.NAME.lr, grid.lr, seeds, or an option's own name. value: as YAML. */
SPH_API int sph_experiment_set(sph_experiment *experiment, const char *key, const char *value);
SPH_API const char *sph_experiment_name(const sph_experiment *experiment); /* borrowed */

/* Opens the data, makes every split and one net of every method and grid point: what can be refused before
 * the first step is refused here, with line and key. sph_experiment_run does the same first. */
SPH_API int sph_experiment_check(sph_experiment *experiment);

typedef struct sph_experiment_job {
    const char *method;
    char point[128]; /* "lr 0.1", cut to fit; "" without a grid      */
    uint64_t seed;
    int fold;           /* -1: none                                     */
    const char *folder; /* below the experiment's, borrowed             */
    double seconds;     /* if no early stop; NaN: was not asked for     */
} sph_experiment_job;

/* The jobs that are known from the start; cv adds a refit for each method and seed. sph_experiment_plan
 * returns their number; timed: takes a few steps of each method and grid point, to tell how long they are. */
SPH_API int sph_experiment_plan(sph_experiment *experiment, int timed, size_t *jobs);
SPH_API int sph_experiment_job_at(const sph_experiment *experiment, size_t i, sph_experiment_job *out);

typedef struct sph_experiment_view {
    size_t jobs, finished, running; /* of this run; jobs that had finished before it are not counted */
    double share;                   /* of the work, 0 to 1                                           */
    double seconds, seconds_left;   /* left: NaN as long as nobody knows                             */
} sph_experiment_view;

typedef struct sph_experiment_opts {
    const char *out; /* folder                                                                   */
    int resume;      /* go on: finished jobs stay, unfinished ones continue from their checkpoint */
    size_t workers;  /* jobs side by side, each a process of its own; 0: in this process, in turn  */
    void *self;
    int (*progress)(void *self, const sph_experiment_view *view); /* above 0: stop; NULL: none */
} sph_experiment_opts;

typedef struct sph_experiment_result {
    size_t jobs;     /* in all, refits included                 */
    size_t repeated; /* of these, run or continued by this call */
    size_t diverged, failed;
    int stopped;            /* progress asked: no tables were written                          */
    size_t figures;         /* drawn                                                           */
    size_t not_drawn;       /* failed, each for a reason of its own                            */
    char figures_note[512]; /* such reasons, or that gnuplot is missing; "": all well        */
} sph_experiment_result;

/* Runs what is to be run and writes experiment.yaml, results.json, table.txt, .md, .tex, .csv, .json; where
 * boundaries were recorded, motion.txt, .csv and .json; the figures of the file into figures/; and
 * report.html. A job that diverges or fails is a line there, and no failure of this call. A process that has
 * used OpenMP (sph_train with threads above 1) should take workers 0: children of it may not. */
SPH_API int sph_experiment_run(sph_experiment *experiment, const sph_experiment_opts *opts,
                               sph_experiment_result *result);

/* ---------------------------------------------------------------- perturbation and theory
 * What happens to one unit's boundary w^T x + b = 0 when eps is added to each of its learned numbers, under
 * SP, WN, BN, LN and GmP. All five begin with the same boundary. */

enum { SPH_PERTURB_METHODS = 5, SPH_PERTURB_TENSORS = 4 };

typedef struct sph_perturb_opts {
    size_t inputs;     /* n, 2 or more                                                                    */
    const double *w;   /* (n) base weight; NULL: a uniform direction by seed, of the length below         */
    double length;     /* of w of SP, BN and LN, of v of WN; the papers' code draws it near 1e-3          */
    double distance;   /* of the boundary from the origin, away from w: phi = -distance w / |w|           */
    const double *eps; /* (count)                                                                         */
    size_t count;      /* of eps                                                                          */
    size_t rows;       /* BN: of the batch its mean and variance are taken of, standard normal numbers    */
    size_t units;      /* LN: of the layer, this one included                                             */
    uint64_t seed;     /* of all that is drawn                                                            */
} sph_perturb_opts;

/* n 2, length 1e-3, distance 1, eps 1e-4, 1e-3, 1e-2, 1e-1, a batch of 256 rows, a layer of 8 units. */
SPH_API sph_perturb_opts sph_perturb_defaults(void);

/* A boundary. Borrowed from the result. */
typedef struct sph_perturb_plane {
    const double *w;   /* (n) effective weight, the normalization folded in by the statistics of the batch */
    const double *phi; /* (n) the boundary's point nearest to the origin                                   */
    double b;          /* effective bias                                                                   */
    double eps;        /* what was added; 0 in the base                                                    */
    double turn;       /* degrees from the base's direction: signed in two dimensions, counter-clockwise
                          above 0; else 0 to 180. NaN where w is 0: there is no boundary                   */
    double shift;      /* |phi - phi of the base|; NaN likewise                                            */
} sph_perturb_plane;

typedef struct sph_perturb_tensor {
    const char *name;    /* "w", "theta", "gamma", ...           */
    const double *value; /* (count) base values                  */
    size_t count;
    int perturbed; /* eps was added to each of them        */
} sph_perturb_tensor;

typedef struct sph_perturb_method {
    const char *name; /* "SP", "WN", "BN", "LN", "GmP" */
    const char *unit; /* the formula */
    sph_perturb_tensor tensor[SPH_PERTURB_TENSORS];
    size_t tensors;
    sph_perturb_plane base;
    const sph_perturb_plane *after; /* (count) one per eps */
} sph_perturb_method;

typedef struct sph_perturb_result {
    size_t inputs, count;
    sph_perturb_method method[SPH_PERTURB_METHODS];
    void *memory;
} sph_perturb_result;

/* Refuses lengths, distances and eps above 1e150, whose squares are no numbers. */
SPH_API int sph_perturb(sph_perturb_result *out, const sph_perturb_opts *opts);
SPH_API void sph_perturb_free(sph_perturb_result *result);

/* The papers' statements about boundaries, checked by numbers: flips by 180 degrees under SP, WN, BN and LN;
 * the metric of the angles; the bound turn <= |eps| over many (theta, eps); the turn of a small eps; the sum
 * formula of the first paper, which fails. */
enum { SPH_THEORY_ROWS = 48, SPH_THEORY_TEXT = 96 };

typedef struct sph_theory_opts {
    size_t samples; /* pairs (theta, eps) of the bound, at least; shared over dimensions 2 to 4,608 */
    uint64_t seed;
    int threads;
    void *self;
    int (*progress)(void *self, double share); /* above 0: stop; NULL: none */
} sph_theory_opts;

SPH_API sph_theory_opts sph_theory_defaults(void); /* 1,000,000 samples, one thread */

typedef struct sph_theory_row {
    char check[SPH_THEORY_TEXT], measured[SPH_THEORY_TEXT], expected[SPH_THEORY_TEXT];
    size_t inputs;      /* n; 0: several dimensions      */
    size_t tries;       /* cases behind the number       */
    double value;       /* what decides, see expected    */
    double least, most; /* passed: least <= value <= most */
    int passed;
} sph_theory_row;

typedef struct sph_theory_result {
    size_t count, failed;
    int stopped;                         /* progress asked: rows are missing */
    sph_theory_row row[SPH_THEORY_ROWS]; /* (count) */
} sph_theory_result;

/* A check that fails is a row that says so, and no failure of this call. When progress asks to stop, the call
 * succeeds with the rows so far, and result->stopped is set. */
SPH_API int sph_theory(sph_theory_result *out, const sph_theory_opts *opts);

/* ---------------------------------------------------------------- regions
 * On a plane of its input a dense net of relu or leaky_relu layers is affine in each of the convex polygons
 * that the boundaries of all its units cut the plane into. They are found by subdivision, exactly but for
 * rounding: nothing thinner than 1e-12 of the window is cut off, whoever would cut it. bn, mbn and imn are
 * part of the weights, by their running statistics; ln, elu, srelu and images are refused. */

typedef struct sph_regions sph_regions;

typedef struct sph_regions_opts {
    /* The plane x = origin + s first + t second, in the data's own units, (inputs) each. All NULL: the input
     * itself, (s, t) of a net with 2 inputs, s of a net with 1, whose regions are the strips above its
     * intervals: with a window of height 1 their areas are lengths. */
    const double *origin, *first, *second;
    double window[4]; /* s from, s to, t from, t to                                */
    sph_task task;    /* binary, classes: where the decision changes is found too  */
    size_t most;      /* regions: more are a failure                               */
    void *self;
    int (*progress)(void *self, size_t regions, double share); /* of the area; above 0: stop; NULL: none */
} sph_regions_opts;

SPH_API sph_regions_opts sph_regions_defaults(void); /* window -1, 1, -1, 1; at most a million regions */

/* The plane through three points (inputs) each: origin is a; first and second, which the caller has room for,
 * are of length 1 and at right angles in standardised units, so that s and t measure distance as the net sees
 * it; window: the box of the three points and a tenth more on each side. Points on one line are refused. */
SPH_API int sph_plane_through(const sph_net *net, const double *a, const double *b, const double *c,
                              double *origin, double *first, double *second, double window[4]);

/* When progress asks to stop, the call succeeds with the regions found so far, and sph_regions_total.stopped
 * is set. A net whose values in the window are beyond finite numbers is refused. */
SPH_API int sph_regions_new(sph_regions **out, const sph_net *net, const sph_regions_opts *opts);
SPH_API void sph_regions_free(sph_regions *regions);

typedef struct sph_region {
    const double *vertex;   /* (vertices, 2) s and t, anticlockwise                                       */
    size_t vertices;        /* 3 or more                                                                  */
    double area;            /* in units of s times units of t                                             */
    const uint8_t *pattern; /* a bit per unit, 1 where it is active: see sph_regions_layer                */
    const double *map;      /* (outputs, 3) an output is map[0] s + map[1] t + map[2], in its own units   */
} sph_region;

SPH_API size_t sph_regions_count(const sph_regions *regions);
SPH_API int sph_regions_at(const sph_regions *regions, size_t i, sph_region *out); /* borrowed */

/* A layer with an activation. Its bits of a pattern begin at a byte of their own, unit 0 the highest bit of
 * that byte (numpy.unpackbits reads them). */
typedef struct sph_regions_layer {
    const char *path;
    size_t units;
    size_t byte;    /* of a pattern                                       */
    size_t regions; /* that this layer and those before it cut the window into */
} sph_regions_layer;

SPH_API size_t sph_regions_layers(const sph_regions *regions);
SPH_API int sph_regions_layer_at(const sph_regions *regions, size_t k, sph_regions_layer *out);

/* A piece of the line between two classes (of one logit: 0 and 1), inside a region or along its edge. */
typedef struct sph_segment {
    double from[2], to[2];
    size_t low, high; /* classes */
    size_t region;
} sph_segment;

SPH_API size_t sph_regions_segments(const sph_regions *regions, const sph_segment **out); /* borrowed */

typedef struct sph_regions_total {
    sph_task task;
    int stopped;                    /* progress asked: regions are missing                      */
    double area, largest, smallest; /* areas of all regions, of one region                      */
    double length;                  /* of the decision boundary; NaN where there is no decision */
} sph_regions_total;

SPH_API void sph_regions_sum(const sph_regions *regions, sph_regions_total *out);

/* Regions of a run's net, in the units of its data. */
typedef struct sph_run_regions_opts {
    const char *data;     /* file or name; NULL: what the run was trained on                              */
    const size_t *plane;  /* (3) zero-based rows of the data; NULL: the input itself, of 1 or 2 numbers   */
    const double *window; /* (4), of a net with 1 input (2); NULL: the box of the data or of the three points
                             and a tenth more on each side */
    size_t most;          /* regions; 0: a million                                                        */
    void *self;
    int (*progress)(void *self, size_t regions, double share); /* as in sph_regions_opts */
    int colour_output; /* the picture is coloured by the net's one output, not by active units */
} sph_run_regions_opts;

SPH_API int sph_run_regions(sph_regions **out, sph_run *run, const sph_run_regions_opts *opts);

/* Everything about them as one JSON object (docs/regions.md). */
SPH_API int sph_regions_json(const sph_regions *regions, FILE *json);

/* The folder's regions.json and the picture regions.png, .svg, .pdf. 1: the picture was not drawn,
 * sph_error() says why. */
SPH_API int sph_regions_save(const sph_regions *regions, const char *dir);

/* ---------------------------------------------------------------- figures */

/* Draws figures of dir, a finished experiment's folder or a run's, into dir/figures: data files, a gnuplot
 * script, PNG, SVG and PDF each; then writes dir/report.html, a page with the figures inside. names: (count)
 * words of an experiment file's `figures`; none: those of the experiment's file, or all that a run allows.
 * made: called with each figure's path without its ending, or NULL. A figure that cannot
 * be drawn does not stop the others. Returns 1 where gnuplot is missing: data and scripts are there, and
 * sph_error() says how to get it; 2 where, without names, some were not drawn, and sph_error() says which and
 * why; one that was named and cannot be drawn is a failure. */
SPH_API int sph_figures(const char *dir, const char *const *names, size_t count, void *self,
                        void (*made)(void *self, const char *path));

/* The words a file's `figures` may name, borrowed, "word: what it shows" each; returns their number. */
SPH_API size_t sph_figure_words(const char *const **out);

/* ---------------------------------------------------------------- speed */

typedef struct sph_bench_param_opts {
    sph_dtype dtype;
    sph_param param;
    size_t units, inputs, repeats;
} sph_bench_param_opts;

typedef struct sph_bench_mlp_opts {
    sph_dtype dtype;
    size_t rows, inputs;
    const size_t *hidden; /* (depth) */
    size_t depth;
    sph_param param;
    sph_norm norm;
    sph_act act;
    sph_optimizer optimizer;
    int threads;
    size_t repeats;
} sph_bench_mlp_opts;

typedef struct sph_bench_images_opts {
    sph_dtype dtype;
    const char *net; /* "vgg6" (10 classes), "resnet18", "resnet50" (1000) */
    size_t size;     /* height and width of the images, which have 3 channels */
    size_t batch;
    double scale; /* of all widths; 0: 1 */
    sph_param param;
    sph_norm norm;
    sph_act act;
    sph_optimizer optimizer;
    sph_conv conv;
    int steps_only; /* conv_only is not measured */
    int threads;
    size_t repeats;
} sph_bench_images_opts;

typedef struct sph_bench_images_result {
    double images_per_second; /* of whole training steps */

    /* Of the convolutions of a step alone, by bare oneDNN primitives in the layouts they like best, on one
     * thread; NAN where there are none (f64, or a build without oneDNN) or nobody asked. */
    double conv_only;
    size_t learned;    /* learned numbers of the net */
    double peak_bytes; /* most memory the process has held, before conv_only took some; NAN: not known */
} sph_bench_images_result;

/* Best of repeats after a warm-up. */
SPH_API int sph_bench_param(const sph_bench_param_opts *opts, double *forward_ns, double *backward_ns);
SPH_API int sph_bench_mlp(const sph_bench_mlp_opts *opts, double *us_per_step);

/* The same steps, in turns without and with the recording of boundaries (as train --record boundaries does
 * between two moments) into files in dir, which are removed. */
SPH_API int sph_bench_record(const sph_bench_mlp_opts *opts, const char *dir, double *us_per_step,
                             double *us_recorded);
SPH_API int sph_bench_images(const sph_bench_images_opts *opts, sph_bench_images_result *result);

#ifdef __cplusplus
}
#endif

#endif
