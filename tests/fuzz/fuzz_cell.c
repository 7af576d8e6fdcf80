/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: the text of one cell means the same to the fast reader of cells and to the careful one, and numbers
 * are strtod's to the last bit. */
#include <math.h>

#include "data/csv.h"
#include "data/sheet.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { MOST = 500 };
    char text[MOST + 1 + CSV_PAD];
    struct cell slow, fast, decimal;
    size_t used = length < MOST ? length : MOST;
    memcpy(text, bytes, used);
    memset(text + used, 0, 1);
    memset(text + used + 1, '7', CSV_PAD); /* what lies behind means nothing */
    cell_read(&slow, text);
    cell_read_padded(&fast, text);
    if (slow.kind != fast.kind || slow.text != text || fast.text != text ||
        (slow.kind == CELL_NUMBER && memcmp(&slow.value, &fast.value, sizeof slow.value) != 0))
        abort();
    if (slow.kind == CELL_NUMBER && text[strspn(text, "0123456789.eE+-")] == '\0') {
        double value = strtod(text, NULL);
        if (memcmp(&value, &slow.value, sizeof value) != 0)
            abort();
    }
    if (slow.kind == CELL_NUMBER && !isfinite(slow.value))
        abort();
    cell_read_decimal(&decimal, text);
    if (cell_comma(text) == COMMA_NONE && decimal.kind != slow.kind)
        abort();
    return 0;
}
