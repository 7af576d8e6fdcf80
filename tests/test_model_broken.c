/* SPDX-License-Identifier: MIT
 *
 * Model files that are broken, and files that are no model: each is refused, and what is wrong with it is named. */
#include "model_file.h"

#include "store/model.h"

/* One layer, 2 inputs, 3 units: layers.0.weight (3, 2), layers.0.bias (3). */
static const size_t weight_shape[] = {3, 2}, bias_shape[] = {3};
static const float numbers[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

#define INPUT      "{\"kind\":\"input\",\"features\":2}"
#define DENSE(...) "{\"kind\":\"dense\",\"from\":0,\"path\":\"layers.0\"," __VA_ARGS__ "}"
#define IMAGE      "{\"kind\":\"image\",\"channels\":6,\"height\":1,\"width\":1}"
#define CONV(...)                                                                                            \
    "{\"kind\":\"conv\",\"from\":0,\"path\":\"layers.0\",\"kernel\":1,\"stride\":1,\"pad\":0," __VA_ARGS__ "}"
#define PLAIN "\"units\":3,\"param\":\"sp\",\"norm\":\"none\",\"act\":\"relu\",\"signs\":false"
#define NORMED(norm, more)                                                                                   \
    "\"units\":3,\"param\":\"sp\",\"norm\":\"" norm "\",\"act\":\"relu\",\"signs\":false" more
#define NET(nodes) "{\"format\":1,\"architecture\":{\"dtype\":\"f32\",\"output\":1,\"nodes\":[" nodes "]}}"
#define WITH(rest)                                                                                           \
    "{\"format\":1,\"architecture\":{\"dtype\":\"f32\",\"output\":1,\"nodes\":[" INPUT                       \
    "," DENSE(PLAIN) "]}," rest "}"

static void open_refuses(const char *key)
{
    sph_net *net = NULL;
    int err = sph_net_open(&net, path);
    assert_fails(err, err == SPH_EARG ? SPH_EARG : SPH_EFORMAT, .key = key);
    assert_null(net);
    assert_memory_equal(sph_failure()->path, path, strlen(path));
}

static void broken_metadata_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *metadata, *key;
    } cases[] = {
        {"{", NULL},
        {"[]", "format"},
        {"{}", "format"},
        {"{\"format\":2}", "architecture"},
        {"{\"format\":3}", NULL},
        {"{\"format\":\"1\"}", "format"},
        {"{\"format\":1}", "architecture"},
        {"{\"format\":1,\"checkpoint\":true}", NULL},
        {"{\"format\":1,\"architecture\":{}}", "dtype"},
        {"{\"format\":1,\"architecture\":{\"colour\":1}}", "colour"},
        {"{\"format\":1,\"architecture\":{\"dtype\":\"f16\"}}", "dtype"},
        {"{\"format\":1,\"architecture\":{\"dtype\":\"f32\",\"output\":0,\"nodes\":[]}}", "nodes"},
        {"{\"format\":1,\"architecture\":{\"dtype\":\"f32\",\"output\":0,\"nodes\":[" INPUT "]}}", NULL},
        {"{\"format\":1,\"architecture\":{\"dtype\":\"f32\",\"output\":0,\"nodes\":[" INPUT
         "," DENSE(PLAIN) "]}}",
         "output"},
        {NET("7"), "kind"},
        {NET("{\"kind\":\"lstm\"}"), "kind"},
        {NET("{\"kind\":\"input\"}"), "features"},
        {NET("{\"kind\":\"input\",\"features\":0}"), "input"},
        {NET("{\"kind\":\"input\",\"features\":2,\"more\":1}"), "more"},
        {NET(INPUT "," INPUT), "input"},
        {NET(DENSE(PLAIN)), "from"},
        {NET(INPUT "," DENSE("\"units\":3")), "param"},
        {NET(INPUT "," DENSE("\"units\":-3")), "units"},
        {NET(INPUT
             "," DENSE("\"units\":0,\"param\":\"sp\",\"norm\":\"none\",\"act\":\"relu\",\"signs\":false")),
         "layers.0"},
        {NET(INPUT "," DENSE("\"units\":3,\"param\":\"gmq\"")), "param"},
        {NET(INPUT "," DENSE("\"units\":3,\"param\":\"sp\",\"norm\":\"x\"")), "norm"},
        {NET(INPUT "," DENSE("\"units\":3,\"param\":\"sp\",\"norm\":\"none\",\"act\":\"x\"")), "act"},
        {NET(INPUT "," DENSE("\"units\":3,\"param\":\"sp\",\"norm\":\"none\",\"act\":\"relu\",\"signs\":1")),
         "signs"},
        {NET(INPUT
             "," DENSE("\"units\":3,\"param\":\"gmp\",\"norm\":\"none\",\"act\":\"relu\",\"signs\":true")),
         "layers.0"},
        {NET(INPUT "," DENSE(NORMED("gn", ""))), "norm_groups"},
        {NET(INPUT "," DENSE(NORMED("gn", ",\"norm_groups\":0"))), "norm_groups"},
        {NET(INPUT "," DENSE(NORMED("gn", ",\"norm_groups\":2"))), "layers.0"},
        {NET(INPUT "," DENSE(NORMED("bn", ",\"norm_groups\":3"))), "layers.0"},
        {NET(INPUT ",{\"kind\":\"dense\",\"from\":1,\"path\":\"a\"," PLAIN "}"), "from"},
        {NET(INPUT ",{\"kind\":\"dense\",\"from\":0,\"path\":\"\"," PLAIN "}"), "path"},
        {NET(INPUT "," DENSE(PLAIN) "," DENSE(PLAIN)), "layers.0"},
        {NET(INPUT "," DENSE(PLAIN) ",{\"kind\":\"add\",\"from\":[0,1]}"), "add"},
        {NET(INPUT "," DENSE(PLAIN) ",{\"kind\":\"add\",\"from\":[0]}"), "from"},
        {NET(INPUT "," DENSE(PLAIN) ",{\"kind\":\"add\",\"from\":[0,9]}"), "from"},
        {NET(INPUT
             "," DENSE("\"units\":4,\"param\":\"sp\",\"norm\":\"none\",\"act\":\"relu\",\"signs\":false")),
         "layers.0.weight"},
        /* far more than the file holds, or than there can be: refused before memory is asked for */
        {NET(INPUT "," DENSE("\"units\":1000000000000,\"param\":\"sp\",\"norm\":\"none\",\"act\":\"relu\","
                             "\"signs\":false")),
         "layers.0.weight"},
        {NET(INPUT
             "," DENSE("\"units\":9000000000000000000,\"param\":\"sp\",\"norm\":\"none\",\"act\":\"relu\","
                       "\"signs\":false")),
         "net"},
        {NET(INPUT
             "," DENSE("\"units\":3,\"param\":\"gmp\",\"norm\":\"none\",\"act\":\"relu\",\"signs\":false")),
         "layers.0.theta"},
        {NET(INPUT
             "," DENSE("\"units\":3,\"param\":\"sp\",\"norm\":\"mbn\",\"act\":\"relu\",\"signs\":false")),
         "layers.0.norm.mean"},
        {NET(INPUT
             "," DENSE("\"units\":3,\"param\":\"sp\",\"norm\":\"bn\",\"act\":\"relu\",\"signs\":false")),
         "layers.0.norm.scale"},
        {NET(INPUT "," DENSE(PLAIN ",\"groups\":1")), "groups"},
        {NET(IMAGE "," CONV(PLAIN ",\"groups\":\"two\"")), "groups"},
        {NET(IMAGE "," CONV(PLAIN ",\"groups\":6")), "layers.0"},
        {NET(IMAGE "," CONV(PLAIN ",\"groups\":3")), "layers.0.weight"},
        {WITH("\"standardisation\":[]"), "standardisation"},
        {WITH("\"standardisation\":{}"), "features"},
        {WITH("\"standardisation\":{\"features\":3,\"targets\":0}"), "features"},
        {WITH("\"standardisation\":{\"features\":2,\"targets\":0,\"x_mean\":[1]}"), "x_mean"},
        {WITH("\"standardisation\":{\"features\":2,\"targets\":0,\"x_mean\":[1,null]}"), "x_mean"},
        {WITH("\"standardisation\":{\"features\":2,\"targets\":0,\"x_scale\":[1,0]}"), "x_scale"},
        {WITH("\"standardisation\":{\"features\":2,\"targets\":0,\"x_clip\":[3,-1]}"), "x_clip"},
        {WITH("\"standardisation\":{\"features\":2,\"targets\":2,\"y_mean\":[1,2]}"), "y_mean"},
        {WITH("\"data\":1"), "data"},
    };
    const struct st_item items[] = {{"layers.0.weight", ST_F32, weight_shape, 2, numbers},
                                    {"layers.0.bias", ST_F32, bias_shape, 1, numbers}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file(cases[i].metadata, items, 2);
        open_refuses(cases[i].key);
    }
}

static void wrong_tensors_are_named(void **state)
{
    (void)state;
    const char *sound = NET(INPUT "," DENSE(PLAIN));
    struct st_item items[3] = {{"layers.0.weight", ST_F32, weight_shape, 2, numbers},
                               {"layers.0.bias", ST_F32, bias_shape, 1, numbers},
                               {"layers.0.r", ST_F32, bias_shape, 1, numbers}};
    write_file(sound, items, 3);
    open_refuses("layers.0.r");
    write_file(sound, items, 1);
    open_refuses("layers.0.bias");
    items[1].dtype = ST_I32;
    write_file(sound, items, 2);
    open_refuses("layers.0.bias");
    items[1].dtype = ST_F32;
    items[1].ndim = 0;
    write_file(sound, items, 2);
    open_refuses("layers.0.bias");
    items[1].ndim = 1;
    const char *signs = NET(
        INPUT "," DENSE("\"units\":3,\"param\":\"sp\",\"norm\":\"none\",\"act\":\"relu\",\"signs\":true"));
    write_file(signs, items, 3);
    open_refuses("layers.0.r");
    const float var[3] = {1, 0, -1};
    const struct st_item bn[] = {{"layers.0.weight", ST_F32, weight_shape, 2, numbers},
                                 {"layers.0.norm.scale", ST_F32, bias_shape, 1, numbers},
                                 {"layers.0.norm.shift", ST_F32, bias_shape, 1, numbers},
                                 {"layers.0.norm.mean", ST_F32, bias_shape, 1, numbers},
                                 {"layers.0.norm.var", ST_F32, bias_shape, 1, var}};
    write_file(
        NET(INPUT "," DENSE("\"units\":3,\"param\":\"sp\",\"norm\":\"bn\",\"act\":\"relu\",\"signs\":false")),
        bn, 5);
    open_refuses("layers.0.norm.var");
}

static void broken_members_are_named(void **state)
{
    (void)state;
    const struct st_item items[] = {{"members.0.layers.0.weight", ST_F32, weight_shape, 2, numbers},
                                    {"members.0.layers.0.bias", ST_F32, bias_shape, 1, numbers},
                                    {"members.1.layers.0.weight", ST_F32, weight_shape, 2, numbers},
                                    {"members.1.layers.0.bias", ST_F32, bias_shape, 1, numbers},
                                    {"members.1.layers.0.r", ST_F32, bias_shape, 1, numbers}};
    struct st_item stranger[5];
    sph_net **nets = NULL;
    size_t count;
    write_file(WITH("\"members\":2"), items, 4);
    assert_int_equal(model_open_members(&nets, &count, NULL, path), 0);
    model_free_members(nets, count);
    write_file(WITH("\"members\":2"), items, 5);
    open_refuses("members.1.layers.0.r");
    write_file(WITH("\"members\":2"), items, 3);
    open_refuses("members.1.layers.0.bias");
    write_file(WITH("\"members\":3"), items, 4);
    open_refuses("members.2.layers.0.weight");
    write_file(WITH("\"members\":0"), items, 4);
    open_refuses("members");
    write_file(WITH("\"members\":1000000"), items, 4);
    open_refuses("members");
    write_file(WITH("\"members\":\"2\""), items, 4);
    open_refuses("members");
    static const char *const strangers[] = {"members.2.layers.0.weight", "members.01.layers.0.weight",
                                            "layers.0.weight", "members", "m"};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        memcpy(stranger, items, sizeof stranger);
        stranger[4].name = strangers[i];
        write_file(WITH("\"members\":2"), stranger, 5);
        open_refuses(strangers[i]);
    }
}

static void a_long_path_is_refused(void **state)
{
    (void)state;
    char metadata[512], long_path[120];
    memset(long_path, 'a', sizeof long_path);
    long_path[96] = 0;
    snprintf(metadata, sizeof metadata,
             NET(INPUT ",{\"kind\":\"dense\",\"from\":0,\"path\":\"%s\"," PLAIN "}"), long_path);
    write_file(metadata, NULL, 0);
    open_refuses("path");
}

/* ---------------------------------------------------------------- plain files */

static void a_file_of_weights_alone_is_a_relu_net(void **state)
{
    (void)state;
    const size_t second[] = {1, 3};
    const double wide[3] = {-1, 0.5, 2};
    struct st_item items[] = {{"layers.1.weight", ST_F64, second, 2, wide},
                              {"layers.0.bias", ST_F32, bias_shape, 1, numbers},
                              {"layers.0.weight", ST_F32, weight_shape, 2, numbers},
                              {"layers.2.bias", ST_F32, bias_shape, 1, numbers}};
    sph_net *net = NULL;
    write_file(NULL, items, 3);
    assert_int_equal(sph_net_open(&net, path), 0);
    assert_int_equal(sph_net_dtype(net), SPH_F64);
    assert_int_equal(sph_net_layers(net), 2);
    double x[] = {1, -2}, y = 0;
    assert_int_equal(sph_net_forward(net, x, 1, &y), 0);
    /* z = (1-4+1, 3-8+2, 5-12+3) = (-2, -3, -4): relu gives 0 */
    assert_true(y == 0);
    x[1] = 1; /* (4, 9, 14) */
    assert_int_equal(sph_net_forward(net, x, 1, &y), 0);
    assert_true(fabs(y - (-4 + 4.5 + 28)) < 1e-14);
    sph_net_free(net);

    write_file(NULL, items, 4);
    open_refuses(NULL);
    write_file(NULL, NULL, 0);
    open_refuses(NULL);
    items[2].name = "layers.00.weight";
    write_file(NULL, items, 3);
    open_refuses(NULL);
    items[2].name = "layers.0.weight";
    items[0].shape = (const size_t[]){3, 1};
    write_file(NULL, items, 3);
    open_refuses("layers.1");
    items[0].shape = second;
    items[1].shape = (const size_t[]){2};
    write_file(NULL, items, 3);
    open_refuses("layers.0.bias");
    items[1].shape = bias_shape;
    items[2].dtype = ST_U32;
    write_file(NULL, items, 3);
    open_refuses("layers.0.weight");
    items[2].dtype = ST_F32;
    items[2].ndim = 1;
    write_file(NULL, items, 3);
    open_refuses("layers.0.weight");
    items[2].ndim = 2;
    items[2].shape = (const size_t[]){3, 0};
    write_file(NULL, items, 3);
    open_refuses("layers.0.weight");
}

/* Directions of sphere have length 1, up to the rounding of the file's numbers; nothing is NaN or infinite. Two units of
 * three inputs. u (2, 3) of f32 or, with bits 16, bf16. */
static void write_sphere(const float u[6], int bits, float r)
{
    const float offset[2] = {0.5f, 1}, radius[2] = {1, r};
    const size_t u_shape[] = {2, 3}, shape[] = {2};
    uint16_t halves[6];
    for (size_t i = 0; i < 6; i++) {
        uint32_t whole;
        memcpy(&whole, &u[i], sizeof whole);
        halves[i] = (uint16_t)(whole >> 16); /* towards 0: one bit more than rounding loses */
    }
    const struct st_item items[] = {
        {"layers.0.u", bits == 16 ? ST_BF16 : ST_F32, u_shape, 2, bits == 16 ? (const void *)halves : u},
        {"layers.0.lambda", ST_F32, shape, 1, offset},
        {"layers.0.r", ST_F32, shape, 1, radius},
    };
    write_file("{\"format\":1,\"architecture\":{\"dtype\":\"f32\",\"output\":1,\"nodes\":["
               "{\"kind\":\"input\",\"features\":3},"
               "{\"kind\":\"dense\",\"from\":0,\"path\":\"layers.0\",\"units\":2,\"param\":\"sphere\","
               "\"norm\":\"none\",\"act\":\"relu\",\"signs\":false}]}}",
               items, 3);
}

static void directions_that_are_none_are_named(void **state)
{
    (void)state;
    static const struct {
        float u[6], r;
        int bits;
        const char *key; /* NULL: it is taken */
    } cases[] = {
        {{0.6f, 0.8f, 0, 1, 0, 0}, 2, 32, NULL},
        {{0.6f, 0.8f, 0, 0.48f, 0.6f, 0.64f}, 0, 16, NULL}, /* r = 0: a unit that is 0 */
        {{0.6f, 0.8f, 0, 0.6f, 0.80001f, 0}, 2, 32, "layers.0.u"},
        {{0.6f, 0.8f, 0, 2, 0, 0}, 2, 32, "layers.0.u"},
        {{0.6f, 0.8f, 0, 2, 0, 0}, 2, 16, "layers.0.u"},
        {{0.6f, 0.8f, 0, 0, 0, 0}, 2, 32, "layers.0.u"},
        {{0.6f, 0.8f, 0, 1e30f, 0, 0}, 2, 32, "layers.0.u"},
        {{0.6f, 0.8f, 0, 1, NAN, 0}, 2, 32, "layers.0.u"},
        {{0.6f, 0.8f, 0, 1, 0, 0}, INFINITY, 32, "layers.0.r"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sph_net *net = NULL;
        write_sphere(cases[i].u, cases[i].bits, cases[i].r);
        if (cases[i].key)
            open_refuses(cases[i].key);
        else
            assert_int_equal(sph_net_open(&net, path), 0);
        sph_net_free(net);
    }
    /* first values from a file: none of them is taken */
    sph_net *net = NULL;
    double u[6], before[6], far[6];
    write_sphere(cases[0].u, 32, 2);
    assert_int_equal(sph_net_open(&net, path), 0);
    assert_int_equal(sph_net_get(net, "layers.0.u", before, 6), 0);
    write_sphere(cases[3].u, 32, 2);
    assert_fails(sph_net_load_tensors(net, path), SPH_EFORMAT, .key = "layers.0.u", .path = path);
    for (size_t i = 0; i < 6; i++)
        far[i] = 2 * before[i];
    assert_fails(sph_net_set(net, "layers.0.u", far, 6), SPH_EARG, .key = "layers.0.u");
    assert_int_equal(sph_net_get(net, "layers.0.u", u, 6), 0);
    assert_memory_equal(u, before, sizeof u);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directions_that_are_none_are_named),
        cmocka_unit_test(broken_metadata_is_named),
        cmocka_unit_test(wrong_tensors_are_named),
        cmocka_unit_test(broken_members_are_named),
        cmocka_unit_test(a_long_path_is_refused),
        cmocka_unit_test(a_file_of_weights_alone_is_a_relu_net),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
