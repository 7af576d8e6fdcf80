/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: result.json and split.json of a run folder, the same bytes for each. */
#include "file/file.h"
#include "fuzz.h"
#include "store/runfolder.h"

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
    fuzz_file(RUNFOLDER_SPLIT, bytes, length);
    runfolder_check_content(home, 7);
    if (runfolder_read_split(&split, home, ROWS) == 0) {
        if (split.train_rows + split.val_rows + split.test_rows > ROWS)
            abort();
        for (size_t i = 0; i < split.train_rows; i++)
            if (split.train[i] >= ROWS)
                abort();
        sph_split_free(&split);
    }
    return 0;
}
