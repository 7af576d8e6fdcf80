/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: the columns that a model says it was trained on, and files read by them: with a header, without, with
 * fewer columns, an array. */
#include <jansson.h>

#include "data/open.h"
#include "fuzz.h"

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    return fuzz_mutate_json(bytes, length, most, seed);
}

static void read_by(const char *path, const json_t *schema, int need_targets)
{
    sph_data *data = NULL;
    json_t *again = NULL;
    if (data_open_like(&data, path, schema, need_targets, NULL) < 0) {
        if (data || !*sph_error())
            abort();
        return;
    }
    if (data_schema(data, &again) < 0) /* what was read can be said */
        abort();
    json_decref(again);
    sph_data_free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char named[] = "a,town,b,y\n1,Ulm,2,3\n2,Bonn,,4\n3,Ulm,\"1,5\",6\n",
                      bare[] = "1,Ulm,2,3\n2,Bonn,3,4\n", features[] = "1,Ulm,2\n2,Bonn,3\n",
                      blanks[] = "b y a town\n1 2 3 Ulm\n";
    static const uint8_t images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 3, 4},
                         labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 0, 1};
    static int made;
    json_t *schema = json_loadb((const char *)bytes, length, 0, NULL);
    if (!made++) {
        fuzz_file("named.csv", named, sizeof named - 1);
        fuzz_file("bare.csv", bare, sizeof bare - 1);
        fuzz_file("features.csv", features, sizeof features - 1);
        fuzz_file("blanks.txt", blanks, sizeof blanks - 1);
        fuzz_file("a-labels-idx1-ubyte", labels, sizeof labels);
        fuzz_file("a-images-idx3-ubyte", images, sizeof images);
    }
    if (!schema)
        return 0;
    for (int need = 0; need < 2; need++) {
        read_by(fuzz_path("named.csv"), schema, need);
        read_by(fuzz_path("bare.csv"), schema, need);
        read_by(fuzz_path("features.csv"), schema, need);
        read_by(fuzz_path("blanks.txt"), schema, need);
        read_by(fuzz_path("a-images-idx3-ubyte"), schema, need);
    }
    json_decref(schema);
    return 0;
}
