/* SPDX-License-Identifier: MIT */
#include "report/chart.h"

#include <math.h>

#include "base/error.h"
#include "file/json.h"
#include "report/html.h"
#include "report/scripts.h"

enum { POINTS_MOST = 2000, DIGITS = 7 }; /* POINTS_MOST: of a series, more cannot be told apart */

int charts_drawn(void)
{
    return figure_script_find("charts.js") != NULL;
}

/* Every so many of them. */
static json_t *numbers(const double *values, size_t count)
{
    size_t every = (count + POINTS_MOST - 1) / POINTS_MOST;
    json_t *list = json_array();
    int bad = !list;
    for (size_t i = 0; i < count && !bad; i += every)
        bad = json_array_append_new(list, json_number(values[i]));
    return json_whole(list, bad);
}

static json_t *chart_to_json(const struct chart *chart)
{
    json_t *list = json_array();
    int bad = !list;
    for (size_t i = 0; i < chart->count && !bad; i++) {
        const struct chart_series *s = &chart->series[i];
        bad = json_array_append_new(list,
                                    JSON_OF({"name", json_words(s->name)}, {"dots", json_boolean(s->dots)},
                                            {"x", numbers(s->x, s->count)}, {"y", numbers(s->y, s->count)}));
    }
    return JSON_OF({"x", json_words(chart->x_name)}, {"y", json_words(chart->y_name)},
                   {"log", json_boolean(chart->log_y)}, {"diagonal", json_boolean(chart->diagonal)},
                   {"mark", json_number(chart->mark)}, {"marked", json_words(chart->marked)},
                   {"series", json_whole(list, bad)});
}

/* In a page "</script" would end it, and "<!--" begin a comment. */
static int add_piece(const char *bytes, size_t length, void *self)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] == '<')
            text_add(self, "\\u003c");
        else
            text_add_bytes(self, bytes + i, 1);
    return ((struct text *)self)->failed ? -1 : 0;
}

int chart_add(struct text *html, const struct chart *chart)
{
    json_t *json = charts_drawn() ? chart_to_json(chart) : NULL;
    int err = charts_drawn() && !json ? SPH_EMEMORY : 0;
    text_add(html, "<figure%s>\n", json ? " class=\"chart\"" : "");
    if (json) {
        text_add(html, "<div class=\"plot\"></div>\n<script type=\"application/json\">");
        if (json_dump_callback(json, add_piece, html, JSON_REAL_PRECISION(DIGITS) | JSON_COMPACT))
            err = sph_fail(SPH_EMEMORY, "out of memory: a chart");
        text_add(html, "</script>\n");
    }
    text_add(html, "<figcaption>");
    html_add_text(html, chart->caption);
    text_add(html, "</figcaption>\n%s",
             json ? "<details><summary>Numbers</summary>\n<div class=\"folded\">" : "");
    if (!err)
        err = table_write(chart->table, TABLE_HTML, html);
    text_add(html, "%s</figure>\n", json ? "</div></details>\n" : "");
    table_free(chart->table);
    json_decref(json);
    return err;
}
