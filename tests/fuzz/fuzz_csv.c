/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: a text table is data or is refused; what is data is also read with options, and as one of the sets
 * whose columns are known. */
#include "fuzz.h"

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
