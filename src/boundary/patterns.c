/* SPDX-License-Identifier: MIT */
#include "boundary/patterns.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "boundary/watch.h"

struct patterns {
    sph_net *net;                /* borrowed */
    const struct source *source; /* borrowed */
    struct watch *watch;
    size_t rows;
    struct patterns_site *site; /* (sites) */
    size_t sites;
    size_t *of_node; /* (nodes) its site, or NET_NOWHERE */
    size_t bytes;    /* of a record */
    unsigned char *record[2];
    int now;    /* which of them is filled next */
    int before; /* the other one holds a record */

    /* for telling patterns apart */
    uint64_t *hash;     /* (rows) of one site         */
    uint64_t *hash_all; /* (rows) of all sites so far */
    uint32_t *slot;     /* (slots) 1 + a row, 0: none */
    size_t slots;       /* a power of two             */
    struct mem_owned owned;
};

/* ---------------------------------------------------------------- sites and the record */

static int has_boundary(const sph_net *net, const struct net_node *node)
{
    if (node->kind == NODE_DENSE || node->kind == NODE_CONV)
        return net->layers[node->layer].act->breaks > 0;
    return node->kind == NODE_ACT && act_ops(node->act)->breaks;
}

static void find_sites(struct patterns *p)
{
    size_t at = sizeof(uint64_t);
    for (size_t i = 0; i < p->net->node_count; i++) {
        const struct net_node *node = &p->net->nodes[i];
        p->of_node[i] = NET_NOWHERE;
        if (!has_boundary(p->net, node))
            continue;
        struct patterns_site *site = &p->site[p->sites];
        if (node->kind == NODE_ACT)
            snprintf(site->path, sizeof site->path, "act.%zu", i);
        else
            memcpy(site->path, p->net->layers[node->layer].path, sizeof site->path);
        site->features = node_features(node);
        site->bytes = (site->features + 7) / 8;
        site->at = at;
        at += p->rows * site->bytes + 2 * sizeof(uint64_t);
        p->of_node[i] = p->sites++;
    }
    p->bytes = at + 2 * sizeof(uint64_t);
}

int patterns_new(struct patterns **out, sph_net *net, const struct source *source)
{
    struct patterns *p = *out = mem_get(1, sizeof *p);
    int err = SPH_EMEMORY;
    if (!p)
        return err;
    p->net = net;
    p->source = source;
    p->rows = source->rows;
    p->site = mem_own(&p->owned, net->node_count, sizeof *p->site);
    p->of_node = mem_own(&p->owned, net->node_count, sizeof *p->of_node);
    if (p->owned.failed)
        goto fail;
    find_sites(p);
    for (p->slots = 16; p->slots < 2 * p->rows;)
        p->slots *= 2;
    p->record[0] = mem_own(&p->owned, p->bytes, 1);
    p->record[1] = mem_own(&p->owned, p->bytes, 1);
    p->hash = mem_own(&p->owned, p->rows, sizeof *p->hash);
    p->hash_all = mem_own(&p->owned, p->rows, sizeof *p->hash_all);
    p->slot = mem_own(&p->owned, p->slots, sizeof *p->slot);
    if (p->owned.failed || (err = watch_new(&p->watch, net)) < 0)
        goto fail;
    return 0;
fail:
    patterns_free(p);
    *out = NULL;
    return err;
}

void patterns_free(struct patterns *p)
{
    if (!p)
        return;
    watch_free(p->watch);
    mem_free_owned(&p->owned);
    mem_free(p);
}

size_t patterns_rows(const struct patterns *p)
{
    return p->rows;
}

size_t patterns_sites(const struct patterns *p)
{
    return p->sites;
}

const struct patterns_site *patterns_site(const struct patterns *p, size_t index)
{
    return &p->site[index];
}

size_t patterns_bytes(const struct patterns *p)
{
    return p->bytes;
}

/* ---------------------------------------------------------------- bits */

/* bits <- which of these features are on; scale: of their units, of pixels features each. */
static void pack(unsigned char *bits, const double *value, size_t features, size_t pixels,
                 const double *scale)
{
    for (size_t f = 0; f < features; f += 8) {
        size_t count = features - f < 8 ? features - f : 8;
        unsigned byte = 0;
        for (size_t i = 0; i < count; i++) {
            double v = value[f + i];
            int on = scale && scale[(f + i) / pixels] < 0 ? v < 0 : v > 0;
            byte |= (unsigned)on << (7 - i);
        }
        bits[f / 8] = (unsigned char)byte;
    }
}

static void see(void *self, const struct watched *seen)
{
    struct patterns *p = self;
    if (p->of_node[seen->node] == NET_NOWHERE)
        return;
    const struct patterns_site *site = &p->site[p->of_node[seen->node]];
    unsigned char *bits = p->record[p->now] + site->at + seen->row * site->bytes;
    size_t pixels = node_pixels(&p->net->nodes[seen->node]);
    for (size_t i = 0; i < seen->rows; i++)
        pack(bits + i * site->bytes, seen->value + i * site->features, site->features, pixels, seen->scale);
}

/* ---------------------------------------------------------------- flips */

static uint64_t word_at(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static uint64_t count_flips(const unsigned char *a, const unsigned char *b, size_t length)
{
    uint64_t flips = 0;
    size_t i = 0;
    for (; i + sizeof(uint64_t) <= length; i += sizeof(uint64_t))
        flips += (unsigned)__builtin_popcountll(word_at(a + i) ^ word_at(b + i));
    for (; i < length; i++)
        flips += (unsigned)__builtin_popcount((unsigned)(a[i] ^ b[i]));
    return flips;
}

/* ---------------------------------------------------------------- different patterns */

static uint64_t hash_bytes(uint64_t hash, const unsigned char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, length - i < sizeof word ? length - i : sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

static int same_rows(const struct patterns *p, size_t first, size_t sites, size_t a, size_t b)
{
    for (size_t s = first; s < first + sites; s++) {
        const struct patterns_site *site = &p->site[s];
        const unsigned char *bits = p->record[p->now] + site->at;
        if (memcmp(bits + a * site->bytes, bits + b * site->bytes, site->bytes) != 0)
            return 0;
    }
    return 1;
}

/* Of the rows in these sites; hash: of each row there. */
static uint64_t count_distinct(struct patterns *p, const uint64_t *hash, size_t first, size_t sites)
{
    uint64_t distinct = 0;
    memset(p->slot, 0, p->slots * sizeof *p->slot);
    for (size_t row = 0; row < p->rows; row++) {
        size_t at = hash[row] & (p->slots - 1);
        for (; p->slot[at]; at = (at + 1) & (p->slots - 1)) {
            size_t other = p->slot[at] - 1;
            if (hash[other] == hash[row] && same_rows(p, first, sites, other, row))
                break;
        }
        distinct += !p->slot[at];
        if (!p->slot[at])
            p->slot[at] = (uint32_t)row + 1;
    }
    return distinct;
}

static unsigned char *put(unsigned char *to, uint64_t value)
{
    memcpy(to, &value, sizeof value);
    return to + sizeof value;
}

static void count(struct patterns *p)
{
    unsigned char *now = p->record[p->now];
    const unsigned char *before = p->record[!p->now];
    uint64_t flips = 0;
    memset(p->hash_all, 0, p->rows * sizeof *p->hash_all);
    for (size_t s = 0; s < p->sites; s++) {
        const struct patterns_site *site = &p->site[s];
        const unsigned char *bits = now + site->at;
        size_t length = p->rows * site->bytes;
        for (size_t row = 0; row < p->rows; row++) {
            p->hash[row] = hash_bytes(0, bits + row * site->bytes, site->bytes);
            p->hash_all[row] = hash_bytes(p->hash_all[row], bits + row * site->bytes, site->bytes);
        }
        uint64_t flipped = p->before ? count_flips(bits, before + site->at, length) : 0;
        put(put(now + site->at + length, flipped), count_distinct(p, p->hash, s, 1));
        flips += flipped;
    }
    put(put(now + p->bytes - 2 * sizeof(uint64_t), flips), count_distinct(p, p->hash_all, 0, p->sites));
}

int patterns_take(struct patterns *p, uint64_t step, const void **record)
{
    int err = watch_run(p->watch, p->source, see, p);
    if (err < 0)
        return err;
    put(p->record[p->now], step);
    count(p);
    *record = p->record[p->now];
    p->now = !p->now;
    p->before = 1;
    return 0;
}

void *patterns_go_on(struct patterns *p)
{
    p->before = 1;
    return p->record[!p->now];
}
