/* SPDX-License-Identifier: MIT
 *
 * A small option parser: --name value, --name=value, switches and positional words, strict about all of them.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/tool.h"
#include "cli.h"

static const sph_option common[] = {
    {"quiet", NULL, "", "general", "print no progress and no notes on stderr"},
    {"verbose", NULL, "", "general", "print more on stderr"},
    {"help", NULL, "", "general", "print this help"},
    {"help-all", NULL, "", "general", "print the help of all options"},
    {"version", NULL, "", "general", "print the version, the compiled features and the processor"},
};

static void add_options(struct args *args, const sph_option *options, size_t count)
{
    assert(args->count + count <= ARGS_OPTIONS); /* an option left out here would be unknown */
    for (size_t i = 0; i < count; i++)
        args->option[args->count++] = &options[i];
}

static int find(const struct args *args, const char *name, size_t length)
{
    for (size_t i = 0; i < args->count; i++)
        if (strlen(args->option[i]->name) == length && !memcmp(args->option[i]->name, name, length))
            return (int)i;
    return -1;
}

static int unknown_option(const struct args *args, const char *name)
{
    const char *known[ARGS_OPTIONS];
    for (size_t i = 0; i < args->count; i++)
        known[i] = args->option[i]->name;
    const char *nearest = sph_nearest(name, known, args->count);
    if (nearest)
        return cli_fail(args->command, EXIT_USAGE, name, "unknown option '--%s', did you mean '--%s'?", name,
                        nearest);
    return cli_fail(args->command, EXIT_USAGE, name,
                    "unknown option '--%s'; spherelu %s --help%s lists all options", name,
                    args->command->name, args->command->main_options ? "-all" : "");
}

/* argv[*at] is "--name" or "--name=value"; moves *at past a value that stands on its own. */
static int take_option(struct args *args, int argc, char **argv, int *at)
{
    const char *name = argv[*at] + 2;
    size_t length = strcspn(name, "=");
    const char *value = name[length] ? name + length + 1 : NULL;
    int i = find(args, name, length);

    if (i < 0) {
        char shown[64] = "";
        memcpy(shown, name, length < sizeof shown ? length : sizeof shown - 1);
        return unknown_option(args, shown);
    }
    const sph_option *option = args->option[i];
    if (!option->argument) {
        if (value && strcmp(value, "true") && strcmp(value, "false"))
            return cli_fail_option(args->command, option->name, "found '%s', expected no value", value);
        args->value[i] = value ? value : "true";
        return 0;
    }
    if (!value) {
        /* A negative number is a value; what begins with two dashes is the next option. */
        if (*at + 1 >= argc || !strncmp(argv[*at + 1], "--", 2))
            return cli_fail_option(args->command, option->name, "found nothing, expected %s",
                                   option->argument);
        value = argv[++*at];
    }
    args->value[i] = value;
    if (args->command->repeats && !strcmp(option->name, args->command->repeats)) {
        if (args->repeats == ARGS_REPEATS)
            return cli_fail_option(args->command, option->name, "given more than %d times", ARGS_REPEATS);
        args->repeated[args->repeats++] = value;
    }
    return 0;
}

static int missing_word(const struct args *args)
{
    const char *word = args->command->words[args->words];
    return cli_fail(args->command, EXIT_USAGE, word, "%s is missing (usage: spherelu %s %s)", word,
                    args->command->name, args->command->usage);
}

static int takes_word(const struct command *command, size_t at)
{
    while (command->last_repeats && at && !command->words[at])
        at--;
    return command->words[at] != NULL;
}

void args_begin(struct args *args, const struct command *command)
{
    *args = (struct args){.command = command};
    if (command->takes_job) {
        const sph_option *options;
        size_t count = sph_options(&options);
        add_options(args, options, count);
    }
    add_options(args, command->options, command->count);
    add_options(args, common, sizeof common / sizeof *common);
}

int args_parse(struct args *args, const struct command *command, int argc, char **argv, int first)
{
    int plain = 0; /* after "--" */

    args_begin(args, command);
    args->argv = argv;
    for (int at = first; at < argc; at++) {
        const char *word = argv[at];
        if (!plain && !strcmp(word, "--")) {
            plain = 1;
        } else if (!plain && !strcmp(word, "-h")) {
            args->value[find(args, "help", 4)] = "true";
            return 0;
        } else if (!plain && !strncmp(word, "--", 2)) {
            int code = take_option(args, argc, argv, &at);
            if (code)
                return code;
            if (args_on(args, "help") || args_on(args, "help-all") || args_on(args, "version"))
                return 0;
        } else if (!plain && *word == '-' && word[1]) {
            return cli_fail(command, EXIT_USAGE, word + 1,
                            "unknown option '%s' (options begin with two dashes)", word);
        } else if (args->words < ARGS_WORDS && takes_word(command, args->words)) {
            args->word[args->words++] = word;
        } else {
            return cli_fail(command, EXIT_USAGE, word,
                            "found '%s', expected no further argument (usage: spherelu %s %s)", word,
                            command->name, command->usage);
        }
    }
    return args->words < command->words_needed ? missing_word(args) : 0;
}

const char *args_value(const struct args *args, const char *name)
{
    int i = find(args, name, strlen(name));
    return i < 0 ? NULL : args->value[i];
}

int args_on(const struct args *args, const char *name)
{
    const char *value = args_value(args, name);
    return value && !strcmp(value, "true");
}

static int read_size(const char *text, size_t least, size_t *out)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return 0;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end || value < least)
        return 0;
    *out = (size_t)value;
    return 1;
}

int args_size(const struct args *args, const char *name, size_t least, size_t *out)
{
    const char *value = args_value(args, name);
    if (!value || read_size(value, least, out))
        return 0;
    return cli_fail_option(args->command, name, "found '%s', expected a whole number, %zu or more", value,
                           least);
}

int args_word(const struct args *args, const char *name, sph_word_kind kind, int *out)
{
    const char *value = args_value(args, name);
    if (!value)
        return 0;
    int found = sph_word_find(kind, value);
    if (found >= 0) {
        *out = found;
        return 0;
    }
    const char *choices = args->option[find(args, name, strlen(name))]->argument;
    const char *nearest = sph_word_nearest(kind, value);
    if (nearest)
        return cli_fail_option(args->command, name, "unknown value '%s', did you mean '%s'? (%s)", value,
                               nearest, choices);
    return cli_fail_option(args->command, name, "unknown value '%s' (%s)", value, choices);
}

int args_sizes(const struct args *args, const char *name, size_t *list, size_t capacity, size_t *count)
{
    const char *value = args_value(args, name);
    size_t found = 0;
    if (!value)
        return 0;
    for (const char *at = value;;) {
        char item[24] = "";
        size_t length = strcspn(at, ",");
        if (length < sizeof item)
            memcpy(item, at, length);
        if (found >= capacity || !read_size(item, 1, &list[found]))
            return cli_fail_option(args->command, name,
                                   "found '%s', expected at most %zu sizes such as 100,50", value, capacity);
        found++;
        if (!at[length])
            break;
        at += length + 1;
    }
    *count = found;
    return 0;
}

int args_numbers(const struct args *args, const char *name, const char *such_as, double *list, size_t least,
                 size_t most, size_t *count)
{
    const char *value = args_value(args, name), *at = value;
    size_t found = 0;
    if (!value)
        return 0;
    for (;;) {
        char *end;
        double number = strtod(at, &end);
        if (found == most || end == at || (*end && *end != ',') || !isfinite(number))
            break;
        list[found++] = number;
        at = *end ? end + 1 : end;
        if (!*end && found >= least) {
            *count = found;
            return 0;
        }
    }
    return cli_fail_option(args->command, name, "found '%s', expected %s%zu numbers such as %s", value,
                           least == most ? "" : "at most ", most, such_as);
}
