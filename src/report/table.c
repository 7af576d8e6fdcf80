/* SPDX-License-Identifier: MIT */
#include "report/table.h"

#include "base/error.h"

int table_write(const struct comparison *comparison, enum table_format format, struct text *out)
{
    static int (*const writers[])(const struct comparison *, struct text *) = {
        [TABLE_TEXT] = table_add_text, [TABLE_MARKDOWN] = table_add_markdown, [TABLE_LATEX] = table_add_latex,
        [TABLE_CSV] = table_add_csv,   [TABLE_JSON] = table_add_json,
    };
    if ((unsigned)format > TABLE_JSON)
        return sph_fail_key(SPH_EARG, "table", "format %d is unknown", (int)format);
    int err = writers[format](comparison, out);
    return err < 0 ? err : out->failed ? SPH_EMEMORY : 0;
}
