/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: a cell is a date or none, and what is one has a year, a month and a day of the week. */
#include <math.h>
#include <string.h>

#include "data/date.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char text[64];
    int timed;
    size_t n = length < sizeof text - 1 ? length : sizeof text - 1;
    memcpy(text, bytes, n);
    text[n] = '\0';
    unsigned orders = date_orders(text, &timed);
    for (int order = 0; order < DATE_ORDERS; order++) {
        struct column column = {.kind = COLUMN_DATE, .times = 1};
        double days, x[DATE_WIDTH + 1];
        int is_date = date_read(&days, text, (enum date_order)order);
        if (is_date != (int)(orders >> order & 1u))
            abort();
        if (!is_date)
            continue;
        date_numbers(x, &column, days);
        if (!(x[0] >= 0 && x[0] <= 10000 && x[1] >= 1 && x[1] <= 12 && x[2] >= 0 && x[2] < 7 && x[4] >= 0 &&
              x[4] < 24))
            abort();
    }
    return 0;
}
