/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: the rows that a run recorded before it was killed, as the one that goes on finds them. The first
 * byte says how many it asks for. What it goes on with becomes arrays. */
#include "fuzz.h"
#include "store/series.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const struct series_column columns[] = {{.name = "step", .type = "<u8"},
                                                   {.name = "move", .type = "<f8", .shape = {3}, .ndim = 1}};
    struct series *series = NULL;
    unsigned char row[32];
    uint64_t rows = length ? bytes[0] : 0;
    if (rows == UINT8_MAX)
        rows = UINT64_MAX / sizeof row;
    const char *path = fuzz_file("part", bytes + !!length, length - !!length);
    if (series_open(&series, path, columns, 2, rows) < 0)
        return 0;
    if (series_row_bytes(series) != sizeof row)
        abort();
    for (uint64_t i = 0; i < rows; i++)
        if (series_read_row(series, i, row) < 0)
            abort();
    if (series_read_row(series, rows, row) == 0) /* past its end */
        abort();
    if (series_add(series, row) < 0 || series_sync(series, &rows) < 0 ||
        series_save_npz(fuzz_path("all.npz"), &series, 1, NULL, 0) < 0)
        abort();
    series_close(series);
    return 0;
}
