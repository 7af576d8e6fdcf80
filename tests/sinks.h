/* SPDX-License-Identifier: MIT
 *
 * A sink over a stream. */
#ifndef SPH_TESTS_SINKS_H
#define SPH_TESTS_SINKS_H

#include <stdio.h>

#include "spherelu/base.h"

static inline int write_stream(void *self, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, self) == length ? 0 : SPH_EIO;
}

#define STREAM_SINK(stream) (&(sph_sink){(stream), write_stream})

#endif
