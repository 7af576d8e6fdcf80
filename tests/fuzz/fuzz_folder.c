/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: result.json, split.json and metrics.jsonl of a run folder, the same bytes for each; they can be
 * written again, and gone on with. */
#include <math.h>

#include "file/file.h"
#include "fuzz.h"
#include "store/runfolder.h"

/* The log of a run whose checkpoint says that so many of its bytes are to stay. */
static void go_on(const char *home, size_t length)
{
    static const char *const names[] = {"train_loss", "val_loss"};
    const sph_view view = {
        .epoch = 1, .step = 2, .lr = 0.1, .names = names, .value = (double[]){1, NAN}, .values = 2};
    struct metrics metrics;
    uint64_t offset = 0;
    if (metrics_open(&metrics, home, RUNFOLDER_METRICS, length / 2) == 0) {
        if (metrics_add(&metrics, &view) < 0 || metrics_flush(&metrics) < 0 ||
            metrics_sync(&metrics, &offset) < 0 || offset < length / 2)
            abort();
        metrics_close(&metrics);
    }
    const sph_result result = {.epochs = 1, .best_epoch = 1, .diverged = length % 2 != 0};
    if (runfolder_write_result(home, &result, "loss", NULL, NULL, NULL) < 0 ||
        runfolder_diverged(home) != result.diverged)
        abort();
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    return fuzz_mutate_json(bytes, length, most, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { ROWS = 12 };
    const char *home = fuzz_home();
    sph_split split;
    fuzz_file(RUNFOLDER_RESULT, bytes, length);
    runfolder_diverged(home);
    fuzz_file(RUNFOLDER_METRICS, bytes, length);
    fuzz_file(RUNFOLDER_SPLIT, bytes, length);
    runfolder_check_content(home, 7);
    if (runfolder_read_split(&split, home, ROWS) == 0) {
        if (split.train_rows + split.val_rows + split.test_rows > ROWS)
            abort();
        for (size_t i = 0; i < split.train_rows; i++)
            if (split.train[i] >= ROWS)
                abort();
        if (runfolder_write_split(home, &split, 7) < 0 || runfolder_check_content(home, 7) < 0)
            abort();
        sph_split_free(&split);
    }
    go_on(home, length);
    return 0;
}
