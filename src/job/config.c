/* SPDX-License-Identifier: MIT */
#include "job/config.h"

#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "job/nodes.h"

enum { SECTIONS = 3 };

static const char *const sections[SECTIONS] = {"data", "net", "train"};

/* The files' word for a section of the table; "" is the top level. */
static const char *section_word(enum option_id id)
{
    const char *section = option_row(id)->section;
    return !strcmp(section, "training") ? "train" : !strcmp(section, "run") ? "" : section;
}

/* ---------------------------------------------------------------- writing */

void config_write_value(struct yaml_out *out, const struct sph_job *job, enum option_id id)
{
    const struct option_sizes *hidden = &job->options.hidden;
    const char *text = id == OPTION_HIDDEN ? "" : options_text(job, id);
    if (!text) {
        out->failed = 1;
    } else if (id == OPTION_HIDDEN) {
        yaml_list(out);
        for (size_t i = 0; i < hidden->count; i++)
            yaml_number(out, hidden->list[i]);
        yaml_list_end(out);
    } else if (option_is_number(id) || id == OPTION_BATCH) {
        yaml_key(out, text);
    } else {
        yaml_text(out, text);
    }
}

void config_write_section(struct yaml_out *out, const struct sph_job *job, const char *section)
{
    if (*section) {
        yaml_key(out, section);
        yaml_map_block(out);
    }
    for (int i = 0; i < OPTION_COUNT; i++) {
        enum option_id id = (enum option_id)i;
        if (!job->set[i] || id == OPTION_OUT || strcmp(section_word(id), section))
            continue;
        yaml_key(out, option_key(id));
        config_write_value(out, job, id);
    }
    if (*section)
        yaml_map_end(out);
}

int config_end(struct yaml_out *out, struct text *text, char **whole)
{
    int err = yaml_end(out);
    if (err < 0)
        text_free(text);
    else
        *whole = text->chars;
    return err;
}

int config_write(const struct sph_job *job, char **whole)
{
    struct text text = {0};
    struct yaml_out out;
    text_add(&text, "# everything needed to repeat this run\n");
    yaml_begin(&out, &text);
    yaml_pair(&out, "version", sph_version());
    config_write_section(&out, job, "");
    for (size_t i = 0; i < SECTIONS; i++)
        config_write_section(&out, job, sections[i]);
    return config_end(&out, &text, whole);
}

/* ---------------------------------------------------------------- reading */

/* A list becomes the text the command line takes: a,b,c; the empty list of layers is "none". */
static int join_list(struct text *out, const char *path, yaml_document_t *document, const yaml_node_t *node,
                     enum option_id id)
{
    yaml_node_item_t *item = node->data.sequence.items.start, *end = node->data.sequence.items.top;
    if (item == end && id == OPTION_HIDDEN)
        text_add(out, "none");
    for (int first = 1; item < end; item++, first = 0) {
        const yaml_node_t *part = yaml_document_get_node(document, *item);
        if (!node_is_text(part))
            return sph_fail_line_key(SPH_EFORMAT, path, node_line(part), option_key(id),
                                     "found %s in the list, expected %s", node_kind(part),
                                     id == OPTION_HIDDEN ? "sizes" : "column names");
        if (strchr(node_text(part), ','))
            return sph_fail_line_key(SPH_EFORMAT, path, node_line(part), option_key(id),
                                     "found '%s', expected no comma in an item of the list", node_text(part));
        text_add(out, first ? "%s" : ",%s", node_text(part));
    }
    return out->failed ? SPH_EMEMORY : 0;
}

int config_value(struct sph_job *job, const char *path, yaml_document_t *document, const yaml_node_t *node,
                 enum option_id id)
{
    const char *key = option_key(id), *argument = option_row(id)->argument;
    struct text joined = {0};
    int err;

    if (node->type == YAML_SEQUENCE_NODE && option_is_list(id)) {
        err = join_list(&joined, path, document, node, id);
        if (!err)
            err = options_give(job, id, joined.chars ? joined.chars : "");
        else
            key = NULL; /* the message is complete */
        text_free(&joined);
    } else if (!node_is_text(node) || node_is_null(node)) {
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), key, "found %s, expected %s",
                                 node_is_text(node) ? "nothing" : node_kind(node),
                                 argument ? argument : "true or false");
    } else if (option_is_number(id) && node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(node), key,
                                 "found the text \"%s\", expected %s without quotes", node_text(node),
                                 argument ? "a number" : "true or false");
    } else {
        err = options_give(job, id, node_text(node));
    }
    if (err == SPH_EARG && key)
        sph_fail_about(err, key, "%s", key);
    if (err == SPH_EARG && key)
        return sph_fail_move(SPH_EFORMAT, path, node_line(node), 1);
    return err;
}

static int in_section(enum option_id id, const char *section)
{
    if (section)
        return !strcmp(section_word(id), section) && id != OPTION_OUT;
    return !strcmp(section_word(id), "net") || !strcmp(section_word(id), "train");
}

int config_key(const char *key, const char *section)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (!strcmp(key, option_key((enum option_id)i)) && in_section((enum option_id)i, section))
            return i;
    return -1;
}

int config_known_key(const char *key)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (i != OPTION_OUT && !strcmp(key, option_key((enum option_id)i)))
            return 1;
    return 0;
}

int config_unknown_key(const char *path, const yaml_node_t *node, const char *section)
{
    const char *key = node_text(node), *known[OPTION_COUNT + SECTIONS];
    size_t count = 0, line = node_line(node);

    for (; section && !*section && count < SECTIONS; count++)
        known[count] = sections[count];
    for (int i = 0; i < OPTION_COUNT; i++) {
        enum option_id id = (enum option_id)i;
        if (id == OPTION_OUT)
            continue;
        if (!strcmp(key, option_key(id)) && *section_word(id))
            return sph_fail_line(SPH_EFORMAT, path, line, "key '%s' belongs in section '%s:'%s%s%s", key,
                                 section_word(id), section && *section ? ", not in '" : "",
                                 section && *section ? section : "", section && *section ? ":'" : "");
        if (!strcmp(key, option_key(id)))
            return sph_fail_line(SPH_EFORMAT, path, line, "key '%s' belongs at the top level", key);
        if (in_section(id, section))
            known[count++] = option_key(id);
    }
    const char *nearest = text_nearest(key, known, count);
    if (nearest)
        return sph_fail_line(SPH_EFORMAT, path, line, "unknown key '%s', did you mean '%s'?", key, nearest);
    return sph_fail_line(SPH_EFORMAT, path, line, "unknown key '%s'", key);
}

int config_apply(struct sph_job *job, const char *path, yaml_document_t *document, yaml_node_t *mapping,
                 const char *section, const char *except)
{
    size_t seen[OPTION_COUNT] = {0}; /* line of the key */
    int err;

    if (mapping->type != YAML_MAPPING_NODE)
        return sph_fail_line_key(SPH_EFORMAT, path, node_line(mapping), section ? section : "method",
                                 "found %s, expected a mapping of options",
                                 mapping->type == YAML_SCALAR_NODE ? "one value" : "a list");
    for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top;
         pair++) {
        const yaml_node_t *key = yaml_document_get_node(document, pair->key);
        if ((err = node_check_key(path, key)) < 0)
            return err;
        if (except && !strcmp(node_text(key), except))
            continue;
        int id = config_key(node_text(key), section);
        if (id < 0)
            return config_unknown_key(path, key, section);
        if (seen[id])
            return sph_fail_line(SPH_EFORMAT, path, node_line(key), "key '%s' is already in line %zu",
                                 node_text(key), seen[id]);
        seen[id] = node_line(key);
        err = config_value(job, path, document, yaml_document_get_node(document, pair->value),
                           (enum option_id)id);
        if (err < 0)
            return err;
    }
    return 0;
}

int config_load(yaml_document_t *out, const char *path)
{
    char *bytes = NULL;
    size_t length;
    int err = file_read(&bytes, &length, path);
    if (!err)
        err = node_parse(out, path, bytes, length);
    mem_free(bytes);
    return err;
}

/* One entry of the top level: a section, the version, or an option of the run. */
static int read_entry(struct sph_job *job, const char *path, yaml_document_t *document,
                      const yaml_node_pair_t *pair)
{
    yaml_node_t *key = yaml_document_get_node(document, pair->key);
    yaml_node_t *value = yaml_document_get_node(document, pair->value);
    int err = node_check_key(path, key);

    if (err)
        return err;
    int section = text_find(node_text(key), sections, SECTIONS);
    if (section >= 0)
        return config_apply(job, path, document, value, sections[section], NULL);
    if (!strcmp(node_text(key), "version"))
        return node_is_text(value) ? 0
                                   : sph_fail_line_key(SPH_EFORMAT, path, node_line(value), "version",
                                                       "found %s, expected text", node_kind(value));
    int id = config_key(node_text(key), "");
    if (id >= 0)
        return config_value(job, path, document, value, (enum option_id)id);
    return config_unknown_key(path, key, "");
}

int config_read(struct sph_job *job, const char *path)
{
    yaml_document_t document;
    int err = config_load(&document, path);
    if (err)
        return err;

    const yaml_node_t *root = yaml_document_get_root_node(&document);
    if (root->type != YAML_MAPPING_NODE) {
        err = sph_fail_line(SPH_EFORMAT, path, node_line(root),
                            "found %s, expected sections data, net and train",
                            root->type == YAML_SCALAR_NODE ? "one value" : "a list");
        goto out;
    }
    const yaml_node_pair_t *first = root->data.mapping.pairs.start, *end = root->data.mapping.pairs.top;
    for (const yaml_node_pair_t *pair = first; !err && pair < end; pair++) {
        const yaml_node_t *key = yaml_document_get_node(&document, pair->key);
        err = read_entry(job, path, &document, pair);
        /* The entry was known, so the few before it are too. */
        for (const yaml_node_pair_t *before = first; !err && before < pair; before++) {
            const yaml_node_t *other = yaml_document_get_node(&document, before->key);
            if (!strcmp(node_text(key), node_text(other)))
                err = sph_fail_line(SPH_EFORMAT, path, node_line(key), "key '%s' is already in line %zu",
                                    node_text(key), node_line(other));
        }
    }
out:
    yaml_document_delete(&document);
    return err;
}

/* ---------------------------------------------------------------- resuming */

int config_conflict(const struct sph_job *mine, const struct sph_job *theirs)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!mine->given[i] || i == OPTION_OUT || i == OPTION_CHECKPOINT_SECONDS)
            continue;
        const char *name = option_row((enum option_id)i)->name;
        const char *found = sph_job_get(mine, name), *before = sph_job_get(theirs, name);
        if (!found || !before)
            return SPH_EMEMORY;
        if (!*before)
            return sph_fail(SPH_EARG, "--%s: found '%s', but the run to resume was started without it", name,
                            found);
        if (strcmp(found, before))
            return sph_fail(SPH_EARG, "--%s: found '%s', but the run to resume was started with '%s'", name,
                            found, before);
    }
    return 0;
}
