/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: a batch of ImageNet32 as a pickle, most of the time by its reader alone; what finds the files of a set and
 * puts it together takes ten times as long. */
#include "data/images.h"
#include "data/registry.h"
#include "fuzz.h"

static void read_alone(const char *path, int with_labels)
{
    sph_data *data = calloc(1, sizeof *data);
    if (!data)
        abort();
    struct images images = {.data = data, .files_left = 1, .with_labels = with_labels};
    int err = reader_imagenet32_pickle.read_images(&images, path);
    if (err < 0 && !*sph_error())
        abort();
    double sum = 0;
    size_t pixels = data->image.channels * data->image.height * data->image.width;
    for (size_t i = 0; !err && i < data->rows; i++)
        sum += data->image.pixels[i * pixels + pixels - 1] + (with_labels ? data->y[i] : 0);
    fuzz_sum = sum;
    sph_data_free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const char *path = fuzz_file("val_data", bytes, length);
    unsigned way = fuzz_way(bytes, length, 16);
    if (way)
        read_alone(path, way < 12);
    else
        fuzz_data(path);
    return 0;
}
