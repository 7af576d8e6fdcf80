/* SPDX-License-Identifier: MIT */
#include "store/architecture.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "base/words.h"

enum { WINDOW_MAX = 65536 }; /* sizes stay far from overflow */

/* ---------------------------------------------------------------- writing */

static json_t *word_json(sph_word_kind kind, int i)
{
    return json_string(sph_word(kind, i)->word);
}

/* What stands behind "signs" is there only where it is not as usual: else files are as they always were. */
static json_t *layer_json(const sph_net *net, const struct net_node *node)
{
    const struct net_layer *layer = &net->layers[node->layer];
    const struct norm_ops *norm = layer->norm;
    const sph_layer *spec = &layer->spec;
    int conv = node->kind == NODE_CONV;
    return JSON_OF({"kind", json_string(conv ? "conv" : "dense")}, {"from", json_integer(node->in[0])},
                   {"path", json_string(layer->path)}, {"units", json_count(spec->units)},
                   {"param", word_json(SPH_WORDS_PARAM, (int)spec->param)},
                   {"norm", word_json(SPH_WORDS_NORM, (int)spec->norm)},
                   {"act", word_json(SPH_WORDS_ACT, (int)spec->act)}, {"signs", json_boolean(spec->signs)},
                   JSON_IF(norm->divides && layer->norm_epsilon != norm_epsilon, "norm_epsilon",
                           json_number(layer->norm_epsilon)),
                   JSON_IF(norm->at_output, "norm_at", word_json(SPH_WORDS_IMN_PLACE, SPH_IMN_AT_OUTPUT)),
                   JSON_IF(norm->adds_bias && !layer->shape.has_bias, "bias",
                           word_json(SPH_WORDS_MBN_BIAS, SPH_MBN_BIAS_NONE)),
                   JSON_IF(param_reorders(layer->ops, &layer->shape), "angle_order",
                           word_json(SPH_WORDS_ANGLE_ORDER, (int)spec->details.angle_order)),
                   JSON_IF(norm->grouped, "norm_groups", json_count(spec->norm_groups)),
                   JSON_IF(conv, "kernel", json_count(spec->kernel)),
                   JSON_IF(conv, "stride", json_count(spec->stride)),
                   JSON_IF(conv, "pad", json_count(spec->pad)),
                   JSON_IF(conv && layer_groups(layer) > 1, "groups", json_count(spec->groups)));
}

/* A pool whose window is the whole image is written as what it is. */
static json_t *pool_json(const struct net_node *node)
{
    const struct window *w = &node->window;
    if (node->kind == NODE_AVG_POOL && w->kernel_height == w->height && w->kernel_width == w->width &&
        !w->pad)
        return json_pack("{s:s, s:i}", "kind", "global_pool", "from", node->in[0]);
    return json_pack("{s:s, s:i, s:I, s:I, s:I}", "kind",
                     node->kind == NODE_MAX_POOL ? "max_pool" : "avg_pool", "from", node->in[0], "kernel",
                     (json_int_t)w->kernel_height, "stride", (json_int_t)w->stride, "pad",
                     (json_int_t)w->pad);
}

static json_t *node_json(const sph_net *net, const struct net_node *node)
{
    switch (node->kind) {
    case NODE_INPUT:
        if (node_pixels(node) == 1)
            return json_pack("{s:s, s:I}", "kind", "input", "features", (json_int_t)node->channels);
        return json_pack("{s:s, s:I, s:I, s:I}", "kind", "image", "channels", (json_int_t)node->channels,
                         "height", (json_int_t)node->height, "width", (json_int_t)node->width);
    case NODE_ADD:
        return json_pack("{s:s, s:[i,i]}", "kind", "add", "from", node->in[0], node->in[1]);
    case NODE_ACT:
        return json_pack("{s:s, s:i, s:s}", "kind", "act", "from", node->in[0], "act",
                         sph_word(SPH_WORDS_ACT, (int)node->act)->word);
    case NODE_MAX_POOL:
    case NODE_AVG_POOL:
        return pool_json(node);
    default:
        return layer_json(net, node);
    }
}

int architecture_of(json_t **out, const sph_net *net)
{
    *out = NULL;
    for (size_t l = 0; l < net->layer_count; l++)
        if (!text_is_utf8(net->layers[l].path))
            return sph_fail(SPH_EARG, "layer %zu: its path is not UTF-8", l);
    json_t *nodes = json_array();
    int missing = !nodes;
    for (size_t i = 0; i < net->node_count; i++)
        missing |= json_array_append_new(nodes, node_json(net, &net->nodes[i])) < 0;
    json_t *architecture =
        json_pack("{s:s, s:o, s:i}", "dtype", sph_word(SPH_WORDS_DTYPE, (int)net->dtype)->word, "nodes",
                  nodes, "output", net->output);
    if (missing || !architecture) {
        json_decref(architecture);
        return sph_fail(SPH_EMEMORY, "out of memory while describing the net");
    }
    *out = architecture;
    return 0;
}

/* ---------------------------------------------------------------- reading */

/* keys: parted by blanks. */
static int has_key(const char *keys, const char *key)
{
    size_t n = strlen(key), length;
    for (; *keys; keys += length + (keys[length] == ' '))
        if ((length = strcspn(keys, " ")) == n && !strncmp(keys, key, n))
            return 1;
    return 0;
}

static int known_keys(const json_t *object, const char *where, const char *keys)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        if (!has_key(keys, key))
            return sph_fail_of(SPH_EFORMAT, where, 0, key, "unknown key \"%.80s\"", key);
    }
    return 0;
}

static int earlier_node(size_t from, size_t node, const char *where)
{
    if (from < node)
        return 0;
    return sph_fail_of(SPH_EFORMAT, where, 0, "from", "\"from\" is %zu, expected an earlier node", from);
}

static int optional_word(const json_t *object, const char *where, const char *key, sph_word_kind kind,
                         int *out)
{
    *out = 0;
    return json_object_get(object, key) ? json_member_word(object, where, key, sph_word(kind, 0), out) : 0;
}

static int read_details(const json_t *node, const char *where, sph_details *out)
{
    int place, bias, order, err;
    if ((err = optional_word(node, where, "norm_at", SPH_WORDS_IMN_PLACE, &place)) < 0 ||
        (err = optional_word(node, where, "bias", SPH_WORDS_MBN_BIAS, &bias)) < 0 ||
        (err = optional_word(node, where, "angle_order", SPH_WORDS_ANGLE_ORDER, &order)) < 0)
        return err;
    *out = (sph_details){.imn_at = (sph_imn_place)place,
                         .mbn_bias = (sph_mbn_bias)bias,
                         .angle_order = (sph_angle_order)order};
    if (!json_object_get(node, "norm_epsilon"))
        return 0;
    if ((err = json_member_real(node, where, "norm_epsilon", &out->norm_epsilon)) < 0)
        return err;
    return out->norm_epsilon > 0
               ? 0
               : sph_fail_of(SPH_EFORMAT, where, 0, "norm_epsilon",
                             "\"norm_epsilon\" is %g, expected a number above 0", out->norm_epsilon);
}

/* What dense and conv layers have in common. */
static int read_layer(const sph_net *net, const json_t *node, const char *where, sph_layer *layer)
{
    int param = 0, norm = 0, act = 0, err;
    if ((err = json_member_text(node, where, "path", &layer->path)) < 0 ||
        (err = json_member_size(node, where, "units", &layer->units)) < 0 ||
        (err = json_member_word(node, where, "param", sph_word(SPH_WORDS_PARAM, 0), &param)) < 0 ||
        (err = json_member_word(node, where, "norm", sph_word(SPH_WORDS_NORM, 0), &norm)) < 0 ||
        (err = json_member_word(node, where, "act", sph_word(SPH_WORDS_ACT, 0), &act)) < 0 ||
        (err = json_member_bool(node, where, "signs", &layer->signs)) < 0 ||
        (err = read_details(node, where, &layer->details)) < 0)
        return err;
    size_t longest = sizeof net->layers->path - 1, length = strlen(layer->path);
    if (!length || length > longest)
        return sph_fail_of(SPH_EFORMAT, where, 0, "path", "\"path\" has %zu bytes, expected 1 to %zu", length,
                           longest);
    layer->param = (sph_param)param;
    layer->norm = (sph_norm)norm;
    layer->act = (sph_act)act;
    if (!norm_ops(layer->norm)->grouped && !json_object_get(node, "norm_groups"))
        return 0;
    if ((err = json_member_size(node, where, "norm_groups", &layer->norm_groups)) < 0)
        return err;
    return layer->norm_groups ? 0
                              : sph_fail_of(SPH_EFORMAT, where, 0, "norm_groups",
                                            "\"norm_groups\" is 0, expected 1 or more");
}

/* The members of a node, of whatever kind. */
struct members {
    size_t from, in[2];
    size_t features, channels, height, width;
    sph_layer layer; /* kernel, stride and pad also of pools, act also of an activation alone */
};

static int read_window(const json_t *node, const char *where, sph_layer *out)
{
    int err;
    if ((err = json_member_size(node, where, "kernel", &out->kernel)) < 0 ||
        (err = json_member_size(node, where, "stride", &out->stride)) < 0 ||
        (err = json_member_size(node, where, "pad", &out->pad)) < 0)
        return err;
    if (out->kernel > WINDOW_MAX || out->stride > WINDOW_MAX)
        return sph_fail_at(SPH_EFORMAT, where, "a window of %zu every %zu pixels, expected at most %d",
                           out->kernel, out->stride, WINDOW_MAX);
    return 0;
}

static int make_input(sph_net *net, const json_t *node, const char *where, struct members *m)
{
    int err = json_member_size(node, where, "features", &m->features);
    return err < 0 ? err : sph_net_input(net, m->features);
}

static int make_image(sph_net *net, const json_t *node, const char *where, struct members *m)
{
    int err;
    if ((err = json_member_size(node, where, "channels", &m->channels)) < 0 ||
        (err = json_member_size(node, where, "height", &m->height)) < 0 ||
        (err = json_member_size(node, where, "width", &m->width)) < 0)
        return err;
    if (m->channels > WINDOW_MAX || m->height > WINDOW_MAX || m->width > WINDOW_MAX)
        return sph_fail_at(SPH_EFORMAT, where, "an image of %zu x %zu x %zu, expected at most %d each",
                           m->channels, m->height, m->width, WINDOW_MAX);
    return sph_net_image(net, m->channels, m->height, m->width);
}

static int make_dense(sph_net *net, const json_t *node, const char *where, struct members *m)
{
    int err = read_layer(net, node, where, &m->layer);
    return err < 0 ? err : sph_net_dense(net, (int)m->from, &m->layer);
}

static int make_conv(sph_net *net, const json_t *node, const char *where, struct members *m)
{
    int err = read_layer(net, node, where, &m->layer);
    if (!err)
        err = read_window(node, where, &m->layer);
    if (!err && json_object_get(node, "groups"))
        err = json_member_size(node, where, "groups", &m->layer.groups);
    return err < 0 ? err : sph_net_conv(net, (int)m->from, &m->layer);
}

static int make_max_pool(sph_net *net, const json_t *node, const char *where, struct members *m)
{
    int err = read_window(node, where, &m->layer);
    return err < 0 ? err
                   : sph_net_max_pool(net, (int)m->from, m->layer.kernel, m->layer.stride, m->layer.pad);
}

static int make_avg_pool(sph_net *net, const json_t *node, const char *where, struct members *m)
{
    int err = read_window(node, where, &m->layer);
    return err < 0 ? err
                   : sph_net_avg_pool(net, (int)m->from, m->layer.kernel, m->layer.stride, m->layer.pad);
}

static int make_global_pool(sph_net *net, const json_t *node, const char *where, struct members *m)
{
    (void)node, (void)where;
    return sph_net_global_pool(net, (int)m->from);
}

static int make_add(sph_net *net, const json_t *node, const char *where, struct members *m)
{
    const json_t *from;
    int err = json_member_array(node, where, "from", &from);
    for (size_t i = 0; i < 2 && !err; i++) {
        const json_t *value = json_array_get(from, i);
        if (json_array_size(from) != 2 || !json_is_integer(value) || json_integer_value(value) < 0)
            return sph_fail_of(SPH_EFORMAT, where, 0, "from", "\"from\" of an addition must be two nodes");
        m->in[i] = (size_t)json_integer_value(value);
        err = earlier_node(m->in[i], net->node_count, where);
    }
    return err < 0 ? err : sph_net_add(net, (int)m->in[0], (int)m->in[1]);
}

static int make_act(sph_net *net, const json_t *node, const char *where, struct members *m)
{
    int act, err = json_member_word(node, where, "act", sph_word(SPH_WORDS_ACT, 0), &act);
    return err < 0 ? err : sph_net_act(net, (int)m->from, (sph_act)act);
}

#define LAYER_KEYS "kind from path units param norm act norm_groups norm_epsilon norm_at signs bias "

/* Each kind of node with its keys; from: it reads one earlier node. */
static const sph_word_row kinds[] = {{"input", "kind features"},
                                     {"image", "kind channels height width"},
                                     {"dense", LAYER_KEYS},
                                     {"conv", LAYER_KEYS "kernel stride pad groups angle_order"},
                                     {"max_pool", "kind from kernel stride pad"},
                                     {"avg_pool", "kind from kernel stride pad"},
                                     {"global_pool", "kind from"},
                                     {"add", "kind from"},
                                     {"act", "kind from act"},
                                     {NULL, NULL}};
static const struct {
    int from;
    int (*make)(sph_net *, const json_t *, const char *, struct members *);
} makers[] = {{0, make_input},    {0, make_image},       {1, make_dense}, {1, make_conv}, {1, make_max_pool},
              {1, make_avg_pool}, {1, make_global_pool}, {0, make_add},   {1, make_act}};

static int build_node(sph_net *net, const json_t *node, const char *where)
{
    struct members members = {.layer.size = sizeof(sph_layer)};
    int kind = 0, err;
    if ((err = json_member_word(node, where, "kind", kinds, &kind)) < 0 ||
        (err = known_keys(node, where, kinds[kind].help)) < 0 ||
        (makers[kind].from && ((err = json_member_size(node, where, "from", &members.from)) < 0 ||
                               (err = earlier_node(members.from, net->node_count, where)) < 0)))
        return err;
    err = makers[kind].make(net, node, where, &members);
    if (err < 0 && strcmp(sph_failure()->path, where)) /* the net's own refusal */
        sph_fail_move(err, where, 0, 1);
    return err < 0 ? err : 0;
}

static int build_nodes(sph_net *net, const json_t *nodes, const char *where)
{
    int err = 0;
    if (!json_array_size(nodes) || json_array_size(nodes) > INT_MAX)
        return sph_fail_of(SPH_EFORMAT, where, 0, "nodes", "\"nodes\" is empty");
    for (size_t i = 0; i < json_array_size(nodes) && !err; i++) {
        char here[512];
        snprintf(here, sizeof here, "%.460s: node %zu", where, i);
        err = build_node(net, json_array_get(nodes, i), here);
    }
    return err;
}

int architecture_build(sph_net **out, int *output, const json_t *architecture, const char *where)
{
    const json_t *nodes = NULL;
    size_t last = 0;
    int dtype = 0, err;
    if ((err = known_keys(architecture, where, "dtype nodes output")) < 0 ||
        (err = json_member_word(architecture, where, "dtype", sph_word(SPH_WORDS_DTYPE, 0), &dtype)) < 0 ||
        (err = json_member_array(architecture, where, "nodes", &nodes)) < 0 ||
        (err = json_member_size(architecture, where, "output", &last)) < 0)
        return err;
    sph_net *net = NULL;
    if ((err = sph_net_new(&net, (sph_dtype)dtype)) < 0)
        return err;
    err = build_nodes(net, nodes, where);
    if (!err && last + 1 != net->node_count)
        err = sph_fail_of(SPH_EFORMAT, where, 0, "output", "\"output\" is %zu, expected the last node, %zu",
                          last, net->node_count - 1);
    if (!err && !net->layer_count)
        err = sph_fail_at(SPH_EFORMAT, where, "the network has no layer");
    if (err < 0) {
        sph_net_free(net);
        return err;
    }
    *out = net;
    *output = (int)last;
    return 0;
}

int architecture_same_angles(const json_t *architecture, const sph_net *net, const char *path)
{
    const json_t *nodes = json_object_get(architecture, "nodes"), *node;
    size_t i;
    json_array_foreach(nodes, i, node)
    {
        const char *name = json_string_value(json_object_get(node, "path"));
        const char *there = json_string_value(json_object_get(node, "angle_order"));
        for (size_t l = 0; name && l < net->layer_count; l++) {
            const struct net_layer *layer = &net->layers[l];
            const char *here = sph_word(SPH_WORDS_ANGLE_ORDER, (int)layer->shape.order)->word;
            if (!there)
                there = sph_word(SPH_WORDS_ANGLE_ORDER, SPH_ANGLES_CHW)->word;
            if (layer->ops->tensor[0].extent == PARAM_ANGLES && layer->shape.area > 1 &&
                !strcmp(layer->path, name) && strcmp(here, there) != 0)
                return sph_fail_of(
                    SPH_EARG, path, 0, layer->path,
                    "%s: the order of its angles is %s in the file, but %s here; use --angle-order %s",
                    layer->path, there, here, there);
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- comparing */

/* A scalar as a word; lists and the missing are not shown. */
static const char *shown(const json_t *value, char *room, size_t size)
{
    if (json_is_string(value))
        snprintf(room, size, "%.60s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(room, size, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(room, size, "%g", json_real_value(value));
    else if (json_is_boolean(value))
        snprintf(room, size, "%s", json_is_true(value) ? "true" : "false");
    else
        snprintf(room, size, "%s", value ? "others" : "none");
    return room;
}

static int member_differs(const json_t *there, const json_t *here, const char *name, const char *key,
                          char *text, size_t size)
{
    char a[64], b[64];
    const json_t *old = json_object_get(there, key), *new = json_object_get(here, key);
    if ((!old && !new) || json_equal(old, new))
        return 0;
    shown(old, a, sizeof a);
    shown(new, b, sizeof b);
    if (!strcmp(key, "units") || !strcmp(key, "features"))
        snprintf(text, size, "%s has %s %s in the file, %s here", name, a, key, b);
    else
        snprintf(text, size, "%s has %s %s in the file, %s here", name, key, a, b);
    return 1;
}

int architecture_difference(const json_t *there, const json_t *here, char *text, size_t size)
{
    static const char *const keys[] = {
        "kind",        "from",   "path",   "features",     "channels", "height", "width",
        "units",       "kernel", "stride", "pad",          "groups",   "param",  "norm",
        "norm_groups", "act",    "signs",  "norm_epsilon", "norm_at",  "bias",   "angle_order"};
    if (json_equal(there, here))
        return 0;
    if (member_differs(there, here, "it", "dtype", text, size))
        return 1;
    const json_t *old = json_object_get(there, "nodes"), *new = json_object_get(here, "nodes");
    size_t olds = json_array_size(old), news = json_array_size(new);
    for (size_t i = 0; i < olds && i < news; i++) {
        const json_t *a = json_array_get(old, i), *b = json_array_get(new, i);
        const char *path = json_string_value(json_object_get(b, "path"));
        char name[112];
        if (path)
            snprintf(name, sizeof name, "%.100s", path);
        else
            snprintf(name, sizeof name, i ? "node %zu" : "the input", i);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (member_differs(a, b, name, keys[k], text, size))
                return 1;
    }
    if (olds != news)
        snprintf(text, size, "it has %zu nodes in the file, %zu here", olds, news);
    else
        snprintf(text, size, "their descriptions differ");
    return 1;
}
