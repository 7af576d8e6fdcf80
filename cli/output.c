/* SPDX-License-Identifier: MIT
 *
 * What all commands print in the same way: errors, notes, JSON, the name of a network. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tool.h"
#include "cli.h"
#include "job/tool.h"

/* ---------------------------------------------------------------- errors and notes */

enum { TEXT_SIZE = 2048, LINE_SIZE = 16384 };

static const char *const code_words[] = {[-SPH_EARG] = "argument",
                                         [-SPH_EIO] = "file",
                                         [-SPH_EFORMAT] = "format",
                                         [-SPH_EMEMORY] = "memory",
                                         [-SPH_EDIVERGED] = "diverged"};

/* A line as it grows; what does not fit is left out. */
struct line {
    char *bytes;
    size_t used, size;
};

static void put(struct line *line, const char *text)
{
    size_t length = strlen(text);
    if (length < line->size - line->used) {
        memcpy(line->bytes + line->used, text, length + 1);
        line->used += length;
    }
}

/* A text of a JSON object, or null where there is none. */
static void put_json(struct line *line, const char *name, const char *text)
{
    char plain[TEXT_SIZE], piece[8];
    put(line, name);
    if (!text || !*text) {
        put(line, "null");
        return;
    }
    snprintf(plain, sizeof plain, "%s", text);
    sph_plain(plain, strlen(plain));
    put(line, "\"");
    for (const char *c = plain; *c; c++) {
        snprintf(piece, sizeof piece,
                 *c == '"' || *c == '\\'   ? "\\%c"
                 : (unsigned char)*c < ' ' ? "\\u%04x"
                                           : "%c",
                 *c);
        put(line, piece);
    }
    put(line, "\"");
}

size_t cli_line(char *out, size_t size, const char *kind, const char *code, const struct command *command,
                const struct sph_failure *failure)
{
    const char *format = getenv("SPHERELU_MESSAGES");
    struct line line = {out, 0, size - 1}; /* leaves room for the line's end */
    char text[TEXT_SIZE], number[24] = "null";
    snprintf(text, sizeof text, "%s", failure->text);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    sph_plain(text, strlen(text));
    *out = '\0';
    if (format && !strcmp(format, "json")) {
        if (failure->line)
            snprintf(number, sizeof number, "%zu", failure->line);
        put(&line, "{\"");
        put(&line, kind);
        put_json(&line, "\": {\"code\": ", code);
        put_json(&line, ", \"command\": ", command ? command->name : NULL);
        put_json(&line, ", \"key\": ", failure->key);
        put_json(&line, ", \"path\": ", failure->path);
        put(&line, ", \"line\": ");
        put(&line, number);
        put_json(&line, ", \"message\": ", text);
        put(&line, "}}");
    } else {
        put(&line, command ? "spherelu " : "spherelu");
        put(&line, command ? command->name : "");
        put(&line, *kind == 'n' ? ": note: " : ": ");
        put(&line, text);
    }
    memcpy(out + line.used, "\n", 2);
    return line.used + 1;
}

static int silent;

void cli_silence(int on)
{
    silent = on;
}

static void print_line(const char *kind, const char *code, const struct command *command,
                       const struct sph_failure *failure)
{
    char line[LINE_SIZE];
    if (silent)
        return;
    cli_line(line, sizeof line, kind, code, command, failure);
    fputs(line, stderr);
}

#define WORDS(text, before, name, format)                                                                    \
    char text[TEXT_SIZE];                                                                                    \
    do {                                                                                                     \
        va_list words_args;                                                                                  \
        int words_used = snprintf(text, sizeof text, "%s%s%s", before, name, *(name) ? ": " : "");           \
        size_t words_at = (size_t)words_used < sizeof text ? (size_t)words_used : sizeof text - 1;           \
        va_start(words_args, format);                                                                        \
        vsnprintf(text + words_at, sizeof text - words_at, format, words_args);                              \
        va_end(words_args);                                                                                  \
    } while (0)

int cli_fail(const struct command *command, int code, const char *key, const char *format, ...)
{
    WORDS(text, "", "", format);
    print_line("error", code == EXIT_USAGE ? "argument" : "failed", command,
               &(struct sph_failure){.key = key, .text = text});
    return code;
}

int cli_fail_option(const struct command *command, const char *name, const char *format, ...)
{
    WORDS(text, "--", name, format);
    print_line("error", "argument", command, &(struct sph_failure){.key = name, .text = text});
    return EXIT_USAGE;
}

int cli_fail_at(const struct command *command, const char *path, const char *format, ...)
{
    WORDS(text, "", path, format);
    print_line("error", "file", command, &(struct sph_failure){.path = path, .text = text});
    return EXIT_FAILED;
}

int cli_no_memory(const struct command *command)
{
    print_line("error", "memory", command, &(struct sph_failure){.text = "out of memory"});
    return EXIT_FAILED;
}

void cli_note(const struct command *command, const char *name, const char *format, ...)
{
    WORDS(text, "", "", format);
    print_line("note", NULL, command, &(struct sph_failure){.key = name, .text = text});
}

/* The command's option that a key of the library stands for, "" where it is none. The library writes lr_r, the tool
 * --lr-r. */
static const char *option_of(const struct command *command, const char *key)
{
    struct args all;
    args_begin(&all, command);
    for (size_t i = 0; i < all.count; i++) {
        const char *name = all.option[i]->name, *at = key;
        while (*name && (*name == *at || (*name == '-' && *at == '_')))
            name++, at++;
        if (!*name && !*at)
            return all.option[i]->name;
    }
    return "";
}

int cli_fail_more(const struct command *command, int err, const char *format, ...)
{
    struct sph_failure failure = *sph_failure();
    size_t length = strlen(failure.key);
    const char *name = length ? option_of(command, failure.key) : "", *rest = failure.text;
    /* "lr_r: ..." names the option as it is typed */
    int is_first = *name && !*failure.path && !strncmp(rest, failure.key, length) && rest[length] == ':';
    WORDS(more, "", "", format);
    char text[2 * TEXT_SIZE];
    snprintf(text, sizeof text, "%s%s%s%s", is_first ? "--" : "", is_first ? name : "",
             rest + (is_first ? length : 0), more);
    failure.text = text;
    if (*name)
        failure.key = name;
    print_line("error", code_words[-err], command, &failure);
    return err == SPH_EARG ? EXIT_USAGE : EXIT_FAILED;
}

int cli_fail_with(const struct command *command, int err)
{
    return cli_fail_more(command, err, "%s", "");
}

/* ---------------------------------------------------------------- results */

static int json_short; /* an allocation of jansson's failed: an object may lack what was put into it */

static void *json_get(size_t size)
{
    void *memory = malloc(size);
    json_short |= !memory;
    return memory;
}

void cli_watch_json(void)
{
    json_set_alloc_funcs(json_get, free);
}

int cli_json_is_short(void)
{
    return json_short;
}

json_t *cli_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

int cli_write(void *self, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, self) == length ? 0 : SPH_EIO;
}

int cli_written(const struct command *command, int err, FILE *stream, const char *what)
{
    if (!err && fflush(stream))
        err = SPH_EIO;
    if (err && ferror(stream))
        return cli_fail_at(command, "stdout", "cannot write %s: %s", what, strerror(errno));
    return err ? cli_fail_with(command, err) : EXIT_DONE;
}

int cli_print_json(const struct command *command, json_t *object, int digits)
{
    char *text = object ? json_dumps(object, JSON_REAL_PRECISION((size_t)digits)) : NULL;
    json_decref(object);
    int whole = text && !json_short;
    if (whole)
        puts(text);
    free(text);
    if (!whole)
        return cli_no_memory(command);
    return 0;
}

int cli_open_run(const struct command *command, const char *dir, sph_run **out)
{
    int err = sph_run_open(out, dir);
    return err ? cli_fail_with(command, err) : 0;
}

int cli_take_member(const struct args *args, sph_run *run)
{
    size_t member = 0;
    int code = args_size(args, "member", 0, &member);
    if (code || !args_value(args, "member"))
        return code;
    int err = sph_run_take_member(run, member);
    return err ? cli_fail_with(args->command, err) : 0;
}

int cli_take_one(const struct args *args, sph_run *run)
{
    size_t members = sph_run_members(run);
    if (members == 1 || args_value(args, "member"))
        return cli_take_member(args, run);
    if (!args_on(args, "quiet"))
        cli_note(args->command, "member",
                 "an ensemble of %zu networks, of which member 0 is used; choose another with --member K",
                 members);
    int err = sph_run_take_member(run, 0);
    return err ? cli_fail_with(args->command, err) : 0;
}

int cli_set_reading(const struct args *args, sph_run *run)
{
    static const char *const names[] = {"workers", "skip-bad", "strict", "keep"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = args_value(args, names[i]);
        int err = value ? sph_run_set(run, names[i], value) : 0;
        if (err)
            return cli_fail_with(args->command, err);
    }
    return 0;
}

void cli_note_left_out(const struct command *command, size_t count)
{
    if (count)
        cli_note(command, "skip-bad", "%zu file%s could not be decoded and %s left out", count,
                 cli_plural(count), count == 1 ? "was" : "were");
}

void cli_note_lines(const struct args *args, const char *lines)
{
    for (const char *end; *lines && !args_on(args, "quiet"); lines = end + (*end == '\n')) {
        end = lines + strcspn(lines, "\n");
        cli_note(args->command, NULL, "%.*s", (int)(end - lines), lines);
    }
}

void cli_note_run(const struct args *args, const sph_run *run)
{
    cli_note_lines(args, sph_run_notes(run));
    cli_note_lines(args, sph_core_lacks());
}

void cli_print_targets(sph_run *run, const char *data, const char *part)
{
    size_t count = sph_run_targets(run);
    sph_scores *each = count > 1 ? calloc(count, sizeof *each) : NULL;
    if (each && !sph_run_eval_targets(run, data, each))
        for (size_t t = 0; t < count; t++) {
            printf("%-9s %s:", part, sph_run_target(run, t));
            for (size_t i = 0; i < each[t].count; i++)
                printf("%s %s %.5g", i ? "," : "", each[t].name[i], each[t].value[i]);
            putchar('\n');
        }
    free(each);
}

json_t *cli_targets(sph_run *run, const char *data)
{
    size_t count = sph_run_targets(run);
    sph_scores *each = count > 1 ? calloc(count, sizeof *each) : NULL;
    json_t *object = NULL;
    if (each && !sph_run_eval_targets(run, data, each)) {
        object = json_object();
        for (size_t t = 0; t < count; t++) {
            json_t *one = json_object();
            for (size_t i = 0; i < each[t].count; i++)
                json_object_set_new(one, each[t].name[i], cli_number(each[t].value[i]));
            json_object_set_new(object, sph_run_target(run, t), one);
        }
    }
    free(each);
    return object;
}

const char *cli_plural(size_t count)
{
    return count == 1 ? "" : "s";
}

void cli_network(char *out, size_t size, const char *kind, const sph_net *net)
{
    size_t used = 0, layers = sph_net_layers(net);
    int dense = !layers || !sph_net_layer(net, 0, NULL)->kernel;
    if (!dense && kind)
        used = (size_t)snprintf(out, size, "%s", kind);
    else if (!dense)
        used = (size_t)snprintf(out, size, "%zu layers", layers);
    for (size_t k = 0; dense && k < layers && used < size; k++) {
        size_t inputs;
        const sph_layer *layer = sph_net_layer(net, k, &inputs);
        if (!k)
            used += (size_t)snprintf(out, size, "%zu", inputs);
        if (used < size)
            used += (size_t)snprintf(out + used, size - used, "-%zu", layer->units);
    }
    if (layers > 1 && used < size) {
        const sph_layer *layer = sph_net_layer(net, dense ? 0 : 1, NULL); /* imn spares the first conv */
        int norm = layer->norm != SPH_NORM_NONE;
        snprintf(out + used, size - used, " %s%s%s", sph_word(SPH_WORDS_PARAM, (int)layer->param)->word,
                 norm ? "+" : "", norm ? sph_word(SPH_WORDS_NORM, (int)layer->norm)->word : "");
    }
}
