/* SPDX-License-Identifier: MIT
 *
 * The formats and the known sets, a row each, and where the sets are looked for. */
#include "data/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/* ---------------------------------------------------------------- formats */

static const struct reader *const readers[] = {
    &reader_cifar10, &reader_cifar100,   &reader_idx,  &reader_npy,
    &reader_npz,     &reader_imagenet32, &reader_text,
};

enum { READERS = sizeof readers / sizeof *readers };

size_t registry_readers(const struct reader *const **out)
{
    *out = readers;
    return READERS;
}

int registry_reader(const struct reader **out, const struct reader_file *file, enum reader_kind kind)
{
    int found = 0;
    *out = NULL;
    for (size_t i = 0; i < READERS && !found; i++) {
        if ((kind == READ_SHEET && !readers[i]->open_sheet) ||
            (kind == READ_IMAGES && !readers[i]->read_images))
            continue;
        found = readers[i]->knows(file);
        *out = found > 0 ? readers[i] : NULL;
    }
    return found < 0 ? found : 0;
}

static int ends_at(const char *text, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length >= n && !strncasecmp(text + length - n, end, n);
}

int reader_ends(const struct reader_file *file, const char *end)
{
    return ends_at(file->path, strlen(file->path), end);
}

int reader_ends_gz(const struct reader_file *file, const char *end)
{
    return ends_at(file->path, strlen(file->path) - (reader_ends(file, ".gz") ? 3 : 0), end);
}

/* ---------------------------------------------------------------- sets */

#define UCI "UCI Machine Learning Repository; CC BY 4.0"

static const sph_data_set sets[] = {
    {.name = "crescents",
     .target = "class",
     .from = "two interleaved crescents, made by the seed",
     .task = SPH_TASK_BINARY,
     .rows = 1000,
     .features = 2,
     .classes = 2},
    {.name = "levy",
     .target = "y",
     .from = "Levy's function in one dimension, made by the seed",
     .rows = 251,
     .features = 1},
    {.name = "banana",
     .file = "banana.csv",
     .target = "Class",
     .from = "KEEL and Raetsch's benchmarks; no licence is stated",
     .task = SPH_TASK_BINARY,
     .rows = 5300,
     .features = 2,
     .classes = 2},
    {.name = "boston",
     .file = "uci/boston.txt",
     .names = "CRIM,ZN,INDUS,CHAS,NOX,RM,AGE,DIS,RAD,TAX,PTRATIO,B,LSTAT,MEDV",
     .target = "MEDV",
     .from = "Harrison and Rubinfeld, 1978; no licence is stated, and UCI has withdrawn it",
     .rows = 506,
     .features = 13},
    {.name = "concrete",
     .file = "uci/concrete.txt",
     .names = "Cement,Blast_Furnace_Slag,Fly_Ash,Water,Superplasticizer,Coarse_Aggregate,"
              "Fine_Aggregate,Age,Concrete_compressive_strength",
     .target = "Concrete_compressive_strength",
     .from = UCI,
     .rows = 1030,
     .features = 8},
    {.name = "energy",
     .file = "uci/energy.txt",
     .names = "X1_Relative_Compactness,X2_Surface_Area,X3_Wall_Area,X4_Roof_Area,"
              "X5_Overall_Height,X6_Orientation,X7_Glazing_Area,"
              "X8_Glazing_Area_Distribution,Y1_Heating_Load",
     .target = "Y1_Heating_Load",
     .from = UCI,
     .rows = 768,
     .features = 8},
    {.name = "naval",
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
     .file = "uci/power.txt",
     .names = "AT,V,AP,RH,PE",
     .target = "PE",
     .from = UCI,
     .rows = 9568,
     .features = 4},
    {.name = "wine",
     .file = "uci/wine.txt",
     .names = "fixed_acidity,volatile_acidity,citric_acid,residual_sugar,chlorides,"
              "free_sulfur_dioxide,total_sulfur_dioxide,density,pH,sulphates,alcohol,"
              "quality",
     .target = "quality",
     .from = UCI,
     .rows = 1599,
     .features = 11},
    {.name = "yacht",
     .file = "uci/yacht.txt",
     .names = "longitudinal_position_of_buoyancy_centre,prismatic_coefficient,"
              "length_displacement_ratio,beam_draught_ratio,length_beam_ratio,Froude_number,"
              "residuary_resistance",
     .target = "residuary_resistance",
     .from = UCI,
     .rows = 308,
     .features = 6},
    {.name = "cifar10",
     .file = "cifar10",
     .from = "Krizhevsky, 2009; no licence is stated, for research",
     .task = SPH_TASK_CLASSES,
     .rows = 60000,
     .features = 3072,
     .classes = 10,
     .images = 1},
    {.name = "cifar100",
     .file = "cifar100",
     .from = "Krizhevsky, 2009; no licence is stated, for research",
     .task = SPH_TASK_CLASSES,
     .rows = 60000,
     .features = 3072,
     .classes = 100,
     .images = 1},
    {.name = "mnist",
     .file = "mnist",
     .from = "LeCun, Cortes and Burges; CC BY-SA 3.0",
     .task = SPH_TASK_CLASSES,
     .rows = 70000,
     .features = 784,
     .classes = 10,
     .images = 1},
    {.name = "fashion-mnist",
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
     .task = SPH_TASK_CLASSES,
     .rows = 1331167,
     .features = 3072,
     .classes = 0, /* the stand-in has fewer than 1,000 */
     .images = 1},
};

enum { SETS = sizeof sets / sizeof *sets };

size_t sph_data_sets(const sph_data_set **out)
{
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

int registry_unknown(const char *source)
{
    const char *names[SETS];
    struct text list = {0};
    for (size_t i = 0; i < SETS; i++) {
        names[i] = sets[i].name;
        text_add(&list, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = text_nearest(source, names, SETS);
    int err = list.failed ? SPH_EMEMORY
              : near ? sph_fail_at(SPH_EIO, source, "no such file, nor a known set (%s); do you mean %s?",
                                   list.chars, near)
                     : sph_fail_at(SPH_EIO, source, "no such file, nor a known set (%s)", list.chars);
    text_free(&list);
    return err;
}

/* ---------------------------------------------------------------- where they lie */

static const char *nonempty(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value ? value : NULL;
}

/* The cache folder; *out stays NULL when the environment names none. */
static int cache_folder(char **out)
{
    const char *folder;
    *out = NULL;
    if ((folder = nonempty("SPHERELU_CACHE")))
        *out = mem_text(folder);
    else if ((folder = nonempty("XDG_CACHE_HOME")))
        *out = file_join(folder, "spherelu");
    else if ((folder = nonempty("HOME")))
        *out = file_join(folder, ".cache/spherelu");
    return folder && !*out ? SPH_EMEMORY : 0;
}

/* 1: there; *out holds the path. 0: not there, and looked[] says so. */
static int look(char **out, struct text *looked, const char *folder, const sph_data_set *set)
{
    const char *files[] = {set->file, set->stand_in};
    for (int i = 0; i < 2 && files[i]; i++) {
        char *path = file_join(folder, files[i]);
        if (!path)
            return SPH_EMEMORY;
        if (file_exists(path)) {
            *out = path;
            return 1;
        }
        mem_free(path);
    }
    text_add(looked, "%s%s", looked->length ? ", " : "", folder);
    return looked->failed ? SPH_EMEMORY : 0;
}

int registry_path(char **out, const sph_data_set *set)
{
    struct text looked = {0};
    char *cache = NULL;
    int found = 0;
    const char *list = nonempty("SPHERELU_DATA");
    while (list && !found) {
        size_t length = strcspn(list, ":");
        if (length) {
            char *folder = mem_text_of(list, length);
            found = folder ? look(out, &looked, folder, set) : SPH_EMEMORY;
            mem_free(folder);
        }
        list = list[length] ? list + length + 1 : NULL;
    }
    if (!found && !(found = cache_folder(&cache)) && cache)
        found = look(out, &looked, cache, set);
    if (!found)
        found = sph_fail_at(SPH_EIO, set->name,
                            "%s was not found in %s; SPHERELU_DATA may name folders to look in", set->file,
                            looked.length ? looked.chars : "any folder");
    mem_free(cache);
    text_free(&looked);
    return found < 0 ? found : 0;
}

int sph_data_set_path(const sph_data_set *set, char *path, size_t size)
{
    char *found = NULL;
    int err = set->file ? registry_path(&found, set) : 0;
    if (!err)
        snprintf(path, size, "%s", found ? found : "");
    mem_free(found);
    return err;
}
