/* SPDX-License-Identifier: MIT
 *
 * Frozen tensors have no gradient and change no other's; a frozen layer is in training what it is in evaluation; and
 * what is computed again on the way back is the same to the last bit. */
#include "net/zoo.h"
#include "support.h"

enum { ROWS = 9, INPUTS = 5, UNITS = 6, DEPTH = 3 };

/* The probe's weights and plan anew, with something frozen or with little memory. */
static void reopen(struct probe *p, const struct freeze *freeze, sph_memory memory, size_t workers)
{
    struct plan_running running = {.momentum = 0.1, .memory = memory};
    plan_free(p->plan);
    weights_free(p->weights);
    p->plan = NULL;
    p->weights = NULL;
    assert_int_equal(weights_new_frozen(&p->weights, p->net, p->net->k, workers, freeze), 0);
    assert_int_equal(plan_new(&p->plan, p->weights, p->rows, PLAN_TRAIN, workers, &running), 0);
}

static double *gradient_of(struct probe *p, double *loss)
{
    double *out = numbers(p->net->learned);
    *loss = probe_gradient(p);
    p->net->k->to_double(p->net->learned, p->weights->learned_grad, out);
    return out;
}

static const char *const paths[] = {"layers.0", "layers.1", "layers.0,layers.1", "layers.3",
                                    "layers.2.norm,layers.3.bias"};

/* Where no statistic of the batch is involved all gradients stay as they were. */
static void other_gradients_keep_their_bits(void **state)
{
    (void)state;
    static const sph_norm norms[] = {SPH_NORM_NONE, SPH_NORM_LN, SPH_NORM_GN};
    struct rng rng = rng_stream(1, RNG_NOISE, 11);
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int param = 0; param < SPH_PARAM_COUNT; param++)
            for (size_t n = 0; n < sizeof norms / sizeof *norms; n++)
                for (size_t f = 0; f < sizeof paths / sizeof *paths; f++) {
                    if (f == 4 && norms[n] == SPH_NORM_NONE)
                        continue;
                    sph_net *net = stack((sph_dtype)dtype, KERNELS_FASTEST, INPUTS, UNITS, DEPTH, 1,
                                         (sph_param)param, norms[n], SPH_ACT_RELU, 3);
                    struct probe probe;
                    struct freeze *freeze = NULL;
                    double loss, frozen_loss;
                    stir(net, &rng);
                    probe_open(&probe, net, SPH_LOSS_MSE, ROWS, 1, &rng);
                    double *all = gradient_of(&probe, &loss);
                    assert_int_equal(freeze_new(&freeze, net, paths[f]), 0);
                    reopen(&probe, freeze, SPH_MEMORY_NORMAL, 1);
                    double *left = gradient_of(&probe, &frozen_loss);
                    assert_true(loss == frozen_loss);
                    size_t frozen = 0;
                    for (size_t t = 0; t < net->tensor_count; t++) {
                        const struct net_tensor *tensor = &net->tensors[t];
                        for (size_t i = 0; tensor->view.learned && i < tensor->view.count; i++) {
                            size_t at = tensor->at + i;
                            assert_true(left[at] == (freeze->tensor[t] ? 0 : all[at]));
                        }
                        frozen += freeze->tensor[t];
                    }
                    assert_true(frozen > 0);
                    free(all);
                    free(left);
                    probe_close(&probe);
                    freeze_free(freeze);
                    sph_net_free(net);
                }
}

/* Running statistics as a net has them that was trained. */
static void settle(sph_net *net, struct rng *rng)
{
    for (size_t i = 0; i < net->tensor_count; i++) {
        const struct net_tensor *tensor = &net->tensors[i];
        double *values = numbers(tensor->view.count);
        int var = strstr(tensor->view.name, "norm.var") != NULL;
        for (size_t e = 0; e < tensor->view.count; e++)
            values[e] = var ? between(rng, 0.5, 2) : between(rng, -0.5, 0.5);
        if (!tensor->view.learned && (var || strstr(tensor->view.name, "norm.mean")))
            net_write_tensor(net, tensor, values);
        free(values);
    }
}

/* Central differences through frozen layers of every normalization, and their running statistics stay. */
static void gradients_match_differences_through_frozen_layers(void **state)
{
    (void)state;
    struct rng rng = rng_stream(1, RNG_NOISE, 12);
    size_t kinks = 0, checked = 0;
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
        for (int act = 0; act < SPH_ACT_COUNT; act++)
            for (size_t f = 0; f < 4; f++) {
                sph_param param =
                    act == SPH_ACT_ELU ? SPH_PARAM_SP : (sph_param)((norm + (int)f) % SPH_PARAM_SPHERE);
                sph_net *net = stack(SPH_F64, KERNELS_FASTEST, INPUTS, UNITS, DEPTH, 1, param, (sph_norm)norm,
                                     (sph_act)act, 5);
                struct probe probe;
                struct freeze *freeze = NULL;
                double loss;
                stir(net, &rng);
                settle(net, &rng);
                assert_int_equal(freeze_new(&freeze, net, paths[f]), 0);
                probe_open(&probe, net, SPH_LOSS_MSE, ROWS, 1, &rng);
                reopen(&probe, freeze, f % 2 ? SPH_MEMORY_SMALL : SPH_MEMORY_NORMAL, 1);
                double *before = numbers(net->state_len), *params = net->params,
                       *gradient = gradient_of(&probe, &loss);
                memcpy(before, net->state, net->state_len * sizeof *before);
                for (size_t t = 0; t < net->tensor_count; t++) {
                    const struct net_tensor *tensor = &net->tensors[t];
                    for (size_t i = 0; tensor->view.learned && !freeze->tensor[t] && i < tensor->view.count;
                         i += 3) {
                        double *at = &params[tensor->at + i], here = *at, step = 1e-6;
                        *at = here + step;
                        double up = probe_loss(&probe);
                        *at = here - step;
                        double down = probe_loss(&probe);
                        *at = here;
                        double want = (up - down) / (2 * step), found = gradient[tensor->at + i];
                        checked++;
                        kinks += fabs(want - found) > 1e-6 * (1 + fabs(want)); /* a unit's row near 0 */
                    }
                }
                for (size_t t = 0; t < net->tensor_count; t++) {
                    const struct net_tensor *tensor = &net->tensors[t];
                    if (!tensor->view.learned && freeze->still[tensor->layer])
                        assert_memory_equal(before + tensor->at, (double *)net->state + tensor->at,
                                            tensor->view.count * sizeof *before);
                }
                free(before);
                free(gradient);
                probe_close(&probe);
                freeze_free(freeze);
                sph_net_free(net);
            }
    print_message("%zu of %zu entries are at kinks\n", kinks, checked);
    assert_true(kinks * 100 <= checked);
}

/* With little memory, and in a net for images. */
static void little_memory_changes_no_bit(void **state)
{
    (void)state;
    struct rng rng = rng_stream(1, RNG_NOISE, 13);
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
            for (int param = 0; param < SPH_PARAM_COUNT; param++)
                for (size_t workers = 1; workers <= 2; workers++) {
                    sph_net *net = NULL;
                    sph_image_net spec = {.size = sizeof(sph_image_net),
                                          .dtype = (sph_dtype)dtype,
                                          .channels = 3,
                                          .height = 8,
                                          .width = 8,
                                          .classes = 3,
                                          .scale = 0.0625,
                                          .param = (sph_param)param,
                                          .norm = (sph_norm)norm,
                                          .act = SPH_ACT_RELU,
                                          .seed = 1};
                    assert_int_equal(norm % 2 ? sph_net_resnet18(&net, &spec) : sph_net_vgg6(&net, &spec), 0);
                    struct probe probe;
                    double loss, again;
                    probe_open(&probe, net, SPH_LOSS_CE, 4, workers, &rng);
                    double *normal = gradient_of(&probe, &loss);
                    reopen(&probe, NULL, SPH_MEMORY_SMALL, workers);
                    double *small = gradient_of(&probe, &again);
                    assert_true(loss == again);
                    assert_memory_equal(normal, small, net->learned * sizeof *normal);
                    free(normal);
                    free(small);
                    probe_close(&probe);
                    sph_net_free(net);
                }
}

static void what_fits_nothing_is_refused(void **state)
{
    (void)state;
    sph_net *net =
        stack(SPH_F32, KERNELS_FASTEST, INPUTS, UNITS, 2, 1, SPH_PARAM_GMP, SPH_NORM_BN, SPH_ACT_RELU, 1);
    static const char *const bad[] = {"",         "layer.0", "layers.0,", "layers.0.the",
                                      "layers.7", "layers",  ",layers.0", "layers.0.norm.mean"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct freeze *freeze = NULL;
        assert_int_equal(freeze_new(&freeze, net, bad[i]), SPH_EARG);
        assert_string_equal(sph_failure()->key, "freeze");
        assert_null(freeze);
    }
    struct freeze *freeze = NULL;
    assert_int_equal(freeze_new(&freeze, net, " layers.0 , layers.1.theta "), 0);
    assert_true(freeze->still[0] && freeze->weights[0] && !freeze->still[1] && !freeze->weights[1]);
    freeze_free(freeze);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_gradients_keep_their_bits),
        cmocka_unit_test(gradients_match_differences_through_frozen_layers),
        cmocka_unit_test(little_memory_changes_no_bit),
        cmocka_unit_test(what_fits_nothing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
