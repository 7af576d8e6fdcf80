/* SPDX-License-Identifier: MIT
 *
 * Every option of a training job, once. One list gives the field, the word on the command line, the key in
 * files, the default, the check and the help; the tool, config.yaml and experiment files all read it.
 *
 * A value is held once, parsed (struct job_options); text is made of it when something is written. An option without
 * a value reads as: size 0, real NaN, word -1, text NULL, character 0, an empty list. resolve.h turns what was asked
 * for into the values that a job has. */
#ifndef SPH_JOB_OPTIONS_H
#define SPH_JOB_OPTIONS_H

#include "base/text.h"
#include "job/moments.h"
#include "job/tool.h"
#include "spherelu.h"

/* What chooses the epoch of a run, and the point of a grid. */
#define OPTION_PROTOCOLS(X)                                                                                  \
    X(HOLDOUT, "holdout", "the validation set")                                                              \
    X(CV, "cv", "folds of the training set")                                                                 \
    X(REFERENCE, "reference", "the test set: a leak, only for comparison with published results")

#define OPTION_PROTOCOL_ENUM(id, word, help) PROTOCOL_##id,
enum option_protocol { OPTION_PROTOCOLS(OPTION_PROTOCOL_ENUM) PROTOCOL_COUNT };

/* What a run tells other programs while it trains. */
#define OPTION_LOGS(X)                                                                                       \
    X(NONE, "none", "nothing")                                                                               \
    X(TENSORBOARD, "tensorboard", "an event file for TensorBoard")

#define OPTION_LOG_ENUM(id, word, help) LOG_##id,
enum option_log { OPTION_LOGS(OPTION_LOG_ENUM) LOG_COUNT };

/* What chooses the epochs of an ensemble's members. */
#define OPTION_ENSEMBLE_VALS(X)                                                                              \
    X(ONE, "one", "the validation set, for all members")                                                     \
    X(FOLDS, "folds", "a different fold of the training and validation sets for each member")

#define OPTION_ENSEMBLE_VAL_ENUM(id, word, help) ENSEMBLE_VAL_##id,
enum option_ensemble_val { OPTION_ENSEMBLE_VALS(OPTION_ENSEMBLE_VAL_ENUM) ENSEMBLE_VAL_COUNT };

/* Whose samples a batch statistic is of, where several processes train a network together. */
#define OPTION_SYNC_NORMS(X)                                                                                 \
    X(ON, "on", "the whole batch")                                                                           \
    X(OFF, "off", "the samples of each process")

#define OPTION_SYNC_NORM_ENUM(id, word, help) SYNC_NORM_##id,
enum option_sync_norm { OPTION_SYNC_NORMS(OPTION_SYNC_NORM_ENUM) SYNC_NORM_COUNT };

/* What every output of a reference run says. */
#define OPTION_LEAK                                                                                          \
    "protocol reference: the test set chose the epoch, so test scores are too optimistic; do not report "    \
    "them"

/* Turns a list of words into "a|b|c". */
#define OPTION_BAR_WORD(id, word, help)  "|" word
#define OPTION_THEN_HELP(id, word, help) "\n" help
#define OPTION_WORDS(list)               (&list(OPTION_BAR_WORD)[1])

/* X(ID, field, name, KIND, CHECK, default, section, key, argument, help)
 * KIND: SIZE, BATCH (a size, or "full" = 0), SIZES (a list, or "none"), U64, REAL, WORD, SWITCH, CHAR, TEXT,
 * RECORD (moments.h).
 * CHECK: the range of a number, the list of a word, the shape of a text.
 * section: "data", "net", "training" (`train:` in files) or "run" (the top level of files).
 * key: the name in files, where `data: {name: x}` and `net: {kind: x}` read better than the option's own
 * word. */
#define OPTION_LIST(X)                                                                                       \
    X(DATA, data, "data", TEXT, ANY, "", "data", "name", "FILE|NAME",                                        \
      "a table, a folder of images, or the name of a built-in dataset"                                       \
      "\ntable: .csv .tsv .txt .npy .npz .libsvm, also compressed with gzip or zstd; - for standard "        \
      "input"                                                                                                \
      "\nimages: a folder of .jpg and .png files with one sub-folder per class, or with folders "            \
      "train and val that contain these sub-folders; val is the test set"                                    \
      "\nnames: crescents, levy, banana, boston, cifar10, mnist and others; spherelu data list shows"        \
      " all of them"                                                                                         \
      "\ncifar10, cifar100, mnist, fashion-mnist and imagenet32 can also be given as the path of "           \
      "their original file or folder")                                                                       \
    X(TARGET, target, "target", TEXT, ANY, "", "data", "target", "COL[,COL]",                                \
      "columns to predict, by name or by index (0 is the first column)")                                     \
    X(DROP, drop, "drop", TEXT, ANY, "", "data", "drop", "COL,...|auto|none",                                \
      "columns to leave out; auto: constant columns, IDs and free text (the tool reports each of "           \
      "them); auto,COL: COL in addition to these")                                                           \
    X(KEEP, keep, "keep", TEXT, ANY, "", "data", "keep", "COL,...", "columns that --drop auto must keep")    \
    X(TEXT, text, "text", TEXT, ANY, "", "data", "text", "COL,...",                                          \
      "columns to read as text (categories), such as codes, sizes and postal codes, even if their cells "    \
      "look like numbers")                                                                                   \
    X(WEIGHTS, weights, "weights", TEXT, ANY, "", "data", "weights", "COL",                                  \
      "column of sample weights (0 or more) for the training loss, the validation loss and the "             \
      "standardization; scores are not weighted; not used as a feature")                                     \
    X(GROUP, group, "group", TEXT, ANY, "", "data", "group", "COL",                                          \
      "group column: samples with the same value are put into the same set (training, validation or"         \
      " test); not used as a feature")                                                                       \
    X(TIME, time, "time", TEXT, ANY, "", "data", "time", "COL",                                              \
      "column of dates or numbers for a split by time: the latest samples are the test set, those before "   \
      "them the validation set; samples with the same value stay in the same set; not used as a feature")    \
    X(DELIMITER, delimiter, "delimiter", CHAR, ANY, "", "data", "delimiter", "C",                            \
      "column separator: a character, tab or blank")                                                         \
    X(TASK, task, "task", WORD, TASK, "", "data", "task", OPTION_WORDS(SPH_TASKS), "kind of target")         \
    X(MISSING, missing, "missing", WORD, MISSING, "mean", "data", "missing", OPTION_WORDS(SPH_MISSINGS),     \
      "how to treat empty cells"                                                                             \
      "\nerror: stop with an error"                                                                          \
      "\nmean: fill in the mean of the training set"                                                         \
      "\ndrop: leave out the row")                                                                           \
    X(MISSING_WORDS, missing_words, "missing-words", TEXT, ANY, "", "data", "missing_words", "WORD,...",     \
      "text values that mean an empty cell, in addition to NA, N/A, NaN, null, ? and -; case is ignored")    \
    X(STANDARDIZE, standardize, "standardize", WORD, STANDARDIZE, "", "data", "standardize",                 \
      OPTION_WORDS(SPH_STANDARDIZES),                                                                        \
      "scale features (both: the target too) to mean 0 and standard deviation 1; mean: subtract the "        \
      "mean only (images are also divided by 255); auto: both for regression, features otherwise; "          \
      "results are always in the target's units")                                                            \
    X(SCALE, scale, "scale", WORD, SCALES, "", "data", "scale", OPTION_WORDS(SPH_SCALES),                    \
      "how the features of a table are scaled: by mean and standard deviation, or by median and "            \
      "interquartile range, smoothly clipped to -3 to 3, so that outliers matter less")                      \
    X(INDICATORS, indicators, "indicators", WORD, INDICATORS, "", "data", "indicators",                      \
      OPTION_WORDS(SPH_INDICATORS),                                                                          \
      "indicator columns of text columns: scale them like other features, or leave them as 0 and 1")         \
    X(TEST, test, "test", REAL, FRACTION, "0.2", "data", "test", "F",                                        \
      "fraction of the samples in the test set; 0: no test set"                                              \
      "\nif the data contain a test set, it is used and F has no effect; 0 leaves it out")                    \
    X(VAL, val, "val", REAL, FRACTION, "0.2", "data", "val", "F",                                            \
      "fraction of the samples outside the test set that is the validation set, which selects the best "     \
      "epoch"                                                                                                \
      "\nensembles: each network has a different fold of this size")                                         \
    X(SPLIT, split, "split", WORD, SPLIT, "random", "data", "split", OPTION_WORDS(SPH_SPLITS),               \
      "how samples are divided: at random, with equal class proportions, or exactly as scikit-learn "        \
      "does")                                                                                                \
    X(ROWS, rows, "rows", SIZE, POSITIVE, "", "data", "rows", "N",                                           \
      "use only N samples, chosen by the seed (images: with equal class proportions; datasets with their "   \
      "own test set: N training samples and a proportional test set)")                                       \
    X(PERMUTE, permute, "permute", U64, ANY, "", "data", "permute", "S",                                     \
      "before splitting, order the rows by numpy's RandomState(S).permutation (Keras uses 113 for boston)")  \
    X(COLUMNS, columns, "columns", WORD, COLUMN_ORDER, "", "data", "columns",                                \
      OPTION_WORDS(SPH_COLUMN_ORDERS),                                                                       \
      "order of the feature columns, which determines the angles of gmp; stored in the model")               \
    X(DRAW, draw, "draw", TEXT, DRAW, "", "data", "draw", "seed|authors|N",                                  \
      "levy: draw the points from --seed, or as numpy does after random.seed(N); authors: N = 0, the "       \
      "points in the papers")                                                                                \
    X(NOISE, noise, "noise", REAL, NOT_NEGATIVE, "", "data", "noise", "X",                                   \
      "standard deviation of the noise in crescents, spirals and levy")                                      \
    X(AUGMENT, augment, "augment", WORD, AUGMENT, "", "data", "augment", OPTION_WORDS(SPH_AUGMENTS),         \
      "augmentation of training images; flip: random horizontal flips; crop: random resize and crop to "     \
      "--size, and flip; colour: crop and AlexNet's color shift; crop and colour are for image folders")     \
    X(SIZE, size, "size", SIZE, POSITIVE, "", "data", "size", "N",                                           \
      "height and width of images in pixels; eval and predict use the same value"                            \
      "\nimage folders: images are resized and cropped to N x N"                                             \
      "\nbuilt-in and stored images: blocks of pixels are averaged, so N must divide the side of the images"               \
      "\n(--init FILE starts from a saved model, see --help-all)")                                            \
    X(EVAL_SIDE, eval_side, "eval-side", SIZE, POSITIVE, "", "data", "eval_side", "N",                       \
      "image folders: in evaluation, the shorter side is resized to N before the center crop to --size; "    \
      "stored with the run")                                                                                 \
    X(GRAY, gray, "gray", SWITCH, ANY, "false", "data", "gray", NULL,                                        \
      "convert images to one channel (luma)")                                                                \
    X(DECODE, decode, "decode", WORD, DECODE, "exact", "data", "decode", OPTION_WORDS(SPH_DECODES),          \
      "image folders: decode JPEG files in full, as PIL and torchvision do, or at 1/2, 1/4 or 1/8 of "       \
      "their size where enough pixels remain (faster for large images, slightly different pixels); "         \
      "stored with the run")                                                                                 \
    X(WORKERS, workers, "workers", SIZE, POSITIVE, "", "data", "workers", "N",                               \
      "image folders: threads that decode ahead of the training; does not change results")                   \
    X(SKIP_BAD, skip_bad, "skip-bad", SWITCH, ANY, "false", "data", "skip_bad", NULL,                        \
      "image folders: leave out files that cannot be decoded and report how many")                           \
                                                                                                             \
    X(NET, net, "net", WORD, NET, "mlp", "net", "kind", OPTION_WORDS(SPH_NETS),                              \
      "network architecture"                                                                                 \
      "\nmlp: dense layers; images are flattened and get the defaults for tables"                            \
      "\nvgg6: VGG with six convolutional layers, as used by Chen and Ge, who introduced gmp"                \
      "\nmobile: MobileNet version 1"                                                                        \
      "\nwrn28-2: Wide ResNet with 28 layers and width factor 2")                                            \
    X(HIDDEN, hidden, "hidden", SIZES, POSITIVE, "100", "net", "hidden", "N,...|none",                       \
      "number of units in each hidden layer of an mlp, for example 64,64; none: a linear model")             \
    X(WIDTH, width, "width", REAL, POSITIVE, "1", "net", "width", "X",                                       \
      "image networks: factor on the number of channels of every layer")                                     \
    X(STEM, stem, "stem", WORD, STEM, "auto", "net", "stem", OPTION_WORDS(SPH_STEMS),                        \
      "resnets: first layers: a 7 x 7 convolution with stride 2 and pooling (large), or a 3 x 3 "            \
      "convolution (small); auto: small for images below 64 pixels")                                         \
    X(PARAM, param, "param", WORD, PARAM, "gmp", "net", "param", OPTION_WORDS(SPH_PARAMS),                   \
      "parameterization of the hidden layers"                                                                \
      "\nsp: plain weights"                                                                                  \
      "\nwn: weight normalization"                                                                           \
      "\ngmp: geometric parameterization; the direction of each unit is learned as angles"                   \
      "\nsphere: like gmp, with a unit vector instead of angles")                                            \
    X(NORM, norm, "norm", WORD, NORM, "none", "net", "norm", OPTION_WORDS(SPH_NORMS),                        \
      "normalization of the hidden layers"                                                                   \
      "\nbn: batch normalization"                                                                            \
      "\nln: layer normalization"                                                                            \
      "\nmbn: mean-only batch normalization (without division)"                                              \
      "\nimn: input-mean normalization (subtracts the batch mean from the input of a layer)"                 \
      "\ngn: group normalization")                                                                           \
    X(GROUPS, groups, "groups", SIZE, POSITIVE, "", "net", "groups", "N",                                    \
      "gn: number of groups of equal size into which the units of each hidden layer are divided")            \
    X(NORM_EPSILON, norm_epsilon, "norm-epsilon", REAL, POSITIVE, "", "net", "norm_epsilon", "X",            \
      "epsilon added to the variance by bn, ln and gn")                                                      \
    X(IMN_AT, imn_at, "imn-at", WORD, IMN_PLACE, "", "net", "imn_at", OPTION_WORDS(SPH_IMN_PLACES),          \
      "imn: normalize at the input of each layer except the first, or after each activation and before "     \
      "pooling as in the papers' code")                                                                      \
    X(MBN_BIAS, mbn_bias, "mbn-bias", WORD, MBN_BIAS, "", "net", "mbn_bias", OPTION_WORDS(SPH_MBN_BIASES),   \
      "mbn: add the bias after subtracting the mean, or use no bias")                                        \
    X(WN_OUTPUT, wn_output, "wn-output", SWITCH, ANY, "", "net", "wn_output", NULL,                          \
      "wn: parameterize the output layer too")                                                               \
    X(ANGLE_ORDER, angle_order, "angle-order", WORD, ANGLE_ORDER, "", "net", "angle_order",                  \
      OPTION_WORDS(SPH_ANGLE_ORDERS),                                                                        \
      "gmp: order of a convolution's inputs (channel, row, column) in the angles; stored in the model")      \
    X(FAN_OUT, fan_out, "fan-out", WORD, FAN_OUT, "", "net", "fan_out", OPTION_WORDS(SPH_FAN_OUTS),          \
      "fan-out of a convolution in --init glorot: filters times the kernel area, or filters alone")          \
    X(ACTIVATION, activation, "activation", WORD, ACT, "relu", "net", "activation", OPTION_WORDS(SPH_ACTS),  \
      "activation of the hidden layers; srelu: S-shaped ReLU with learned thresholds and slopes")            \
    X(INIT, init, "init", TEXT, INIT, "", "net", "init", "paper|glorot|he|authors|FILE.safetensors",         \
      "initialization, or a model file to start from; paper: uniform directions and scale 1; authors: as "   \
      "in the authors' code (see docs/method.md)")                                                           \
    X(NEW_HEAD, new_head, "new-head", SWITCH, ANY, "", "net", "new_head", NULL,                              \
      "with --init FILE: load all tensors except the output layer from the file, which may have other "      \
      "classes or targets")                                                                                  \
    X(INIT_SCALE, init_scale, "init-scale", REAL, POSITIVE, "1", "net", "init_scale", "X",                   \
      "factor on the initial weights of the hidden layers (sp: weight, wn: v and g, gmp and sphere: r)")     \
    X(CONV, conv, "conv", WORD, CONV, "auto", "net", "conv", OPTION_WORDS(SPH_CONVS),                        \
      "f32 convolutions: the fastest algorithm, including Winograd, or direct ones only")                    \
                                                                                                             \
    X(LOSS, loss, "loss", WORD, LOSS, "", "training", "loss", OPTION_WORDS(SPH_LOSSES), "loss function")     \
    X(CLASS_WEIGHT, class_weight, "class-weight", WORD, CLASS_WEIGHT, "", "training", "class_weight",        \
      OPTION_WORDS(SPH_CLASS_WEIGHTS),                                                                       \
      "balanced: give all classes the same total weight in the training and validation loss"                 \
      "\ndoes not change the default of --ensemble")                                                         \
    X(LABEL_SMOOTHING, label_smoothing, "label-smoothing", REAL, FRACTION, "0", "training",                  \
      "label_smoothing", "X", "share of each class target that is spread over all classes")                  \
    X(HUBER_DELTA, huber_delta, "huber-delta", REAL, POSITIVE, "", "training", "huber_delta", "X",           \
      "huber: error at which the loss becomes linear, in standard deviations of the target if "              \
      "--standardize scales the target")                                                                     \
    X(OPTIMIZER, optimizer, "optimizer", WORD, OPTIMIZER, "adam", "training", "optimizer",                   \
      OPTION_WORDS(SPH_OPTIMIZERS), "optimizer")                                                             \
    X(ADAM_FORM, adam_form, "adam-form", WORD, ADAM_FORM, "", "training", "adam_form",                       \
      OPTION_WORDS(SPH_ADAM_FORMS),                                                                          \
      "adam, adamw: add epsilon after the bias correction of the second moment (torch) or before it "        \
      "(keras)")                                                                                             \
    X(LR, lr, "lr", REAL, POSITIVE, "", "training", "lr", "X",                                               \
      "learning rate"                                                                                        \
      "\nadam, adamw and sgd have this default; rmsprop has 0.3 times and lion 0.1 times this value"         \
      "\nimage networks: with other batch sizes than 128, the default is multiplied by the square root of "  \
      "N / 128 (sgd: by N / 128), where N is the batch size")                                                \
    X(LR_THETA, lr_theta, "lr-theta", REAL, NOT_NEGATIVE, "1", "training", "lr_theta", "X",                  \
      "factor on lr for angles (gmp) or unit vectors (sphere)")                                              \
    X(LR_LAMBDA, lr_lambda, "lr-lambda", REAL, NOT_NEGATIVE, "1", "training", "lr_lambda", "X",              \
      "factor on lr for offsets (gmp, sphere)")                                                              \
    X(LR_R, lr_r, "lr-r", REAL, NOT_NEGATIVE, "1", "training", "lr_r", "X",                                  \
      "factor on lr for scales (gmp, sphere)")                                                               \
    X(MOMENTUM, momentum, "momentum", REAL, FRACTION, "", "training", "momentum", "X",                       \
      "momentum of sgd and rmsprop")                                                                         \
    X(NESTEROV, nesterov, "nesterov", SWITCH, ANY, "false", "training", "nesterov", NULL,                    \
      "Nesterov momentum in sgd")                                                                            \
    X(WEIGHT_DECAY, weight_decay, "weight-decay", REAL, NOT_NEGATIVE, "0", "training", "weight_decay", "X",  \
      "weight decay; not applied to angles, offsets, biases and normalization parameters")                   \
    X(BETA1, beta1, "beta1", REAL, FRACTION, "", "training", "beta1", "X",                                   \
      "decay rate of the mean of gradients in adam, adamw and lion")                                         \
    X(BETA2, beta2, "beta2", REAL, FRACTION, "", "training", "beta2", "X",                                   \
      "decay rate of the mean of squared gradients in adam, adamw and rmsprop, and of the momentum in lion") \
    X(EPSILON, epsilon, "epsilon", REAL, NOT_NEGATIVE, "", "training", "epsilon", "X",                       \
      "epsilon of adam, adamw and rmsprop")                                                                  \
    X(NATURAL, natural, "natural", REAL, POSITIVE, "", "training", "natural", "X",                           \
      "gmp: natural gradient: divide the gradient of each angle by its metric plus X, for example 0.01; "    \
      "sphere needs no such option")                                                                         \
    X(FREEZE, freeze, "freeze", TEXT, ANY, "", "training", "freeze", "PATH,...",                             \
      "tensors that are not trained, given by name or by the first part of the name: layers.0, conv1, "      \
      "layer1; a layer with only frozen tensors also keeps its running statistics")                          \
    X(CLIP, clip, "clip", REAL, NOT_NEGATIVE, "0", "training", "clip", "X",                                  \
      "maximum norm of the gradient; 0: no limit")                                                           \
    X(BATCH, batch, "batch", BATCH, POSITIVE, "", "training", "batch", "N|full",                             \
      "samples per step; full: the whole training set")                                                      \
    X(MICRO, micro, "micro", SIZE, POSITIVE, "", "training", "micro", "N",                                   \
      "process a batch N samples at a time, to save memory")                                                 \
    X(MEMORY, memory, "memory", WORD, MEMORY, "", "training", "memory", OPTION_WORDS(SPH_MEMORIES),          \
      "small: recompute the outputs of bn and imn in the backward pass instead of storing them; same "       \
      "results, slower")                                                                                     \
    X(EPOCHS, epochs, "epochs", SIZE, POSITIVE, "1000", "training", "epochs", "N",                           \
      "maximum number of passes over the training set"                                                       \
      "\nwith more than 50,000 training samples (images: 10,000), the default is smaller, to save time"      \
      "\ntables: with another --schedule than cosine, the default is 1000")                                  \
    X(SCHEDULE, schedule, "schedule", TEXT, ANY, "none", "training", "schedule",                             \
      OPTION_WORDS(SPH_SCHEDULES), "learning rate schedule" SPH_SCHEDULES(OPTION_THEN_HELP))                 \
    X(WARMUP, warmup, "warmup", REAL, NOT_NEGATIVE, "0", "training", "warmup", "EPOCHS",                     \
      "number of epochs in which the learning rate increases linearly to its value")                         \
    X(PATIENCE, patience, "patience", SIZE, ANY, "100", "training", "patience", "N",                         \
      "stop after N epochs without an improvement of the validation loss (or of the score that --monitor names, see --help-all); 0: never"        \
      "\nno effect if N is not smaller than --epochs")                                                       \
    X(MONITOR, monitor, "monitor", TEXT, ANY, "", "training", "monitor", "METRIC",                           \
      "metric that selects the epoch: train_loss, or val_ and the name of a metric")                         \
    X(TRAIN_SCORES, train_scores, "train-scores", SWITCH, ANY, "false", "training", "train_scores", NULL,    \
      "also score the training set after each epoch (train_accuracy, train_top5, ... in metrics.jsonl), "    \
      "which takes one more pass over it")                                                                   \
    X(NORM_MOMENTUM, norm_momentum, "norm-momentum", REAL, SHARE, "0.1", "training", "norm_momentum", "X",   \
      "weight of the newest batch in running statistics")                                                    \
    X(NORM_VARIANCE, norm_variance, "norm-variance", WORD, VARIANCE, "", "training", "norm_variance",        \
      OPTION_WORDS(SPH_VARIANCES), "bn: divide the running variance by n - 1 (unbiased) or by n (biased)")   \
    X(SYNC_NORM, sync_norm, "sync-norm", WORD, SYNC_NORMS, "", "training", "sync_norm",                      \
      OPTION_WORDS(OPTION_SYNC_NORMS),                                                                       \
      "several processes (mpirun): bn, mbn and imn use statistics of the whole batch, or of the samples of " \
      "each process")                                                                                        \
    X(CHECKPOINT_SECONDS, checkpoint_seconds, "checkpoint-seconds", REAL, NOT_NEGATIVE, "30", "training",    \
      "checkpoint_seconds", "X", "minimum time between checkpoints; 0: after every epoch")                   \
    X(ENSEMBLE, ensemble, "ensemble", SIZE, POSITIVE, "", "training", "ensemble", "K",                       \
      "train K networks and average their predictions; each has a different seed and a different "           \
      "fold of the data as validation set")                                                                  \
    X(ENSEMBLE_VAL, ensemble_val, "ensemble-val", WORD, ENSEMBLE_VALS, "", "training", "ensemble_val",       \
      OPTION_WORDS(OPTION_ENSEMBLE_VALS),                                                                    \
      "data that selects the epoch of each network in an ensemble; one: the same validation set for all; "   \
      "folds: a different fold of the training and validation sets for each network, so that every "         \
      "sample is used for training (the number of folds is 1 / --val)")                                      \
    X(REFIT, refit, "refit", SWITCH, ANY, "", "training", "refit", NULL,                                     \
      "after the validation set has selected the number of epochs, train again from the same "               \
      "initialization on the training and validation sets, and keep that network")                           \
    X(TUNE, tune, "tune", SIZE, POSITIVE, "", "training", "tune", "N",                                       \
      "before training, search for the learning rate, hidden units and batch size by successive halving on " \
      "the validation set (only for --net mlp)"                                                              \
      "\nN: search budget, in units of one full training run, for example 10"                                \
      "\noptions that you set are not changed; all cores are used; tune.json lists the candidates"           \
      "\n--tune alone still trains an ensemble of five networks")                                            \
    X(RECORD, record, "record", RECORD, ANY, "", "training", "record", "WHAT[+WHAT]",                        \
      "what to record in boundaries.npz; + joins several of these"                                           \
      "\nboundaries: how far each step moves the boundary of each unit (the hyperplane on which it "         \
      "becomes active), and the position of the boundary at every epoch"                                     \
      "\nboundaries:every: the same with the position at every step"                                         \
      "\nboundaries:0,10,100: the same with the position at these steps"                                     \
      "\npatterns: which units are active for which samples"                                                 \
      "\ngradients: gradient norms and the share of active units")                                           \
    X(LOG, log, "log", WORD, LOGS, "none", "training", "log", OPTION_WORDS(OPTION_LOGS),                     \
      "tensorboard: also write an event file, with turns of boundaries, dead units and histograms if "       \
      "boundaries are recorded")                                                                             \
                                                                                                             \
    X(PROTOCOL, protocol, "protocol", WORD, PROTOCOLS, "holdout", "run", "protocol",                         \
      OPTION_WORDS(OPTION_PROTOCOLS),                                                                        \
      "data that selects the epoch; holdout: the validation set; cv: the fold given by --fold; "             \
      "reference: the test set, with the constants of the authors' code (a leak: only for comparison "       \
      "with published results)")                                                                             \
    X(FOLDS, folds, "folds", SIZE, POSITIVE, "", "run", "folds", "N",                                        \
      "cv: number of folds of the training set, as in scikit-learn's KFold(N, shuffle=True)")                \
    X(FOLD, fold, "fold", SIZE, ANY, "", "run", "fold", "K",                                                 \
      "cv: number, from 0, of the fold that is not trained on and selects the epoch")                        \
    X(OUT, out, "out", TEXT, ANY, "", "run", "out", "DIR", "run folder to write")                            \
    X(SEED, seed, "seed", U64, ANY, "0", "run", "seed", "S",                                                 \
      "random seed of the split, the initialization, the order of samples and the augmentation")             \
    X(SEED_SPLIT, seed_split, "seed-split", U64, ANY, "", "run", "seed_split", "S",                          \
      "seed of the split and of the choice of samples")                                                      \
    X(SEED_INIT, seed_init, "seed-init", U64, ANY, "", "run", "seed_init", "S",                              \
      "seed of the initialization, the order of samples and the augmentation")                               \
    X(THREADS, threads, "threads", SIZE, THREADS, "1", "run", "threads", "N",                                \
      "CPU threads"                                                                                          \
      "\nfor an ensemble: number of networks that are trained at the same time; the results do not "         \
      "depend on it")                                                                                        \
    X(DTYPE, dtype, "dtype", WORD, DTYPE, "f32", "run", "dtype", OPTION_WORDS(SPH_DTYPES), "precision")

struct option_sizes {
    size_t *list; /* (count) */
    size_t count; /* 0: "none" */
};

typedef size_t option_SIZE, option_BATCH;
typedef struct option_sizes option_SIZES;
typedef uint64_t option_U64;
typedef double option_REAL;
typedef int option_WORD, option_SWITCH; /* a value of the list's enum, or -1 */
typedef char option_CHAR;
typedef const char *option_TEXT; /* owned by the job */
typedef struct moments_list option_RECORD;

#define OPTION_FIELD(id, field, name, kind, check, initial, section, key, argument, help) option_##kind field;
#define OPTION_ID(id, field, name, kind, check, initial, section, key, argument, help)    OPTION_##id,

struct job_options {
    OPTION_LIST(OPTION_FIELD)
};

enum option_id { OPTION_LIST(OPTION_ID) OPTION_COUNT };

/* Where a value comes from, from the weakest to the strongest. */
#define OPTION_ORIGINS(X)                                                                                    \
    X(UNSET, "unset")                                                                                        \
    X(DEFAULT, "default")                                                                                    \
    X(PROTOCOL, "protocol")       /* a constant of the authors' code, by --protocol reference */             \
    X(RECOMMENDED, "recommended") /* chosen by the data                                       */             \
    X(FILE, "file")               /* config.yaml, or an experiment file                       */             \
    X(METHOD, "method")           /* a method of an experiment                                */             \
    X(GRID, "grid")               /* a point of an experiment's grid                          */             \
    X(COMMAND, "command line")    /* sph_job_set                                              */

#define OPTION_ORIGIN_ENUM(id, word) ORIGIN_##id,
enum option_origin { OPTION_ORIGINS(OPTION_ORIGIN_ENUM) ORIGIN_COUNT };

/* Values of options, each with its origin. As a request it holds what was asked for, and the rest is unset; as the result of
 * job_resolve it holds every option that has a meaning for the job, and does not change any more. */
struct job_spec {
    struct job_options options;
    unsigned char origin[OPTION_COUNT]; /* enum option_origin */
    char **shown;                       /* (OPTION_COUNT) what options_text lent */
};

/* The options that were asked for. */
struct job_request {
    struct job_spec asked;
    int recommends; /* what is not asked for is chosen by the data, as `spherelu train` does */
    int again;      /* a run or experiment that began earlier goes on */
};

struct data_cache;

struct sph_job {
    struct job_request request;
    struct job_spec spec;        /* once its data are known */
    int resolved;                /* spec is there */
    struct data_cache *cache;    /* where its data are kept for others, borrowed; NULL: nowhere */
    sph_record_size record_size; /* of the run it is at                   */
    size_t rows;                 /* of its data                           */
    struct comm *comm;           /* the ranks that run it together, borrowed; NULL: this process alone */
    int foresees;                /* its run measures a few steps before it begins */
    double seconds;              /* that all of them will take, or NaN    */
    size_t left_out;             /* rows of its data that could not be used */
    struct text notes, counts;   /* lines on how its table was taken */
    struct sph_run *run;         /* that it finished, until it is taken; or NULL */
};

/* What files need beside the public table. */
const sph_option *option_row(enum option_id id); /* borrowed */
const char *option_key(enum option_id id);
int option_is_number(enum option_id id); /* a plain number, list of numbers or switch in a file */
int option_is_list(enum option_id id);   /* may be a sequence in a file                         */

/* The option called name ('-' and '_' are the same), or -1. */
int option_find(const char *name);

const char *option_origin_word(enum option_origin origin);
int option_origin_find(const char *word); /* or -1 */

/* ---------------------------------------------------------------- values */

void options_init(struct job_spec *out); /* nothing is set. 0 bytes are an empty one too, for options_free */
void options_free(struct job_spec *spec);

/* On the heap, for lists of them: caller frees with options_delete. */
int options_new(struct job_spec **out);
void options_delete(struct job_spec *spec);

static inline int options_has(const struct job_spec *spec, enum option_id id)
{
    return spec->origin[id] != ORIGIN_UNSET;
}

/* Asked for by a person, in a file or on the command line. */
static inline int options_given(const struct job_spec *spec, enum option_id id)
{
    return spec->origin[id] >= ORIGIN_FILE;
}

/* The same for this job alone: a file that was written down also names options that have no meaning for some of its jobs. */
static inline int options_named(const struct job_spec *spec, enum option_id id)
{
    return spec->origin[id] >= ORIGIN_METHOD;
}

/* Parses, checks and keeps a value. On failure nothing changes, and the message says what was found and expected, without
 * naming the option: the caller knows how it was called. A word that leaves the choice open unsets the option. */
int options_put(struct job_spec *spec, enum option_id id, const char *text, enum option_origin origin);

/* Keeps a value as it is. Of the kinds SIZE, BATCH and U64; REAL; WORD. */
void options_set_size(struct job_spec *spec, enum option_id id, uint64_t value, enum option_origin origin);
void options_set_real(struct job_spec *spec, enum option_id id, double value, enum option_origin origin);
void options_set_word(struct job_spec *spec, enum option_id id, int value, enum option_origin origin);
void options_set_record(struct job_spec *spec, const struct moments_list *value); /* moves it; of a file */
void options_unset(struct job_spec *spec, enum option_id id);

/* The canonical text, which reads back as the same value; "" if it is unset. options_add appends it;
 * options_text lends it, NULL if memory is short; options_word lends that of a WORD, which needs none. */
void options_add(struct text *out, const struct job_spec *spec, enum option_id id);
const char *options_text(const struct job_spec *spec, enum option_id id);
const char *options_word(const struct job_spec *spec, enum option_id id);

/* ---------------------------------------------------------------- from one to another */

/* One value with its origin, whether set or unset. */
int options_take(struct job_spec *spec, const struct job_spec *from, enum option_id id);

/* out <- all of another one; out is overwritten, caller frees. */
int options_copy(struct job_spec *out, const struct job_spec *from);

/* All that were given to another one, which have this origin then, or that of the command line if they had it. */
int options_override(struct job_spec *spec, const struct job_spec *from, enum option_origin origin);

#endif
