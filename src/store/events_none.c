/* SPDX-License-Identifier: MIT
 *
 * TensorBoard where the library was built without protobuf-c. */
#include "base/error.h"
#include "store/events.h"

int events_begin(struct events **out, const char *dir, uint64_t step)
{
    (void)step;
    *out = NULL;
    return sph_fail_of(SPH_EARG, dir, 0, "log",
                       "this build cannot write event files; install libprotobuf-c-dev and "
                       "protobuf-c-compiler, and build again");
}

/* There is none to call the others with. */
void events_free(struct events *events)
{
    (void)events;
}

int events_flush(struct events *events)
{
    (void)events;
    return SPH_EARG;
}

int events_scalar(struct events *events, uint64_t step, const char *tag, double value)
{
    (void)events, (void)step, (void)tag, (void)value;
    return SPH_EARG;
}

int events_histogram(struct events *events, uint64_t step, const char *tag, const double *values,
                     size_t count)
{
    (void)events, (void)step, (void)tag, (void)values, (void)count;
    return SPH_EARG;
}

int events_settings(struct events *events, const char *const *names, const char *const *values, size_t count)
{
    (void)events, (void)names, (void)values, (void)count;
    return SPH_EARG;
}

uint32_t events_sum(const void *bytes, size_t length)
{
    (void)bytes, (void)length;
    return 0;
}
