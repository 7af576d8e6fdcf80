/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: command lines, an argument a line, of the command that the first byte says: the parser and the
 * options of a job take or refuse them. */
#include "cli/cli.h"
#include "fuzz.h"
#include "job/job.h"

const struct command *const cli_commands[COMMANDS] = {CLI_COMMANDS(CLI_COMMAND_ROW)};

static void read_values(struct args *args)
{
    size_t size = 0, list[4], found;
    double numbers[4];
    int word = 0;
    args_size(args, "epochs", 1, &size);
    args_word(args, "dtype", SPH_WORDS_DTYPE, &word);
    args_sizes(args, "hidden", list, 4, &found);
    args_numbers(args, "window", "0,1", numbers, 2, 4, &found);
    args_set_memory(args);
    sph_set_max_memory(FUZZ_MEMORY);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { WORDS_MOST = 24, LENGTH_MOST = 2048 };
    static char text[LENGTH_MOST + 1], *words[WORDS_MOST + 1];
    static FILE *silent;
    struct args args;
    sph_job *job = NULL;
    int count = 0;
    if (!silent && (silent = fopen("/dev/null", "w")))
        stderr = silent;
    if (!length)
        return 0;
    const struct command *command = cli_commands[bytes[0] % COMMANDS];
    size_t used = length - 1 < LENGTH_MOST ? length - 1 : LENGTH_MOST;
    memcpy(text, bytes + 1, used);
    text[used] = '\0';
    for (char *at = strtok(text, "\n"); at && count < WORDS_MOST; at = strtok(NULL, "\n"))
        words[count++] = at;
    words[count] = NULL;
    if (args_parse(&args, command, count, words, 0))
        return 0;
    read_values(&args);
    if (!command->takes_job || job_new(&job, 0) < 0)
        return 0;
    for (size_t k = 0; k < args.count; k++)
        if (args.value[k])
            sph_job_set(job, args.option[k]->name, args.value[k]);
    sph_job_free(job);
    return 0;
}
