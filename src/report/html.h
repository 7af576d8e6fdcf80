/* SPDX-License-Identifier: MIT
 *
 * Text on its way into HTML, and SVG on its way into a page with other SVGs. */
#ifndef SPH_REPORT_HTML_H
#define SPH_REPORT_HTML_H

#include "base/text.h"

/* Appends text so that a reader sees it as it is: & < > " ' escaped, control characters but newline and tab
 * left out as blanks, bytes that are no UTF-8 as U+FFFD. Right in content and in quoted attributes. */
void html_add_text(struct text *out, const char *text);
void html_add_text_part(struct text *out, const char *text, size_t length);

/* The same for text that is escaped already, as in an XML file. */
void html_add_escaped(struct text *out, const char *text, size_t length);

/* Appends a link's target: a relative path, escaped as URLs are. */
void html_add_path(struct text *out, const char *path);

/* Appends base64, for data: addresses. */
void html_add_base64(struct text *out, const void *bytes, size_t length);

/* Appends an SVG file as an element of an HTML page:
 *   - no XML declaration, doctype, comments, processing instructions, title or description;
 *   - drawing elements only: whatever else there is (script, style, foreignObject, a, animate...) goes with
 * all it holds;
 *   - no on... attributes; addresses are #id of the same figure or data: of a PNG or JPEG;
 *   - ids and references begin with prefix, so that figures in one page do not share them;
 *   - its viewBox rules, so that it can be scaled; `label` is what a reader who does not see it gets.
 * SPH_EFORMAT, and nothing appended: it is not well-formed, or no SVG with a viewBox or a width and height.
 * `where` begins messages. */
int svg_inline(struct text *out, const char *where, const char *bytes, size_t length, const char *prefix,
               const char *label);

#endif
