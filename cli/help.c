/* SPDX-License-Identifier: MIT
 *
 * The overview, the list of commands, and the help of each command. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "job/tool.h"

enum { HELP_WIDTH = 96, HELP_INDENT = 30 };

/* ---------------------------------------------------------------- all commands */

static void print_begin(void)
{
    printf("spherelu %s: train ReLU networks whose units have a direction, an offset and a scale\n\n"
           "usage: spherelu COMMAND [OPTIONS]\n\n",
           sph_version());
}

static void print_command(const struct command *command)
{
    printf("  %-11s %s\n", command->name, command->summary);
}

static void print_first_steps(void)
{
    printf("first steps\n"
           "  spherelu train --data crescents --out runs/first         a built-in dataset\n"
           "  spherelu train --data prices.csv --target price --out runs/prices\n"
           "  spherelu eval runs/prices --data more-prices.csv\n"
           "  spherelu predict runs/prices --data new-houses.csv > predictions.csv\n"
           "  spherelu run experiments/crescents.yaml                  compare methods\n\n");
}

void cli_help_overview(void)
{
    print_begin();
    printf("the most common commands\n");
    for (size_t i = 0; i < COMMANDS; i++)
        if (cli_commands[i]->often)
            print_command(cli_commands[i]);
    putchar('\n');
    print_first_steps();
    printf("spherelu --help lists all %d commands; spherelu COMMAND --help explains one of them.\n",
           COMMANDS);
}

void cli_help_commands(void)
{
    print_begin();
    for (size_t i = 0; i < COMMANDS; i++)
        print_command(cli_commands[i]);
    putchar('\n');
    print_first_steps();
    printf("spherelu COMMAND --help explains a command; spherelu --version prints how it was compiled.\n"
           "Results go to stdout, everything else to stderr. Exit codes: 0 success, 1 failure,\n"
           "2 wrong usage, 130 or 143 stopped by a signal.\n");
}

/* ---------------------------------------------------------------- one command */

/* Prints text from column `at`, breaking at blanks and continuing at column `indent`. A newline begins a paragraph, or, in
 * an indented text, an item of a list. */
static void print_wrapped(const char *text, size_t at, size_t indent)
{
    enum { ITEM = 2 };
    const size_t outer = indent;
    int first = 1;
    while (*text) {
        size_t length = strcspn(text, " \n");
        if (!first && at + 1 + length > HELP_WIDTH) {
            printf("\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            putchar(' ');
            at++;
        }
        printf("%.*s", (int)length, text);
        at += length;
        text += length;
        first = *text == '\n';
        if (first) {
            at = outer ? outer + ITEM : 0;
            indent = at + (outer ? ITEM : 0);
            printf("\n%s%*s", outer ? "" : "\n", (int)at, "");
        }
        text += *text != '\0';
    }
    putchar('\n');
}

static void print_option(const sph_option *option)
{
    char help[1024], standard[256];
    size_t head = strcspn(option->help, "\n"); /* the default comes before a list */
    const sph_option *table;
    size_t rows = sph_options(&table);
    if (option >= table && option < table + rows)
        sph_option_default((size_t)(option - table), standard, sizeof standard);
    else
        snprintf(standard, sizeof standard, "%s%s", *option->initial ? "default: " : "", option->initial);
    int given = option->argument && *standard;
    snprintf(help, sizeof help, "%.*s%s%s%s%s", (int)head, option->help, given ? " (" : "",
             given ? standard : "", given ? ")" : "", option->help + head);
    int at = printf("  --%s%s%s", option->name, option->argument ? " " : "",
                    option->argument ? option->argument : "");
    if (at > HELP_INDENT - 2) {
        putchar('\n');
        at = 0;
    }
    printf("%*s", HELP_INDENT - at, "");
    print_wrapped(help, HELP_INDENT, HELP_INDENT);
}

/* Whether a list of names, between blanks, has this one. */
static int has_name(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; at && (at = strstr(at, name)); at += length)
        if ((at == names || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return 1;
    return 0;
}

static const char *section_heading(const char *section)
{
    return strcmp(section, "net") ? section : "network";
}

/* The heading below which --help-all lists an option: that of the group that names it, or its section. */
static const char *heading_of(const struct command *command, const sph_option *option)
{
    for (const struct help_group *group = command->groups; group && group->heading; group++)
        if (has_name(group->names, option->name))
            return group->heading;
    return section_heading(option->section);
}

static int is_shown(const struct args *args, const sph_option *option, int all)
{
    const char *main = args->command->main_options;
    if (!strcmp(option->name, "help-all"))
        return main != NULL;
    return all || !main || has_name(main, option->name) || !strcmp(option->section, "general");
}

/* The heading and its options, if any of them is shown. */
static void print_below(const struct args *args, const char *heading, int all)
{
    int begun = 0;
    for (size_t i = 0; i < args->count; i++) {
        const sph_option *option = args->option[i];
        if (strcmp(heading_of(args->command, option), heading) != 0 || !is_shown(args, option, all))
            continue;
        if (!begun)
            printf("\n%s\n", heading);
        begun = 1;
        print_option(option);
    }
}

static int is_last(const char *heading)
{
    return !strcmp(heading, "output and resources") || !strcmp(heading, "general");
}

/* Sections in the order of the table, then the command's groups, then the options that most or all commands have. */
static void print_options(const struct args *args, int all)
{
    for (size_t i = 0; i < args->count; i++) {
        const char *section = args->option[i]->section;
        size_t first = 0;
        while (strcmp(args->option[first]->section, section) != 0)
            first++;
        if (first == i && !is_last(section))
            print_below(args, section_heading(section), all);
    }
    for (const struct help_group *group = args->command->groups; group && group->heading; group++)
        print_below(args, group->heading, all);
    print_below(args, "output and resources", all);
    print_below(args, "general", all);
}

static void print_list(const struct command *command)
{
    const sph_word_row *row;
    printf("\n%s\n", command->listed);
    for (size_t i = 0; (row = command->list(i)); i++) {
        printf("  %-*s", HELP_INDENT - 2, row->word);
        print_wrapped(row->help, HELP_INDENT, HELP_INDENT);
    }
}

const sph_word_row *cli_metric(size_t i)
{
    return sph_word(SPH_WORDS_METRIC, (int)i);
}

void cli_help_command(const struct args *args, int all)
{
    const struct command *command = args->command;
    all |= !command->main_options;
    printf("spherelu %s: %s\n\nusage: spherelu %s ", command->name, command->summary, command->name);
    print_wrapped(command->usage, strlen("usage: spherelu ") + strlen(command->name) + 1, 20);
    putchar('\n');
    print_wrapped(command->about, 0, 0);
    print_options(args, all);
    if (command->list && all)
        print_list(command);
    printf("\nexamples\n%s%s", command->examples,
           all && command->more_examples ? command->more_examples : "");
    if (!all)
        printf("\nThese are the most common options. spherelu %s --help-all lists all %zu options.\n",
               command->name, args->count);
}
