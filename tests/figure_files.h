/* SPDX-License-Identifier: MIT
 *
 * What tests of figures share: a folder of their own, pictures read back and taken apart. */
#ifndef TESTS_FIGURE_FILES_H
#define TESTS_FIGURE_FILES_H

#include <stdlib.h>
#include <unistd.h>

#include "support.h"

#include "file/file.h"
#include "report/gnuplot.h"
#include "report/tool.h"
#include "skip.h"

static char home[64];

SUPPORT int make_home(void **state)
{
    (void)state;
    snprintf(home, sizeof home, "/tmp/spherelu-figure-XXXXXX");
    return mkdtemp(home) ? 0 : -1;
}

SUPPORT int remove_home(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command);
}

/* home/name; the last four stay valid. */
SUPPORT const char *at_home(const char *name)
{
    static char path[4][256];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", home, name);
    return path[next];
}

SUPPORT char *read_home(const char *name, size_t *length)
{
    char *bytes = NULL;
    assert_int_equal(file_read(&bytes, length, at_home(name)), 0);
    return bytes;
}

SUPPORT void write_home(const char *name, const char *text)
{
    assert_int_equal(file_replace_with(at_home(name), text, strlen(text)), 0);
}

/* name.png, .svg, .pdf are there and begin as such files do. */
SUPPORT void check_pictures(const char *name)
{
    static const char *const ending[] = {"png", "svg", "pdf"}, *const begins[] = {"\x89PNG", "<?xml", "%PDF"};
    for (int i = 0; i < 3; i++) {
        char file[128];
        size_t length;
        snprintf(file, sizeof file, "%s.%s", name, ending[i]);
        char *bytes = read_home(file, &length);
        assert_true(length > 1000);
        assert_memory_equal(bytes, begins[i], 4);
        mem_free(bytes);
    }
}

SUPPORT int same_files(const char *a, const char *b)
{
    size_t na, nb;
    char *bytes_a = read_home(a, &na), *bytes_b = read_home(b, &nb);
    int same = na == nb && !memcmp(bytes_a, bytes_b, na);
    mem_free(bytes_a);
    mem_free(bytes_b);
    return same;
}

SUPPORT int gnuplot_found(void)
{
    char path[4096];
    return sph_gnuplot(path, sizeof path) != NULL;
}

#define NEEDS_GNUPLOT()                                                                                      \
    if (!gnuplot_found())                                                                                    \
    skip_because("there is no gnuplot")

#endif
