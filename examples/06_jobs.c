/* SPDX-License-Identifier: MIT
 *
 * What the command-line tool does, from C: a job is set by the tool's own words, run into a folder, and the
 * folder opened again to score and predict. The folder, 06_run, is left in the current directory to look at.
 */
#include <stdio.h>

#include <spherelu.h>

static int set(sph_job *job, const char *const (*pairs)[2], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int err = sph_job_set(job, pairs[i][0], pairs[i][1]);
        if (err < 0)
            return err;
    }
    return 0;
}

/* Takes what predict writes. */
static int write_file(void *self, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, self) == length ? 0 : SPH_EIO;
}

/* Predicts into a file; returns its lines, or a negative number. */
static int predict(sph_run *run, const char *source, const char *path)
{
    FILE *csv = fopen(path, "w+");
    if (!csv)
        return SPH_EIO;
    int err = sph_run_predict(run, source, &(sph_sink){csv, write_file}), lines = 0;
    char line[256];
    rewind(csv);
    while (!err && fgets(line, sizeof line, csv))
        if (lines++ < 3)
            printf("  %s", line);
    fclose(csv);
    return err < 0 ? err : lines;
}

/* What an earlier start of this example left: a job refuses a folder that holds a run. */
static void sweep(const char *folder)
{
    static const char *const names[] = {"config.yaml",       "split.json",    "checkpoint.safetensors",
                                        "model.safetensors", "metrics.jsonl", "result.json",
                                        "predictions.csv"};
    char path[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
}

int main(void)
{
    const char *folder = "06_run";
    const char *const options[][2] = {
        {"data", "crescents"}, {"hidden", "20"}, {"param", "gmp"}, {"lr", "0.1"},
        {"batch", "128"},      {"epochs", "60"}, {"seed", "3"},    {"out", folder},
    };
    sph_job *job = NULL;
    sph_run *run = NULL;
    sph_result result;
    sph_scores scores;
    int err, bad = 0;
    sweep(folder);
    if ((err = sph_job_new(&job)) < 0 || (err = set(job, options, sizeof options / sizeof *options)) < 0)
        goto out;

    /* A wrong word or value is refused at once, with a line for the user. */
    bad |= sph_job_set(job, "learning-rate", "1") != SPH_EARG;
    printf("%s\n", sph_error());
    bad |= sph_job_set(job, "lr", "-1") != SPH_EARG;
    printf("%s\n", sph_error());

    if ((err = sph_job_run(job, 0, NULL, 0, &result)) < 0)
        goto out;
    printf("%zu epochs, test %s %.4f; task found: %s, loss: %s\n", result.epochs, result.test.name[1],
           result.test.value[1], sph_job_get(job, "task"), sph_job_get(job, "loss"));

    /* The folder holds everything needed to repeat the run, and the net with its columns and standardisation.
     */
    if ((err = sph_run_open(&run, folder)) < 0 || (err = sph_run_eval(run, "crescents", &scores)) < 0)
        goto out;
    printf("all %zu rows: %s %.4f, %s %.4f\n", scores.rows, scores.name[0], scores.value[0], scores.name[1],
           scores.value[1]);
    char path[64];
    snprintf(path, sizeof path, "%s/predictions.csv", folder);
    int lines = predict(run, "crescents", path);
    if (lines < 0) {
        err = lines;
        goto out;
    }
    bad |= lines != (int)scores.rows + 1; /* a header and a line for each row */
    bad |= !(scores.value[1] > 0.95) || !(result.test.value[1] > 0.95);

    /* A folder is not written over. */
    bad |= sph_job_run(job, 0, NULL, 0, &result) != SPH_EARG;
    printf("%s\n", sph_error());
out:
    if (err < 0)
        fprintf(stderr, "%s\n", sph_error());
    sph_run_free(run);
    sph_job_free(job);
    return err < 0 || bad;
}
