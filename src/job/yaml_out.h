/* SPDX-License-Identifier: MIT
 *
 * YAML written by libyaml, one call for each thing. After a failure later calls do nothing: write freely, check
 * once.
 *
 *     struct yaml_out out;
 *     yaml_begin(&out, &text);                 the document is one mapping in block style
 *     yaml_key(&out, "hidden");
 *     yaml_list(&out);                         [
 *     yaml_number(&out, 100);                  100
 *     yaml_list_end(&out);                     ]
 *     err = yaml_end(&out); */
#ifndef SPH_JOB_YAML_OUT_H
#define SPH_JOB_YAML_OUT_H

#include <stdint.h>
#include <yaml.h>

#include "base/text.h"

struct yaml_out {
    yaml_emitter_t emitter;
    int failed;
};

/* Appends to text, which lives on until yaml_end. */
void yaml_begin(struct yaml_out *out, struct text *text);
int yaml_end(struct yaml_out *out); /* 0 or SPH_EMEMORY */

/* Mappings and lists; _block is over several lines, the others are {...} and [...]. */
void yaml_map(struct yaml_out *out);
void yaml_map_block(struct yaml_out *out);
void yaml_map_end(struct yaml_out *out);
void yaml_list(struct yaml_out *out);
void yaml_list_block(struct yaml_out *out);
void yaml_list_end(struct yaml_out *out);

/* A text, in quotes where readers would take it for something else; in quotes anyway; one as it is: a key, a
 * word, a number. */
void yaml_text(struct yaml_out *out, const char *text);
void yaml_quoted(struct yaml_out *out, const char *text);
void yaml_key(struct yaml_out *out, const char *word);
void yaml_number(struct yaml_out *out, uint64_t number);
void yaml_real(struct yaml_out *out, double number); /* as few digits as read back the same */

/* A key and its value. */
void yaml_pair(struct yaml_out *out, const char *key, const char *text);

#endif
