/* SPDX-License-Identifier: MIT
 *
 * What reading a file may cost.
 *
 * Time: every reader is given a file of n items and one of 4 n. It may take 4 times as long, and a little more for sorting; one
 * that compares each item with each takes 16 times as long. Processor time is compared, and the least of several tries, so a
 * busy machine does not matter. Files that a reader refuses count as well: they are refused in time.
 *
 * Memory: small files that ask for much are refused, and the process that reads them stays below the limit. */
#include "image_files.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/levels.h"
#include "base/text.h"
#include "compare/experiment.h"
#include "compare/results.h"
#include "data/pack.h"
#include "data/picture.h"
#include "import_net.h"
#include "job/config.h"
#include "job/job.h"
#include "store/checkpoint.h"
#include "store/model.h"
#include "data/npz.h"
#include "store/runfolder.h"
#include "store/safetensors.h"
#include "train/trainer.h"

enum { TIMES = 4, RATIO_MOST = 10, TRIES = 5 };
static const double soon = 0.1; /* seconds of the larger file that need no comparison */

static struct text out;

static void add(const void *more, size_t length)
{
    text_add_bytes(&out, more, length);
    assert_false(out.failed);
}

static void add_number(uint64_t value, size_t size, int big)
{
    for (size_t i = 0; i < size; i++)
        add((char[]){(char)(value >> 8 * (big ? size - 1 - i : i))}, 1);
}

static void save(const char *name)
{
    write_file(name, out.chars ? out.chars : "", out.length);
    text_free(&out);
    out = (struct text){0};
}

static int open_data(const char *name)
{
    sph_data *data = NULL;
    int err = sph_data_open(&data, at(name), NULL);
    sph_data_free(data);
    return err;
}

/* ---------------------------------------------------------------- tables */

static void csv_rows(size_t n)
{
    text_add(&out, "a,b,y\n");
    for (size_t i = 0; i < n; i++)
        text_add(&out, "%zu,\"w%zu\",%zu\n", i, i % 7, i % 1000);
    save("t.csv");
}

static void csv_columns(size_t n)
{
    for (size_t row = 0; row < 5; row++)
        for (size_t i = 0; i < n; i++)
            text_add(&out, row ? "%s%zu" : "%scolumn%zu", i ? "," : row ? "\n" : "", i * (row + 1));
    save("t.csv");
}

static void csv_words(size_t n)
{
    text_add(&out, "a,b,y\n");
    for (size_t i = 0; i < n; i++)
        text_add(&out, "%zu,word %zu,%zu\n", i, i, i % 1000);
    save("t.csv");
}

static void csv_quote(size_t n)
{
    text_add(&out, "a,b,y\n1,2,3\n1,\"");
    for (size_t i = 0; i < n; i++)
        add("\"\"x\n", 4);
    save("t.csv");
}

static int read_csv(void)
{
    return open_data("t.csv");
}

static void libsvm_rows(size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_add(&out, "%zu 1:%zu 7:%zu\n", i % 10, i, i + 1);
    save("t.libsvm");
}

static int read_libsvm(void)
{
    return open_data("t.libsvm");
}

/* A header of 128 bytes. */
static void npy_header(const char *type, const char *shape)
{
    struct text dict = {0};
    text_add(&dict, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    add("\x93NUMPY\1\0\x76\0", 10);
    text_add(&out, "%-117s\n", dict.chars);
    text_free(&dict);
}

static void npy_rows(size_t n)
{
    char shape[64];
    snprintf(shape, sizeof shape, "%zu, 2", n);
    npy_header("<f8", shape);
    for (size_t i = 0; i < 2 * n; i++)
        add(&(double){(double)(i % 97)}, sizeof(double));
    save("t.npy");
}

static int read_npy(void)
{
    return open_data("t.npy");
}

static void npz_arrays(size_t n)
{
    struct npz_writer *writer;
    assert_int_equal(npz_writer_begin(&writer, at("t.npz")), 0);
    for (size_t i = 0; i < n; i++) {
        struct npz_array array = {.type = "|u1", .shape = {1}, .ndim = 1};
        snprintf(array.name, sizeof array.name, "layers.%zu.move", i);
        assert_int_equal(npz_writer_array(&writer, &array), 0);
        assert_int_equal(npz_writer_data(&writer, "\1", 1), 0);
    }
    assert_int_equal(npz_writer_commit(&writer), 0);
}

static int read_npz_table(void)
{
    return open_data("t.npz");
}

/* As figures read boundaries.npz: by name, one array after another. */
static int read_npz(void)
{
    struct npz *npz = NULL;
    int err = npz_open(&npz, at("t.npz"));
    const char *name;
    double value;
    for (size_t i = 0; !err && (name = npz_name(npz, i)); i++)
        err = npz_read(npz, name, &value, 0, 1);
    npz_free(npz);
    return err;
}

/* ---------------------------------------------------------------- packed files */

static uint32_t crc_of(const void *bytes, size_t length)
{
    const unsigned char *byte = bytes;
    uint32_t sum = ~0u;
    for (size_t i = 0; i < length; i++) {
        sum ^= byte[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
    }
    return ~sum;
}

static const char *row(size_t i)
{
    static char text[] = "1,2,3\n";
    text[2] = (char)('0' + i % 9);
    text[4] = (char)('0' + i % 7);
    return text;
}

/* A member of gzip for each row: a stored block. */
static void gzip_members(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        add("\x1f\x8b\x08\0\0\0\0\0\0\3\1\6\0\xf9\xff", 15);
        add(row(i), 6);
        add_number(crc_of(row(i), 6), 4, 0);
        add_number(6, 4, 0);
    }
    save("t.csv.gz");
}

static int read_gzip(void)
{
    return open_data("t.csv.gz");
}

/* A frame of zstd for each row: one raw block. */
static void zstd_frames(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        add("\x28\xb5\x2f\xfd\x20\6\x31\0\0", 9);
        add(row(i), 6);
    }
    save("t.csv.zst");
}

static int read_zstd(void)
{
    return open_data("t.csv.zst");
}

/* ---------------------------------------------------------------- images */

static void idx_images(size_t n)
{
    add_number(0x803, 4, 1);
    add_number(n, 4, 1);
    add_number(2, 4, 1);
    add_number(2, 4, 1);
    for (size_t i = 0; i < 4 * n; i++)
        add_number(i, 1, 0);
    save("t-images-idx3-ubyte");
    add_number(0x801, 4, 1);
    add_number(n, 4, 1);
    for (size_t i = 0; i < n; i++)
        add_number(i % 10, 1, 0);
    save("t-labels-idx1-ubyte");
}

static int read_idx(void)
{
    return open_data("t-images-idx3-ubyte");
}

static void cifar_records(size_t n)
{
    static char pixels[3072];
    for (size_t i = 0; i < n; i++) {
        add_number(i % 10, 1, 0);
        add(pixels, sizeof pixels);
    }
    save("data_batch_9.bin");
}

static int read_cifar(void)
{
    return open_data("data_batch_9.bin");
}

/* Labels, and as many things to remember; data are missing. */
static void pickle_labels(size_t n)
{
    add("\x80\2}X\6\0\0\0labels](", 15);
    for (size_t i = 0; i < n; i++) {
        add("K\1r", 3);
        add_number(i, 4, 0);
    }
    add("es.", 3);
    save("val_data");
}

static int read_pickle(void)
{
    return open_data("val_data");
}

/* rows, classes and names, n of each. */
static void pack_rows(size_t n)
{
    char shape[64];
    snprintf(shape, sizeof shape, "%zu, 1, 1, 1", n);
    npy_header("|u1", shape);
    for (size_t i = 0; i < n; i++)
        add("x", 1);
    save("pack/train_images.npy");
    snprintf(shape, sizeof shape, "%zu,", n);
    npy_header("|u1", shape);
    for (size_t i = 0; i < n; i++)
        add_number(i % 2, 1, 0);
    save("pack/train_labels.npy");
    for (size_t i = 0; i < n; i++)
        text_add(&out, "class %zu\n", i);
    save("pack/classes.txt");
    for (size_t i = 0; i < n; i++)
        text_add(&out, "%zu.png\n", i);
    save("pack/train_files.txt");
}

static int read_pack(void)
{
    struct pack *pack = NULL;
    int err = pack_open(&pack, at("pack"));
    if (err < 0)
        return err;
    struct shelf shelf = shelf_of_pack(pack);
    for (size_t i = 0; i < shelf.rows && !err; i++) {
        char *name = shelf.kind->name(shelf.self, i);
        err = name ? 0 : SPH_EMEMORY;
        mem_free(name);
    }
    shelf.kind->release(shelf.self);
    return err;
}

/* Comments, and what looks like the heads of scans. */
static void jpeg_markers(size_t n)
{
    add("\xff\xd8", 2);
    for (size_t i = 0; i < n; i++)
        add("\xff\xfe\0\6\xff\xda\0\0", 8);
    for (size_t i = 0; i < n; i++)
        add("\xff\xda", 2);
    save("t.jpg");
}

static void png_chunk(const char *type, const void *bytes, size_t length)
{
    char whole[64];
    memcpy(whole, type, 4);
    memcpy(whole + 4, bytes, length);
    add_number(length, 4, 1);
    add(whole, length + 4);
    add_number(crc_of(whole, length + 4), 4, 1);
}

static void png_chunks(size_t n)
{
    add("\x89PNG\r\n\x1a\n", 8);
    png_chunk("IHDR", "\0\0\0\1\0\0\0\1\x08\0\0\0\0", 13);
    for (size_t i = 0; i < n; i++)
        png_chunk("tEXt", "key\0text", 8);
    png_chunk("IDAT", "\x78\1\1\2\0\xfd\xff\0\x55\0\x57\0\x56", 13);
    png_chunk("IEND", "", 0);
    save("t.png");
}

static int read_picture(const char *name)
{
    static struct picture_desk desk;
    int err = picture_read(&desk, at(name), 3, 1);
    picture_desk_free(&desk);
    return err;
}

static int read_jpeg(void)
{
    return read_picture("t.jpg");
}

static int read_png(void)
{
    return read_picture("t.png");
}

/* ---------------------------------------------------------------- models */

/* A header alone, of n tensors without numbers. */
static void begin_tensors(const char *metadata)
{
    text_add(&out, "{\"__metadata__\":{%s}", metadata);
}

static void end_tensors(const char *name, size_t numbers)
{
    struct text header = out;
    out = (struct text){0};
    add_number(header.length + 1, 8, 0);
    add(header.chars, header.length);
    add("}", 1);
    for (size_t i = 0; i < numbers; i++)
        add("\0\0\0\0", 4);
    text_free(&header);
    save(name);
}

static void tensors(size_t n)
{
    begin_tensors("");
    for (size_t i = 0; i < n; i++)
        text_add(&out, ",\"t%zu\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}", i);
    end_tensors("t.safetensors", 0);
}

static int read_tensors(void)
{
    struct safetensors file;
    int err = safetensors_open(&file, at("t.safetensors"));
    for (size_t i = 0; !err && i < file.count; i++)
        err = safetensors_find(&file, file.tensor[i].name) == &file.tensor[i] ? 0 : SPH_EFORMAT;
    safetensors_close(&file);
    return err;
}

#define LAYER                                                                                                \
    "\\\"param\\\":\\\"sp\\\",\\\"norm\\\":\\\"none\\\",\\\"act\\\":\\\"relu\\\",\\\"signs\\\":false"

/* An ensemble of n nets of one layer. */
static void members(size_t n)
{
    struct text metadata = {0};
    text_add(&metadata,
             "\"spherelu\":\"{\\\"format\\\":1,\\\"members\\\":%zu,\\\"architecture\\\":{\\\"dtype\\\":"
             "\\\"f32\\\","
             "\\\"output\\\":1,\\\"nodes\\\":[{\\\"kind\\\":\\\"input\\\",\\\"features\\\":1},{\\\"kind\\\":"
             "\\\"dense\\\",\\\"from\\\":0,\\\"path\\\":\\\"l\\\",\\\"units\\\":1," LAYER "}]}}\"",
             n);
    begin_tensors(metadata.chars);
    for (size_t i = 0; i < n; i++)
        text_add(&out,
                 ",\"members.%zu.l.weight\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[%zu,%zu]}"
                 ",\"members.%zu.l.bias\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[%zu,%zu]}",
                 i, 8 * i, 8 * i + 4, i, 8 * i + 4, 8 * i + 8);
    end_tensors("t.safetensors", 2 * n);
    text_free(&metadata);
}

/* A net of n layers in a row. */
static void layers(size_t n)
{
    struct text metadata = {0};
    text_add(
        &metadata,
        "\"spherelu\":\"{\\\"format\\\":1,\\\"architecture\\\":{\\\"dtype\\\":\\\"f32\\\",\\\"output\\\":%zu,"
        "\\\"nodes\\\":[{\\\"kind\\\":\\\"input\\\",\\\"features\\\":1}",
        n);
    for (size_t i = 0; i < n; i++)
        text_add(&metadata,
                 ",{\\\"kind\\\":\\\"dense\\\",\\\"from\\\":%zu,\\\"path\\\":\\\"layer.%zu\\\",\\\"units\\\":"
                 "1," LAYER "}",
                 i, i);
    text_add(&metadata, "]}}\"");
    begin_tensors(metadata.chars);
    for (size_t i = 0; i < n; i++)
        text_add(&out,
                 ",\"layer.%zu.weight\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[%zu,%zu]}"
                 ",\"layer.%zu.bias\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[%zu,%zu]}",
                 i, 8 * i, 8 * i + 4, i, 8 * i + 4, 8 * i + 8);
    end_tensors("t.safetensors", 2 * n);
    text_free(&metadata);
}

static int read_model(void)
{
    sph_net **nets = NULL;
    size_t count = 0;
    int err = model_open_members(&nets, &count, NULL, at("t.safetensors"));
    if (!err)
        model_free_members(nets, count);
    return err;
}

static struct {
    sph_net *net;
    struct trainer *trainer;
} training;

static void end_training(void)
{
    trainer_free(training.trainer);
    sph_net_free(training.net);
    training.trainer = NULL;
    training.net = NULL;
}

static void checkpoint(size_t n)
{
    static sph_train_opts opts;
    static struct source source = {.rows = 4, .targets = 1};
    size_t *hidden = mem_get(n, sizeof *hidden);
    for (size_t i = 0; i < n; i++)
        hidden[i] = 1;
    end_training();
    sph_train_defaults(&opts, SPH_TASK_REGRESSION);
    assert_int_equal(
        sph_net_mlp(
            &training.net,
            &(sph_mlp){.size = sizeof(sph_mlp), .inputs = 1, .outputs = 1, .hidden = hidden, .depth = n}),
        0);
    mem_free(hidden);
    assert_int_equal(
        trainer_new(&training.trainer,
                    &(struct trainer_setup){.net = training.net, .opts = &opts, .train = &source}),
        0);
    assert_int_equal(checkpoint_save(at("c.safetensors"),
                                     &(struct checkpoint_parts){&training.trainer, 1, training.net}, NULL),
                     0);
}

static int read_checkpoint(void)
{
    return checkpoint_load(at("c.safetensors"),
                           &(struct checkpoint_parts){&training.trainer, 1, training.net}, NULL);
}

/* ---------------------------------------------------------------- ONNX, as the bytes of its messages */

static void onnx_begin(void)
{
    add("\x08\7\x42\4\x0a\0\x10\x0d", 8); /* ir_version 7, opset 13 */
}

/* A graph that is said again and again, of a node each time. */
static void onnx_graphs(size_t n)
{
    onnx_begin();
    for (size_t i = 0; i < n; i++)
        add("\x3a\2\x0a\0", 4);
    save("t.onnx");
}

/* n constants and n nodes that pass them on. */
static void onnx_nodes(size_t n)
{
    struct text graph = {0};
    for (size_t i = 0; i < n; i++) {
        char constant[32], name[32];
        int length = snprintf(constant, sizeof constant, "c%zu", i),
            own = snprintf(name, sizeof name, "n%zu", i);
        text_add(&graph, "\x2a%c\x42%c%s", length + 2, length, constant);
        text_add(&graph, "\x0a%c\x0a%c%s\x12%c%s\x22%c%s", length + own + 14, length, constant, own, name, 8,
                 "Identity");
    }
    onnx_begin();
    add("\x3a", 1);
    for (size_t left = graph.length; left; left >>= 7)
        add_number((left & 0x7f) | (left > 0x7f ? 0x80 : 0), 1, 0);
    add(graph.chars, graph.length);
    text_free(&graph);
    save("t.onnx");
}

static int read_onnx(void)
{
    sph_net *net = NULL;
    int err = import_net(&net, at("t.onnx"), NULL);
    sph_net_free(net);
    return err;
}

/* ---------------------------------------------------------------- YAML */

#define SMALL "name: e\ndata: {name: crescents}\n"
#define ONE   SMALL "methods: [{name: A}]\n"

static void yaml_aliases(size_t n)
{
    text_add(&out, "a:\n");
    for (size_t i = 0; i < n; i++)
        text_add(&out, "- &a%zu 1\n", i);
    for (size_t i = 0; i < n; i++)
        text_add(&out, "- *a%zu\n", i);
    save("t.yaml");
}

/* Each list holds the one before it n times. */
static void yaml_nested_aliases(size_t n)
{
    for (int list = 0; list < 8; list++) {
        text_add(&out, "a%d: &a%d [1", list, list);
        for (size_t i = 0; list && i < n; i++)
            text_add(&out, ", *a%d", list - 1);
        text_add(&out, "]\n");
    }
    save("t.yaml");
}

static void yaml_tags(size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_add(&out, "%%TAG !t%zu! tag:\n", i);
    text_add(&out, "---\na: 1\n");
    save("t.yaml");
}

static void yaml_depth(size_t n)
{
    for (size_t i = 0; i < n; i++)
        add("[", 1);
    save("t.yaml");
}

static void yaml_long_text(size_t n)
{
    text_add(&out, "a: \"");
    for (size_t i = 0; i < n; i++)
        add(i % 50 ? "\\x41 " : "\n\n ", i % 50 ? 5 : 3);
    text_add(&out, "\"\n");
    save("t.yaml");
}

static int read_yaml(void)
{
    struct node_tree tree;
    int err = config_load(&tree, at("t.yaml"));
    if (!err)
        node_tree_free(&tree);
    return err;
}

static void seeds(size_t n)
{
    text_add(&out, ONE "seeds: [0");
    for (size_t i = n; i > 0; i--)
        text_add(&out, ",%zu", i);
    text_add(&out, "]\n");
    save("t.yaml");
}

static void grid(size_t n)
{
    text_add(&out, ONE "grid: {lr: [");
    for (size_t i = 0; i < n; i++)
        text_add(&out, "%s0.%zu", i ? "," : "", i + 1000000);
    text_add(&out, "]}\n");
    save("t.yaml");
}

/* Names of one folder: every character of them becomes _. */
static void odd_name(size_t i)
{
    for (int k = 0; k < 5; k++, i /= 10)
        add(&"!@#$%^&*()"[i % 10], 1);
}

static void methods(size_t n)
{
    text_add(&out, SMALL "methods:\n");
    for (size_t i = 0; i < n; i++) {
        text_add(&out, "- {name: \"");
        odd_name(i);
        text_add(&out, "\"}\n");
    }
    save("t.yaml");
}

static void sets(size_t n)
{
    text_add(&out, "name: e\nmethods: [{name: A}]\ndata:\n");
    for (size_t i = 0; i < n; i++) {
        text_add(&out, "- {file: crescents, name: \"");
        odd_name(i);
        text_add(&out, "\"}\n");
    }
    save("t.yaml");
}

static void papers(size_t n)
{
    text_add(&out, ONE "papers:\n  rmse:\n");
    for (size_t i = 0; i < n; i++)
        text_add(&out, "    m%zu: '1'\n", i);
    save("t.yaml");
}

static int read_experiment(void)
{
    sph_experiment *e = NULL;
    int err = sph_experiment_open(&e, at("t.yaml"));
    sph_experiment_free(e);
    return err;
}

static void layers_of_a_config(size_t n)
{
    text_add(&out, "data: {name: crescents, target: [t");
    for (size_t i = 0; i < n; i++)
        text_add(&out, ", column%zu", i);
    text_add(&out, "]}\n");
    save("t.yaml");
}

static int read_config(void)
{
    struct sph_job *job = NULL;
    int err = job_new(&job, 0);
    if (!err)
        err = config_read(&job->request.asked, at("t.yaml"));
    sph_job_free(job);
    return err;
}

/* ---------------------------------------------------------------- JSON */

static void results(size_t n)
{
    text_add(&out, ONE "seeds: %zu\n", n);
    save("e/experiment.yaml");
    text_add(&out, "{\"metric\":\"accuracy\",\"jobs\":[");
    for (size_t i = n; i-- > 0;)
        text_add(&out, "{\"method\":\"A\",\"seed\":%zu,\"folder\":\"f\",\"reported\":true,\"failed\":true}%s",
                 i, i ? "," : "]}");
    save("e/results.json");
}

static int read_results(void)
{
    sph_experiment *e = NULL;
    struct results all = {0};
    assert_int_equal(sph_experiment_open(&e, at("e/experiment.yaml")), 0);
    int err = results_read(&all, e, at("e"));
    results_free(&all);
    sph_experiment_free(e);
    return err;
}

static void json_objects(size_t n)
{
    text_add(&out, "{\"list\":[{}");
    for (size_t i = 0; i < n; i++)
        text_add(&out, ",{\"key\":\"%zu\"},[[]]", i);
    text_add(&out, "],\"last\":{\"0\":1");
    for (size_t i = 0; i < n; i++)
        text_add(&out, ",\"key%zu\":1", i);
    text_add(&out, "}}");
    save("t.json");
}

static int read_json(void)
{
    json_t *value = NULL;
    int err = json_read(&value, at("t.json"));
    json_decref(value);
    return err;
}

static void metrics_lines(size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_add(&out, "{\"epoch\":%zu,\"step\":%zu,\"lr\":0.1,\"train_loss\":0.5,\"seconds\":1}\n", i, i);
    save("run/metrics.jsonl");
}

static int take_line(void *self, const json_t *line)
{
    (void)self;
    return json_is_object(line) ? 0 : SPH_EFORMAT;
}

static int read_metrics(void)
{
    int err = metrics_read(at("run"), take_line, NULL);
    return err < 0 ? err : 0;
}

/* ---------------------------------------------------------------- texts that collide */

/* Either of a pair leads FNV-1a, as far as its lowest 50 bits, from one state to the same next: so all 2^14 rows of one of each
 * have one hash, and came to lie in one row of slots. */
static const char *const pairs[][2] = {
    {"ammnnqlnhBa", "CgliqwefEaa"}, {"BtBovhlidBa", "iiEeklcqcva"}, {"DsBkmopddDa", "zvnwbwFEBca"},
    {"CpCidtAFwta", "jEAnDniyxwa"}, {"yyEddklFxea", "DmdBsrsluCa"}, {"BmonFhxcqba", "iyonxCfAqva"},
    {"aihqCiCEaAa", "rvranEiryca"}, {"Bdclhrolwpa", "rslbvdtbbla"}, {"EejBcctmffa", "evgDdgprsma"},
    {"ulFEujiFyka", "lgqrlszBwxa"}, {"obcruDqEFea", "dswakmgftra"}, {"voyjryjCCha", "stCCCCntwua"},
    {"wzjaiqrlDAa", "bptDieuEbma"}, {"qhtdoikCwca", "rvzrmjEAkAa"}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static size_t colliding;

static void collisions(size_t n)
{
    assert_true(n <= (size_t)1 << PAIRS);
    colliding = n;
}

static int read_collisions(void)
{
    struct levels levels = {0};
    int err = 0;
    for (size_t i = 0; i < colliding && !err; i++) {
        char text[16 * PAIRS] = "";
        for (size_t k = 0; k < PAIRS; k++)
            strcat(text, pairs[k][i >> k & 1]);
        err = levels_add(&levels, text);
    }
    assert_int_equal(levels.count, colliding);
    levels_free(&levels);
    return err;
}

/* ---------------------------------------------------------------- all of them */

static const struct {
    const char *what;
    void (*make)(size_t n);
    int (*read)(void);
    size_t n;
    int refused;
} readers[] = {
    {"CSV: rows", csv_rows, read_csv, 20000, 0},
    {"CSV: columns", csv_columns, read_csv, 3000, 0},
    {"CSV: a column of different words", csv_words, read_csv, 20000, 1},
    {"CSV: a quote that does not end", csv_quote, read_csv, 100000, 1},
    {"libsvm: rows", libsvm_rows, read_libsvm, 20000, 0},
    {"npy: rows", npy_rows, read_npy, 100000, 0},
    {"npz: arrays beside the table", npz_arrays, read_npz_table, 2000, 1},
    {"boundaries.npz: arrays", npz_arrays, read_npz, 2000, 0},
    {"gzip: members", gzip_members, read_gzip, 5000, 0},
    {"zstd: frames", zstd_frames, read_zstd, 5000, 0},
    {"IDX: images", idx_images, read_idx, 50000, 0},
    {"CIFAR: records", cifar_records, read_cifar, 1000, 0},
    {"pickle: values", pickle_labels, read_pickle, 100000, 1},
    {"pack: rows, classes and names", pack_rows, read_pack, 20000, 0},
    {"JPEG: markers", jpeg_markers, read_jpeg, 100000, 1},
    {"PNG: chunks", png_chunks, read_png, 50000, 0},
    {"safetensors: tensors", tensors, read_tensors, 5000, 0},
    {"model: members", members, read_model, 1500, 0},
    {"model: layers", layers, read_model, 1200, 0},
    {"model: more layers than a net may have", layers, read_model, 6000, 1},
    {"checkpoint: layers", checkpoint, read_checkpoint, 200, 0},
    {"ONNX: one graph many times", onnx_graphs, read_onnx, 40000, 1},
    {"ONNX: nodes and constants", onnx_nodes, read_onnx, 5000, 1},
    {"YAML: anchors and aliases", yaml_aliases, read_yaml, 6000, 0},
    {"YAML: aliases of aliases", yaml_nested_aliases, read_yaml, 25, 1},
    {"YAML: directives", yaml_tags, read_yaml, 5000, 1},
    {"YAML: depth", yaml_depth, read_yaml, 25000, 1},
    {"YAML: one text", yaml_long_text, read_yaml, 100000, 0},
    {"config: names of columns", layers_of_a_config, read_config, 20000, 0},
    {"experiment: seeds", seeds, read_experiment, 20000, 0},
    {"experiment: values of the grid", grid, read_experiment, 2000, 1},
    {"experiment: methods", methods, read_experiment, 2000, 1},
    {"experiment: sets", sets, read_experiment, 2000, 1},
    {"experiment: papers", papers, read_experiment, 5000, 1},
    {"results.json: jobs and seeds", results, read_results, 10000, 0},
    {"JSON: objects", json_objects, read_json, 20000, 0},
    {"metrics.jsonl: lines", metrics_lines, read_metrics, 5000, 0},
    {"names that collide under FNV-1a", collisions, read_collisions, 1 << (PAIRS - 2), 0},
};

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* least <- the processor time of reading what is there, if that is less. */
static void time_reader(size_t i, double *least)
{
    double began = processor_seconds();
    int err = readers[i].read();
    double took = processor_seconds() - began;
    *least = took < *least ? took : *least;
    if (readers[i].refused ? err != SPH_EFORMAT && err != SPH_EARG : err != 0)
        fail_msg("%s: %d, %s", readers[i].what, err, sph_error());
}

static void every_reader_takes_time_in_proportion_to_its_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        double small = (double)INFINITY, large = (double)INFINITY;
        for (int t = 0; t < TRIES && !(large < soon || large < RATIO_MOST * small); t++) {
            readers[i].make(readers[i].n);
            time_reader(i, &small);
            readers[i].make(TIMES * readers[i].n);
            time_reader(i, &large);
        }
        if (getenv("READERS_VERBOSE"))
            print_message("%-40s %8.4f s, %8.4f s\n", readers[i].what, small, large);
        if (!(large < soon || large < RATIO_MOST * small))
            fail_msg("%s: %.3f s for %zu items, %.3f s for %zu", readers[i].what, small, readers[i].n, large,
                     TIMES * readers[i].n);
    }
    end_training();
}

/* ---------------------------------------------------------------- memory */

static void yaml_numbers(size_t n)
{
    text_add(&out, "a: [1");
    for (size_t i = 0; i < n; i++)
        add(",1", 2);
    text_add(&out, "]\n");
    save("t.yaml");
}

static void empty_objects(size_t n)
{
    text_add(&out, "[{}");
    for (size_t i = 0; i < n; i++)
        add(",{}", 3);
    text_add(&out, "]");
    save("t.json");
}

static void empty_nodes(size_t n)
{
    onnx_begin();
    add("\x3a", 1);
    for (size_t left = 2 * n; left; left >>= 7)
        add_number((left & 0x7f) | (left > 0x7f ? 0x80 : 0), 1, 0);
    for (size_t i = 0; i < n; i++)
        add("\x0a\0", 2);
    save("t.onnx");
}

/* n blocks of 128 kB, each of one byte again and again. */
static void zstd_bomb(size_t n)
{
    enum { BLOCK = 1 << 17, RUN = 1 };
    add("\x28\xb5\x2f\xfd\0\x38", 6);
    for (size_t i = 0; i < n; i++) {
        add_number((i + 1 == n) | RUN << 1 | BLOCK << 3, 3, 0);
        add("1", 1);
    }
    save("t.csv.zst");
}

static void gzip_bomb(size_t n)
{
    char command[300];
    snprintf(command, sizeof command, "head -c %zu /dev/zero | gzip -1 >%s", n, at("t.csv.gz"));
    assert_int_equal(system(command), 0);
}

/* A header that promises more numbers than follow it. */
static void npy_promise(size_t n)
{
    char shape[64];
    snprintf(shape, sizeof shape, "%zu, 2", n);
    npy_header("<f8", shape);
    save("t.npy");
}

enum { LIMIT = 100000000, MEGABYTE = 1000000 };

static const struct {
    const char *what;
    void (*make)(size_t n);
    int (*read)(void);
    size_t n;
    int err;
    int usual; /* the limit is the usual one */
} greedy[] = {
    {"YAML: a list", yaml_numbers, read_yaml, 5 * MEGABYTE, SPH_EMEMORY, 0},
    {"YAML: one text", yaml_long_text, read_yaml, 6 * MEGABYTE, SPH_EMEMORY, 0},
    {"JSON: empty objects", empty_objects, read_json, MEGABYTE, SPH_EMEMORY, 0},
    {"safetensors: tensors", tensors, read_tensors, 200000, SPH_EMEMORY, 0},
    {"ONNX: empty nodes", empty_nodes, read_onnx, MEGABYTE, SPH_EMEMORY, 0},
    {"gzip: zeroes", gzip_bomb, read_gzip, 300 * MEGABYTE, SPH_EMEMORY, 0},
    {"zstd: ones", zstd_bomb, read_zstd, 2000, SPH_EMEMORY, 0},
    {"zstd: more ones than any file may unpack to", zstd_bomb, read_zstd, 17000, SPH_EFORMAT, 1},
    {"npy: fewer numbers than promised", npy_promise, read_npy, 200 * MEGABYTE, SPH_EFORMAT, 1},
};

/* The most megabytes that reading it took beyond what was there before, in a process of its own. */
static double megabytes_of(size_t i)
{
    struct rusage usage[2];
    int status;
    for (int reads = 0; reads < 2; reads++) {
        fflush(NULL);
        pid_t child = fork();
        if (!child) {
            if (!greedy[i].usual)
                sph_set_max_memory(mem_held() + LIMIT);
            int err = reads ? greedy[i].read() : greedy[i].err;
            if (err != greedy[i].err)
                fprintf(stderr, "%s: %d, %s\n", greedy[i].what, err, sph_error());
            _exit(err != greedy[i].err);
        }
        assert_true(child > 0);
        assert_int_equal(wait4(child, &status, 0, &usage[reads]), child);
        assert_int_equal(status, 0);
    }
    return (double)(usage[1].ru_maxrss - usage[0].ru_maxrss) / 1000;
}

static void a_small_file_takes_no_more_memory_than_is_allowed(void **state)
{
    (void)state;
    const char *sanitizer = getenv("SPH_SAN");
    for (size_t i = 0; i < sizeof greedy / sizeof *greedy; i++) {
        greedy[i].make(greedy[i].n);
        double megabytes = megabytes_of(i);
        if (getenv("READERS_VERBOSE"))
            print_message("%-40s %8.1f MB\n", greedy[i].what, megabytes);
        if (megabytes > 1.5 * LIMIT / MEGABYTE && !(sanitizer && *sanitizer)) /* its tables are not ours */
            fail_msg("%s: %.0f MB", greedy[i].what, megabytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reader_takes_time_in_proportion_to_its_file),
        cmocka_unit_test(a_small_file_takes_no_more_memory_than_is_allowed),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
