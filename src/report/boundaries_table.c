/* SPDX-License-Identifier: MIT
 *
 * The boundaries of a network, one row for each unit: for a terminal, as CSV and as JSON. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/open.h"
#include "report/show.h"
#include "report/tool.h"

enum { VECTOR_SHOWN = 3 }; /* elements of phi for a terminal; CSV and JSON have all */

/* What the rows have beyond the columns that are always present. */
struct extra {
    size_t vectors; /* elements of phi and direction; 0: without vectors */
    int net;        /* phi_net */
    int right;      /* offset_right */
};

/* One column for each element. */
static void element_columns(struct table *out, const char *name, size_t n)
{
    for (size_t i = 1; i <= n; i++)
        table_data_column(out, "%s_%zu", name, i);
}

static void add_columns(struct table *out, const struct extra *extra)
{
#define READ(name, shown)                                                                                    \
    {                                                                                                        \
        .head = shown, .csv = name, .json = name, .number = 1, .digits = 4                                   \
    }
    static const struct table_column first[] = {{.head = "layer", .csv = "layer", .number = 1},
                                                {.head = "unit", .csv = "unit", .json = "unit", .number = 1},
                                                READ("norm", "norm"),
                                                READ("offset", "offset")},
                                     right = {.json = "offset_right"},
                                     active = READ("active_share", "active"),
                                     last[] = {{.json = "state"},
                                               {.head = "state", .csv = "state"},
                                               READ("nearest", "nearest"),
                                               {.csv = "pole", .json = "pole"}},
                                     right_csv = {.csv = "offset_right"};
    table_columns(out, first, sizeof first / sizeof *first);
    if (extra->right)
        table_column(out, right);
    table_column(out, active);
    element_columns(out, "phi", extra->vectors);
    table_columns(out, last, sizeof last / sizeof *last);
    if (extra->right)
        table_column(out, right_csv);
    if (!extra->vectors)
        return;
    table_column(out, (struct table_column){.json = "phi"});
    table_column(out, (struct table_column){.json = "direction"});
    element_columns(out, "direction", extra->vectors);
    if (extra->net) {
        table_column(out, (struct table_column){.json = "phi_net"});
        element_columns(out, "phi_net", extra->vectors);
    }
    for (size_t i = 0; i < extra->vectors && i < VECTOR_SHOWN; i++)
        table_made_column(out, (struct table_column){.number = 1, .digits = 4}, "phi_%zu", i + 1);
}

static size_t put_elements(struct table *out, size_t row, size_t column, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        table_number(out, row, column++, values[i]);
    return column;
}

/* The cells of a row in the order of add_columns. */
static void fill_unit(struct table *out, size_t row, const sph_boundary *b, size_t j,
                      const struct extra *extra)
{
    const char *state = sph_word(SPH_WORDS_UNIT_STATE, (int)b->state[j])->word;
    size_t c = 0, n = extra->vectors;
    table_count(out, row, c++, b->layer);
    table_count(out, row, c++, j);
    table_number(out, row, c++, b->norm[j]);
    table_number(out, row, c++, b->offset[j]);
    if (extra->right)
        table_number(out, row, c++, b->offset_right ? b->offset_right[j] : (double)NAN);
    table_number(out, row, c++, b->active_share[j]);
    c = put_elements(out, row, c, b->phi + j * n, n);
    table_words(out, row, c++, state);
    table_words(out, row, c++, b->state[j] == SPH_UNIT_UNKNOWN ? NULL : state);
    table_number(out, row, c++, b->nearest[j]);
    table_number(out, row, c++, b->pole[j]);
    if (extra->right)
        table_number(out, row, c++, b->offset_right ? b->offset_right[j] : (double)NAN);
    if (!n)
        return;
    table_list(out, row, c++, b->phi + j * n, n);
    table_list(out, row, c++, b->direction + j * n, n);
    c = put_elements(out, row, c, b->direction + j * n, n);
    if (extra->net) {
        table_list(out, row, c++, b->phi_net + j * n, n);
        c = put_elements(out, row, c, b->phi_net + j * n, n);
    }
    put_elements(out, row, c, b->phi + j * n, n < VECTOR_SHOWN ? n : VECTOR_SHOWN);
}

/* The units of some layers; vectors: of one layer, with phi and direction. */
static void fill(struct table *out, const sph_boundary *layer, size_t count, int vectors)
{
    struct extra extra = {.vectors = vectors ? layer->n : 0, .net = layer->phi_net != NULL};
    size_t rows = 0, row = 0;
    for (size_t i = 0; i < count; i++) {
        extra.right |= layer[i].offset_right != NULL;
        rows += layer[i].kind != SPH_BOUNDARY_NONE ? layer[i].m : 0;
    }
    add_columns(out, &extra);
    table_rows(out, rows);
    for (size_t i = 0; i < count && row < out->row_count; i++)
        for (size_t j = 0; layer[i].kind != SPH_BOUNDARY_NONE && j < layer[i].m; j++)
            fill_unit(out, row++, &layer[i], j, &extra);
}

/* The names of the network's inputs, in the order of phi and direction. */
static json_t *feature_names(const sph_data *data)
{
    json_t *list = json_array();
    int bad = !list;
    for (size_t i = 0; i < data->features && !bad; i++) {
        char *name = data_feature_name(data, i);
        bad = !name || json_array_append_new(list, json_words(name));
        mem_free(name);
    }
    return json_whole(list, bad);
}

static json_t *layer_to_json(const sph_boundary *b, const sph_data *columns, int vectors)
{
    struct table units = {0};
    int named = vectors && b->raw && columns && columns->features == b->n;
    fill(&units, b, 1, vectors);
    json_t *layer = JSON_OF({"layer", json_count(b->layer)}, {"path", json_words(b->path)},
                            {"kind", json_string(sph_word(SPH_WORDS_BOUNDARY_KIND, (int)b->kind)->word)},
                            {"raw", json_boolean(b->raw)}, {"inputs", json_count(b->n)},
                            JSON_IF(named, "features", feature_names(columns)),
                            {"points", json_count((size_t)b->points)}, {"units", table_to_json(&units)});
    table_free(&units);
    return layer;
}

int sph_boundaries_print(const sph_boundaries *all, const sph_data *columns, int vectors,
                         enum sph_print_format format, const sph_sink *sink)
{
    struct table table = {0};
    struct text out = {0};
    if (format == SPH_PRINT_JSON) {
        json_t *layers = json_array();
        int bad = !layers;
        for (size_t i = 0; i < all->count && !bad; i++)
            bad = json_array_append_new(layers, layer_to_json(&all->layer[i], columns, vectors));
        return show_json(JSON_OF({"layers", json_whole(layers, bad)}), sink);
    }
    fill(&table, all->layer, all->count, vectors);
    int err = table_write(&table, format == SPH_PRINT_CSV ? TABLE_CSV : TABLE_TEXT, &out);
    table_free(&table);
    return show_text(&out, err, sink);
}
