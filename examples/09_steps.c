/* SPDX-License-Identifier: MIT
 *
 * Train step by step: the caller holds the loop. Here it lowers the learning rate while the training runs, tries a rate that
 * is too large, and goes back to a state that it kept. */
#include <stdio.h>

#include <spherelu.h>

enum { UNITS = 20 };

static double validation_loss(sph_trainer *trainer)
{
    sph_scores scores;
    return sph_trainer_score(trainer, SPH_PART_VAL, &scores) < 0 ? -1 : scores.value[0];
}

static int train(sph_trainer *trainer)
{
    sph_view view;
    void *kept = NULL;
    size_t size;
    int err;
    for (double lr = 0.1; lr > 0.005; lr /= 4) {
        if ((err = sph_trainer_set_lr(trainer, lr)) < 0 || (err = sph_trainer_step(trainer, 100)) < 0 ||
            (err = sph_trainer_view(trainer, &view)) < 0)
            return err;
        printf("step %3llu, lr %.5f: validation loss %.4f\n", (unsigned long long)view.step, view.lr,
               validation_loss(trainer));
    }
    double good = validation_loss(trainer);
    if ((err = sph_trainer_save_state(trainer, &kept, &size)) < 0)
        return err;
    if (!(err = sph_trainer_set_lr(trainer, 30)) && !(err = sph_trainer_step(trainer, 20)))
        printf("20 steps with lr 30: validation loss %s\n",
               validation_loss(trainer) > good ? "is larger" : "is not larger");
    if (!err && !(err = sph_trainer_load_state(trainer, kept, size)))
        printf("the state from before: validation loss %s\n",
               validation_loss(trainer) == good ? "as it was" : "is another one");
    sph_bytes_free(kept);
    return err ? err : validation_loss(trainer) != good;
}

int main(void)
{
    sph_data *data = NULL;
    sph_split split = {0};
    sph_net *net = NULL;
    sph_trainer *trainer = NULL;
    sph_mlp spec = {.size = sizeof(sph_mlp),
                    .inputs = 2,
                    .outputs = 1,
                    .hidden = (size_t[]){UNITS},
                    .depth = 1,
                    .param = SPH_PARAM_GMP,
                    .act = SPH_ACT_RELU};
    sph_train_opts opts;
    sph_train_defaults(&opts, SPH_TASK_BINARY);
    opts.batch = 64;
    opts.epochs = 1000;
    int err;
    if (!(err = sph_data_synthetic(&data, "crescents", 1000, 0.2, 0)) &&
        !(err = sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.2, 0)) &&
        !(err = sph_net_mlp(&net, &spec)) && !(err = sph_trainer_new(&trainer, net, data, &split, &opts)))
        err = train(trainer);
    if (err < 0)
        fprintf(stderr, "%s\n", sph_error());
    sph_trainer_free(trainer);
    sph_net_free(net);
    sph_split_free(&split);
    sph_data_free(data);
    return err != 0;
}
