/* SPDX-License-Identifier: MIT
 *
 * Own data, twice: a CSV with words, dollar prices and missing cells, and arrays in memory. Text columns
 * become indicators, missing cells the training mean, and the net takes and gives the data's own units:
 * standardisation is fitted on the training part, kept with the net and undone at its output. */
#include <math.h>
#include <stdio.h>

#include <spherelu.h>

enum { ROWS = 400 };

static double price_of(double area, int garden)
{
    return 40000 + 1500 * area + (garden ? 30000 : 0);
}

/* area,garden,price with a cell missing here and there, and prices as people write them: "$115,000". */
static int write_csv(const char *path)
{
    FILE *csv = fopen(path, "w");
    if (!csv)
        return -1;
    fputs("area,garden,price\n", csv);
    for (int i = 0; i < ROWS; i++) {
        double area = 50 + i * 37 % 151; /* 50 .. 200 */
        int garden = i % 3 == 0, price = (int)price_of(area, garden);
        if (i % 40 == 7)
            fputs("NA,", csv);
        else
            fprintf(csv, "%.0f,", area);
        fprintf(csv, "%s,\"$%d,%03d\"\n", garden ? "yes" : "no", price / 1000, price % 1000);
    }
    return fclose(csv);
}

/* Splits, builds a small net and trains it. */
static int train(sph_net **net, const sph_data *data, sph_result *result)
{
    sph_split split;
    sph_mlp spec = {.size = sizeof(sph_mlp),
                    .inputs = sph_data_features(data),
                    .outputs = sph_data_outputs(data),
                    .hidden = (size_t[]){32},
                    .depth = 1,
                    .param = SPH_PARAM_GMP,
                    .act = SPH_ACT_RELU};
    sph_train_opts opts;
    sph_train_defaults(&opts, sph_data_task(data));
    opts.lr = 0.01;
    opts.epochs = 500;
    int err = sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.2, 1);
    if (!err)
        err = sph_net_mlp(net, &spec);
    if (!err)
        err = sph_train(*net, data, &split, &opts, NULL, 0, result);
    sph_split_free(&split);
    return err;
}

static int from_csv(void)
{
    sph_data *data = NULL;
    sph_net *net = NULL;
    sph_result result;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.target = "price";
    int err = write_csv("02_houses.csv") ? SPH_EIO : sph_data_open(&data, "02_houses.csv", &opts);
    if (err < 0 || (err = train(&net, data, &result)) < 0)
        goto out;
    printf("02_houses.csv: %zu rows, features:", sph_data_rows(data));
    for (size_t j = 0; j < sph_data_features(data); j++) {
        char name[64];
        if ((err = sph_data_feature(data, j, name, sizeof name)) < 0)
            goto out;
        printf(" %s", name);
    }
    putchar('\n');
    printf("test rmse $%.0f, mae $%.0f\n", result.test.value[1], result.test.value[2]);

    /* Rows as sph_data_x gives them, in the file's units; NAN is a missing cell. */
    double x[] = {120, 0, 1, /**/ 120, 1, 0, /**/ NAN, 1, 0}, y[3];
    if ((err = sph_net_forward(net, x, 3, y)) < 0)
        goto out;
    printf("area 120, garden:    predicted $%.0f, true $%.0f\n", y[0], price_of(120, 1));
    printf("area 120, no garden: predicted $%.0f, true $%.0f\n", y[1], price_of(120, 0));
    printf("area unknown:        predicted $%.0f\n", y[2]);
    if (fabs(y[0] - price_of(120, 1)) > 10000 || fabs(y[1] - price_of(120, 0)) > 10000 || !isfinite(y[2]))
        err = 1;
out:
    sph_net_free(net);
    sph_data_free(data);
    return err;
}

static int from_arrays(void)
{
    double x[ROWS * 2], y[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        x[2 * i] = (double)(i % 20) / 10 - 1;
        x[2 * i + 1] = (double)(i / 20) / 10 - 1;
        y[i] = fabs(x[2 * i]) + x[2 * i + 1];
    }
    sph_data *data = NULL;
    sph_net *net = NULL;
    sph_result result;
    int err = sph_data_from_arrays(&data, x, y, ROWS, 2, 1, SPH_TASK_REGRESSION, NULL);
    if (!err)
        err = train(&net, data, &result);
    if (!err) {
        printf("|x1| + x2 from arrays: test rmse %.4f\n", result.test.value[1]);
        err = result.test.value[1] > 0.1;
    }
    sph_net_free(net);
    sph_data_free(data);
    return err;
}

int main(void)
{
    int err = from_csv();
    if (!err)
        err = from_arrays();
    if (err < 0)
        fprintf(stderr, "%s\n", sph_error());
    return err != 0;
}
