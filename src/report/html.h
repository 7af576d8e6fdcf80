/* SPDX-License-Identifier: MIT
 *
 * Text and bytes for HTML. */
#ifndef SPH_REPORT_HTML_H
#define SPH_REPORT_HTML_H

#include "base/text.h"
#include "file/json.h"

/* Appends text for content or quoted attributes: & < > " ' are escaped, control characters except newline and tab become
 * blanks, invalid UTF-8 becomes U+FFFD. */
void html_add_text(struct text *out, const char *text);
void html_add_text_part(struct text *out, const char *text, size_t length);

/* The same, with symbols for the words +-, dphi, phi and eps, which terminals get as words. */
void html_add_typeset(struct text *out, const char *text, size_t length);

/* Appends a relative path as the target of a link. */
void html_add_path(struct text *out, const char *path);

/* Appends base64, for data: addresses. */
void html_add_base64(struct text *out, const void *bytes, size_t length);

/* Appends JSON with so many digits for a script element. 0, or SPH_EMEMORY. */
int html_add_json(struct text *out, const json_t *value, size_t digits);

#endif
