/* SPDX-License-Identifier: MIT
 *
 * spherelu: finds the command, parses its arguments, runs it. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/tool.h"
#include "cli.h"
#include "file/tool.h"
#include "launch/tool.h"
#include "report/tool.h"

const struct command *const cli_commands[COMMANDS] = {CLI_COMMANDS(CLI_COMMAND_ROW)};

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(name, cli_commands[i]->name))
            return cli_commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = cli_commands[i]->name;
    if (*name == '-')
        return cli_fail(NULL, EXIT_USAGE, name,
                        "found '%s', expected a command; spherelu --help lists all commands", name);
    const char *nearest = sph_nearest(name, names, COMMANDS);
    if (nearest)
        return cli_fail(NULL, EXIT_USAGE, name, "unknown command '%s', did you mean '%s'?", name, nearest);
    return cli_fail(NULL, EXIT_USAGE, name, "unknown command '%s'; spherelu --help lists all commands", name);
}

static int print_version(void)
{
    char path[4096];
    const char *gnuplot = sph_gnuplot(path, sizeof path);
    printf("spherelu %s\n%scpu: %s\ngnuplot: %s\n", sph_version(), sph_features(), sph_cpu(),
           gnuplot ? gnuplot : "not found");
    return EXIT_DONE;
}

static int is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help");
}

static int run(int argc, char **argv)
{
    struct args args;
    if (argc < 2) {
        cli_help_overview();
        return EXIT_DONE;
    }
    if (!strcmp(argv[1], "--version"))
        return print_version();
    if (is_help(argv[1]) && argc == 2) {
        cli_help_commands();
        return EXIT_DONE;
    }
    int asked = is_help(argv[1]); /* spherelu help train */
    const char *name = asked ? argv[2] : argv[1];
    const struct command *command = find_command(name);
    if (!command)
        return unknown_command(name);
    cli_silence(command->ranks && sph_launcher_find().rank > 0);
    char *help[] = {"--help"};
    int code = asked ? args_parse(&args, command, 1, help, 0) : args_parse(&args, command, argc, argv, 2);
    if (code)
        return code;
    if (args_on(&args, "version"))
        return print_version();
    if (args_on(&args, "help") || args_on(&args, "help-all")) {
        cli_help_command(&args, args_on(&args, "help-all"));
        return EXIT_DONE;
    }
    code = args_set_memory(&args);
    return code ? code : command->run(&args);
}

/* Last words, ready before they are needed: a handler of signals may only write. */
struct last_words {
    char line[400];
    size_t length;
};
static struct last_words no_memory, crash, cut;

static void prepare(struct last_words *words, const char *code, const char *key, const char *text)
{
    words->length = cli_line(words->line, sizeof words->line, "error", code, NULL,
                             &(struct sph_failure){.key = key, .text = text});
}

static void prepare_last_words(void)
{
    prepare(&no_memory, "memory", "max-memory",
            "out of memory in a library; try a larger --max-memory or a smaller --batch");
    prepare(&crash, "crash", NULL,
            "internal error (segmentation fault); no output file was left half-written. Please report it");
    prepare(&cut, "file", NULL, "a file was truncated while it was being read");
}

static void speak(const struct last_words *words)
{
    (void)!write(STDERR_FILENO, words->line, words->length);
}

/* oneDNN is C++: where it runs out of memory in the middle of something, an exception may reach C. */
static void on_terminate(void)
{
    speak(&no_memory);
    _exit(EXIT_FAILED);
}

/* A library that follows the null pointer it got for memory, or a mapped file that was cut short. The instruction is
 * repeated after this, and the signal then ends the program. */
static void on_crash(int number)
{
    speak(number == SIGBUS ? &cut : &crash);
}

static void catch_crashes(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before, ours = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
        if (!sigaction(numbers[i], NULL, &before) &&
            before.sa_handler == SIG_DFL) /* a sanitizer has its own */
            sigaction(numbers[i], &ours, NULL);
    }
}

/* Ctrl-C and SIGTERM end the program as the system does it, without the files it was about to write. train, run and pack
 * have more to do (stop.h). */
static void on_end(int number)
{
    sph_remove_unfinished();
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_ends(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before, ours = {.sa_handler = on_end};
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &ours, NULL);
    }
}

static void catch_exceptions(void)
{
    void (*(*set_terminate)(void (*)(void)))(void);
    void *address = dlsym(RTLD_DEFAULT, "_ZSt13set_terminatePFvvE"); /* std::set_terminate, if it is here */
    memcpy(&set_terminate, &address, sizeof address);
    if (address)
        set_terminate(on_terminate);
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* a write past a size limit fails like one to a full disk */
    prepare_last_words();
    catch_exceptions();
    catch_crashes();
    catch_ends();
    cli_watch_json();
    terminal_guard();
    int code = run(argc, argv);
    /* A full disk behind a redirection shows only when the last bytes leave. */
    errno = 0;
    int late = fflush(stdout), error = errno;
    if ((late || ferror(stdout)) && code == EXIT_DONE)
        return cli_fail_at(NULL, "stdout", "cannot be written: %s", error ? strerror(error) : "write failed");
    return code;
}
