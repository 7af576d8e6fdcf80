/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: a text table is data or is refused; what is data is also read with options, and as one of the sets
 * whose columns are known; lines read in one sweep are what a careful reading finds. */
#include "fuzz.h"
#include "tests/sheet_twice.h"

/* What the first pass keeps is what a careful reading finds. */
static void open_twice(const char *path)
{
    struct sheet sheet;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    if (sheet_open(&sheet, path, &opts, &(struct sheet_hints){.need_targets = 1}) < 0)
        return;
    if (sheet.is_text && sheet_twice(&sheet))
        abort();
    sheet_free(&sheet);
}

static void open_with(const char *source, const sph_data_opts *opts)
{
    sph_data *data = NULL;
    if (sph_data_open(&data, source, opts) < 0 && (data || !*sph_error()))
        abort();
    sph_data_free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    sph_data *data = NULL;
    sph_data_opts opts;
    const char *path = fuzz_file("t.csv", bytes, length);
    fuzz_data(path);
    open_twice(path);
    if (sph_data_open(&data, path, NULL) < 0)
        return 0;
    unsigned turn = bytes[length - 1];
    sph_data_free(data);
    sph_data_defaults(&opts);
    opts.target = (const char *[]){"0", "-1", "y", "0, 1"}[turn % 4];
    opts.drop = (const char *[]){"", "2", "a,b", "1,x"}[turn / 4 % 4];
    opts.missing = (sph_missing)(turn / 16 % 3);
    opts.rows = turn % 3 ? 0 : 2;
    open_with(path, &opts);
    if (access(fuzz_path("uci"), F_OK)) {
        mkdir(fuzz_path("uci"), 0700);
        setenv("SPHERELU_DATA", fuzz_home(), 1);
    }
    fuzz_file("uci/power.txt", bytes, length);
    open_with("power", NULL);
    return 0;
}
