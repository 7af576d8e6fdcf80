/* SPDX-License-Identifier: MIT
 *
 * Dates in tables: 2024-03-31, 2024/3/31, 31.3.2024, 31/3/2024 or 3/31/2024, optionally followed by a time
 * of day: 14:05, 14:05:59.25, with Z or an offset such as +02:00. */
#ifndef SPH_DATA_DATE_H
#define SPH_DATA_DATE_H

#include "data/build.h"

/* The orders in which text is a date, a bit 1 << order each; 0: it is none. *timed: it has a time of day. */
unsigned date_orders(const char *text, int *timed);

/* Days since 1970-01-01, the part of the day included. 0: it is no date in this order. */
int date_read(double *days, const char *text, enum date_order order);

/* x (column_width) <- year, month, day of the week (Monday is 0), days since the column's first, and the hour. */
void date_numbers(double *x, const struct column *column, double days);

/* Features of a text table whose cells are dates become COLUMN_DATE; their order, times and first are set. Where day and
 * month cannot be told apart, order is DATE_ORDERS. A column of dates with something else among them is refused. */
int dates_find(sph_data *data, const struct sheet *sheet);

#endif
