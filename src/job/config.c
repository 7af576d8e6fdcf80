/* SPDX-License-Identifier: MIT */
#include "job/config.h"

#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "job/defaults.h"
#include "job/nodes.h"
#include "net/zoo.h"
#include "train/schedule.h"

enum { SECTIONS = 3 };

static const char *const sections[SECTIONS] = {"data", "net", "train"};

/* The files' word for a section of the table; "" is the top level. */
static const char *section_word(enum option_id id)
{
    const char *section = option_row(id)->section;
    return !strcmp(section, "training") ? "train" : !strcmp(section, "run") ? "" : section;
}

/* ---------------------------------------------------------------- writing */

void config_write_value(struct yaml_out *out, const struct job_spec *spec, enum option_id id)
{
    const struct option_sizes *hidden = &spec->options.hidden;
    const char *text = id == OPTION_HIDDEN ? "" : options_text(spec, id);
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

void config_write_options(struct yaml_out *out, const struct job_spec *spec, const char *section)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        enum option_id id = (enum option_id)i;
        if (!options_has(spec, id) || id == OPTION_OUT || strcmp(section_word(id), section))
            continue;
        yaml_key(out, option_key(id));
        config_write_value(out, spec, id);
    }
}

void config_write_section(struct yaml_out *out, const struct job_spec *spec, const char *section)
{
    if (*section) {
        yaml_key(out, section);
        yaml_map_block(out);
    }
    config_write_options(out, spec, section);
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

/* What is not named here is a default. */
static void write_origins(struct yaml_out *out, const struct job_spec *spec)
{
    yaml_key(out, "origins");
    yaml_map_block(out);
    for (enum option_origin origin = ORIGIN_PROTOCOL; origin < ORIGIN_COUNT; origin++) {
        int count = 0;
        for (enum option_id id = 0; id < OPTION_COUNT; id++) {
            if (spec->origin[id] != origin || id == OPTION_OUT)
                continue;
            if (!count++) {
                yaml_key(out, option_origin_word(origin));
                yaml_list(out);
            }
            yaml_text(out, option_row(id)->name);
        }
        if (count)
            yaml_list_end(out);
    }
    yaml_map_end(out);
}

int config_write(const struct job_spec *spec, char **whole)
{
    struct text text = {0};
    struct yaml_out out;
    text_add(&text, "# everything needed to repeat this run\n");
    yaml_begin(&out, &text);
    yaml_pair(&out, "version", sph_version());
    config_write_section(&out, spec, "");
    for (size_t i = 0; i < SECTIONS; i++)
        config_write_section(&out, spec, sections[i]);
    write_origins(&out, spec);
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

int config_value(struct job_spec *spec, struct node node, enum option_id id)
{
    const char *key = option_key(id), *argument = option_row(id)->argument;
    enum option_origin origin = node.alone ? ORIGIN_COMMAND : ORIGIN_FILE; /* alone: given by --set */
    struct text joined = {0};
    int err;

    if (node_is_list(node) && option_is_list(id)) {
        if ((err = join_list(&joined, node, id)) < 0) {
            text_free(&joined);
            return err;
        }
        err = options_put(spec, id, joined.chars ? joined.chars : "", origin);
        text_free(&joined);
    } else if ((err = node_check_text(node, key, argument ? argument : "true or false")) < 0) {
        return err;
    } else if (option_is_number(id) && !node_is_plain(node)) {
        return node_fail(node, key, "found the text \"%s\", expected %s without quotes", node_text(node),
                         argument ? "a number" : "true or false");
    } else {
        err = options_put(spec, id, node_text(node), origin);
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

int config_apply(struct job_spec *spec, struct node mapping, const char *section, const char *except,
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
                       ? node_fail(key, NULL,
                                   "'name' and 'file' are the same key, which is already in line %zu",
                                   seen[id])
                       : node_fail(key, NULL, "key '%s' is already in line %zu", node_text(key), seen[id]);
        seen[id] = key.at->line;
        if (lines)
            lines[id] = node_line(key);
        err = config_value(spec, node_value(mapping, i), (enum option_id)id);
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

/* {command line: [lr, data], ...}, which comes last. What it does not name is a default. */
static int read_origins(struct job_spec *spec, struct node map)
{
    int err = node_check_map(map, "origins", "{command line: [options], ...}");
    for (enum option_id id = 0; id < OPTION_COUNT && !err; id++)
        if (options_has(spec, id))
            spec->origin[id] = ORIGIN_DEFAULT;
    for (size_t i = 0; !err && i < node_count(map); i++) {
        struct node key = node_key(map, i), list = node_value(map, i);
        int origin = node_is_text(key) ? option_origin_find(node_text(key)) : -1;
        if (origin < ORIGIN_PROTOCOL || !node_is_list(list))
            return node_fail(key, "origins", "expected an origin and the list of its options");
        for (size_t k = 0; k < node_count(list); k++) {
            struct node item = node_item(list, k);
            int id = node_is_text(item) ? option_find(node_text(item)) : -1;
            if (id < 0)
                return node_fail(item, "origins", "expected the name of an option");
            if (options_has(spec, (enum option_id)id))
                spec->origin[id] = (unsigned char)origin;
        }
    }
    return err;
}

/* One entry of the top level: a section, the version, the origins, or an option of the run. */
static int read_entry(struct job_spec *spec, struct node key, struct node value)
{
    int err = node_check_key(key);
    if (err < 0)
        return err;
    int section = text_find(node_text(key), sections, SECTIONS);
    if (section >= 0)
        return config_apply(spec, value, sections[section], NULL, NULL);
    if (!strcmp(node_text(key), "version"))
        return node_is_text(value) ? 0
                                   : node_fail(value, "version", "found %s, expected text", node_kind(value));
    if (!strcmp(node_text(key), "origins"))
        return read_origins(spec, value);
    int id = config_key(node_text(key), "");
    return id < 0 ? config_unknown_key(key, "") : config_value(spec, value, (enum option_id)id);
}

/* Options that a run of an older version does not name, because it did what they say by itself. */
static int add_old_habits(struct job_spec *spec)
{
    if (options_has(spec, OPTION_NET) && !options_has(spec, OPTION_STEM) &&
        net_kind((sph_net_kind)spec->options.net)->stems)
        options_set_word(spec, OPTION_STEM, SPH_STEM_LARGE, ORIGIN_FILE);
    if (spec->options.ensemble > 1 && !options_has(spec, OPTION_ENSEMBLE_VAL))
        options_set_word(spec, OPTION_ENSEMBLE_VAL, ENSEMBLE_VAL_ONE, ORIGIN_FILE);
    return defaults_older(spec);
}

int config_read(struct job_spec *spec, const char *path)
{
    struct node_tree document;
    int err = config_load(&document, path);
    if (err < 0)
        return err;
    struct node root = node_root(path, &document);
    err = node_check_map(root, "", "sections data, net and train");
    for (size_t i = 0; !err && i < node_count(root); i++) {
        struct node key = node_key(root, i);
        err = read_entry(spec, key, node_value(root, i));
        /* The entry was known, so the few before it are too. */
        for (size_t k = 0; !err && k < i; k++)
            if (!strcmp(node_text(key), node_text(node_key(root, k))))
                err = node_fail(key, NULL, "key '%s' is already in line %zu", node_text(key),
                                node_line(node_key(root, k)));
    }
    node_tree_free(&document);
    return err ? err : add_old_habits(spec);
}

/* ---------------------------------------------------------------- resuming */

/* More epochs give what the larger number would have given from the start, unless the schedule depends on the number. */
static int epochs_conflict(const struct job_options *mine, const struct job_options *theirs)
{
    struct schedule schedule;
    int err =
        mine->epochs == theirs->epochs ? 0 : schedule_parse(&schedule, theirs->schedule, theirs->warmup);
    if (err || mine->epochs == theirs->epochs)
        return err;
    if (mine->epochs < theirs->epochs)
        return sph_fail_key(SPH_EARG, "epochs",
                            "found %zu, but the run was started with %zu; only more epochs are possible",
                            mine->epochs, theirs->epochs);
    if (schedule_ends_low(&schedule))
        return sph_fail_key(SPH_EARG, "epochs",
                            "found %zu, but the run was started with %zu, and with --schedule %s the "
                            "learning rates depend on this number; start a new run",
                            mine->epochs, theirs->epochs, theirs->schedule);
    return 0;
}

int config_conflict(const struct job_spec *mine, const struct job_spec *theirs)
{
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        if (!options_given(mine, id) || id == OPTION_OUT || id == OPTION_CHECKPOINT_SECONDS)
            continue;
        if (id == OPTION_EPOCHS) {
            int err = epochs_conflict(&mine->options, &theirs->options);
            if (err)
                return err;
            continue;
        }
        const char *name = option_row(id)->name;
        const char *found = options_text(mine, id), *before = options_text(theirs, id);
        if (!found || !before)
            return SPH_EMEMORY;
        if ((!*before && !options_named(mine, id)) || (id == OPTION_STEM && !strcmp(found, "auto")))
            continue; /* an experiment file names all options, also those that this network or these data do not have */
        if (!*before)
            return sph_fail_of(SPH_EARG, "", 0, name,
                               "--%s: found '%s', but the run was started without this option; remove it",
                               name, found);
        if (strcmp(found, before))
            return sph_fail_of(SPH_EARG, "", 0, name, "--%s: found '%s', but the run was started with '%s'",
                               name, found, before);
    }
    return 0;
}

int config_adopt(struct job_spec *asked, const struct job_spec *theirs)
{
    int err = 0;
    for (enum option_id id = 0; id < OPTION_COUNT && !err; id++) {
        if (options_given(asked, id) || !options_has(theirs, id) || id == OPTION_OUT)
            continue;
        err = options_take(asked, theirs, id);
        asked->origin[id] = ORIGIN_FILE;
    }
    return err;
}
