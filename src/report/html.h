/* SPDX-License-Identifier: MIT
 *
 * Text and bytes on their way into HTML. */
#ifndef SPH_REPORT_HTML_H
#define SPH_REPORT_HTML_H

#include "base/text.h"

/* Appends text so that a reader sees it as it is: & < > " ' escaped, control characters but newline and tab
 * left out as blanks, bytes that are no UTF-8 as U+FFFD. Right in content and in quoted attributes. */
void html_add_text(struct text *out, const char *text);
void html_add_text_part(struct text *out, const char *text, size_t length);

/* The same of sentences that terminals show too, with the letters that those cannot: +-, dphi, phi, eps as words
 * of their own. */
void html_add_typeset(struct text *out, const char *text, size_t length);

/* Appends a link's target: a relative path, escaped as URLs are. */
void html_add_path(struct text *out, const char *path);

/* Appends base64, for data: addresses. */
void html_add_base64(struct text *out, const void *bytes, size_t length);

#endif
