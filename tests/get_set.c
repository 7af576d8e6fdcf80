/* SPDX-License-Identifier: MIT
 *
 * Downloads a set that no table knows, by the public interface:
 *   get_set FILE PATH URL SHA256 [archive]
 * FILE ends in / for a folder of images. Prints what failed as "code key: text". */
#include <spherelu.h>
#include <stdio.h>
#include <string.h>

#include "data/tool.h"

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    char file[256];
    size_t length = strlen(argv[1]), files = 0;
    int folder = length && argv[1][length - 1] == '/';
    snprintf(file, sizeof file, "%.*s", (int)length - folder, argv[1]);
    sph_data_file one = {.url = argv[3], .sha256 = argv[4], .path = argv[2], .archive = argc > 5};
    sph_data_set set = {.name = "own", .file = file, .images = folder, .files = &one, .file_count = 1};
    int err = sph_data_get(&set, NULL, NULL, NULL);
    if (!err)
        err = sph_data_verify(&set, &files);
    if (err) {
        fprintf(stderr, "%d %s: %s\n", err, sph_failure()->key, sph_error());
        return 1;
    }
    printf("%zu\n", files);
    return 0;
}
