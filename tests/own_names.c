/* SPDX-License-Identifier: MIT
 *
 * A program of somebody else, who has functions of the same names as the library has inside: it links, and
 * both sides call their own. */
#include <stdio.h>
#include <string.h>

#ifdef CORE_ALONE
#include "spherelu/core.h"
#else
#include "spherelu.h"
#endif

static int called;

int file_exists(const char *path);
int json_parse(const char *text);
void *mem_get(size_t count, size_t size);

int file_exists(const char *path)
{
    called++;
    return path[0] == 'x';
}

int json_parse(const char *text)
{
    called++;
    return (int)strlen(text);
}

void *mem_get(size_t count, size_t size)
{
    called++;
    return count > size ? &called : NULL;
}

int main(void)
{
    sph_data *data = NULL;
    int err = sph_data_synthetic(&data, "crescents", 10, 0.1, 0);
#ifndef CORE_ALONE
    sph_data *same = NULL;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.rows = 10;
    opts.noise = 0.1;
    err = err ? err : sph_data_open(&same, "crescents", &opts);
    if (!err && memcmp(sph_data_x(data), sph_data_x(same), 20 * sizeof(double)) != 0)
        err = 1;
    sph_data_free(same);
#endif
    sph_data_free(data);
    if (err || called) {
        fprintf(stderr, "%s, and the library called %d of the program's functions\n", sph_error(), called);
        return 1;
    }
    return file_exists("x") + json_parse("ab") + (mem_get(2, 1) != NULL) == 4 && called == 3 ? 0 : 1;
}
