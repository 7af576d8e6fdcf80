/* SPDX-License-Identifier: MIT
 *
 * Orders for qsort and bsearch. */
#ifndef SPH_BASE_ORDER_H
#define SPH_BASE_ORDER_H

int by_text(const void *a, const void *b);   /* char *, bytewise       */
int by_double(const void *a, const void *b); /* no NaN; -0 is 0        */
int by_u32(const void *a, const void *b);    /* uint32_t               */

#endif
