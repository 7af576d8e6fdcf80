/* SPDX-License-Identifier: MIT
 *
 * Allocations that fail on demand. Test programs are linked with --wrap=mem_get and --wrap=mem_resize, so
 * that every call the library makes of them comes here first. */
#ifndef TESTS_FAULT_H
#define TESTS_FAULT_H

#include <stddef.h>

/* The allocation after the next n ones fails, once; then all succeed again. */
void fault_after(size_t n);
void fault_off(void);

/* Whether the failure has happened since fault_after. */
int fault_happened(void);

#endif
