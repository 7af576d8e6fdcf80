/* SPDX-License-Identifier: MIT
 *
 * An array of more than 4 GB, where a zip's own numbers end: written, read by us and by numpy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "spherelu.h"
#include "data/npz.h"
#include "skip.h"

enum { PIECES = 560, PIECE = 1000000 }; /* doubles: 4.48 GB */

static void arrays_beyond_four_gigabytes_are_written_and_read(void **state)
{
    (void)state;
    struct statvfs disk;
    if (statvfs("/var/tmp", &disk) || (double)disk.f_bavail * (double)disk.f_frsize < 8e9)
        skip_because("/var/tmp has less than 8 GB left");
    char path[64];
    snprintf(path, sizeof path, "/var/tmp/spherelu-npz-%d.npz", (int)getpid());
    struct npz_writer *writer;
    struct npz_array big = {"big", "<f8", {PIECES, PIECE}, 2, NULL}, tail = {"tail", "<f8", {1}, 1, NULL};
    double *piece = mem_get(PIECE, sizeof *piece), end = 7;
    assert_int_equal(npz_writer_begin(&writer, path), 0);
    assert_int_equal(npz_writer_array(&writer, &big), 0);
    for (size_t i = 0; i < PIECES; i++) {
        piece[0] = (double)i;
        assert_int_equal(npz_writer_data(&writer, piece, PIECE * sizeof *piece), 0);
    }
    assert_int_equal(npz_writer_array(&writer, &tail), 0);
    assert_int_equal(npz_writer_data(&writer, &end, sizeof end), 0);
    assert_int_equal(npz_writer_commit(&writer), 0);

    struct npz *npz;
    double got = 0;
    assert_int_equal(npz_open(&npz, path), 0);
    assert_int_equal(npz_read(npz, "tail", &got, 0, 1), 0);
    assert_true(got == 7);
    if (npz_read(npz, "big", &got, (size_t)(PIECES - 1) * PIECE, 1) < 0)
        fail_msg("%s", sph_error());
    assert_true(got == PIECES - 1);
    npz_free(npz);
    if (system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") == 0) {
        char command[512];
        snprintf(command, sizeof command,
                 "/usr/bin/python3 -c \"\n"
                 "import numpy as np, zipfile\n"
                 "z = np.load('%s'); assert z['tail'][0] == 7\n"
                 "assert zipfile.ZipFile('%s').testzip() is None\n"
                 "\"",
                 path, path);
        assert_int_equal(system(command), 0);
    }
    unlink(path);
    mem_free(piece);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_beyond_four_gigabytes_are_written_and_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
