/* SPDX-License-Identifier: MIT */
#include "job/yaml_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

static int take_bytes(void *text, unsigned char *bytes, size_t length)
{
    text_add_bytes(text, (const char *)bytes, length);
    return !((struct text *)text)->failed;
}

/* made: what the event's initialiser returned. */
static void emit(struct yaml_out *out, yaml_event_t *event, int made)
{
    if (made && out->failed)
        yaml_event_delete(event);
    else if (!made || !yaml_emitter_emit(&out->emitter, event))
        out->failed = 1;
}

void yaml_begin(struct yaml_out *out, struct text *text)
{
    yaml_event_t event;
    if ((out->failed = !yaml_emitter_initialize(&out->emitter)))
        return;
    yaml_emitter_set_output(&out->emitter, take_bytes, text);
    yaml_emitter_set_unicode(&out->emitter, 1);
    yaml_emitter_set_width(&out->emitter, -1);
    emit(out, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    emit(out, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    yaml_map_block(out);
}

int yaml_end(struct yaml_out *out)
{
    yaml_event_t event;
    yaml_map_end(out);
    emit(out, &event, yaml_document_end_event_initialize(&event, 1));
    emit(out, &event, yaml_stream_end_event_initialize(&event));
    yaml_emitter_delete(&out->emitter);
    return out->failed ? sph_fail(SPH_EMEMORY, "out of memory writing YAML") : 0;
}

static void begin_map(struct yaml_out *out, yaml_mapping_style_t style)
{
    yaml_event_t event;
    emit(out, &event, yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, style));
}

static void begin_list(struct yaml_out *out, yaml_sequence_style_t style)
{
    yaml_event_t event;
    emit(out, &event, yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, style));
}

void yaml_map(struct yaml_out *out)
{
    begin_map(out, YAML_FLOW_MAPPING_STYLE);
}

void yaml_map_block(struct yaml_out *out)
{
    begin_map(out, YAML_BLOCK_MAPPING_STYLE);
}

void yaml_map_end(struct yaml_out *out)
{
    yaml_event_t event;
    emit(out, &event, yaml_mapping_end_event_initialize(&event));
}

void yaml_list(struct yaml_out *out)
{
    begin_list(out, YAML_FLOW_SEQUENCE_STYLE);
}

void yaml_list_block(struct yaml_out *out)
{
    begin_list(out, YAML_BLOCK_SEQUENCE_STYLE);
}

void yaml_list_end(struct yaml_out *out)
{
    yaml_event_t event;
    emit(out, &event, yaml_sequence_end_event_initialize(&event));
}

/* ---------------------------------------------------------------- values */

static void add_scalar(struct yaml_out *out, const char *text, yaml_scalar_style_t style)
{
    yaml_event_t event;
    emit(out, &event,
         yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text, (int)strlen(text), 1, 1,
                                      style));
}

/* Reads back as the same text without quotes: letters, digits and _ . / - that begin like a name, and no word
 * or number that YAML would read as something else. */
static int is_plain(const char *text)
{
    static const char *const special[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/0123456789_.-";
    if (!*text || strchr(strchr(letters, '0'), *text))
        return 0;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (!strcasecmp(text, special[i]))
            return 0;
    return !text[strspn(text, letters)];
}

void yaml_text(struct yaml_out *out, const char *text)
{
    add_scalar(out, text, is_plain(text) ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

void yaml_quoted(struct yaml_out *out, const char *text)
{
    add_scalar(out, text, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

void yaml_key(struct yaml_out *out, const char *word)
{
    add_scalar(out, word, YAML_PLAIN_SCALAR_STYLE);
}

void yaml_number(struct yaml_out *out, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    yaml_key(out, text);
}

void yaml_real(struct yaml_out *out, double number)
{
    struct text text = {0};
    text_add_exact(&text, number);
    out->failed |= text.failed;
    yaml_key(out, text.chars ? text.chars : "");
    text_free(&text);
}

void yaml_pair(struct yaml_out *out, const char *key, const char *text)
{
    yaml_key(out, key);
    yaml_text(out, text);
}
