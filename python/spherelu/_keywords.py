# SPDX-License-Identifier: MIT
"""The options of the library as typed keywords, made by python/make-keywords: do not edit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Real = float | str | np.floating[Any] | np.integer[Any]
    Whole = int | str | np.integer[Any]
    Switch = bool | np.bool_


class TrainOptions(TypedDict, total=False):
    """The options of `train`. None, and what is not given, is chosen as `spherelu train` does."""

    target: str | Sequence[str] | None
    """column(s) to predict, by name or number from 0; the last column if not given"""
    drop: Literal["auto"] | str | Sequence[str] | None
    """columns to leave out; auto, alone or before others: those that are the same in all rows, ids and free text, each
    of which is named"""
    weights: str | None
    """column of numbers, 0 or more: what a row counts in training: in the loss, in the validation loss that chooses the
    epoch, in means and standard deviations; not learnt from, and scores do not heed it"""
    group: str | None
    """column, not learnt from, whose equal rows stay together: no group is in two of training, validation and test"""
    time: str | None
    """column of dates or numbers, not used as a feature, by which samples are split: the latest are the test part,
    those before them validation; samples of the same time stay in the same part"""
    delimiter: str | None
    """what separates cells: a character, tab or blank; detected if not given"""
    missing: Literal["error", "mean", "drop"] | str | None
    """empty cells: refuse, take the column's training mean, or drop the row"""
    standardize: Literal["auto", "off", "features", "both", "mean"] | str | None
    """bring columns, or the channels of images, to mean 0 and standard deviation 1; mean: to mean 0 alone, images in
    units of 255; auto: both for regression, features for classes and counts, mean for images under protocol reference;
    results stay in the target's own units"""
    test: Real | None
    """share of all rows kept for the test; a set with its own test part gives that, unless F is 0"""
    val: Real | None
    """share of the remaining rows kept for validation, which chooses the epoch"""
    split: Literal["random", "stratified", "sklearn"] | str | None
    """how rows are split: uniform, each class in proportion, or as scikit-learn does"""
    rows: Whole | None
    """take N rows only, drawn by the seed, of images each class in proportion; all if not given; of a set with its own
    test part, N training rows, and test rows in proportion"""
    permute: Whole | None
    """put the rows into the order of numpy's RandomState(S).permutation before anything else; 113 is what Keras does to
    boston; as they lie if not given"""
    columns: Literal["as-is", "reversed"] | str | None
    """order of the feature columns, which gmp's angles depend on; the model remembers it; as-is if not given"""
    draw: Literal["seed", "authors"] | str | None
    """levy: points drawn by the seed, or whatever the seed those that numpy draws after random.seed(N), the noise
    behind them, as the papers' notebook does; authors: N = 0, theirs; seed if not given"""
    noise: Real | None
    """standard deviation of the noise in crescents, spirals and levy; 0.1 if not given"""
    augment: Literal["none", "flip", "crop", "colour"] | str | None
    """training images as they are, or flipped left to right at random; of a folder of pictures, which are brought to
    size: crop, resized at random (256 to 480 pixels for 224), a random part of that, flipped; colour, that and
    AlexNet's change of colours; if not given crop for a folder of pictures, flip for other images"""
    size: Whole | None
    """folders of pictures: height and width that each is brought to; 224 if not given"""
    eval_side: Whole | None
    """folders of pictures: shorter side in evaluation, of which the middle is taken; 256 for a size of 224, and in
    proportion, if not given; stored with the run for eval and predict"""
    gray: Switch | None
    """images in one channel, the luma of their red, green and blue"""
    decode: Literal["exact", "scaled"] | str | None
    """folders of pictures: decode JPEG files whole, as PIL and torchvision do, or at 1/2, 1/4 or 1/8 if enough pixels
    are left, which is faster for large photographs and changes pixels slightly; stored with the run for eval and
    predict"""
    workers: Whole | None
    """folders of pictures: threads that decode them ahead of the training; one less than there are processors if not
    given; the same results whatever N"""
    skip_bad: Switch | None
    """folders of pictures: leave out files that cannot be decoded, and say how many; all are tried first"""
    net: Literal["mlp", "vgg6", "resnet18", "resnet50", "mobile", "wrn28-2"] | str | None
    """kind of network: dense layers (images as one long row), or a network for images"""
    hidden: Whole | Sequence[Whole] | npt.NDArray[np.integer[Any]] | None
    """mlp: units of each hidden layer; none: a linear model; in `train` 128,128 of a table of 5,000 rows or more if not
    given"""
    width: Real | None
    """networks for images: factor on the channels of all layers"""
    stem: Literal["auto", "small", "large"] | str | None
    """resnets: how they begin, 7 x 7 with stride 2 and a pool (large), or 3 x 3 (small); auto: small for images below
    64 pixels"""
    param: Literal["sp", "wn", "gmp", "sphere"] | str | None
    """parameterization of the hidden layers; in `train` sphere of a table if not given"""
    norm: Literal["none", "bn", "ln", "mbn", "imn", "gn"] | str | None
    """normalization of the hidden layers"""
    groups: Whole | None
    """gn: groups of equal size that the units of each hidden layer fall into; 1: as ln, as many as a conv has channels:
    instance normalization; if not given 32, or the most of 16, 8, 4, 2, 1 that divide the units of a layer into groups
    of 4 or more"""
    norm_epsilon: Real | None
    """what a norm that divides by a root adds below it; 1e-5 if not given, 1e-3 under protocol reference"""
    imn_at: Literal["input", "output"] | str | None
    """imn: at the input of each layer but the first, or behind each activation, before pooling, as in the papers' code;
    input if not given, output under protocol reference"""
    mbn_bias: Literal["after", "none"] | str | None
    """mbn: the bias behind the mean, or none, as where one stands before it and cancels; after if not given, none under
    protocol reference"""
    wn_output: Switch | None
    """wn: the output layer too; under protocol reference it is, unless false is given"""
    angle_order: Literal["chw", "hwc"] | str | None
    """gmp: the order in which a conv's inputs (channel, row, column) take the angles; the model file says which; chw if
    not given, hwc under protocol reference"""
    fan_out: Literal["area", "filters"] | str | None
    """what init glorot counts as the fan out of a conv: filters times the kernel's area, or filters alone; area if not
    given"""
    activation: Literal["identity", "relu", "leaky_relu", "elu", "srelu"] | str | None
    """activation of the hidden layers"""
    init: Literal["paper", "glorot", "he", "authors"] | str | os.PathLike[str] | None
    """initial values; paper for gmp and glorot for the others if not given; authors: as the papers' code, Glorot with
    fan_out filters in wn and gmp, gmp on half a sphere with r the Glorot norm"""
    new_head: Switch | None
    """init FILE: all tensors but the output layer's are the file's, which may have other classes or targets; the output
    layer is drawn"""
    init_scale: Real | None
    """factor on the initial weights of the hidden layers (sp: weight, wn: v and g, gmp and sphere: r)"""
    conv: Literal["auto", "direct"] | str | None
    """f32 convolutions: the fastest way (Winograd's algorithm included), or none but direct ones"""
    loss: Literal["mae", "mse", "huber", "poisson", "bce", "ce"] | str | None
    """what is minimised; chosen by the task if not given"""
    class_weight: Literal["none", "balanced"] | str | None
    """balanced: in the losses of training and validation the classes weigh the same, however rare some are; the
    standardisation does not change; none if not given"""
    label_smoothing: Real | None
    """share of a class target spread over all classes"""
    huber_delta: Real | None
    """where huber's straight part begins, in standard deviations of the target unless standardize says otherwise; 1 if
    not given"""
    optimizer: Literal["adam", "adamw", "sgd", "rmsprop", "lion"] | str | None
    """how a step is made from a gradient"""
    adam_form: Literal["torch", "keras"] | str | None
    """adam and adamw: epsilon is added to the root corrected for its start, or before that correction; torch if not
    given, keras under protocol reference"""
    lr: Real | None
    """learning rate; if not given 0.01, in `train` 0.02 of a table below 5,000 rows; in networks for images 0.002 for a
    batch of 128, and of another batch in proportion to its square root (sgd: to the batch); of that rmsprop takes 0.3,
    lion 0.1"""
    lr_theta: Real | None
    """factor on lr for angles (gmp) or unit vectors (sphere)"""
    lr_lambda: Real | None
    """factor on lr for offsets (gmp, sphere)"""
    lr_r: Real | None
    """factor on lr for scales (gmp, sphere)"""
    momentum: Real | None
    """momentum of sgd and rmsprop; if not given 0.9, and 0 in rmsprop"""
    nesterov: Switch | None
    """Nesterov's momentum in sgd"""
    weight_decay: Real | None
    """pull of weights towards 0; never on angles, offsets, biases or norms"""
    beta1: Real | None
    """share of the past in the mean of gradients of adam, adamw and lion; 0.9 if not given"""
    beta2: Real | None
    """share of the past in the mean of squares of adam, adamw and rmsprop and in what lion remembers; if not given
    0.999, and 0.99 in rmsprop and lion"""
    epsilon: Real | None
    """what adam, adamw and rmsprop add to a root before they divide by it; 1e-8 if not given, 1e-7 under protocol
    reference"""
    natural: Real | None
    """gmp: natural directions, the gradient of each angle divided by its metric, the square of how far it turns the
    unit, plus X (0.01, say); sphere has them already, sp and wn none; off if not given"""
    freeze: str | Sequence[str] | None
    """tensors that stay as they are, by their names or the beginnings of them: layers.0, conv1, layer1; a layer all of
    whose tensors are frozen keeps its running statistics and uses them in training too"""
    clip: Real | None
    """largest norm of a gradient; 0: no limit"""
    batch: Whole | None
    """rows in a step; if not given 1024, in `train` of a table about a 32nd of the training rows, from 32 to 256, and
    128 in networks for images"""
    micro: Whole | None
    """rows at a time within a batch, to save memory; all if not given"""
    memory: Literal["normal", "small"] | str | None
    """small: what bn and imn give is not kept but computed again on the way back; the same numbers, more time; normal
    if not given"""
    epochs: Whole | None
    """passes over the training rows, at most; if not given, 30 in networks for images, and in `train` of a table 200,
    100 from 5,000 rows on, fewer from 50,000 training rows on"""
    schedule: Literal["none", "cosine"] | str | None
    """how lr changes; cosine in networks for images, and in `train` of a table, if not given; none keeps it;
    step:30,60,80:0.1 multiplies it when those epochs are finished; plateau:50:0.1:0.0001 after N epochs without a gain
    of more than D; cosine lets it fall to 0"""
    warmup: Real | None
    """epochs in which lr rises to its value"""
    patience: Whole | None
    """stop after N epochs without a better value; 0: never, which in `train` of a table it is if neither this nor a
    schedule is given"""
    monitor: str | None
    """value that chooses the epoch: train_loss, or val_ and a metric (docs/numerics.md), the right way round; val_loss,
    or train_loss without a validation part, if not given"""
    train_scores: Switch | None
    """after each epoch score the training part as well, with the net as it predicts: train_accuracy, train_top5 and the
    like in metrics.jsonl; one more pass over it"""
    norm_momentum: Real | None
    """share of the newest batch in running statistics; under protocol reference 0.01 if not given"""
    norm_variance: Literal["unbiased", "biased"] | str | None
    """bn: what the running variance keeps of a batch, its sum of squares over n - 1 or over n; unbiased if not given;
    under protocol reference biased in dense layers"""
    checkpoint_seconds: Real | None
    """time between checkpoints, at least; 0: after every epoch"""
    ensemble: Whole | None
    """train K nets on the same rows, each from first values of its own; what is predicted is the mean of theirs;
    threads of them train side by side, with the same results whatever N; if not given 1, in `train` 5 of a table where
    no option of net and training is given but tune and class_weight"""
    ensemble_val: Literal["one", "folds"] | str | None
    """ensemble: which rows choose the epoch of a member, the validation part for all (one), or for each another fold of
    training and validation part together, 1 / val of them (folds), so that every row is learnt from; folds if not
    given, one with group, time or another protocol than holdout"""
    refit: Switch | None
    """when the validation part has chosen the epoch, train again from the same first values on training and validation
    part together, for that many epochs; this net is kept"""
    tune: Whole | None
    """first choose rate, hidden units and batch, those of them that are not given, by the validation part: successive
    halving for the time of N trainings, on all cores; tune.json tells what was tried; mlp only"""
    record: str | None
    """keep in boundaries.npz: boundaries, how far they move at every step, and where all of them are at every epoch, or
    as :every, :0,10,100 say; likewise patterns, which units are on for which rows, and gradients, how large those of
    directions are and how many units are on"""
    log: Literal["none", "tensorboard"] | str | None
    """tensorboard: beside metrics.jsonl an event file, with how boundaries turn, dead units and histograms where
    boundaries are recorded"""
    protocol: Literal["holdout", "cv", "reference"] | str | None
    """what chooses the epoch: the validation part, the part fold names, or the test part as in the papers' code (a
    leak: for comparison only)"""
    folds: Whole | None
    """cv: folds of the training part, scikit-learn's KFold(N, shuffle=True); 5 if not given"""
    fold: Whole | None
    """cv: the fold, from 0, that is left out of the training and chooses the epoch"""
    out: str | os.PathLike[str] | None
    """run folder to write"""
    seed: Whole | None
    """seed of everything random"""
    seed_split: Whole | None
    """seed of the rows: which are drawn, and in which part each falls; seed if not given"""
    seed_init: Whole | None
    """seed of the training: first values, order of the rows, augmentation; seed if not given"""
    threads: Whole | None
    """threads of one network; in `train` of a table, of an ensemble: as many as there are processors if not given"""
    dtype: Literal["f32", "f64"] | str | None
    """precision"""


class Keywords:
    """The keywords of the estimators."""

    def __init__(
        self,
        *,
        missing: Literal["error", "mean", "drop"] | str | None = None,
        standardize: Literal["auto", "off", "features", "both", "mean"] | str | None = None,
        val: Real | None = None,
        split: Literal["random", "stratified", "sklearn"] | str | None = None,
        eval_side: Whole | None = None,
        decode: Literal["exact", "scaled"] | str | None = None,
        net: Literal["mlp", "vgg6", "resnet18", "resnet50", "mobile", "wrn28-2"] | str | None = None,
        hidden: Whole | Sequence[Whole] | npt.NDArray[np.integer[Any]] | None = None,
        width: Real | None = None,
        stem: Literal["auto", "small", "large"] | str | None = None,
        param: Literal["sp", "wn", "gmp", "sphere"] | str | None = None,
        norm: Literal["none", "bn", "ln", "mbn", "imn", "gn"] | str | None = None,
        groups: Whole | None = None,
        norm_epsilon: Real | None = None,
        imn_at: Literal["input", "output"] | str | None = None,
        mbn_bias: Literal["after", "none"] | str | None = None,
        wn_output: Switch | None = None,
        angle_order: Literal["chw", "hwc"] | str | None = None,
        fan_out: Literal["area", "filters"] | str | None = None,
        activation: Literal["identity", "relu", "leaky_relu", "elu", "srelu"] | str | None = None,
        init: Literal["paper", "glorot", "he", "authors"] | str | os.PathLike[str] | None = None,
        new_head: Switch | None = None,
        init_scale: Real | None = None,
        conv: Literal["auto", "direct"] | str | None = None,
        loss: Literal["mae", "mse", "huber", "poisson", "bce", "ce"] | str | None = None,
        class_weight: Literal["none", "balanced"] | str | Mapping[Any, float] | None = None,
        label_smoothing: Real | None = None,
        huber_delta: Real | None = None,
        optimizer: Literal["adam", "adamw", "sgd", "rmsprop", "lion"] | str | None = None,
        adam_form: Literal["torch", "keras"] | str | None = None,
        lr: Real | None = None,
        lr_theta: Real | None = None,
        lr_lambda: Real | None = None,
        lr_r: Real | None = None,
        momentum: Real | None = None,
        nesterov: Switch | None = None,
        weight_decay: Real | None = None,
        beta1: Real | None = None,
        beta2: Real | None = None,
        epsilon: Real | None = None,
        natural: Real | None = None,
        freeze: str | Sequence[str] | None = None,
        clip: Real | None = None,
        batch: Whole | None = None,
        micro: Whole | None = None,
        memory: Literal["normal", "small"] | str | None = None,
        epochs: Whole | None = None,
        schedule: Literal["none", "cosine"] | str | None = None,
        warmup: Real | None = None,
        patience: Whole | None = None,
        monitor: str | None = None,
        train_scores: Switch | None = None,
        norm_momentum: Real | None = None,
        norm_variance: Literal["unbiased", "biased"] | str | None = None,
        ensemble: Whole | None = None,
        ensemble_val: Literal["one", "folds"] | str | None = None,
        refit: Switch | None = None,
        seed: Whole | None = None,
        seed_split: Whole | None = None,
        seed_init: Whole | None = None,
        threads: Whole | None = None,
        dtype: Literal["f32", "f64"] | str | None = None,
        early_stopping: bool = True,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        """
        Parameters
        ----------
        missing : error|mean|drop, default None
            empty cells: refuse, take the column's training mean, or drop the row
        standardize : auto|off|features|both|mean, default None
            bring columns, or the channels of images, to mean 0 and standard deviation 1; mean: to mean 0 alone, images
            in units of 255; auto: both for regression, features for classes and counts, mean for images under protocol
            reference; results stay in the target's own units
        val : F, default None
            share of the remaining rows kept for validation, which chooses the epoch
        split : random|stratified|sklearn, default None
            how rows are split: uniform, each class in proportion, or as scikit-learn does
        eval_side : N, default None
            folders of pictures: shorter side in evaluation, of which the middle is taken; 256 for a size of 224, and in
            proportion, if not given; stored with the run for eval and predict
        decode : exact|scaled, default None
            folders of pictures: decode JPEG files whole, as PIL and torchvision do, or at 1/2, 1/4 or 1/8 if enough
            pixels are left, which is faster for large photographs and changes pixels slightly; stored with the run for
            eval and predict
        net : mlp|vgg6|resnet18|resnet50|mobile|wrn28-2, default None
            kind of network: dense layers (images as one long row), or a network for images
        hidden : N,...|none, default None
            mlp: units of each hidden layer; none: a linear model; in `train` 128,128 of a table of 5,000 rows or more
            if not given
        width : X, default None
            networks for images: factor on the channels of all layers
        stem : auto|small|large, default None
            resnets: how they begin, 7 x 7 with stride 2 and a pool (large), or 3 x 3 (small); auto: small for images
            below 64 pixels
        param : sp|wn|gmp|sphere, default None
            parameterization of the hidden layers; in `train` sphere of a table if not given
        norm : none|bn|ln|mbn|imn|gn, default None
            normalization of the hidden layers
        groups : N, default None
            gn: groups of equal size that the units of each hidden layer fall into; 1: as ln, as many as a conv has
            channels: instance normalization; if not given 32, or the most of 16, 8, 4, 2, 1 that divide the units of a
            layer into groups of 4 or more
        norm_epsilon : X, default None
            what a norm that divides by a root adds below it; 1e-5 if not given, 1e-3 under protocol reference
        imn_at : input|output, default None
            imn: at the input of each layer but the first, or behind each activation, before pooling, as in the papers'
            code; input if not given, output under protocol reference
        mbn_bias : after|none, default None
            mbn: the bias behind the mean, or none, as where one stands before it and cancels; after if not given, none
            under protocol reference
        wn_output : bool, default None
            wn: the output layer too; under protocol reference it is, unless false is given
        angle_order : chw|hwc, default None
            gmp: the order in which a conv's inputs (channel, row, column) take the angles; the model file says which;
            chw if not given, hwc under protocol reference
        fan_out : area|filters, default None
            what init glorot counts as the fan out of a conv: filters times the kernel's area, or filters alone; area if
            not given
        activation : identity|relu|leaky_relu|elu|srelu, default None
            activation of the hidden layers
        init : paper|glorot|he|authors|FILE.safetensors, default None
            initial values; paper for gmp and glorot for the others if not given; authors: as the papers' code, Glorot
            with fan_out filters in wn and gmp, gmp on half a sphere with r the Glorot norm
        new_head : bool, default None
            init FILE: all tensors but the output layer's are the file's, which may have other classes or targets; the
            output layer is drawn
        init_scale : X, default None
            factor on the initial weights of the hidden layers (sp: weight, wn: v and g, gmp and sphere: r)
        conv : auto|direct, default None
            f32 convolutions: the fastest way (Winograd's algorithm included), or none but direct ones
        loss : mae|mse|huber|poisson|bce|ce, default None
            what is minimised; chosen by the task if not given
        class_weight : none|balanced, default None
            balanced: in the losses of training and validation the classes weigh the same, however rare some are; the
            standardisation does not change; none if not given
        label_smoothing : X, default None
            share of a class target spread over all classes
        huber_delta : X, default None
            where huber's straight part begins, in standard deviations of the target unless standardize says otherwise;
            1 if not given
        optimizer : adam|adamw|sgd|rmsprop|lion, default None
            how a step is made from a gradient
        adam_form : torch|keras, default None
            adam and adamw: epsilon is added to the root corrected for its start, or before that correction; torch if
            not given, keras under protocol reference
        lr : X, default None
            learning rate; if not given 0.01, in `train` 0.02 of a table below 5,000 rows; in networks for images 0.002
            for a batch of 128, and of another batch in proportion to its square root (sgd: to the batch); of that
            rmsprop takes 0.3, lion 0.1
        lr_theta : X, default None
            factor on lr for angles (gmp) or unit vectors (sphere)
        lr_lambda : X, default None
            factor on lr for offsets (gmp, sphere)
        lr_r : X, default None
            factor on lr for scales (gmp, sphere)
        momentum : X, default None
            momentum of sgd and rmsprop; if not given 0.9, and 0 in rmsprop
        nesterov : bool, default None
            Nesterov's momentum in sgd
        weight_decay : X, default None
            pull of weights towards 0; never on angles, offsets, biases or norms
        beta1 : X, default None
            share of the past in the mean of gradients of adam, adamw and lion; 0.9 if not given
        beta2 : X, default None
            share of the past in the mean of squares of adam, adamw and rmsprop and in what lion remembers; if not given
            0.999, and 0.99 in rmsprop and lion
        epsilon : X, default None
            what adam, adamw and rmsprop add to a root before they divide by it; 1e-8 if not given, 1e-7 under protocol
            reference
        natural : X, default None
            gmp: natural directions, the gradient of each angle divided by its metric, the square of how far it turns
            the unit, plus X (0.01, say); sphere has them already, sp and wn none; off if not given
        freeze : PATH,..., default None
            tensors that stay as they are, by their names or the beginnings of them: layers.0, conv1, layer1; a layer
            all of whose tensors are frozen keeps its running statistics and uses them in training too
        clip : X, default None
            largest norm of a gradient; 0: no limit
        batch : N|full, default None
            rows in a step; if not given 1024, in `train` of a table about a 32nd of the training rows, from 32 to 256,
            and 128 in networks for images
        micro : N, default None
            rows at a time within a batch, to save memory; all if not given
        memory : normal|small, default None
            small: what bn and imn give is not kept but computed again on the way back; the same numbers, more time;
            normal if not given
        epochs : N, default None
            passes over the training rows, at most; if not given, 30 in networks for images, and in `train` of a table
            200, 100 from 5,000 rows on, fewer from 50,000 training rows on
        schedule : none|step:E,E:F|plateau:N:F:D|cosine, default None
            how lr changes; cosine in networks for images, and in `train` of a table, if not given; none keeps it;
            step:30,60,80:0.1 multiplies it when those epochs are finished; plateau:50:0.1:0.0001 after N epochs without
            a gain of more than D; cosine lets it fall to 0
        warmup : EPOCHS, default None
            epochs in which lr rises to its value
        patience : N, default None
            stop after N epochs without a better value; 0: never, which in `train` of a table it is if neither this nor
            a schedule is given
        monitor : METRIC, default None
            value that chooses the epoch: train_loss, or val_ and a metric (docs/numerics.md), the right way round;
            val_loss, or train_loss without a validation part, if not given
        train_scores : bool, default None
            after each epoch score the training part as well, with the net as it predicts: train_accuracy, train_top5
            and the like in metrics.jsonl; one more pass over it
        norm_momentum : X, default None
            share of the newest batch in running statistics; under protocol reference 0.01 if not given
        norm_variance : unbiased|biased, default None
            bn: what the running variance keeps of a batch, its sum of squares over n - 1 or over n; unbiased if not
            given; under protocol reference biased in dense layers
        ensemble : K, default None
            train K nets on the same rows, each from first values of its own; what is predicted is the mean of theirs;
            threads of them train side by side, with the same results whatever N; if not given 1, in `train` 5 of a
            table where no option of net and training is given but tune and class_weight
        ensemble_val : one|folds, default None
            ensemble: which rows choose the epoch of a member, the validation part for all (one), or for each another
            fold of training and validation part together, 1 / val of them (folds), so that every row is learnt from;
            folds if not given, one with group, time or another protocol than holdout
        refit : bool, default None
            when the validation part has chosen the epoch, train again from the same first values on training and
            validation part together, for that many epochs; this net is kept
        seed : S, default None
            seed of everything random
        seed_split : S, default None
            seed of the rows: which are drawn, and in which part each falls; seed if not given
        seed_init : S, default None
            seed of the training: first values, order of the rows, augmentation; seed if not given
        threads : N, default None
            threads of one network; in `train` of a table, of an ensemble: as many as there are processors if not given
        dtype : f32|f64, default None
            precision
        early_stopping : bool, default True
            if False, all rows are trained on, to the last epoch; otherwise `val` and `patience` choose the epoch
        warm_start : bool, default False
            if True, fit continues from the networks of the previous fit and keeps their standardisation
        n_jobs : int | None, default None
            members of an `ensemble` that train side by side, or threads of a single network; -1: all processors, -2:
            all but one; None: `threads`
        random_state : int | np.random.RandomState | None, default None
            a number or RandomState that the seed is drawn from; None: `seed` itself
        """
        self.missing = missing
        self.standardize = standardize
        self.val = val
        self.split = split
        self.eval_side = eval_side
        self.decode = decode
        self.net = net
        self.hidden = hidden
        self.width = width
        self.stem = stem
        self.param = param
        self.norm = norm
        self.groups = groups
        self.norm_epsilon = norm_epsilon
        self.imn_at = imn_at
        self.mbn_bias = mbn_bias
        self.wn_output = wn_output
        self.angle_order = angle_order
        self.fan_out = fan_out
        self.activation = activation
        self.init = init
        self.new_head = new_head
        self.init_scale = init_scale
        self.conv = conv
        self.loss = loss
        self.class_weight = class_weight
        self.label_smoothing = label_smoothing
        self.huber_delta = huber_delta
        self.optimizer = optimizer
        self.adam_form = adam_form
        self.lr = lr
        self.lr_theta = lr_theta
        self.lr_lambda = lr_lambda
        self.lr_r = lr_r
        self.momentum = momentum
        self.nesterov = nesterov
        self.weight_decay = weight_decay
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.natural = natural
        self.freeze = freeze
        self.clip = clip
        self.batch = batch
        self.micro = micro
        self.memory = memory
        self.epochs = epochs
        self.schedule = schedule
        self.warmup = warmup
        self.patience = patience
        self.monitor = monitor
        self.train_scores = train_scores
        self.norm_momentum = norm_momentum
        self.norm_variance = norm_variance
        self.ensemble = ensemble
        self.ensemble_val = ensemble_val
        self.refit = refit
        self.seed = seed
        self.seed_split = seed_split
        self.seed_init = seed_init
        self.threads = threads
        self.dtype = dtype
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
