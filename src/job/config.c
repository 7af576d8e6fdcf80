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

void config_write_options(struct yaml_out *out, const struct sph_job *job, const char *section)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        enum option_id id = (enum option_id)i;
        if (!job->set[i] || id == OPTION_OUT || strcmp(section_word(id), section))
            continue;
        yaml_key(out, option_key(id));
        config_write_value(out, job, id);
    }
}

void config_write_section(struct yaml_out *out, const struct sph_job *job, const char *section)
{
    if (*section) {
        yaml_key(out, section);
        yaml_map_block(out);
    }
    config_write_options(out, job, section);
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
static int join_list(struct text *out, struct node list, enum option_id id)
{
    size_t count = node_count(list);
    if (!count && id == OPTION_HIDDEN)
        text_add(out, "none");
    for (size_t i = 0; i < count; i++) {
        struct node item = node_item(list, i);
        if (!node_is_text(item))
            return node_fail(item, option_key(id), "found %s in the list, expected %s", node_kind(item),
                             id == OPTION_HIDDEN ? "sizes" : "column names");
        if (strchr(node_text(item), ','))
            return node_fail(item, option_key(id), "found '%s', expected no comma in an item of the list",
                             node_text(item));
        text_add(out, i ? ",%s" : "%s", node_text(item));
    }
    return out->failed ? SPH_EMEMORY : 0;
}

int config_value(struct sph_job *job, struct node node, enum option_id id)
{
    const char *key = option_key(id), *argument = option_row(id)->argument;
    struct text joined = {0};
    int err;

    if (node_is_list(node) && option_is_list(id)) {
        if ((err = join_list(&joined, node, id)) < 0) {
            text_free(&joined);
            return err;
        }
        err = options_give(job, id, joined.chars ? joined.chars : "");
        text_free(&joined);
    } else if ((err = node_check_text(node, key, argument ? argument : "true or false")) < 0) {
        return err;
    } else if (option_is_number(id) && !node_is_plain(node)) {
        return node_fail(node, key, "found the text \"%s\", expected %s without quotes", node_text(node),
                         argument ? "a number" : "true or false");
    } else {
        err = options_give(job, id, node_text(node));
    }
    if (err != SPH_EARG)
        return err;
    sph_fail_about(err, key, "%s", key);
    return sph_fail_move(SPH_EFORMAT, node.path, node_line(node), 1);
}

static int in_section(enum option_id id, const char *section)
{
    if (section)
        return !strcmp(section_word(id), section) && id != OPTION_OUT;
    return !strcmp(section_word(id), "net") || !strcmp(section_word(id), "train") || id == OPTION_DRAW ||
           id == OPTION_COLUMNS;
}

int config_key(const char *key, const char *section)
{
    if (section && !strcmp(section, "data") && !strcmp(key, "file"))
        return OPTION_DATA;
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

int config_unknown_key(struct node node, const char *section)
{
    const char *key = node_text(node), *known[OPTION_COUNT + SECTIONS];
    size_t count = 0;

    for (; section && !*section && count < SECTIONS; count++)
        known[count] = sections[count];
    for (int i = 0; i < OPTION_COUNT; i++) {
        enum option_id id = (enum option_id)i;
        if (id == OPTION_OUT)
            continue;
        if (!strcmp(key, option_key(id)) && *section_word(id))
            return node_fail(node, NULL, "key '%s' belongs in section '%s:'%s%s%s", key, section_word(id),
                             section && *section ? ", not in '" : "", section && *section ? section : "",
                             section && *section ? ":'" : "");
        if (!strcmp(key, option_key(id)))
            return node_fail(node, NULL, "key '%s' belongs at the top level", key);
        if (in_section(id, section))
            known[count++] = option_key(id);
    }
    return node_unknown_key(node, known, count);
}

int config_apply(struct sph_job *job, struct node mapping, const char *section, const char *except,
                 size_t lines[OPTION_COUNT])
{
    size_t seen[OPTION_COUNT] = {0}; /* line of the key */
    int err = node_check_map(mapping, section ? section : "method", "a mapping of options");
    for (size_t i = 0; !err && i < node_count(mapping); i++) {
        struct node key = node_key(mapping, i);
        if ((err = node_check_key(key)) < 0)
            return err;
        if (except && !strcmp(node_text(key), except))
            continue;
        int id = config_key(node_text(key), section);
        if (id < 0)
            return config_unknown_key(key, section);
        if (seen[id])
            return id == OPTION_DATA
                       ? node_fail(key, NULL, "'name' and 'file' are one key, and it is already in line %zu",
                                   seen[id])
                       : node_fail(key, NULL, "key '%s' is already in line %zu", node_text(key), seen[id]);
        seen[id] = key.at->line;
        if (lines)
            lines[id] = node_line(key);
        err = config_value(job, node_value(mapping, i), (enum option_id)id);
    }
    return err;
}

int config_load(struct node_tree *out, const char *path)
{
    char *bytes = NULL;
    size_t length;
    int err = file_read_stream(&bytes, &length, path);
    if (!err)
        err = node_parse(out, path, bytes, length);
    mem_free(bytes);
    return err;
}

/* One entry of the top level: a section, the version, or an option of the run. */
static int read_entry(struct sph_job *job, struct node key, struct node value)
{
    int err = node_check_key(key);
    if (err < 0)
        return err;
    int section = text_find(node_text(key), sections, SECTIONS);
    if (section >= 0)
        return config_apply(job, value, sections[section], NULL, NULL);
    if (!strcmp(node_text(key), "version"))
        return node_is_text(value) ? 0
                                   : node_fail(value, "version", "found %s, expected text", node_kind(value));
    int id = config_key(node_text(key), "");
    return id < 0 ? config_unknown_key(key, "") : config_value(job, value, (enum option_id)id);
}

int config_read(struct sph_job *job, const char *path)
{
    struct node_tree document;
    int err = config_load(&document, path);
    if (err < 0)
        return err;
    struct node root = node_root(path, &document);
    err = node_check_map(root, "", "sections data, net and train");
    for (size_t i = 0; !err && i < node_count(root); i++) {
        struct node key = node_key(root, i);
        err = read_entry(job, key, node_value(root, i));
        /* The entry was known, so the few before it are too. */
        for (size_t k = 0; !err && k < i; k++)
            if (!strcmp(node_text(key), node_text(node_key(root, k))))
                err = node_fail(key, NULL, "key '%s' is already in line %zu", node_text(key),
                                node_line(node_key(root, k)));
    }
    node_tree_free(&document);
    if (!err && !job->given[OPTION_DECODE]) /* no pictures, or a run of 0.2.0 or before: job_open_data */
        options_unset(job, OPTION_DECODE);
    return err;
}

/* ---------------------------------------------------------------- resuming */

int config_conflict(const struct sph_job *mine, const struct sph_job *theirs)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!mine->given[i] || i == OPTION_OUT || i == OPTION_CHECKPOINT_SECONDS || i == OPTION_EPOCHS)
            continue;
        const char *name = option_row((enum option_id)i)->name;
        const char *found = sph_job_get(mine, name), *before = sph_job_get(theirs, name);
        if (!found || !before)
            return SPH_EMEMORY;
        if (!*before)
            return sph_fail_of(SPH_EARG, "", 0, name,
                               "--%s: found '%s', but the run to resume was started without it", name, found);
        if (strcmp(found, before))
            return sph_fail_of(SPH_EARG, "", 0, name,
                               "--%s: found '%s', but the run to resume was started with '%s'", name, found,
                               before);
    }
    return 0;
}
