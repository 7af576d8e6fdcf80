/* SPDX-License-Identifier: MIT
 *
 * Numbers below the smallest normal one (1.2e-38 in f32). A mean that nothing feeds any more, such as Adam's of a unit
 * that is never on, falls by a tenth a step until the tenth rounds to nothing, and stays there: 0.9 times four times the
 * smallest number is four times the smallest number. Some processors take a hundred times as long for each of these.
 *
 * denormals_as_zero: from here on, on this thread, they count as 0 and come out as 0; gives the mode that was, for
 * denormals_mode_set. threads_run hands its caller's mode to its workers. Elsewhere than on x86-64 nothing happens. */
#ifndef SPH_COMPUTE_DENORMALS_H
#define SPH_COMPUTE_DENORMALS_H

#ifdef __x86_64__
#include <xmmintrin.h>

enum { DENORMALS_READ_AS_ZERO = 0x0040, DENORMALS_FLUSHED = 0x8000, DENORMALS_SEEN = 0x003F };

/* Without the flags that tell what has happened: those are the thread's own. */
static inline unsigned denormals_mode(void)
{
    return _mm_getcsr() & ~(unsigned)DENORMALS_SEEN;
}

static inline void denormals_mode_set(unsigned mode)
{
    _mm_setcsr(mode | (_mm_getcsr() & DENORMALS_SEEN));
}

static inline unsigned denormals_as_zero(void)
{
    unsigned was = denormals_mode();
    denormals_mode_set(was | DENORMALS_READ_AS_ZERO | DENORMALS_FLUSHED);
    return was;
}
#else
static inline unsigned denormals_mode(void)
{
    return 0;
}

static inline void denormals_mode_set(unsigned mode)
{
    (void)mode;
}

static inline unsigned denormals_as_zero(void)
{
    return 0;
}
#endif

#endif
