/* SPDX-License-Identifier: MIT
 *
 * The known sets and where they are looked for. */
#include "data/registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/data.h"

static const struct known_set sets[] = {
    {.name = "crescents", .target = "class", .made = 1},
    {.name = "levy", .target = "y", .made = 1},
    {.name = "banana", .file = "banana.csv", .target = "Class"},
    {.name = "boston",
     .file = "uci/boston.txt",
     .names = "CRIM,ZN,INDUS,CHAS,NOX,RM,AGE,DIS,RAD,TAX,PTRATIO,B,LSTAT,MEDV",
     .target = "MEDV"},
    {.name = "concrete",
     .file = "uci/concrete.txt",
     .names = "Cement,Blast_Furnace_Slag,Fly_Ash,Water,Superplasticizer,Coarse_Aggregate,"
              "Fine_Aggregate,Age,Concrete_compressive_strength",
     .target = "Concrete_compressive_strength"},
    {.name = "energy",
     .file = "uci/energy.txt",
     .names = "X1_Relative_Compactness,X2_Surface_Area,X3_Wall_Area,X4_Roof_Area,"
              "X5_Overall_Height,X6_Orientation,X7_Glazing_Area,"
              "X8_Glazing_Area_Distribution,Y1_Heating_Load",
     .target = "Y1_Heating_Load"},
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
     .drop = "GT_turbine_decay_coefficient"},
    {.name = "power", .file = "uci/power.txt", .names = "AT,V,AP,RH,PE", .target = "PE"},
    {.name = "wine",
     .file = "uci/wine.txt",
     .names = "fixed_acidity,volatile_acidity,citric_acid,residual_sugar,chlorides,"
              "free_sulfur_dioxide,total_sulfur_dioxide,density,pH,sulphates,alcohol,"
              "quality",
     .target = "quality"},
    {.name = "yacht",
     .file = "uci/yacht.txt",
     .names = "longitudinal_position_of_buoyancy_centre,prismatic_coefficient,"
              "length_displacement_ratio,beam_draught_ratio,length_beam_ratio,Froude_number,"
              "residuary_resistance",
     .target = "residuary_resistance"},
    {.name = "cifar10", .file = "cifar10", .images = 1},
    {.name = "cifar100", .file = "cifar100", .images = 1},
    {.name = "mnist", .file = "mnist", .images = 1, .classes = 10},
    {.name = "fashion-mnist",
     .file = "fashion-mnist",
     .names = "T-shirt/top,Trouser,Pullover,Dress,Coat,Sandal,Shirt,Sneaker,Bag,Ankle boot",
     .images = 1,
     .classes = 10},
    {.name = "imagenet32", .file = "imagenet32", .stand_in = "imagenet32-subset", .images = 1},
};

enum { SETS = sizeof sets / sizeof *sets };

size_t data_known(const char *const **names)
{
    static const char *const known[SETS] = {"crescents", "levy",     "banana", "boston",        "concrete",
                                            "energy",    "naval",    "power",  "wine",          "yacht",
                                            "cifar10",   "cifar100", "mnist",  "fashion-mnist", "imagenet32"};
    *names = known;
    return SETS;
}

const struct known_set *registry_find(const char *name)
{
    for (size_t i = 0; i < SETS; i++)
        if (!strcmp(sets[i].name, name))
            return &sets[i];
    return NULL;
}

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
static int look(char **out, struct text *looked, const char *folder, const struct known_set *set)
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

int registry_path(char **out, const struct known_set *set)
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
