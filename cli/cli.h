/* SPDX-License-Identifier: MIT
 *
 * What the sub-commands share: a command is a row (words for the help, options, a function), arguments are
 * parsed once against the row, and a failure is one line on stderr. Of the library the tool sees spherelu.h and
 * the tool.h of each room. */
#ifndef SPHERELU_CLI_H
#define SPHERELU_CLI_H

#include <jansson.h>
#include <stdio.h>

#include "spherelu.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum { ARGS_OPTIONS = 160, ARGS_WORDS = 16, ARGS_REPEATS = 64 };

struct args;

/* Options that --help-all lists below a heading of the command instead of their section's. */
struct help_group {
    const char *heading, *names; /* names between blanks */
};

struct command {
    const char *name;
    const char *summary;                   /* one line for the list of commands                     */
    const char *usage;                     /* what follows "spherelu NAME"                          */
    const char *about;                     /* a paragraph, wrapped by the help                      */
    const char *examples;                  /* whole lines                                           */
    const char *more_examples;             /* whole lines for --help-all, or NULL                   */
    int often;                             /* the overview lists it                                 */
    const char *main_options;              /* names for --help, between blanks; NULL: all options   */
    const struct help_group *groups;       /* of --help-all, {NULL} at the end; or NULL             */
    const char *listed;                    /* heading of the list below, or NULL                    */
    const sph_word_row *(*list)(size_t i); /* words that it takes or prints; NULL past the last */
    const sph_option *options;             /* its own, (count)                                      */
    size_t count;
    int takes_job;                     /* the library's table comes first                       */
    const char *words[ARGS_WORDS + 1]; /* names of the positional arguments, then NULL  */
    size_t words_needed;
    int last_repeats;    /* the last of them may be given several times         */
    const char *repeats; /* the option that may be given several times, or NULL */
    int ranks;           /* several processes work together: only the first one prints */
    int (*run)(const struct args *args);
};

/* One list, in the order of the help: a new command is a line here, and its file. */
#define CLI_COMMANDS(X)                                                                                      \
    X(train)                                                                                                 \
    X(eval)                                                                                                  \
    X(predict)                                                                                               \
    X(show)                                                                                                  \
    X(list)                                                                                                  \
    X(compare)                                                                                               \
    X(importance)                                                                                            \
    X(run)                                                                                                   \
    X(figures)                                                                                               \
    X(boundaries)                                                                                            \
    X(regions)                                                                                               \
    X(perturb)                                                                                               \
    X(playground)                                                                                            \
    X(data)                                                                                                  \
    X(pack)                                                                                                  \
    X(convert)                                                                                               \
    X(export)                                                                                                \
    X(import)                                                                                                \
    X(bench)                                                                                                 \
    X(completion)

#define CLI_COMMAND_EXTERN(name) extern const struct command command_##name;
#define CLI_COMMAND_NUMBER(name) CLI_COMMAND_##name,
#define CLI_COMMAND_ROW(name)    &command_##name,

CLI_COMMANDS(CLI_COMMAND_EXTERN)
enum { CLI_COMMANDS(CLI_COMMAND_NUMBER) COMMANDS };
extern const struct command *const cli_commands[COMMANDS];

/* ---------------------------------------------------------------- arguments (args.c) */

struct args {
    const struct command *command;
    const sph_option *option[ARGS_OPTIONS]; /* (count) everything the command takes */
    const char *value[ARGS_OPTIONS];        /* (count) NULL: not given; switch: "true" */
    size_t count;
    const char *repeated[ARGS_REPEATS]; /* (repeats) values of the option that may be given several times */
    size_t repeats;
    const char *word[ARGS_WORDS]; /* (words) positional */
    size_t words;
    char **argv; /* as the program was started */
};

/* Every option that the command takes, none of them given. */
void args_begin(struct args *args, const struct command *command);

/* argv: as main has it; the command's own arguments begin at number `first`. 0, or EXIT_USAGE after a message. Stops early at --help, --help-all and --version. */
int args_parse(struct args *args, const struct command *command, int argc, char **argv, int first);

const char *args_value(const struct args *args, const char *name); /* NULL: not given */
int args_on(const struct args *args, const char *name);            /* a switch        */

/* Each leaves *out alone when the option is not given; 0, or EXIT_USAGE after a message. */
int args_size(const struct args *args, const char *name, size_t least, size_t *out);
int args_word(const struct args *args, const char *name, sph_word_kind kind, int *out);
int args_sizes(const struct args *args, const char *name, size_t *list, size_t capacity, size_t *count);

/* Between commas, finite, least to most of them. */
int args_numbers(const struct args *args, const char *name, const char *such_as, double *list, size_t least,
                 size_t most, size_t *count);

/* Heeds --max-memory, where the command takes it, and what the shell or a container allows; 0, or EXIT_USAGE after a message (memory.c). */
int args_set_memory(const struct args *args);

/* Rows of commands that print results as JSON, and of those that hold data or networks. */
#define CLI_JSON                                                                                             \
    {                                                                                                        \
        "json", NULL, "", "output and resources", "print results on stdout as JSON"                                       \
    }
#define CLI_MAX_MEMORY                                                                                       \
    {                                                                                                        \
        "max-memory", "SIZE", "", "output and resources",                                                                 \
            "memory limit, for example 500M or 8G (default: three quarters of the machine's memory)"         \
    }

/* "a|b|c" of a list of words, for the help. */
#define CLI_BAR_WORD(id, word, help) "|" word
#define CLI_WORDS(list)              (&list(CLI_BAR_WORD)[1])

/* ---------------------------------------------------------------- output (output.c) */

/* Replaces stdout by one that passes no orders to a terminal, if it is one (terminal.c). */
void terminal_guard(void);

/* Errors and notes: one line on stderr whatever the text holds, "spherelu train: ..." or, if SPHERELU_MESSAGES is json, an
 * object with code, command, key, path, line and message, as scripts read it. command, key and name may be NULL. Each
 * call that reports an error returns the exit code.
 *
 *   cli_fail         "WHAT"          about the key, which WHAT names in its own words; codes argument and failed
 *   cli_fail_option  "--NAME: WHAT"  code argument
 *   cli_fail_at      "PATH: WHAT"    code file
 *   cli_no_memory                    code memory
 *   cli_fail_with                    the library's last failure, whose key becomes --NAME if the command has that option
 *   cli_fail_more                    the same, and words behind it
 *   cli_note         "note: WHAT"    about an option or anything else that has a name */
#define CLI_WORDS_AT(at) __attribute__((format(printf, at, at + 1)))
int cli_fail(const struct command *command, int code, const char *key, const char *format, ...)
    CLI_WORDS_AT(4);
int cli_fail_option(const struct command *command, const char *name, const char *format, ...) CLI_WORDS_AT(3);
int cli_fail_at(const struct command *command, const char *path, const char *format, ...) CLI_WORDS_AT(3);
int cli_no_memory(const struct command *command);
int cli_fail_with(const struct command *command, int err);
int cli_fail_more(const struct command *command, int err, const char *format, ...) CLI_WORDS_AT(3);
/* Errors and notes are not printed: another process prints them. */
void cli_silence(int on);

void cli_note(const struct command *command, const char *name, const char *format, ...) CLI_WORDS_AT(3);

/* Such a line with its end, of a kind ("error", "note"), into out; its length. */
size_t cli_line(char *out, size_t size, const char *kind, const char *code, const struct command *command,
                const struct sph_failure *failure);

/* ---------------------------------------------------------------- help (help.c) */

void cli_help_overview(void); /* one screen            */
void cli_help_commands(void); /* the list of commands  */
void cli_help_command(const struct args *args, int all);
const sph_word_row *cli_metric(size_t i); /* for the help of commands that score */

/* ---------------------------------------------------------------- results (output.c) */

/* A sink over a stream, self being a FILE. */
int cli_write(void *self, const void *bytes, size_t length);

/* After a call that wrote through it: flushes; 0, or an exit code after a message. what: "the regions". */
int cli_written(const struct command *command, int err, FILE *stream, const char *what);

/* One line on stdout; takes the object. 0, or EXIT_FAILED after a message. */
int cli_print_json(const struct command *command, json_t *object, int digits);
void cli_watch_json(void);        /* first of all: memory that jansson did not get is not overlooked */
int cli_json_is_short(void);      /* some was not: an object may lack what was put into it           */
json_t *cli_number(double value); /* null when not finite: JSON has no other word for it */

/* sph_run_open, and a message; 0 or an exit code. */
int cli_open_run(const struct command *command, const char *dir, sph_run **out);

/* Of an ensemble one net, for the commands that use a run; 0 or an exit code. */
#define CLI_MEMBER                                                                                           \
    {                                                                                                        \
        "member", "K", "", "run", "use only member K of an ensemble, counted from 0 (default: all members)"  \
    }
int cli_take_member(const struct args *args, sph_run *run);

/* The same for what looks into one net: the first, and a note that says so, where none is named. */
#define CLI_ONE_MEMBER                                                                                       \
    {                                                                                                        \
        "member", "K", "", "run", "use member K of an ensemble, counted from 0 (default: 0)"                 \
    }
int cli_take_one(const struct args *args, sph_run *run);

/* How a run reads image folders, for the commands that use one on other data; 0 or an exit code. */
#define CLI_STRICT                                                                                           \
    {                                                                                                        \
        "strict", NULL, "", "data",                                                                          \
            "stop with an error at text values that did not occur in training; without --strict they match " \
            "no known value and are counted on stderr"                                                       \
    }
#define CLI_READING                                                                                          \
    {"workers", "N", "", "data", "image folders: threads that decode them (default: as in training)"}, \
    {                                                                                                        \
        "skip-bad", NULL, "", "data",                                                                        \
            "image folders: leave out files that cannot be decoded and report how many"                \
    }
int cli_set_reading(const struct args *args, sph_run *run);

/* "note: 3 files could not be decoded and were left out", where there are any. */
void cli_note_left_out(const struct command *command, size_t count);

/* Of a regression with several targets: rmse, mae and r2 of each, a line or a member each. data NULL: the run's own test
 * part. NULL: it has one target, or they cannot be scored. */
void cli_print_targets(sph_run *run, const char *data, const char *part);
json_t *cli_targets(sph_run *run, const char *data);

/* A note for each line, but under --quiet. */
void cli_note_lines(const struct args *args, const char *lines);

/* What is to be said of a run's answers, likewise: how its data were read, and what the process lacks. */
void cli_note_run(const struct args *args, const sph_run *run);

/* What makes a word plural: "" for 1, else "s". */
const char *cli_plural(size_t count);

/* "13-100-1 gmp+bn"; for images "vgg6 gmp+imn", or "7 layers gmp+imn" where kind is NULL */
void cli_network(char *out, size_t size, const char *kind, const sph_net *net);

#endif
