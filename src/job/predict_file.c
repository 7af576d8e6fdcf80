/* SPDX-License-Identifier: MIT
 *
 * A run's predictions as a file that is there whole or not at all. */
#include "file/file.h"
#include "spherelu/job.h"

static int write_piece(void *self, const void *bytes, size_t length)
{
    return file_replace_write(self, bytes, length);
}

int sph_run_predict_file(sph_run *run, const char *source, const char *path)
{
    struct file_replace file;
    int err = file_replace_begin_any(&file, path);
    if (!err)
        err = sph_run_predict(run, source, &(sph_sink){&file, write_piece});
    if (!err)
        err = file_replace_commit(&file);
    file_replace_abort(&file);
    return err;
}
