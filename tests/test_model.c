/* SPDX-License-Identifier: MIT
 *
 * Model files: what is saved comes back bit by bit, and a net takes what it learned from one. */
#include "model_file.h"

#include "base/memory.h"
#include "fault.h"
#include "net/net.h"
#include "net/zoo.h"
#include "store/model.h"

static sph_net *some_net(sph_dtype dtype, sph_param param, sph_norm norm, sph_act act, size_t inputs)
{
    return random_net(&(struct random_spec){.seed = 6,
                                            .dtype = dtype,
                                            .param = param,
                                            .norm = norm,
                                            .act = act,
                                            .inputs = inputs,
                                            .depth = 2,
                                            .residual = inputs == 1});
}

static void check_equal(const sph_net *a, const sph_net *b)
{
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(a->node_count, b->node_count);
    assert_int_equal(a->output, b->output);
    for (size_t i = 0; i < a->node_count; i++) {
        assert_int_equal(a->nodes[i].kind, b->nodes[i].kind);
        assert_memory_equal(a->nodes[i].in, b->nodes[i].in, sizeof a->nodes[i].in);
        assert_int_equal(node_features(&a->nodes[i]), node_features(&b->nodes[i]));
        assert_int_equal(a->nodes[i].layer, b->nodes[i].layer);
    }
    assert_int_equal(a->learned, b->learned);
    assert_int_equal(a->state_len, b->state_len);
    assert_memory_equal(a->params, b->params, a->learned * a->k->size);
    assert_memory_equal(a->state, b->state, a->state_len * a->k->size);
    for (size_t l = 0; l < a->layer_count; l++) {
        assert_string_equal(a->layers[l].path, b->layers[l].path);
        assert_int_equal(a->layers[l].spec.param, b->layers[l].spec.param);
        assert_int_equal(a->layers[l].spec.norm, b->layers[l].spec.norm);
        assert_int_equal(a->layers[l].spec.norm_groups, b->layers[l].spec.norm_groups);
        assert_int_equal(a->layers[l].spec.act, b->layers[l].spec.act);
        assert_int_equal(a->layers[l].spec.signs, b->layers[l].spec.signs);
    }
}

static void every_net_comes_back_bit_by_bit(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int param = 0; param < SPH_PARAM_COUNT; param++)
            for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
                for (int act = 0; act < SPH_ACT_COUNT; act++) {
                    size_t inputs = (size_t)(1 + (param + norm + act) % 3);
                    sph_net *net =
                        some_net((sph_dtype)dtype, (sph_param)param, (sph_norm)norm, (sph_act)act, inputs);
                    sph_net *back = NULL;
                    assert_int_equal(sph_net_save(net, path), 0);
                    if (sph_net_open(&back, path))
                        fail_msg("%s", sph_error());
                    check_equal(net, back);
                    sph_net_free(back);
                    sph_net_free(net);
                }
}

static void groups_of_units_come_back(void **state)
{
    (void)state;
    sph_net *net = NULL, *back = NULL;
    assert_int_equal(sph_net_new(&net, SPH_F64), 0);
    int a = sph_net_conv(net, sph_net_image(net, 2, 4, 4),
                         &(sph_layer){.size = sizeof(sph_layer),
                                      .units = 12,
                                      .norm = SPH_NORM_GN,
                                      .norm_groups = 12,
                                      .kernel = 3,
                                      .stride = 1});
    a = sph_net_dense(
        net, sph_net_global_pool(net, a),
        &(sph_layer){.size = sizeof(sph_layer), .units = 12, .norm = SPH_NORM_GN, .norm_groups = 6});
    assert_int_equal(sph_net_ready(net, a, 1), 0);
    assert_int_equal(sph_net_save(net, path), 0);
    assert_int_equal(sph_net_open(&back, path), 0);
    check_equal(net, back);
    assert_int_equal(sph_net_layer(back, 0, NULL)->norm_groups, 12);
    assert_int_equal(sph_net_layer(back, 1, NULL)->norm_groups, 6);
    sph_net_free(back);
    sph_net_free(net);
}

static void signs_and_names_of_one_s_own_come_back(void **state)
{
    (void)state;
    sph_net *net = NULL, *back = NULL;
    double signs[3] = {1, -1, -1};
    assert_int_equal(sph_net_new(&net, SPH_F32), 0);
    int x = sph_net_input(net, 2);
    int a = sph_net_dense(
        net, x,
        &(sph_layer){
            .size = sizeof(sph_layer), .path = "first/\"one\"", .units = 3, .act = SPH_ACT_RELU, .signs = 1});
    assert_int_equal(sph_net_ready(net, a, 1), 0);
    assert_int_equal(sph_net_set(net, "first/\"one\".r", signs, 3), 0);
    assert_int_equal(sph_net_save(net, path), 0);
    assert_int_equal(sph_net_open(&back, path), 0);
    check_equal(net, back);
    sph_net_free(back);
    sph_net_free(net);
}

static void standardisation_and_data_come_back_bit_by_bit(void **state)
{
    (void)state;
    sph_net *net = some_net(SPH_F64, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU, 2), *back = NULL;
    double x_mean[] = {0.1, -1.0 / 3}, x_scale[] = {1e-300, 5e-324}, x_fill[] = {1e22, 123456789012345680.0};
    double y_mean[] = {-0.0, 2}, y_scale[] = {1.7976931348623157e308, 3};
    double x_clip[] = {3, 0};
    struct scaling scaling = {2, 2, x_mean, x_scale, x_fill, x_clip, y_mean, y_scale};
    assert_int_equal(scaling_copy(&net->scaling, &scaling), 0);
    json_t *data = json_pack("{s:[s,s], s:f}", "classes", "a", "\xc3\xa9", "x", 0.1), *data_back = NULL;
    assert_int_equal(model_save_members(path, &net, 1, data), 0);
    assert_int_equal(model_open(&back, &data_back, path), 0);
    assert_true(json_equal(data, data_back));
    assert_int_equal(back->scaling.features, 2);
    assert_int_equal(back->scaling.targets, 2);
    assert_memory_equal(back->scaling.x_mean, x_mean, sizeof x_mean);
    assert_memory_equal(back->scaling.x_scale, x_scale, sizeof x_scale);
    assert_memory_equal(back->scaling.x_fill, x_fill, sizeof x_fill);
    assert_memory_equal(back->scaling.x_clip, x_clip, sizeof x_clip);
    assert_memory_equal(back->scaling.y_mean, y_mean, sizeof y_mean);
    assert_memory_equal(back->scaling.y_scale, y_scale, sizeof y_scale);
    sph_net_free(back);
    json_decref(data_back);

    net->scaling.x_mean[1] = INFINITY;
    assert_fails(model_save_members(path, &net, 1, data), SPH_EARG, .key = "x_mean", .path = path);
    json_decref(data);
    sph_net_free(net);
}

/* How many the list has that stands behind key. */
static size_t numbers_in(const char *text, const char *key)
{
    size_t count = 1;
    for (const char *at = strstr(text, key); *at != ']'; at++)
        count += *at == ',';
    return count;
}

/* Columns of a channel are standardised alike: the file has a number for each channel. Where they are not it has all. */
static void standardisation_of_images_is_kept_by_channel(void **state)
{
    (void)state;
    enum { CHANNELS = 3, PIXELS = 8 * 8, COLUMNS = CHANNELS * PIXELS };
    static const double by_channel[CHANNELS] = {0.1, -1.0 / 3, 7};
    double mean[COLUMNS], scale[COLUMNS];
    for (int own = 0; own < 2; own++) {
        sph_net *net = NULL, *back = NULL;
        json_t *data = NULL;
        struct safetensors file;
        for (size_t i = 0; i < COLUMNS; i++)
            scale[i] = 1 + (mean[i] = by_channel[i / PIXELS]);
        mean[COLUMNS - 1] += own;
        assert_int_equal(sph_net_vgg6(&net, &(sph_image_net){.size = sizeof(sph_image_net),
                                                             .channels = CHANNELS,
                                                             .height = 8,
                                                             .width = 8,
                                                             .classes = 2,
                                                             .scale = 1.0 / 64}),
                         0);
        assert_int_equal(
            scaling_copy(&net->scaling,
                         &(struct scaling){.features = COLUMNS, .x_mean = mean, .x_scale = scale}),
            0);
        assert_int_equal(model_save_members(path, &net, 1, NULL), 0);
        assert_int_equal(model_open(&back, &data, path), 0);
        assert_memory_equal(back->scaling.x_mean, mean, sizeof mean);
        assert_memory_equal(back->scaling.x_scale, scale, sizeof scale);
        assert_int_equal(safetensors_open(&file, path), 0);
        const char *text = safetensors_metadata(&file, "spherelu");
        assert_int_equal(numbers_in(text, "\"x_mean\""), own ? COLUMNS : CHANNELS);
        assert_int_equal(numbers_in(text, "\"x_scale\""), CHANNELS);
        safetensors_close(&file);
        sph_net_free(back);
        sph_net_free(net);
    }
}

static void without_data_there_is_none(void **state)
{
    (void)state;
    sph_net *net = some_net(SPH_F32, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU, 2), *back = NULL;
    json_t *data = (json_t *)&data;
    assert_int_equal(sph_net_save(net, path), 0);
    assert_int_equal(model_open(&back, &data, path), 0);
    assert_null(data);
    assert_null(back->scaling.x_mean);
    sph_net_free(back);
    sph_net_free(net);
    assert_int_equal(sph_net_new(&net, SPH_F32), 0);
    assert_int_equal(sph_net_save(net, path), SPH_EARG);
    sph_net_free(net);
}

static void members_come_back_bit_by_bit_and_are_no_single_net(void **state)
{
    (void)state;
    sph_net *nets[3], **back = NULL, *one = NULL;
    size_t count = 0;
    for (size_t k = 0; k < 3; k++)
        nets[k] = some_net(SPH_F32, SPH_PARAM_GMP, SPH_NORM_BN, SPH_ACT_RELU, 2);
    for (size_t k = 0; k < 3; k++)
        ((float *)nets[k]->params)[0] = (float)k;
    assert_int_equal(model_save_members(path, nets, 3, NULL), 0);
    assert_int_equal(model_open_members(&back, &count, NULL, path), 0);
    assert_int_equal(count, 3);
    for (size_t k = 0; k < 3; k++)
        check_equal(nets[k], back[k]);
    model_free_members(back, count);
    assert_fails(sph_net_open(&one, path), SPH_EARG, .path = path);

    /* one member is a plain file, and a plain file an ensemble of one */
    assert_int_equal(model_save_members(path, nets, 1, NULL), 0);
    assert_int_equal(sph_net_open(&one, path), 0);
    check_equal(nets[0], one);
    sph_net_free(one);
    assert_int_equal(model_open_members(&back, &count, NULL, path), 0);
    assert_int_equal(count, 1);
    model_free_members(back, count);

    sph_net *other = some_net(SPH_F32, SPH_PARAM_SP, SPH_NORM_BN, SPH_ACT_RELU, 2), *two[] = {nets[0], other};
    assert_fails(model_save_members(path, two, 2, NULL), SPH_EARG, .key = "members", .path = path);
    sph_net_free(other);
    for (size_t k = 0; k < 3; k++)
        sph_net_free(nets[k]);
}

/* ---------------------------------------------------------------- taking numbers */

static void load_refuses(sph_net *net, const char *key)
{
    sph_net *before = NULL;
    assert_int_equal(sph_net_copy(&before, net), 0);
    assert_fails(sph_net_load_tensors(net, path), SPH_EFORMAT, .key = key, .path = path);
    check_equal(before, net); /* nothing changed */
    sph_net_free(before);
}

static void learned_tensors_must_be_there_and_no_other(void **state)
{
    (void)state;
    sph_net *net = some_net(SPH_F32, SPH_PARAM_SP, SPH_NORM_BN, SPH_ACT_RELU, 2), *from = NULL, *other = NULL;
    double mean[3], kept[3];
    struct random_spec spec = {
        .seed = 6, .dtype = SPH_F64, .norm = SPH_NORM_BN, .act = SPH_ACT_RELU, .inputs = 2, .depth = 2};
    from = random_net(&spec);
    randomize(from, 99, 0);
    /* all of it, f64 into f32 */
    assert_int_equal(sph_net_save(from, path), 0);
    assert_int_equal(sph_net_load_tensors(net, path), 0);
    for (size_t i = 0; i < sph_net_tensors(net); i++) {
        sph_tensor t;
        double a[64], b[64];
        sph_net_tensor(net, i, &t);
        assert_int_equal(sph_net_get(net, t.name, a, t.count), 0);
        assert_int_equal(sph_net_get(from, t.name, b, t.count), 0);
        for (size_t j = 0; j < t.count; j++)
            assert_true(a[j] == (double)(float)b[j]);
    }
    /* without running statistics, without metadata: the net keeps its own */
    struct st_item items[32];
    double values[32][64];
    size_t count = 0, m = sph_net_layer(net, 0, NULL)->units;
    assert_true(m == 3);
    randomize(net, 7, 0);
    assert_int_equal(sph_net_get(net, "layers.0.norm.mean", mean, m), 0);
    sph_tensor views[32];
    for (size_t i = 0; i < sph_net_tensors(from); i++) {
        sph_net_tensor(from, i, &views[i]);
        assert_int_equal(sph_net_get(from, views[i].name, values[i], views[i].count), 0);
        if (views[i].learned)
            items[count++] =
                (struct st_item){views[i].name, ST_F64, views[i].shape, views[i].ndim, values[i]};
    }
    write_file(NULL, items, count);
    assert_int_equal(sph_net_load_tensors(net, path), 0);
    assert_int_equal(sph_net_get(net, "layers.0.norm.mean", kept, m), 0);
    assert_memory_equal(mean, kept, sizeof mean);
    double w[6];
    assert_int_equal(sph_net_get(net, "layers.0.weight", w, 6), 0);
    assert_true(w[3] == (double)(float)values[0][3]);

    write_file(NULL, items + 1, count - 1);
    load_refuses(net, "layers.0.weight");
    items[count] = (struct st_item){"layers.0.r", ST_F64, (const size_t[]){3}, 1, values[0]};
    write_file(NULL, items, count + 1);
    load_refuses(net, "layers.0.r");
    items[0].data = (const uint16_t[]){0x3f80, 0xc000, 0x3eab, 0, 0x8000, 0x4049}; /* upper halves of f32 */
    items[0].dtype = ST_BF16;
    write_file(NULL, items, count);
    assert_int_equal(sph_net_load_tensors(net, path), 0);
    assert_int_equal(sph_net_get(net, "layers.0.weight", w, 6), 0);
    assert_true(w[0] == 1 && w[1] == -2 && w[2] == 0x1.56p-2 && w[3] == 0 && w[5] == 3.140625);
    items[0].data = (const uint16_t[]){0x3c00, 0xc000, 0x3555, 0, 0x8000, 0x4248};
    items[0].dtype = ST_F16;
    write_file(NULL, items, count);
    assert_int_equal(sph_net_load_tensors(net, path), 0);
    assert_int_equal(sph_net_get(net, "layers.0.weight", w, 6), 0);
    assert_true(w[0] == 1 && w[1] == -2 && w[2] == 0x1.554p-2 && w[3] == 0 && w[5] == 3.140625);
    items[0].dtype = ST_I8;
    write_file(NULL, items, count);
    load_refuses(net, "layers.0.weight");
    items[0].data = values[0];
    items[0].dtype = ST_F64;
    items[0].shape = (const size_t[]){2, 3};
    write_file(NULL, items, count);
    load_refuses(net, "layers.0.weight");
    spec.param = SPH_PARAM_GMP;
    other = random_net(&spec);
    assert_int_equal(sph_net_save(other, path), 0);
    load_refuses(net, "layers.0.weight");
    sph_net_free(other);
    sph_net_free(from);
    sph_net_free(net);
}

static void a_missing_file_is_an_io_error(void **state)
{
    (void)state;
    sph_net *net = NULL;
    assert_fails(sph_net_open(&net, "no/such/file"), SPH_EIO, .path = "no/such/file");
    net = some_net(SPH_F32, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU, 2);
    assert_int_equal(sph_net_load_tensors(net, "no/such/file"), SPH_EIO);
    assert_int_equal(sph_net_save(net, "no/such/file"), SPH_EIO);
    sph_net_free(net);
}

/* ---------------------------------------------------------------- memory */

/* Runs the statement with every allocation failing once; out is what it must not leave behind. */
#define EVERY_ALLOCATION(least, err, statement)                                                              \
    do {                                                                                                     \
        size_t failures = 0;                                                                                 \
        for (;; failures++) {                                                                                \
            fault_after(failures);                                                                           \
            statement;                                                                                       \
            fault_off();                                                                                     \
            if (!fault_happened())                                                                           \
                break;                                                                                       \
            assert_int_equal(err, SPH_EMEMORY);                                                              \
        }                                                                                                    \
        assert_int_equal(err, 0);                                                                            \
        assert_true(failures >= (least));                                                                    \
    } while (0)

static void every_allocation_may_fail(void **state)
{
    (void)state;
    int err = 0;
    sph_net *net = some_net(SPH_F32, SPH_PARAM_GMP, SPH_NORM_BN, SPH_ACT_SRELU, 1), *back = NULL;
    double mean[] = {1}, y[] = {1, 2};
    assert_int_equal(
        scaling_copy(&net->scaling,
                     &(struct scaling){.features = 1, .targets = 2, .x_mean = mean, .y_scale = y}),
        0);
    EVERY_ALLOCATION(4, err, err = sph_net_save(net, path));
    EVERY_ALLOCATION(12, err, err = sph_net_open(&back, path));
    check_equal(net, back);
    EVERY_ALLOCATION(2, err, err = sph_net_load_tensors(net, path));
    sph_net_free(back);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_net_comes_back_bit_by_bit),
        cmocka_unit_test(groups_of_units_come_back),
        cmocka_unit_test(signs_and_names_of_one_s_own_come_back),
        cmocka_unit_test(standardisation_and_data_come_back_bit_by_bit),
        cmocka_unit_test(standardisation_of_images_is_kept_by_channel),
        cmocka_unit_test(without_data_there_is_none),
        cmocka_unit_test(members_come_back_bit_by_bit_and_are_no_single_net),
        cmocka_unit_test(learned_tensors_must_be_there_and_no_other),
        cmocka_unit_test(a_missing_file_is_an_io_error),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
