/* SPDX-License-Identifier: MIT
 *
 * spherelu completion: what shells complete, made of the tables of commands and options. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* What an option takes: nothing, one of some words, a file, or anything else. */
enum takes { TAKES_NOTHING, TAKES_WORDS, TAKES_FILE, TAKES_ANY };

static enum takes what_it_takes(const sph_option *option)
{
    const char *text = option->argument;
    if (!text)
        return TAKES_NOTHING;
    if (strstr(text, "FILE") || strstr(text, "DIR"))
        return TAKES_FILE;
    int bars = 0;
    for (; *text; text++) {
        if (!islower((unsigned char)*text) && !isdigit((unsigned char)*text) && !strchr("|-_", *text))
            return TAKES_ANY;
        bars += *text == '|';
    }
    return bars ? TAKES_WORDS : TAKES_ANY;
}

static void print_words(const char *bars)
{
    for (; *bars; bars++)
        putchar(*bars == '|' ? ' ' : *bars);
}

/* The first sentence of a help, cut short, without what a shell would read. */
static void print_help(const char *help)
{
    enum { MOST = 72 };
    size_t n = 0;
    for (; n < MOST && !strchr(";\n", help[n]); n++)
        putchar(strchr("'\"\\[]:`$", help[n]) ? ' ' : help[n]);
    if (!strchr(";\n", help[n]))
        printf("...");
}

/* ---------------------------------------------------------------- bash */

static void bash_command(const struct args *args)
{
    const char *name = args->command->name;
    printf("    %s)\n        case $prev in\n", name);
    for (size_t i = 0; i < args->count; i++)
        if (what_it_takes(args->option[i]) == TAKES_WORDS) {
            printf("        --%s) COMPREPLY=($(compgen -W \"", args->option[i]->name);
            print_words(args->option[i]->argument);
            printf("\" -- \"$cur\")); return ;;\n");
        }
    printf("        esac\n        options=\"");
    for (size_t i = 0; i < args->count; i++)
        printf("%s--%s", i ? " " : "", args->option[i]->name);
    printf("\" ;;\n");
}

static void bash_begin(void)
{
    printf("# bash completion of spherelu; made by: spherelu completion bash\n"
           "_spherelu() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} options=\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("%s ", cli_commands[i]->name);
    printf("--help --version\" -- \"$cur\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
}

static void bash_end(void)
{
    printf("    esac\n"
           "    case $cur in\n"
           "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
           "    *) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
           "    esac\n"
           "}\n"
           "complete -o filenames -F _spherelu spherelu\n");
}

/* ---------------------------------------------------------------- zsh */

static void zsh_begin(void)
{
    printf("#compdef spherelu\n# zsh completion of spherelu; made by: spherelu completion zsh\n"
           "_spherelu() {\n    if (( CURRENT == 2 )); then\n        local -a commands=(\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        printf("            '%s:", cli_commands[i]->name);
        print_help(cli_commands[i]->summary);
        printf("'\n");
    }
    printf("        )\n        _describe command commands\n        return\n    fi\n    case $words[2] in\n");
}

static void zsh_command(const struct args *args)
{
    printf("    %s)\n        _arguments", args->command->name);
    for (size_t i = 0; i < args->count; i++) {
        const sph_option *option = args->option[i];
        enum takes takes = what_it_takes(option);
        printf(" \\\n            '--%s[", option->name);
        print_help(option->help);
        printf("]");
        if (takes == TAKES_FILE)
            printf(":file:_files");
        else if (takes == TAKES_WORDS) {
            printf(":value:(");
            print_words(option->argument);
            printf(")");
        } else if (takes == TAKES_ANY)
            printf(":value:");
        printf("'");
    }
    printf(" \\\n            '*:file:_files'\n        ;;\n");
}

static void zsh_end(void)
{
    printf("    esac\n}\n_spherelu \"$@\"\n");
}

/* ---------------------------------------------------------------- fish */

static void fish_begin(void)
{
    printf("# fish completion of spherelu; made by: spherelu completion fish\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        printf("complete -c spherelu -f -n __fish_use_subcommand -a %s -d '", cli_commands[i]->name);
        print_help(cli_commands[i]->summary);
        printf("'\n");
    }
}

static void fish_command(const struct args *args)
{
    for (size_t i = 0; i < args->count; i++) {
        const sph_option *option = args->option[i];
        enum takes takes = what_it_takes(option);
        printf("complete -c spherelu -n '__fish_seen_subcommand_from %s' -l %s", args->command->name,
               option->name);
        if (takes == TAKES_FILE)
            printf(" -r");
        else if (takes == TAKES_WORDS) {
            printf(" -x -a '");
            print_words(option->argument);
            printf("'");
        } else if (takes == TAKES_ANY)
            printf(" -x");
        printf(" -d '");
        print_help(option->help);
        printf("'\n");
    }
}

static void fish_end(void)
{
}

/* ---------------------------------------------------------------- the command */

static const struct shell {
    const char *name;
    void (*begin)(void);
    void (*command)(const struct args *args);
    void (*end)(void);
} shells[] = {{"bash", bash_begin, bash_command, bash_end},
              {"zsh", zsh_begin, zsh_command, zsh_end},
              {"fish", fish_begin, fish_command, fish_end}};
enum { SHELLS = sizeof shells / sizeof *shells };

static int run_completion(const struct args *args)
{
    const struct shell *shell = shells;
    while (shell < shells + SHELLS && strcmp(shell->name, args->word[0]) != 0)
        shell++;
    if (shell == shells + SHELLS)
        return cli_fail(args->command, EXIT_USAGE, args->word[0], "found '%s', expected bash, zsh or fish",
                        args->word[0]);
    shell->begin();
    for (size_t i = 0; i < COMMANDS; i++) {
        struct args all;
        args_begin(&all, cli_commands[i]);
        shell->command(&all);
    }
    shell->end();
    return cli_written(args->command, 0, stdout, "the script");
}

const struct command command_completion = {
    .name = "completion",
    .summary = "print a script for command completion in a shell",
    .usage = "bash|zsh|fish",
    .about = "Prints a completion script for commands and options. make install installs all three where the "
             "shells look for them.",
    .examples = "  spherelu completion bash > spherelu.bash\n"
                "  spherelu completion zsh > _spherelu\n"
                "  spherelu completion fish > spherelu.fish\n",
    .words = {"SHELL"},
    .words_needed = 1,
    .run = run_completion,
};
