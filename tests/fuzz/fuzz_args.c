/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: command lines, an argument a line: the parser and the options of a job take or refuse them. */
#include "cli/cli.h"
#include "fuzz.h"

const struct command *const cli_commands[COMMANDS] = {CLI_COMMANDS(CLI_COMMAND_ROW)};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { WORDS_MOST = 24, LENGTH_MOST = 2048 };
    static char text[LENGTH_MOST + 1], *words[WORDS_MOST + 1];
    static FILE *silent;
    if (!silent && (silent = fopen("/dev/null", "w")))
        stderr = silent;
    size_t used = length < LENGTH_MOST ? length : LENGTH_MOST;
    int count = 0;
    memcpy(text, bytes, used);
    text[used] = '\0';
    for (char *at = strtok(text, "\n"); at && count < WORDS_MOST; at = strtok(NULL, "\n"))
        words[count++] = at;
    words[count] = NULL;
    for (size_t i = 0; i < COMMANDS; i++) {
        struct args args;
        size_t size = 0, list[4], found;
        double numbers[4];
        int word = 0;
        if (args_parse(&args, cli_commands[i], count, words, 0))
            continue;
        args_size(&args, "epochs", 1, &size);
        args_word(&args, "dtype", SPH_WORDS_DTYPE, &word);
        args_sizes(&args, "hidden", list, 4, &found);
        args_numbers(&args, "window", "0,1", numbers, 2, 4, &found);
        args_set_memory(&args);
        sph_set_max_memory(FUZZ_MEMORY);
        sph_job *job = NULL;
        if (!cli_commands[i]->takes_job || sph_job_new(&job) < 0)
            continue;
        for (size_t k = 0; k < args.count; k++)
            if (args.value[k])
                sph_job_set(job, args.option[k]->name, args.value[k]);
        sph_job_free(job);
    }
    return 0;
}
