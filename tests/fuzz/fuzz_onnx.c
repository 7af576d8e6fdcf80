/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: an ONNX file becomes a net whose numbers can be written and read, or is refused. Start from
 * tests/bad/onnx and tests/golden/onnx. A mutation unpacks the messages, changes one of their fields, and packs them again with
 * their lengths. */
#include "fuzz.h"
#if __has_include("onnx.pb-c.h")
#include "import_net.h"
#include "onnx.pb-c.h"
#include "store/onnx_check.h"
#include "store/tool.h"

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t most);

static const int64_t numbers[] = {0,         1,         2,         3,         4,       5,        7,
                                  9,         18,        -1,        -2,        1 << 20, 1 << 21,  65536,
                                  1ll << 32, 1ll << 40, 1ll << 62, INT64_MAX, 100000,  INT64_MIN};

static int64_t pick_number(unsigned *random)
{
    return numbers[fuzz_random(random) % (sizeof numbers / sizeof *numbers)];
}

static void set_text(char **to, const char *text)
{
    char *copy = strdup(text ? text : "");
    if (*to && *to != protobuf_c_empty_string)
        free(*to);
    *to = copy;
}

/* Some name of the graph. */
static const char *pick_name(const Onnx__Graph *graph, unsigned *random)
{
    unsigned r = fuzz_random(random);
    const Onnx__Node *node = graph->n_node ? graph->node[r % graph->n_node] : NULL;
    switch (fuzz_random(random) % 4) {
    case 0:
        return graph->n_initializer ? graph->initializer[r % graph->n_initializer]->name : "w";
    case 1:
        return graph->n_input ? graph->input[r % graph->n_input]->name : "x";
    case 2:
        return node && node->n_input ? node->input[r % node->n_input] : "";
    default:
        return node && node->n_output ? node->output[r % node->n_output] : "y";
    }
}

/* As many bytes as its shape asks for, where these are few. */
static void fit_bytes(Onnx__Tensor *tensor)
{
    size_t bytes = tensor->data_type == 1 ? 4 : 8;
    for (size_t i = 0; i < tensor->n_dims; i++)
        bytes = tensor->dims[i] < 0 || tensor->dims[i] > 4096 || bytes > 1 << 15
                    ? 1 << 16
                    : bytes * (size_t)tensor->dims[i];
    if (!tensor->has_raw_data || bytes > 1 << 15)
        return;
    uint8_t *data = calloc(bytes ? bytes : 1, 1);
    if (!data)
        abort();
    size_t kept = bytes < tensor->raw_data.len ? bytes : tensor->raw_data.len;
    if (kept)
        memcpy(data, tensor->raw_data.data, kept);
    free(tensor->raw_data.data);
    tensor->raw_data = (ProtobufCBinaryData){bytes, data};
}

static void change_tensor(Onnx__Tensor *tensor, unsigned *random)
{
    unsigned r = fuzz_random(random);
    switch (fuzz_random(random) % 4) {
    case 0:
        tensor->has_data_type = 1;
        tensor->data_type = (int32_t[]){1, 11, 7, 3}[r % 4];
        break;
    case 1:
        if (tensor->has_raw_data && tensor->raw_data.len)
            tensor->raw_data.data[r % tensor->raw_data.len] ^= (uint8_t)(1 << r % 8);
        break;
    default:
        if (tensor->n_dims)
            tensor->dims[r % tensor->n_dims] = pick_number(random);
        if (r % 5 == 0 && tensor->n_dims)
            tensor->n_dims--;
    }
    if (fuzz_random(random) % 3)
        fit_bytes(tensor);
}

static void change_node(const Onnx__Graph *graph, Onnx__Node *node, unsigned *random)
{
    static const char *const ops[] = {"Gemm",
                                      "MatMul",
                                      "Conv",
                                      "BatchNormalization",
                                      "Relu",
                                      "LeakyRelu",
                                      "Elu",
                                      "MaxPool",
                                      "Add",
                                      "AveragePool",
                                      "GlobalAveragePool",
                                      "Sub",
                                      "Mul",
                                      "Div",
                                      "Scaler",
                                      "IsNaN",
                                      "Where",
                                      "ReduceMean",
                                      "Flatten",
                                      "Reshape",
                                      "Identity",
                                      "Constant",
                                      "Softmax",
                                      "Sigmoid",
                                      "ArgMax",
                                      "Cast",
                                      "Dropout",
                                      "Neg"};
    unsigned r = fuzz_random(random);
    switch (fuzz_random(random) % 6) {
    case 0:
        set_text(&node->op_type, ops[r % (sizeof ops / sizeof *ops)]);
        break;
    case 1:
    case 2:
        if (node->n_input)
            set_text(&node->input[r % node->n_input], pick_name(graph, random));
        break;
    case 3:
        if (node->n_output)
            set_text(&node->output[r % node->n_output], pick_name(graph, random));
        break;
    default:
        if (node->n_attribute) {
            Onnx__Attribute *attribute = node->attribute[r % node->n_attribute];
            int64_t number = pick_number(random);
            int all = fuzz_random(random) % 3 != 0;
            for (size_t i = 0; i < attribute->n_ints; i++)
                if (all || i == r % attribute->n_ints)
                    attribute->ints[i] = number;
            if (attribute->has_i)
                attribute->i = number;
            if (attribute->has_f)
                attribute->f = (float)number / 8;
            if (attribute->t)
                change_tensor(attribute->t, random);
        }
    }
}

static void change(Onnx__Graph *graph, unsigned *random)
{
    unsigned r = fuzz_random(random);
    switch (fuzz_random(random) % 8) {
    case 0:
        if (graph->n_node > 1) { /* two of them change places */
            Onnx__Node **a = &graph->node[r % graph->n_node],
                       **b = &graph->node[fuzz_random(random) % graph->n_node], *kept = *a;
            *a = *b;
            *b = kept;
        }
        break;
    case 1: {
        Onnx__Value *input = graph->n_input ? graph->input[r % graph->n_input] : NULL;
        Onnx__Shape *shape =
            input && input->type && input->type->tensor_type ? input->type->tensor_type->shape : NULL;
        if (shape && shape->n_dim) {
            Onnx__Dimension *dim = shape->dim[fuzz_random(random) % shape->n_dim];
            dim->has_dim_value = 1;
            dim->dim_value = pick_number(random);
        }
        break;
    }
    case 2:
        if (graph->n_output)
            set_text(&graph->output[r % graph->n_output]->name, pick_name(graph, random));
        break;
    case 3:
    case 4:
        if (graph->n_initializer)
            change_tensor(graph->initializer[r % graph->n_initializer], random);
        break;
    default:
        if (graph->n_node)
            change_node(graph, graph->node[r % graph->n_node], random);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    unsigned random = seed;
    Onnx__Model *model = fuzz_random(&random) % 8 ? onnx__model__unpack(NULL, length, bytes) : NULL;
    size_t packed = 0;
    for (unsigned i = 0; model && model->graph && i <= fuzz_random(&random) % 4; i++)
        change(model->graph, &random);
    if (model && model->graph && (packed = onnx__model__get_packed_size(model)) <= most)
        onnx__model__pack(model, bytes);
    else
        packed = 0;
    if (model)
        onnx__model__free_unpacked(model, NULL);
    return packed ? packed : LLVMFuzzerMutate(bytes, length, most);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    sph_net *net = NULL;
#if __has_include("onnx.pb-c.h")
    onnx_check_most = 1e6; /* graphs, not multiplications, are what is tried */
#endif
    if (import_net(&net, fuzz_file("a.onnx", bytes, length), NULL) < 0) {
        if (strstr(sph_error(), "not read correctly")) /* the import took the graph for another function */
            abort();
        return 0;
    }
    char again[FUZZ_PATH];
    snprintf(again, sizeof again, "%s/b.onnx", fuzz_home());
    fuzz_sum += (double)sph_net_learned(net);
    if (sph_net_export(net, again, &(sph_export_opts){.size = sizeof(sph_export_opts)}) < 0)
        fuzz_sum += 1; /* numbers that f32 does not hold */
    sph_net_free(net);
    return 0;
}
