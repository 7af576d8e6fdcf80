/* SPDX-License-Identifier: MIT
 *
 * spherelu pack: a folder of pictures decoded once for many epochs. */
#include <stdio.h>

#include "cli.h"
#include "data/tool.h"
#include "progress.h"
#include "stop.h"

static int see(void *self, const sph_progress *view)
{
    progress_share(self, "packing", view->share);
    return stop_signal() != 0;
}

static int print_packed(const struct args *args, const sph_packed *packed, const char *out)
{
    if (args_on(args, "json"))
        return cli_print_json(args->command,
                              json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "out", out,
                                        "train_images", (json_int_t)packed->train_images, "test_images",
                                        (json_int_t)packed->test_images, "classes",
                                        (json_int_t)packed->classes, "side", (json_int_t)packed->side,
                                        "channels", (json_int_t)packed->channels, "left_out",
                                        (json_int_t)packed->left_out, "bytes", (json_int_t)packed->bytes),
                              17);
    printf("images    %zu to train on, %zu to test on, %zu classes\n", packed->train_images,
           packed->test_images, packed->classes);
    printf("each      %zu x %zu pixels, %zu channel%s\n", packed->side, packed->side, packed->channels,
           cli_plural(packed->channels));
    printf("disk      %.1f MB\npacked    %s\n", (double)packed->bytes / 1e6, out);
    return EXIT_DONE;
}

static int run_pack(const struct args *args)
{
    struct progress progress;
    sph_data_opts opts;
    sph_packed packed;
    int decode = SPH_DECODE_EXACT;
    sph_data_defaults(&opts);
    opts.gray = args_on(args, "gray");
    opts.skip_bad = args_on(args, "skip-bad");
    int code;
    if ((code = args_size(args, "size", 1, &opts.side)) ||
        (code = args_word(args, "decode", SPH_WORDS_DECODE, &decode)) ||
        (code = args_size(args, "workers", 1, &opts.workers)))
        return code;
    opts.decode = (sph_decode)decode;
    progress_init(&progress, args_on(args, "quiet"), args_on(args, "verbose"));
    stop_catch(args->command, "nothing was packed; run the same command again");
    int err = sph_data_pack(&packed, args->word[0], args->word[1], &opts, see, &progress);
    stop_over();
    progress_clear(&progress);
    if (err > 0)
        return stop_end();
    if (err)
        return cli_fail_with(args->command, err);
    cli_note_left_out(args->command, packed.left_out);
    return print_packed(args, &packed, args->word[1]);
}

static const sph_option options[] = {
    {"size", "N", "224", "data",
     "input size of the network: the shorter side of each image becomes 256/224 of it, as in evaluation, "
     "and the middle square is kept"},
    {"gray", NULL, "", "data", "convert images to one channel (luma)"},
    {"decode", CLI_WORDS(SPH_DECODES), "exact", "data",
     "decode JPEG files in full, as PIL and torchvision do, or at 1/2, 1/4 or 1/8 of their size if enough "
     "pixels remain (faster for large photographs, slightly different pixels)"},
    CLI_READING,
    CLI_JSON,
    CLI_MAX_MEMORY,
};

const struct command command_pack = {
    .name = "pack",
    .summary = "decode an image folder once, so that training reads it faster",
    .usage = "DIR OUT [--size N] [--gray]",
    .about = "Decodes and resizes all images of DIR (one folder per class, or train and val with these "
             "inside) and writes them to the folder OUT as NumPy arrays: train_images.npy, train_labels.npy, "
             "the same for val, classes.txt, and the file names. train, eval, predict and experiment files "
             "accept OUT instead of DIR. OUT is memory-mapped, so several jobs share one copy. Augmentation "
             "works as before, on the middle square of each image. docs/images.md describes how much "
             "results differ from DIR. An interrupted pack leaves nothing behind.",
    .examples =
        "  spherelu pack photos photos-packed --size 64\n"
        "  spherelu train --data photos-packed --net resnet18 --norm bn --param sp --out runs/photos\n",
    .options = options,
    .count = sizeof options / sizeof *options,
    .words = {"DIR", "OUT"},
    .words_needed = 2,
    .run = run_pack,
};
