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
    """columns to predict, by name or by index (0 is the first column)"""
    drop: Literal["auto", "none"] | str | Sequence[str] | None
    """columns to leave out; auto: constant columns, IDs and free text (the tool reports each of them); auto,COL: COL in
    addition to these"""
    keep: str | Sequence[str] | None
    """columns that drop auto must keep"""
    text: str | Sequence[str] | None
    """columns to read as text (categories), such as codes, sizes and postal codes, even if their cells look like
    numbers"""
    weights: str | None
    """column of sample weights (0 or more) for the training loss, the validation loss and the standardization; scores
    are not weighted; not used as a feature"""
    group: str | None
    """group column: samples with the same value are put into the same set (training, validation or test); not used as a
    feature"""
    time: str | None
    """column of dates or numbers for a split by time: the latest samples are the test set, those before them the
    validation set; samples with the same value stay in the same set; not used as a feature"""
    delimiter: str | None
    """column separator: a character, tab or blank"""
    missing: Literal["error", "mean", "drop"] | str | None
    """how to treat empty cells; error: stop with an error; mean: fill in the mean of the training set; drop: leave out
    the row"""
    missing_words: str | Sequence[str] | None
    """text values that mean an empty cell, in addition to NA, N/A, NaN, null, ? and -; case is ignored"""
    standardize: Literal["auto", "off", "features", "both", "mean"] | str | None
    """scale features (both: the target too) to mean 0 and standard deviation 1; mean: subtract the mean only (images
    are also divided by 255); auto: both for regression, features otherwise; results are always in the target's units"""
    scale: Literal["standard", "robust"] | str | None
    """how the features of a table are scaled: by mean and standard deviation, or by median and interquartile range,
    smoothly clipped to -3 to 3, so that outliers matter less"""
    indicators: Literal["scaled", "raw"] | str | None
    """indicator columns of text columns: scale them like other features, or leave them as 0 and 1"""
    test: Real | None
    """fraction of the samples in the test set; 0: no test set; if the data contain a test set, it is used and F has no
    effect; 0 leaves it out"""
    val: Real | None
    """fraction of the samples outside the test set that is the validation set, which selects the best epoch; ensembles:
    each network has a different fold of this size"""
    split: Literal["random", "stratified", "sklearn"] | str | None
    """how samples are divided: at random, with equal class proportions, or exactly as scikit-learn does"""
    rows: Whole | None
    """use only N samples, chosen by the seed (images: with equal class proportions; datasets with their own test set: N
    training samples and a proportional test set)"""
    permute: Whole | None
    """before splitting, order the rows by numpy's RandomState(S).permutation (Keras uses 113 for boston)"""
    columns: Literal["as-is", "reversed"] | str | None
    """order of the feature columns, which determines the angles of gmp; stored in the model"""
    draw: Literal["seed", "authors"] | str | None
    """levy: draw the points from seed, or as numpy does after random.seed(N); authors: N = 0, the points in the
    papers"""
    noise: Real | None
    """standard deviation of the noise in crescents, spirals and levy"""
    augment: Literal["none", "flip", "crop", "colour"] | str | None
    """augmentation of training images; flip: random horizontal flips; crop: random resize and crop to size, and flip;
    colour: crop and AlexNet's color shift; crop and colour are for image folders"""
    size: Whole | None
    """height and width of images in pixels; eval and predict use the same value; image folders: images are resized and
    cropped to N x N; built-in and stored images: blocks of pixels are averaged, so N must divide the side of the
    images; (init FILE starts from a saved model, see help_all)"""
    eval_side: Whole | None
    """image folders: in evaluation, the shorter side is resized to N before the center crop to size; stored with the
    run"""
    gray: Switch | None
    """convert images to one channel (luma)"""
    decode: Literal["exact", "scaled"] | str | None
    """image folders: decode JPEG files in full, as PIL and torchvision do, or at 1/2, 1/4 or 1/8 of their size where
    enough pixels remain (faster for large images, slightly different pixels); stored with the run"""
    workers: Whole | None
    """image folders: threads that decode ahead of the training; does not change results"""
    skip_bad: Switch | None
    """image folders: leave out files that cannot be decoded and report how many"""
    net: Literal["mlp", "vgg6", "resnet18", "resnet50", "mobile", "wrn28-2"] | str | None
    """network architecture; mlp: dense layers; images are flattened and get the defaults for tables; vgg6: VGG with six
    convolutional layers, as used by Chen and Ge, who introduced gmp; mobile: MobileNet version 1; wrn28-2: Wide ResNet
    with 28 layers and width factor 2"""
    hidden: Whole | Sequence[Whole] | npt.NDArray[np.integer[Any]] | None
    """number of units in each hidden layer of an mlp, for example 64,64; none: a linear model"""
    width: Real | None
    """image networks: factor on the number of channels of every layer"""
    stem: Literal["auto", "small", "large"] | str | None
    """resnets: first layers: a 7 x 7 convolution with stride 2 and pooling (large), or a 3 x 3 convolution (small);
    auto: small for images below 64 pixels"""
    param: Literal["sp", "wn", "gmp", "sphere"] | str | None
    """parameterization of the hidden layers; sp: plain weights; wn: weight normalization; gmp: geometric
    parameterization; the direction of each unit is learned as angles; sphere: like gmp, with a unit vector instead of
    angles"""
    norm: Literal["none", "bn", "ln", "mbn", "imn", "gn"] | str | None
    """normalization of the hidden layers; bn: batch normalization; ln: layer normalization; mbn: mean-only batch
    normalization (without division); imn: input-mean normalization (subtracts the batch mean from the input of a
    layer); gn: group normalization"""
    groups: Whole | None
    """gn: number of groups of equal size into which the units of each hidden layer are divided"""
    norm_epsilon: Real | None
    """epsilon added to the variance by bn, ln and gn"""
    imn_at: Literal["input", "output"] | str | None
    """imn: normalize at the input of each layer except the first, or after each activation and before pooling as in the
    papers' code"""
    mbn_bias: Literal["after", "none"] | str | None
    """mbn: add the bias after subtracting the mean, or use no bias"""
    wn_output: Switch | None
    """wn: parameterize the output layer too"""
    angle_order: Literal["chw", "hwc"] | str | None
    """gmp: order of a convolution's inputs (channel, row, column) in the angles; stored in the model"""
    fan_out: Literal["area", "filters"] | str | None
    """fan-out of a convolution in init glorot: filters times the kernel area, or filters alone"""
    activation: Literal["identity", "relu", "leaky_relu", "elu", "srelu"] | str | None
    """activation of the hidden layers; srelu: S-shaped ReLU with learned thresholds and slopes"""
    init: Literal["paper", "glorot", "he", "authors"] | str | os.PathLike[str] | None
    """initialization, or a model file to start from; paper: uniform directions and scale 1; authors: as in the authors'
    code (see docs/method.md)"""
    new_head: Switch | None
    """with init FILE: load all tensors except the output layer from the file, which may have other classes or
    targets"""
    init_scale: Real | None
    """factor on the initial weights of the hidden layers (sp: weight, wn: v and g, gmp and sphere: r)"""
    conv: Literal["auto", "direct"] | str | None
    """f32 convolutions: the fastest algorithm, including Winograd, or direct ones only"""
    loss: Literal["mae", "mse", "huber", "poisson", "bce", "ce"] | str | None
    """loss function"""
    class_weight: Literal["none", "balanced"] | str | None
    """balanced: give all classes the same total weight in the training and validation loss; does not change the default
    of ensemble"""
    label_smoothing: Real | None
    """share of each class target that is spread over all classes"""
    huber_delta: Real | None
    """huber: error at which the loss becomes linear, in standard deviations of the target if standardize scales the
    target"""
    optimizer: Literal["adam", "adamw", "sgd", "rmsprop", "lion"] | str | None
    """optimizer"""
    adam_form: Literal["torch", "keras"] | str | None
    """adam, adamw: add epsilon after the bias correction of the second moment (torch) or before it (keras)"""
    lr: Real | None
    """learning rate; adam, adamw and sgd have this default; rmsprop has 0.3 times and lion 0.1 times this value; image
    networks: with other batch sizes than 128, the default is multiplied by the square root of N / 128 (sgd: by N /
    128), where N is the batch size"""
    lr_theta: Real | None
    """factor on lr for angles (gmp) or unit vectors (sphere)"""
    lr_lambda: Real | None
    """factor on lr for offsets (gmp, sphere)"""
    lr_r: Real | None
    """factor on lr for scales (gmp, sphere)"""
    momentum: Real | None
    """momentum of sgd and rmsprop"""
    nesterov: Switch | None
    """Nesterov momentum in sgd"""
    weight_decay: Real | None
    """weight decay; not applied to angles, offsets, biases and normalization parameters"""
    beta1: Real | None
    """decay rate of the mean of gradients in adam, adamw and lion"""
    beta2: Real | None
    """decay rate of the mean of squared gradients in adam, adamw and rmsprop, and of the momentum in lion"""
    epsilon: Real | None
    """epsilon of adam, adamw and rmsprop"""
    natural: Real | None
    """gmp: natural gradient: divide the gradient of each angle by its metric plus X, for example 0.01; sphere needs no
    such option"""
    freeze: str | Sequence[str] | None
    """tensors that are not trained, given by name or by the first part of the name: layers.0, conv1, layer1; a layer
    with only frozen tensors also keeps its running statistics"""
    clip: Real | None
    """maximum norm of the gradient; 0: no limit"""
    batch: Whole | None
    """samples per step; full: the whole training set"""
    micro: Whole | None
    """process a batch N samples at a time, to save memory"""
    memory: Literal["normal", "small"] | str | None
    """small: recompute the outputs of bn and imn in the backward pass instead of storing them; same results, slower"""
    epochs: Whole | None
    """maximum number of passes over the training set; with more than 50,000 training samples (images: 10,000), the
    default is smaller, to save time; tables: with another schedule than cosine, the default is 1000"""
    schedule: Literal["none", "cosine"] | str | None
    """learning rate schedule; none: constant; step:30,60,80:0.1: multiplied by 0.1 after epochs 30, 60 and 80;
    plateau:50:0.1:0.0001: multiplied by 0.1 after 50 epochs without an improvement of more than 0.0001; cosine:
    decreases to 0 over the epochs"""
    warmup: Real | None
    """number of epochs in which the learning rate increases linearly to its value"""
    patience: Whole | None
    """stop after N epochs without an improvement of the validation loss (or of the score that monitor names, see
    help_all); 0: never; no effect if N is not smaller than epochs"""
    monitor: str | None
    """metric that selects the epoch: train_loss, or val_ and the name of a metric"""
    train_scores: Switch | None
    """also score the training set after each epoch (train_accuracy, train_top5, ... in metrics.jsonl), which takes one
    more pass over it"""
    norm_momentum: Real | None
    """weight of the newest batch in running statistics"""
    norm_variance: Literal["unbiased", "biased"] | str | None
    """bn: divide the running variance by n - 1 (unbiased) or by n (biased)"""
    sync_norm: Literal["on", "off"] | str | None
    """several processes (mpirun): bn, mbn and imn use statistics of the whole batch, or of the samples of each
    process"""
    checkpoint_seconds: Real | None
    """minimum time between checkpoints; 0: after every epoch"""
    ensemble: Whole | None
    """train K networks and average their predictions; each has a different seed and a different fold of the data as
    validation set"""
    ensemble_val: Literal["one", "folds"] | str | None
    """data that selects the epoch of each network in an ensemble; one: the same validation set for all; folds: a
    different fold of the training and validation sets for each network, so that every sample is used for training (the
    number of folds is 1 / val)"""
    refit: Switch | None
    """after the validation set has selected the number of epochs, train again from the same initialization on the
    training and validation sets, and keep that network"""
    tune: Whole | None
    """before training, search for the learning rate, hidden units and batch size by successive halving on the
    validation set (only for net mlp); N: search budget, in units of one full training run, for example 10; options that
    you set are not changed; all cores are used; tune.json lists the candidates; tune alone still trains an ensemble of
    five networks"""
    record: str | None
    """what to record in boundaries.npz; + joins several of these; boundaries: how far each step moves the boundary of
    each unit (the hyperplane on which it becomes active), and the position of the boundary at every epoch;
    boundaries:every: the same with the position at every step; boundaries:0,10,100: the same with the position at these
    steps; patterns: which units are active for which samples; gradients: gradient norms and the share of active
    units"""
    log: Literal["none", "tensorboard"] | str | None
    """tensorboard: also write an event file, with turns of boundaries, dead units and histograms if boundaries are
    recorded"""
    protocol: Literal["holdout", "cv", "reference"] | str | None
    """data that selects the epoch; holdout: the validation set; cv: the fold given by fold; reference: the test set,
    with the constants of the authors' code (a leak: only for comparison with published results)"""
    folds: Whole | None
    """cv: number of folds of the training set, as in scikit-learn's KFold(N, shuffle=True)"""
    fold: Whole | None
    """cv: number, from 0, of the fold that is not trained on and selects the epoch"""
    out: str | os.PathLike[str] | None
    """run folder to write"""
    seed: Whole | None
    """random seed of the split, the initialization, the order of samples and the augmentation"""
    seed_split: Whole | None
    """seed of the split and of the choice of samples"""
    seed_init: Whole | None
    """seed of the initialization, the order of samples and the augmentation"""
    threads: Whole | None
    """CPU threads; for an ensemble: number of networks that are trained at the same time; the results do not depend on
    it"""
    dtype: Literal["f32", "f64"] | str | None
    """precision"""


class Keywords:
    """The keywords of the estimators."""

    def __init__(
        self,
        *,
        missing: Literal["error", "mean", "drop"] | str | None = None,
        standardize: Literal["auto", "off", "features", "both", "mean"] | str | None = None,
        scale: Literal["standard", "robust"] | str | None = None,
        indicators: Literal["scaled", "raw"] | str | None = None,
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
        sync_norm: Literal["on", "off"] | str | None = None,
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
            how to treat empty cells; error: stop with an error; mean: fill in the mean of the training set; drop: leave
            out the row
        standardize : auto|off|features|both|mean, default None
            scale features (both: the target too) to mean 0 and standard deviation 1; mean: subtract the mean only
            (images are also divided by 255); auto: both for regression, features otherwise; results are always in the
            target's units
        scale : standard|robust, default None
            how the features of a table are scaled: by mean and standard deviation, or by median and interquartile
            range, smoothly clipped to -3 to 3, so that outliers matter less
        indicators : scaled|raw, default None
            indicator columns of text columns: scale them like other features, or leave them as 0 and 1
        val : F, default None
            fraction of the samples outside the test set that is the validation set, which selects the best epoch;
            ensembles: each network has a different fold of this size
        split : random|stratified|sklearn, default None
            how samples are divided: at random, with equal class proportions, or exactly as scikit-learn does
        eval_side : N, default None
            image folders: in evaluation, the shorter side is resized to N before the center crop to size; stored with
            the run
        decode : exact|scaled, default None
            image folders: decode JPEG files in full, as PIL and torchvision do, or at 1/2, 1/4 or 1/8 of their size
            where enough pixels remain (faster for large images, slightly different pixels); stored with the run
        net : mlp|vgg6|resnet18|resnet50|mobile|wrn28-2, default None
            network architecture; mlp: dense layers; images are flattened and get the defaults for tables; vgg6: VGG
            with six convolutional layers, as used by Chen and Ge, who introduced gmp; mobile: MobileNet version 1;
            wrn28-2: Wide ResNet with 28 layers and width factor 2
        hidden : N,...|none, default None
            number of units in each hidden layer of an mlp, for example 64,64; none: a linear model
        width : X, default None
            image networks: factor on the number of channels of every layer
        stem : auto|small|large, default None
            resnets: first layers: a 7 x 7 convolution with stride 2 and pooling (large), or a 3 x 3 convolution
            (small); auto: small for images below 64 pixels
        param : sp|wn|gmp|sphere, default None
            parameterization of the hidden layers; sp: plain weights; wn: weight normalization; gmp: geometric
            parameterization; the direction of each unit is learned as angles; sphere: like gmp, with a unit vector
            instead of angles
        norm : none|bn|ln|mbn|imn|gn, default None
            normalization of the hidden layers; bn: batch normalization; ln: layer normalization; mbn: mean-only batch
            normalization (without division); imn: input-mean normalization (subtracts the batch mean from the input of
            a layer); gn: group normalization
        groups : N, default None
            gn: number of groups of equal size into which the units of each hidden layer are divided
        norm_epsilon : X, default None
            epsilon added to the variance by bn, ln and gn
        imn_at : input|output, default None
            imn: normalize at the input of each layer except the first, or after each activation and before pooling as
            in the papers' code
        mbn_bias : after|none, default None
            mbn: add the bias after subtracting the mean, or use no bias
        wn_output : bool, default None
            wn: parameterize the output layer too
        angle_order : chw|hwc, default None
            gmp: order of a convolution's inputs (channel, row, column) in the angles; stored in the model
        fan_out : area|filters, default None
            fan-out of a convolution in init glorot: filters times the kernel area, or filters alone
        activation : identity|relu|leaky_relu|elu|srelu, default None
            activation of the hidden layers; srelu: S-shaped ReLU with learned thresholds and slopes
        init : paper|glorot|he|authors|FILE.safetensors, default None
            initialization, or a model file to start from; paper: uniform directions and scale 1; authors: as in the
            authors' code (see docs/method.md)
        new_head : bool, default None
            with init FILE: load all tensors except the output layer from the file, which may have other classes or
            targets
        init_scale : X, default None
            factor on the initial weights of the hidden layers (sp: weight, wn: v and g, gmp and sphere: r)
        conv : auto|direct, default None
            f32 convolutions: the fastest algorithm, including Winograd, or direct ones only
        loss : mae|mse|huber|poisson|bce|ce, default None
            loss function
        class_weight : none|balanced, default None
            balanced: give all classes the same total weight in the training and validation loss; does not change the
            default of ensemble
        label_smoothing : X, default None
            share of each class target that is spread over all classes
        huber_delta : X, default None
            huber: error at which the loss becomes linear, in standard deviations of the target if standardize scales
            the target
        optimizer : adam|adamw|sgd|rmsprop|lion, default None
            optimizer
        adam_form : torch|keras, default None
            adam, adamw: add epsilon after the bias correction of the second moment (torch) or before it (keras)
        lr : X, default None
            learning rate; adam, adamw and sgd have this default; rmsprop has 0.3 times and lion 0.1 times this value;
            image networks: with other batch sizes than 128, the default is multiplied by the square root of N / 128
            (sgd: by N / 128), where N is the batch size
        lr_theta : X, default None
            factor on lr for angles (gmp) or unit vectors (sphere)
        lr_lambda : X, default None
            factor on lr for offsets (gmp, sphere)
        lr_r : X, default None
            factor on lr for scales (gmp, sphere)
        momentum : X, default None
            momentum of sgd and rmsprop
        nesterov : bool, default None
            Nesterov momentum in sgd
        weight_decay : X, default None
            weight decay; not applied to angles, offsets, biases and normalization parameters
        beta1 : X, default None
            decay rate of the mean of gradients in adam, adamw and lion
        beta2 : X, default None
            decay rate of the mean of squared gradients in adam, adamw and rmsprop, and of the momentum in lion
        epsilon : X, default None
            epsilon of adam, adamw and rmsprop
        natural : X, default None
            gmp: natural gradient: divide the gradient of each angle by its metric plus X, for example 0.01; sphere
            needs no such option
        freeze : PATH,..., default None
            tensors that are not trained, given by name or by the first part of the name: layers.0, conv1, layer1; a
            layer with only frozen tensors also keeps its running statistics
        clip : X, default None
            maximum norm of the gradient; 0: no limit
        batch : N|full, default None
            samples per step; full: the whole training set
        micro : N, default None
            process a batch N samples at a time, to save memory
        memory : normal|small, default None
            small: recompute the outputs of bn and imn in the backward pass instead of storing them; same results,
            slower
        epochs : N, default None
            maximum number of passes over the training set; with more than 50,000 training samples (images: 10,000), the
            default is smaller, to save time; tables: with another schedule than cosine, the default is 1000
        schedule : none|step:E,E:F|plateau:N:F:D|cosine, default None
            learning rate schedule; none: constant; step:30,60,80:0.1: multiplied by 0.1 after epochs 30, 60 and 80;
            plateau:50:0.1:0.0001: multiplied by 0.1 after 50 epochs without an improvement of more than 0.0001; cosine:
            decreases to 0 over the epochs
        warmup : EPOCHS, default None
            number of epochs in which the learning rate increases linearly to its value
        patience : N, default None
            stop after N epochs without an improvement of the validation loss (or of the score that monitor names, see
            help_all); 0: never; no effect if N is not smaller than epochs
        monitor : METRIC, default None
            metric that selects the epoch: train_loss, or val_ and the name of a metric
        train_scores : bool, default None
            also score the training set after each epoch (train_accuracy, train_top5, ... in metrics.jsonl), which takes
            one more pass over it
        norm_momentum : X, default None
            weight of the newest batch in running statistics
        norm_variance : unbiased|biased, default None
            bn: divide the running variance by n - 1 (unbiased) or by n (biased)
        sync_norm : on|off, default None
            several processes (mpirun): bn, mbn and imn use statistics of the whole batch, or of the samples of each
            process
        ensemble : K, default None
            train K networks and average their predictions; each has a different seed and a different fold of the data
            as validation set
        ensemble_val : one|folds, default None
            data that selects the epoch of each network in an ensemble; one: the same validation set for all; folds: a
            different fold of the training and validation sets for each network, so that every sample is used for
            training (the number of folds is 1 / val)
        refit : bool, default None
            after the validation set has selected the number of epochs, train again from the same initialization on the
            training and validation sets, and keep that network
        seed : S, default None
            random seed of the split, the initialization, the order of samples and the augmentation
        seed_split : S, default None
            seed of the split and of the choice of samples
        seed_init : S, default None
            seed of the initialization, the order of samples and the augmentation
        threads : N, default None
            CPU threads; for an ensemble: number of networks that are trained at the same time; the results do not
            depend on it
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
        self.scale = scale
        self.indicators = indicators
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
        self.sync_norm = sync_norm
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
