/* SPDX-License-Identifier: MIT
 *
 * What the fuzz targets share: the bytes become files of a folder in memory, since it is files that the readers
 * take; the limit of memory is small. A target is LLVMFuzzerTestOneInput and a folder of seeds (Makefile). */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spherelu.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#define FUZZ static inline __attribute__((unused))

enum { FUZZ_MEMORY = 256 << 20, FUZZ_PATH = 128 };

static char fuzz_folder[64];
__attribute__((unused)) static volatile double fuzz_sum; /* so that numbers are read, not only pointed at */

FUZZ void fuzz_remove(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", fuzz_folder);
    if (system(command))
        _exit(1);
}

/* The folder, made at the first call. */
FUZZ const char *fuzz_home(void)
{
    if (!*fuzz_folder) {
        snprintf(fuzz_folder, sizeof fuzz_folder, "%s/spherelu-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
        if (!mkdtemp(fuzz_folder))
            abort();
        atexit(fuzz_remove);
        sph_set_max_memory(FUZZ_MEMORY);
    }
    return fuzz_folder;
}

/* The path of a name in the folder, in one of four places in turn. */
FUZZ const char *fuzz_path(const char *name)
{
    static char paths[4][FUZZ_PATH];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, FUZZ_PATH, "%s/%s", fuzz_home(), name);
    return path;
}

/* A file of this name with these bytes. */
FUZZ const char *fuzz_file(const char *name, const void *bytes, size_t length)
{
    const char *path = fuzz_path(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, length) != (ssize_t)length || close(fd))
        abort();
    return path;
}

/* Which of `ways` to go with these bytes, where all of them would take long: any is as likely. */
FUZZ unsigned fuzz_way(const uint8_t *bytes, size_t length, unsigned ways)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return (hash >> 8) % ways;
}

/* Opens a source of data as training does and as prediction does, and reads every number of it. */
FUZZ void fuzz_data(const char *path)
{
    sph_data *data = NULL;
    if (sph_data_open(&data, path, NULL) < 0) {
        if (data || !*sph_error())
            abort();
        return;
    }
    double sum = 0;
    const double *x = sph_data_x(data), *y = sph_data_y(data);
    size_t rows = sph_data_rows(data), columns = sph_data_outputs(data);
    if (sph_data_task(data) != SPH_TASK_REGRESSION)
        columns = 1;
    for (size_t i = 0; x && i < rows * sph_data_features(data); i++)
        sum += x[i];
    for (size_t i = 0; y && i < rows * columns; i++)
        sum += y[i];
    fuzz_sum = sum;
    sph_data_free(data);
}

/* Input that begins with a line of JSON, then the table of tensors as JSON: as the bytes of a safetensors file
 * whose lengths are right, so that a mutation gets past the frame. The line becomes metadata; *out is the
 * caller's to free. */
uint8_t *fuzz_safetensors(const uint8_t *bytes, size_t length, size_t *out);

/* A safetensors file whose text, as above, a target's LLVMFuzzerCustomMutator begins with. */
void fuzz_seed(const char *path);

/* The figures of a run that need one of these (enum figure_needs): filled, not drawn. */
void fuzz_fill_figures(const char *dir, unsigned needs);

/* ---------------------------------------------------------------- mutations, for LLVMFuzzerCustomMutator
 * Each leaves the frame whole most of the time: what is behind it is what has to be tried. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed);

/* Of text for fuzz_safetensors; of a safetensors file; of JSON; of an .npz with arrays of these names. */
size_t fuzz_mutate(uint8_t *bytes, size_t length, size_t most, unsigned seed);
size_t fuzz_mutate_safetensors(uint8_t *bytes, size_t length, size_t most, unsigned seed);
size_t fuzz_mutate_json(uint8_t *bytes, size_t length, size_t most, unsigned seed);
size_t fuzz_mutate_npz(uint8_t *bytes, size_t length, size_t most, unsigned seed, const char *const *names,
                       size_t name_count);

/* What they are made of: random numbers, and a change of one value of a JSON document. */
unsigned fuzz_random(unsigned *state);
struct json_t;
void fuzz_change_json(struct json_t *root, unsigned *random);

#endif
