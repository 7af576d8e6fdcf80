/* SPDX-License-Identifier: MIT
 *
 * Observers: those that look on, and one that stops a training from outside. */
#include "base/error.h"
#include "train/trainer.h"

int observers_tell(const sph_observer *observers, size_t count, const sph_view *view, enum moment moment)
{
    int stop = 0;
    for (size_t i = 0; i < count; i++) {
        const sph_observer *o = &observers[i];
        int (*call)(void *, const sph_view *) = moment == AT_START   ? o->start
                                                : moment == AT_STEP  ? o->step
                                                : moment == AT_EPOCH ? o->epoch
                                                                     : o->end;
        int answer = call ? call(o->self, view) : 0;
        if (answer < 0) /* an observer failed: its message stands, if it has one */
            return sph_failure()->code == answer ? answer : sph_fail(answer, "an observer failed");
        stop |= answer;
    }
    return stop;
}

/* ---------------------------------------------------------------- stopping from outside */

static int stop_if_set(void *self, const sph_view *view)
{
    (void)view;
    return __atomic_load_n((const volatile int *)self, __ATOMIC_RELAXED) != 0;
}

void sph_stop_observer(const volatile int *flag, sph_observer *out)
{
    if (!flag || !out)
        return;
    *out = (sph_observer){.self = (void *)flag, .step = stop_if_set};
}
