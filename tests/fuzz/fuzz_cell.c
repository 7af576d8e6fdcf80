/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: the text of one cell means the same to the fast reader of numbers and to the careful one of cells, and numbers
 * are strtod's to the last bit. */
#include <math.h>

#include "data/number.h"
#include "data/sheet.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { MOST = 500 };
    char text[MOST + 1 + NUMBER_AHEAD];
    struct cell slow, decimal;
    double fast;
    size_t used = length < MOST ? length : MOST;
    memcpy(text, bytes, used);
    memset(text + used, 0, 1);
    memset(text + used + 1, '7', NUMBER_AHEAD); /* what lies behind means nothing */
    cell_read(&slow, text);
    const char *behind = number_read(text, text + sizeof text, &fast);
    if (slow.text != text || (behind && !*behind && isfinite(fast) &&
                              (slow.kind != CELL_NUMBER || memcmp(&slow.value, &fast, sizeof fast) != 0)))
        abort();
    if (slow.kind == CELL_NUMBER && text[strspn(text, "0123456789.eE+-")] == '\0') {
        double value = strtod(text, NULL);
        if (memcmp(&value, &slow.value, sizeof value) != 0)
            abort();
    }
    if (slow.kind == CELL_NUMBER && !isfinite(slow.value))
        abort();
    cell_read_decimal(&decimal, text);
    if (used < 64 && !strpbrk(text, ",.") && decimal.kind != slow.kind)
        abort();
    return 0;
}
