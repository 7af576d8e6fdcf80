/* SPDX-License-Identifier: MIT
 *
 * A model file of one's own tensors and metadata, gone when the tests are over. */
#ifndef TESTS_MODEL_FILE_H
#define TESTS_MODEL_FILE_H

#include "random_net.h"

#include <stdio.h>
#include <unistd.h>

#include "store/safetensors.h"
#include "spherelu.h"

static char path[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "test_model.%d.safetensors", (int)getpid());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove(path);
    return 0;
}

/* metadata: NULL for none. */
static void write_file(const char *metadata, const struct st_item *items, size_t count)
{
    assert_int_equal(
        safetensors_write(path, items, count, &(struct st_meta){"spherelu", metadata}, metadata ? 1 : 0), 0);
}

#endif
