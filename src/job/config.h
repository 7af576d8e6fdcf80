/* SPDX-License-Identifier: MIT
 *
 * A job as YAML: the config.yaml of a run folder, and the sections that experiment files share with it.
 *
 *     version: 0.1.0
 *     seed: 0
 *     threads: 1
 *     dtype: f32
 *     data: {name: prices.csv, target: price, ...}     sections are written in block style
 *     net: {kind: mlp, hidden: [100], ...}
 *     train: {loss: mse, lr: 0.01, ...}
 *     origins: {command line: [data, lr], ...}          where values come from that are no defaults
 *
 * Keys are the options' own names with '_' for '-', except data.name (--data), which may be called file as well, and net.kind (--net). Where the
 * run folder lies (--out) is not written: a folder may be moved. Unset options are left out. */
#ifndef SPH_JOB_CONFIG_H
#define SPH_JOB_CONFIG_H

#include "base/text.h"
#include "job/nodes.h"
#include "job/options.h"
#include "job/yaml_out.h"

/* The whole text of a config.yaml; caller frees with mem_free. */
int config_write(const struct job_spec *spec, char **text);

/* Gives every value of the file to spec. Fails with path:line for what is not YAML, an unknown or
 * misplaced or repeated key, or a value the option refuses. Values read before the failing one stay. */
int config_read(struct job_spec *spec, const char *path);

/* For --resume: fails naming the first option that was given to mine and differs from theirs. How often to
 * write checkpoints and where the folder lies may differ. */
int config_conflict(const struct job_spec *mine, const struct job_spec *theirs);

/* Asks for all that the other one has and that was not asked for, as if a file had named it. */
int config_adopt(struct job_spec *asked, const struct job_spec *theirs);

/* Gives the values of one mapping to spec. section: "data", "net" or "train" as in files; NULL takes any
 * key of net and train, and data's draw and columns (a method of an experiment). except: a key that is the caller's own and is passed
 * over, or NULL. lines, or NULL: where each option stands. */
int config_apply(struct job_spec *spec, struct node mapping, const char *section, const char *except,
                 size_t lines[OPTION_COUNT]);

/* The pieces of config_apply. config_key: the option a key of that section names, or -1. config_known_key:
 * whether it is a key of any section. config_unknown_key: the failure for a key that is none, with the section
 * it belongs to or the nearest known one. config_value: one value for one option. */
int config_key(const char *key, const char *section);
int config_known_key(const char *key);
int config_unknown_key(struct node key, const char *section);
int config_value(struct job_spec *spec, struct node node, enum option_id id);

/* And of config_write: a section with all set options ("" for the top level); one value; the end of the
 * document, its text moved to *whole. */
void config_write_section(struct yaml_out *out, const struct job_spec *spec, const char *section);
void config_write_options(struct yaml_out *out, const struct job_spec *spec,
                          const char *section); /* without its key */
void config_write_value(struct yaml_out *out, const struct job_spec *spec, enum option_id id);
int config_end(struct yaml_out *out, struct text *text, char **whole);

/* Loads the one document of a YAML file; caller frees with node_tree_free. */
int config_load(struct node_tree *out, const char *path);

#endif
