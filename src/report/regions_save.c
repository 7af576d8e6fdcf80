/* SPDX-License-Identifier: MIT
 *
 * Regions into a folder: numbers and picture. */
#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "report/regions.h"
#include "spherelu.h"

static int write_piece(void *self, const void *bytes, size_t length)
{
    return file_replace_write(self, bytes, length);
}

int sph_regions_save(const sph_regions *regions, const char *dir)
{
    struct file_replace file = {0};
    int err = file_make_directory(dir);
    if (err < 0)
        return err;
    char *path = file_join(dir, "regions.json");
    if (!path)
        return SPH_EMEMORY;
    if (!(err = file_replace_begin(&file, path)) &&
        !(err = sph_regions_json(regions, &(sph_sink){&file, write_piece})))
        err = file_replace_commit(&file);
    file_replace_abort(&file);
    mem_free(path);
    return err < 0 ? err : regions_figure(regions, dir, "regions");
}
