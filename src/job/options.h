/* SPDX-License-Identifier: MIT
 *
 * Every option of a training job, once. One list gives the field, the word on the command line, the key in
 * files, the default, the check and the help; the tool, config.yaml and experiment files all read it.
 *
 * A job holds each value once, parsed (struct job_options); text is made of it when something is written. An
 * option whose default depends on others is unset until the job settles it, and reads as: size 0, real NaN,
 * word -1, text NULL, character 0, an empty list. */
#ifndef SPH_JOB_OPTIONS_H
#define SPH_JOB_OPTIONS_H

#include "base/text.h"
#include "job/moments.h"
#include "spherelu.h"

/* What chooses the epoch of a run, and the point of a grid. */
#define OPTION_PROTOCOLS(X)                                                                                  \
    X(HOLDOUT, "holdout", "the validation part")                                                             \
    X(CV, "cv", "folds of the training part")                                                                \
    X(REFERENCE, "reference", "the test part: a leak, for comparison with published numbers only")

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
    X(ONE, "one", "the validation part, for all members")                                                    \
    X(FOLDS, "folds", "for each member another fold of training and validation part")

#define OPTION_ENSEMBLE_VAL_ENUM(id, word, help) ENSEMBLE_VAL_##id,
enum option_ensemble_val { OPTION_ENSEMBLE_VALS(OPTION_ENSEMBLE_VAL_ENUM) ENSEMBLE_VAL_COUNT };

/* What every output of a reference run says. */
#define OPTION_LEAK                                                                                          \
    "protocol reference: the test part chose the epoch, so its scores are too good; not for reporting"

/* Turns a list of words into "a|b|c". */
#define OPTION_BAR_WORD(id, word, help)  "|" word
#define OPTION_THEN_HELP(id, word, help) "; " help
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
      "table to learn from: .csv .tsv .txt .npy .npz .libsvm, packed by gzip or zstd or not, - for "         \
      "standard "                                                                                            \
      "input, or a known set (crescents, levy, banana, boston, "                                             \
      "...); or images: cifar10, cifar100, mnist, fashion-mnist, imagenet32, a folder or file of theirs, "   \
      "or "                                                                                                  \
      "a folder of .jpg and .png pictures, with a folder for each class, or train and val with these "       \
      "inside")                                                                                              \
    X(TARGET, target, "target", TEXT, ANY, "", "data", "target", "COL[,COL]",                                \
      "column(s) to predict, by name or number from 0; the last column if not given")                        \
    X(DROP, drop, "drop", TEXT, ANY, "", "data", "drop", "COL,...|auto",                                     \
      "columns to leave out; auto, alone or before others: those that are the same in all rows, ids and "    \
      "free text, each of which is named")                                                                   \
    X(WEIGHTS, weights, "weights", TEXT, ANY, "", "data", "weights", "COL",                                  \
      "column of numbers, 0 or more: what a row counts in training: in the loss, in the validation loss "    \
      "that chooses the epoch, in means and standard deviations; not learnt from, and scores do not heed "   \
      "it")                                                                                                  \
    X(GROUP, group, "group", TEXT, ANY, "", "data", "group", "COL",                                          \
      "column, not learnt from, whose equal rows stay together: no group is in two of training, validation " \
      "and test")                                                                                            \
    X(TIME, time, "time", TEXT, ANY, "", "data", "time", "COL",                                              \
      "column of dates or numbers, not used as a feature, by which samples are split: the latest are the "   \
      "test part, those before them validation; samples of the same time stay in the same part")             \
    X(DELIMITER, delimiter, "delimiter", CHAR, ANY, "", "data", "delimiter", "C",                            \
      "what separates cells: a character, tab or blank; detected if not given")                              \
    X(TASK, task, "task", WORD, TASK, "", "data", "task", OPTION_WORDS(SPH_TASKS),                           \
      "what the target is; detected if not given")                                                           \
    X(MISSING, missing, "missing", WORD, MISSING, "mean", "data", "missing", OPTION_WORDS(SPH_MISSINGS),     \
      "empty cells: refuse, take the column's training mean, or drop the row")                               \
    X(STANDARDIZE, standardize, "standardize", WORD, STANDARDIZE, "", "data", "standardize",                 \
      OPTION_WORDS(SPH_STANDARDIZES),                                                                        \
      "bring columns, or the channels of images, to mean 0 and standard deviation 1; mean: to mean 0 "       \
      "alone, images in units of 255; auto: both for regression, features for classes and counts, mean for " \
      "images under protocol reference; results stay in the target's own units")                             \
    X(TEST, test, "test", REAL, FRACTION, "0.2", "data", "test", "F",                                        \
      "share of all rows kept for the test; a set with its own test part gives that, unless F is 0")         \
    X(VAL, val, "val", REAL, FRACTION, "0.2", "data", "val", "F",                                            \
      "share of the remaining rows kept for validation, which chooses the epoch")                            \
    X(SPLIT, split, "split", WORD, SPLIT, "random", "data", "split", OPTION_WORDS(SPH_SPLITS),               \
      "how rows are split: uniform, each class in proportion, or as scikit-learn does")                      \
    X(ROWS, rows, "rows", SIZE, POSITIVE, "", "data", "rows", "N",                                           \
      "take N rows only, drawn by the seed, of images each class in proportion; all if not given; of a set " \
      "with its own test part, N training rows, and test rows in proportion")                                \
    X(PERMUTE, permute, "permute", U64, ANY, "", "data", "permute", "S",                                     \
      "put the rows into the order of numpy's RandomState(S).permutation before anything else; 113 is what " \
      "Keras does to boston; as they lie if not given")                                                      \
    X(COLUMNS, columns, "columns", WORD, COLUMN_ORDER, "", "data", "columns",                                \
      OPTION_WORDS(SPH_COLUMN_ORDERS),                                                                       \
      "order of the feature columns, which gmp's angles depend on; the model remembers it; as-is if not "    \
      "given")                                                                                               \
    X(DRAW, draw, "draw", TEXT, DRAW, "", "data", "draw", "seed|authors|N",                                  \
      "levy: points drawn by the seed, or whatever the seed those that numpy draws after random.seed(N), "   \
      "the "                                                                                                 \
      "noise behind them, as the papers' notebook does; authors: N = 0, theirs; seed if not given")          \
    X(NOISE, noise, "noise", REAL, NOT_NEGATIVE, "", "data", "noise", "X",                                   \
      "standard deviation of the noise in crescents, spirals and levy; 0.1 if not given")                    \
    X(AUGMENT, augment, "augment", WORD, AUGMENT, "", "data", "augment", OPTION_WORDS(SPH_AUGMENTS),         \
      "training images as they are, or flipped left to right at random; of a folder of pictures, which are " \
      "brought to --size: crop, resized at random (256 to 480 pixels for 224), a random part of that, "      \
      "flipped; colour, that and AlexNet's change of colours; if not given crop for a folder of pictures, "  \
      "flip for other images")                                                                               \
    X(SIZE, size, "size", SIZE, POSITIVE, "", "data", "size", "N",                                           \
      "folders of pictures: height and width that each is brought to; 224 if not given")                     \
    X(EVAL_SIDE, eval_side, "eval-side", SIZE, POSITIVE, "", "data", "eval_side", "N",                       \
      "folders of pictures: shorter side in evaluation, of which the middle is taken; 256 for a --size of "  \
      "224, and in proportion, if not given; stored with the run for eval and predict")                      \
    X(GRAY, gray, "gray", SWITCH, ANY, "false", "data", "gray", NULL,                                        \
      "images in one channel, the luma of their red, green and blue")                                        \
    X(DECODE, decode, "decode", WORD, DECODE, "exact", "data", "decode", OPTION_WORDS(SPH_DECODES),          \
      "folders of pictures: decode JPEG files whole, as PIL and torchvision do, or at 1/2, 1/4 or 1/8 if "   \
      "enough pixels are left, which is faster for large photographs and changes pixels slightly; stored "   \
      "with the run for eval and predict")                                                                   \
    X(WORKERS, workers, "workers", SIZE, POSITIVE, "", "data", "workers", "N",                               \
      "folders of pictures: threads that decode them ahead of the training; one less than there are "        \
      "processors if not given; the same results whatever N")                                                \
    X(SKIP_BAD, skip_bad, "skip-bad", SWITCH, ANY, "false", "data", "skip_bad", NULL,                        \
      "folders of pictures: leave out files that cannot be decoded, and say how many; all are tried first")  \
                                                                                                             \
    X(NET, net, "net", WORD, NET, "mlp", "net", "kind", OPTION_WORDS(SPH_NETS),                              \
      "kind of network: dense layers (images as one long row), or a network for images")                     \
    X(HIDDEN, hidden, "hidden", SIZES, POSITIVE, "100", "net", "hidden", "N,...|none",                       \
      "mlp: units of each hidden layer; none: a linear model; in `train` 128,128 of a table of 5,000 rows "  \
      "or more if not given")                                                                                \
    X(WIDTH, width, "width", REAL, POSITIVE, "1", "net", "width", "X",                                       \
      "networks for images: factor on the channels of all layers")                                           \
    X(STEM, stem, "stem", WORD, STEM, "auto", "net", "stem", OPTION_WORDS(SPH_STEMS),                        \
      "resnets: how they begin, 7 x 7 with stride 2 and a pool (large), or 3 x 3 (small); auto: small for "  \
      "images below 64 pixels")                                                                              \
    X(PARAM, param, "param", WORD, PARAM, "gmp", "net", "param", OPTION_WORDS(SPH_PARAMS),                   \
      "parameterization of the hidden layers; in `train` sphere of a table if not given")                    \
    X(NORM, norm, "norm", WORD, NORM, "none", "net", "norm", OPTION_WORDS(SPH_NORMS),                        \
      "normalization of the hidden layers")                                                                  \
    X(GROUPS, groups, "groups", SIZE, POSITIVE, "", "net", "groups", "N",                                    \
      "gn: groups of equal size that the units of each hidden layer fall into; 1: as ln, as many as a "      \
      "conv has channels: instance normalization; if not given 32, or the most of 16, 8, 4, 2, 1 that "      \
      "divide the units of a layer into groups of 4 or more")                                                \
    X(NORM_EPSILON, norm_epsilon, "norm-epsilon", REAL, POSITIVE, "", "net", "norm_epsilon", "X",            \
      "what a norm that divides by a root adds below it; 1e-5 if not given, 1e-3 under protocol reference")  \
    X(IMN_AT, imn_at, "imn-at", WORD, IMN_PLACE, "", "net", "imn_at", OPTION_WORDS(SPH_IMN_PLACES),          \
      "imn: at the input of each layer but the first, or behind each activation, before pooling, as in the " \
      "papers' code; input if not given, output under protocol reference")                                   \
    X(MBN_BIAS, mbn_bias, "mbn-bias", WORD, MBN_BIAS, "", "net", "mbn_bias", OPTION_WORDS(SPH_MBN_BIASES),   \
      "mbn: the bias behind the mean, or none, as where one stands before it and cancels; after if not "     \
      "given, none under protocol reference")                                                                \
    X(WN_OUTPUT, wn_output, "wn-output", SWITCH, ANY, "", "net", "wn_output", NULL,                          \
      "wn: the output layer too; under protocol reference it is, unless false is given")                     \
    X(ANGLE_ORDER, angle_order, "angle-order", WORD, ANGLE_ORDER, "", "net", "angle_order",                  \
      OPTION_WORDS(SPH_ANGLE_ORDERS),                                                                        \
      "gmp: the order in which a conv's inputs (channel, row, column) take the angles; the model file says " \
      "which; chw if not given, hwc under protocol reference")                                               \
    X(FAN_OUT, fan_out, "fan-out", WORD, FAN_OUT, "", "net", "fan_out", OPTION_WORDS(SPH_FAN_OUTS),          \
      "what --init glorot counts as the fan out of a conv: filters times the kernel's area, or filters "     \
      "alone; area if not given")                                                                            \
    X(ACTIVATION, activation, "activation", WORD, ACT, "relu", "net", "activation", OPTION_WORDS(SPH_ACTS),  \
      "activation of the hidden layers")                                                                     \
    X(INIT, init, "init", TEXT, INIT, "", "net", "init", "paper|glorot|he|authors|FILE.safetensors",         \
      "initial values; paper for gmp and glorot for the others if not given; authors: as the papers' code, " \
      "Glorot with --fan-out filters in wn and gmp, gmp on half a sphere with r the Glorot norm")            \
    X(NEW_HEAD, new_head, "new-head", SWITCH, ANY, "", "net", "new_head", NULL,                              \
      "--init FILE: all tensors but the output layer's are the file's, which may have other classes or "     \
      "targets; the output layer is drawn")                                                                  \
    X(INIT_SCALE, init_scale, "init-scale", REAL, POSITIVE, "1", "net", "init_scale", "X",                   \
      "factor on the initial weights of the hidden layers (sp: weight, wn: v and g, gmp and sphere: r)")     \
    X(CONV, conv, "conv", WORD, CONV, "auto", "net", "conv", OPTION_WORDS(SPH_CONVS),                        \
      "f32 convolutions: the fastest way (Winograd's algorithm included), or none but direct ones")          \
                                                                                                             \
    X(LOSS, loss, "loss", WORD, LOSS, "", "training", "loss", OPTION_WORDS(SPH_LOSSES),                      \
      "what is minimised; chosen by the task if not given")                                                  \
    X(CLASS_WEIGHT, class_weight, "class-weight", WORD, CLASS_WEIGHT, "", "training", "class_weight",        \
      OPTION_WORDS(SPH_CLASS_WEIGHTS),                                                                       \
      "balanced: in the losses of training and validation the classes weigh the same, however rare some "    \
      "are; the standardisation does not change; none if not given")                                         \
    X(LABEL_SMOOTHING, label_smoothing, "label-smoothing", REAL, FRACTION, "0", "training",                  \
      "label_smoothing", "X", "share of a class target spread over all classes")                             \
    X(HUBER_DELTA, huber_delta, "huber-delta", REAL, POSITIVE, "", "training", "huber_delta", "X",           \
      "where huber's straight part begins, in standard deviations of the target unless --standardize says "  \
      "otherwise; 1 if not given")                                                                           \
    X(OPTIMIZER, optimizer, "optimizer", WORD, OPTIMIZER, "adam", "training", "optimizer",                   \
      OPTION_WORDS(SPH_OPTIMIZERS), "how a step is made from a gradient")                                    \
    X(ADAM_FORM, adam_form, "adam-form", WORD, ADAM_FORM, "", "training", "adam_form",                       \
      OPTION_WORDS(SPH_ADAM_FORMS),                                                                          \
      "adam and adamw: epsilon is added to the root corrected for its start, or before that correction; "    \
      "torch "                                                                                               \
      "if not given, keras under protocol reference")                                                        \
    X(LR, lr, "lr", REAL, POSITIVE, "", "training", "lr", "X",                                               \
      "learning rate; if not given 0.01, in `train` 0.02 of a table below 5,000 rows; in networks for "      \
      "images 0.002 for a batch of 128, and of another --batch in proportion to its square root (sgd: to "   \
      "the batch); of that rmsprop takes 0.3, lion 0.1")                                                     \
    X(LR_THETA, lr_theta, "lr-theta", REAL, NOT_NEGATIVE, "1", "training", "lr_theta", "X",                  \
      "factor on lr for angles (gmp) or unit vectors (sphere)")                                              \
    X(LR_LAMBDA, lr_lambda, "lr-lambda", REAL, NOT_NEGATIVE, "1", "training", "lr_lambda", "X",              \
      "factor on lr for offsets (gmp, sphere)")                                                              \
    X(LR_R, lr_r, "lr-r", REAL, NOT_NEGATIVE, "1", "training", "lr_r", "X",                                  \
      "factor on lr for scales (gmp, sphere)")                                                               \
    X(MOMENTUM, momentum, "momentum", REAL, FRACTION, "", "training", "momentum", "X",                       \
      "momentum of sgd and rmsprop; if not given 0.9, and 0 in rmsprop")                                     \
    X(NESTEROV, nesterov, "nesterov", SWITCH, ANY, "false", "training", "nesterov", NULL,                    \
      "Nesterov's momentum in sgd")                                                                          \
    X(WEIGHT_DECAY, weight_decay, "weight-decay", REAL, NOT_NEGATIVE, "0", "training", "weight_decay", "X",  \
      "pull of weights towards 0; never on angles, offsets, biases or norms")                                \
    X(BETA1, beta1, "beta1", REAL, FRACTION, "", "training", "beta1", "X",                                   \
      "share of the past in the mean of gradients of adam, adamw and lion; 0.9 if not given")                \
    X(BETA2, beta2, "beta2", REAL, FRACTION, "", "training", "beta2", "X",                                   \
      "share of the past in the mean of squares of adam, adamw and rmsprop and in what lion remembers; if "  \
      "not given 0.999, and 0.99 in rmsprop and lion")                                                       \
    X(EPSILON, epsilon, "epsilon", REAL, NOT_NEGATIVE, "", "training", "epsilon", "X",                       \
      "what adam, adamw and rmsprop add to a root before they divide by it; 1e-8 if not given, 1e-7 under "  \
      "protocol reference")                                                                                  \
    X(NATURAL, natural, "natural", REAL, POSITIVE, "", "training", "natural", "X",                           \
      "gmp: natural directions, the gradient of each angle divided by its metric, the square of how far it " \
      "turns the unit, plus X (0.01, say); sphere has them already, sp and wn none; off if not given")       \
    X(FREEZE, freeze, "freeze", TEXT, ANY, "", "training", "freeze", "PATH,...",                             \
      "tensors that stay as they are, by their names or the beginnings of them: layers.0, conv1, layer1; a " \
      "layer all of whose tensors are frozen keeps its running statistics and uses them in training too")    \
    X(CLIP, clip, "clip", REAL, NOT_NEGATIVE, "0", "training", "clip", "X",                                  \
      "largest norm of a gradient; 0: no limit")                                                             \
    X(BATCH, batch, "batch", BATCH, POSITIVE, "", "training", "batch", "N|full",                             \
      "rows in a step; if not given 1024, in `train` of a table about a 32nd of the training rows, from 32 " \
      "to 256, and 128 in networks for images")                                                              \
    X(MICRO, micro, "micro", SIZE, POSITIVE, "", "training", "micro", "N",                                   \
      "rows at a time within a batch, to save memory; all if not given")                                     \
    X(MEMORY, memory, "memory", WORD, MEMORY, "", "training", "memory", OPTION_WORDS(SPH_MEMORIES),          \
      "small: what bn and imn give is not kept but computed again on the way back; the same numbers, more "  \
      "time; normal if not given")                                                                           \
    X(EPOCHS, epochs, "epochs", SIZE, POSITIVE, "1000", "training", "epochs", "N",                           \
      "passes over the training rows, at most; if not given, 30 in networks for images, and in `train` of "  \
      "a table 200, 100 from 5,000 rows on, fewer from 50,000 training rows on")                             \
    X(SCHEDULE, schedule, "schedule", TEXT, ANY, "none", "training", "schedule",                             \
      OPTION_WORDS(SPH_SCHEDULES),                                                                           \
      "how lr changes; cosine in networks for images, and in `train` of a table, if not "                    \
      "given" SPH_SCHEDULES(OPTION_THEN_HELP))                                                               \
    X(WARMUP, warmup, "warmup", REAL, NOT_NEGATIVE, "0", "training", "warmup", "EPOCHS",                     \
      "epochs in which lr rises to its value")                                                               \
    X(PATIENCE, patience, "patience", SIZE, ANY, "100", "training", "patience", "N",                         \
      "stop after N epochs without a better value; 0: never, which in `train` of a table it is if neither "  \
      "this nor a schedule is given")                                                                        \
    X(MONITOR, monitor, "monitor", TEXT, ANY, "", "training", "monitor", "METRIC",                           \
      "value that chooses the epoch: train_loss, or val_ and a metric (docs/numerics.md), the right way "    \
      "round; val_loss, or train_loss without a validation part, if not given")                              \
    X(TRAIN_SCORES, train_scores, "train-scores", SWITCH, ANY, "false", "training", "train_scores", NULL,    \
      "after each epoch score the training part as well, with the net as it predicts: train_accuracy, "      \
      "train_top5 and the like in metrics.jsonl; one more pass over it")                                     \
    X(NORM_MOMENTUM, norm_momentum, "norm-momentum", REAL, SHARE, "0.1", "training", "norm_momentum", "X",   \
      "share of the newest batch in running statistics; under protocol reference 0.01 if not given")         \
    X(NORM_VARIANCE, norm_variance, "norm-variance", WORD, VARIANCE, "", "training", "norm_variance",        \
      OPTION_WORDS(SPH_VARIANCES),                                                                           \
      "bn: what the running variance keeps of a batch, its sum of squares over n - 1 or over n; unbiased "   \
      "if "                                                                                                  \
      "not given; under protocol reference biased in dense layers")                                          \
    X(CHECKPOINT_SECONDS, checkpoint_seconds, "checkpoint-seconds", REAL, NOT_NEGATIVE, "30", "training",    \
      "checkpoint_seconds", "X", "time between checkpoints, at least; 0: after every epoch")                 \
    X(ENSEMBLE, ensemble, "ensemble", SIZE, POSITIVE, "", "training", "ensemble", "K",                       \
      "train K nets on the same rows, each from first values of its own; what is predicted is the mean of "  \
      "theirs; --threads of them train side by side, with the same results whatever N; if not given 1, in "  \
      "`train` 5 of a table where no option of net and training is given but --tune and --class-weight")     \
    X(ENSEMBLE_VAL, ensemble_val, "ensemble-val", WORD, ENSEMBLE_VALS, "", "training", "ensemble_val",       \
      OPTION_WORDS(OPTION_ENSEMBLE_VALS),                                                                    \
      "ensemble: which rows choose the epoch of a member, the validation part for all (one), or for each "   \
      "another fold of training and validation part together, 1 / --val of them (folds), so that every "     \
      "row is learnt from; folds if not given, one with --group, --time or another protocol than holdout")   \
    X(REFIT, refit, "refit", SWITCH, ANY, "", "training", "refit", NULL,                                     \
      "when the validation part has chosen the epoch, train again from the same first values on training "   \
      "and validation part together, for that many epochs; this net is kept")                                \
    X(TUNE, tune, "tune", SIZE, POSITIVE, "", "training", "tune", "N",                                       \
      "first choose rate, hidden units and batch, those of them that are not given, by the validation "      \
      "part: "                                                                                               \
      "successive halving for the time of N trainings, on all cores; tune.json tells what was tried; mlp "   \
      "only")                                                                                                \
    X(RECORD, record, "record", RECORD, ANY, "", "training", "record", "WHAT[+WHAT]",                        \
      "keep in boundaries.npz: boundaries, how far they move at every step, and where all of them are at "   \
      "every epoch, or as :every, :0,10,100 say; likewise patterns, which units are on for which rows, and " \
      "gradients, how large those of directions are and how many units are on")                              \
    X(LOG, log, "log", WORD, LOGS, "none", "training", "log", OPTION_WORDS(OPTION_LOGS),                     \
      "tensorboard: beside metrics.jsonl an event file, with how boundaries turn, dead units and "           \
      "histograms where boundaries are recorded")                                                            \
                                                                                                             \
    X(PROTOCOL, protocol, "protocol", WORD, PROTOCOLS, "holdout", "run", "protocol",                         \
      OPTION_WORDS(OPTION_PROTOCOLS),                                                                        \
      "what chooses the epoch: the validation part, the part --fold names, or the test part as in the "      \
      "papers' code (a leak: for comparison only)")                                                          \
    X(FOLDS, folds, "folds", SIZE, POSITIVE, "", "run", "folds", "N",                                        \
      "cv: folds of the training part, scikit-learn's KFold(N, shuffle=True); 5 if not given")               \
    X(FOLD, fold, "fold", SIZE, ANY, "", "run", "fold", "K",                                                 \
      "cv: the fold, from 0, that is left out of the training and chooses the epoch")                        \
    X(OUT, out, "out", TEXT, ANY, "", "run", "out", "DIR", "run folder to write")                            \
    X(SEED, seed, "seed", U64, ANY, "0", "run", "seed", "S", "seed of everything random")                    \
    X(SEED_SPLIT, seed_split, "seed-split", U64, ANY, "", "run", "seed_split", "S",                          \
      "seed of the rows: which are drawn, and in which part each falls; --seed if not given")                \
    X(SEED_INIT, seed_init, "seed-init", U64, ANY, "", "run", "seed_init", "S",                              \
      "seed of the training: first values, order of the rows, augmentation; --seed if not given")            \
    X(THREADS, threads, "threads", SIZE, THREADS, "1", "run", "threads", "N",                                \
      "threads of one network; in `train` of a table, of an ensemble: as many as there are processors if "   \
      "not given")                                                                                           \
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

struct data_cache;

struct sph_job {
    struct job_options options;
    unsigned char set[OPTION_COUNT];   /* it has a value                        */
    unsigned char given[OPTION_COUNT]; /* by sph_job_set or a file              */
    unsigned char
        named[OPTION_COUNT]; /* for this job alone: by sph_job_set, or by an experiment's method or grid */
    unsigned char adopted[OPTION_COUNT]; /* by the config.yaml of the run that it goes on with */
    int settled;    /* its values are those that a run settled: a protocol sets none of them again */
    int recommends; /* what is not given is chosen by the data (recommend.h) */
    struct data_cache *cache;    /* where its data are kept for others, borrowed; NULL: nowhere */
    char **shown;                /* (OPTION_COUNT) what options_text lent */
    sph_record_size record_size; /* of the run it is at                   */
    size_t rows;                 /* of its data                           */
    int foresees;                /* its run measures a few steps before it begins */
    double seconds;              /* that all of them will take, or NaN    */
    size_t left_out;             /* rows of its data that could not be used */
    char *notes, *counts;        /* lines on how its table was taken, or NULL */
};

/* What files need beside the public table. */
const sph_option *option_row(enum option_id id); /* borrowed */
const char *option_key(enum option_id id);
int option_is_number(enum option_id id); /* a plain number, list of numbers or switch in a file */
int option_is_list(enum option_id id);   /* may be a sequence in a file                         */

/* The option called name ('-' and '_' are the same), or -1. */
int option_find(const char *name);

/* ---------------------------------------------------------------- the values of a job */

/* Parses, checks and keeps a value without marking it as given. On failure the job is as before and the
 * message says what was found and expected, without naming the option: the caller knows how it was called. */
int options_put(struct sph_job *job, enum option_id id, const char *text);

/* As options_put, and marks it as given: what sph_job_set does once it has found the option. */
int options_give(struct sph_job *job, enum option_id id, const char *text);

/* Keeps a value as it is; not given. Of the kinds SIZE, BATCH and U64; REAL; WORD. */
void options_set_size(struct sph_job *job, enum option_id id, uint64_t value);
void options_set_real(struct sph_job *job, enum option_id id, double value);
void options_set_word(struct sph_job *job, enum option_id id, int value);
void options_set_record(struct sph_job *job, const struct moments_list *value); /* moves it into the job */
void options_unset(struct sph_job *job, enum option_id id);

/* The canonical text, which reads back as the same value; "" if it is unset. options_add appends it;
 * options_text lends it, NULL if memory is short; options_word lends that of a WORD, which needs none. */
void options_add(struct text *out, const struct sph_job *job, enum option_id id);
const char *options_text(const struct sph_job *job, enum option_id id);
const char *options_word(const struct sph_job *job, enum option_id id);

/* ---------------------------------------------------------------- from job to job */

/* A job like another one: values and what was given. Caller frees with sph_job_free. */
int options_copy(struct sph_job **out, const struct sph_job *from);

/* Takes from another job: one value, whether set or unset; all that were given to it, which are given then;
 * all that were not given to the one that takes, but for `out`. */
int options_take(struct sph_job *job, const struct sph_job *from, enum option_id id);
int options_override(struct sph_job *job, const struct sph_job *from);
int options_adopt(struct sph_job *job, const struct sph_job *from);

#endif
