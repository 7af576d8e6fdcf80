/* SPDX-License-Identifier: MIT */
#include "report/chart.h"

#include <math.h>

#include "base/error.h"
#include "file/json.h"
#include "report/html.h"
#include "report/scripts.h"

enum { POINTS_MOST = 2000, DIGITS = 7 }; /* POINTS_MOST: of a series; more would not be visible */

int charts_drawn(void)
{
    return figure_script_find("charts.js") != NULL;
}

/* At most POINTS_MOST values, evenly spaced. */
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

int chart_add(struct text *html, const struct chart *chart)
{
    json_t *json = charts_drawn() ? chart_to_json(chart) : NULL;
    int err = charts_drawn() && !json ? SPH_EMEMORY : 0;
    text_add(html, "<figure%s>\n", json ? " class=\"chart\"" : "");
    if (json) {
        text_add(html, "<div class=\"plot\"></div>\n<script type=\"application/json\">");
        err = html_add_json(html, json, DIGITS);
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
