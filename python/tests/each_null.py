# SPDX-License-Identifier: MIT
"""each_null.py HEADERS: calls every public function of the C library once for each of its pointers, with only that one NULL.

The headers give the functions and the names of their arguments. A call that returns a code must refuse the NULL with SPH_EARG
and the argument's name, unless the argument is in OPTIONAL; other calls must return. Run it in an empty folder, in a process of
its own: a crash ends the process, and the last line that it printed is the call. The last line of a success is `all`.
"""

import ctypes
import re
import sys
from pathlib import Path

import numpy as np

from spherelu import _abi
from spherelu._lib import lib, sized

# Arguments that may be NULL, by their comments in the headers.
OPTIONAL = set(
    """
    sph_boundaries_new.data sph_boundaries_new.rows sph_data_from_arrays.opts sph_data_from_columns.learned sph_data_from_columns.note sph_data_open.opts
    sph_weights.kept sph_weights.length sph_experiment_run.result
    sph_job_run.result sph_job_set.value sph_job_train.result sph_job_train.start sph_job_train.state sph_nets_import.result
    sph_net_set_note.text sph_net_weight.b sph_net_weight.s sph_net_weight.w sph_nets_export.opts sph_nets_predict.spread
    sph_run_eval.source sph_run_predict.source sph_train.result sph_trainer_run.result
    """.split()
)
ANSWERS = ("sph_word_find", "sph_net_dtype", "sph_data_task")  # an int that is no code
EARG = -1


def functions(folder):
    """Each function: its name, and the type and name of each argument."""
    text = "\n".join(path.read_text() for path in sorted(Path(folder).glob("*.h")))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for name, arguments in re.findall(r"SPH_API\s+[\w\s*]+?\b(sph_\w+)\(([^;]*?)\);", text):
        split = [re.fullmatch(r"(.*?)(\w+)(\[\d+\])?", " ".join(a.split())) for a in arguments.split(",")]
        yield name, [(s[1].replace("const ", "").replace("volatile ", "").strip() + (" *" if s[3] else ""), s[2]) for s in split if s[0] != "void"]


# ---------------------------------------------------------------- valid arguments

KEPT = []  # what C points to


def keep(thing):
    KEPT.append(thing)
    return thing


def made(name, *arguments):
    """A handle that a function makes."""
    out = _abi.FUNCTIONS[name][1][0]._type_()
    assert getattr(lib(), name)(ctypes.byref(out), *arguments) >= 0, (name, lib().sph_error())
    return keep(out)


def filled(struct, *more):
    """A struct with its size, if it begins with one, and its defaults, if there is a function for them."""
    thing = keep(struct())
    if struct._fields_[0][0] == "size":
        thing.size = ctypes.sizeof(struct)
    defaults = getattr(lib(), re.sub("_opts$", "_defaults_sized", struct.__name__), None) if struct.__name__.endswith("_opts") else None
    if defaults:
        defaults(ctypes.byref(thing), ctypes.sizeof(struct), *more)
    return thing


def job(**more):
    handle = made("sph_job_new")
    for key, value in {"epochs": "1", "hidden": "3", **(more or {"data": "table.csv", "out": f"run{len(KEPT)}"})}.items():
        assert lib().sph_job_set(handle, key.encode(), value.encode()) == 0, lib().sph_error()
    return handle


def data():
    return made("sph_data_synthetic", b"crescents", 20, 0.1, 1)


def net():
    sizes = keep((ctypes.c_size_t * 1)(3))
    return made("sph_net_mlp", ctypes.byref(keep(sized(_abi.sph_mlp, dtype=1, inputs=2, outputs=1, hidden=sizes, depth=1))))


def split():
    out = keep(_abi.sph_split())
    assert lib().sph_split_make(ctypes.byref(out), data(), 0, 0.2, 0.2, 1) == 0
    return ctypes.byref(out)


def trainer():
    opts = filled(_abi.sph_train_opts, 1)
    opts.epochs = opts.threads = 1
    return made("sph_trainer_new", net(), data(), split(), ctypes.byref(opts))


def regions():
    return made("sph_regions_new", net(), ctypes.byref(filled(_abi.sph_regions_opts)))


def sink():
    write = type(_abi.sph_sink().write)
    return keep(_abi.sph_sink(write=write(lambda *_: 0)))


HANDLES = {
    "sph_net *": net,
    "sph_data *": data,
    "sph_job *": job,
    "sph_run *": lambda: made("sph_run_open", b"run"),
    "sph_experiment *": lambda: made("sph_experiment_open", b"small.yaml"),
    "sph_regions *": regions,
    "sph_tracker *": lambda: made("sph_tracker_new", net()),
    "sph_boundaries *": lambda: made("sph_boundaries_new", net(), 0, 0, None, None, 0),
    "sph_split *": split,
    "sph_trainer *": trainer,
    "sph_sink *": lambda: ctypes.byref(sink()),
    "sph_net **": lambda: keep((ctypes.c_void_p * 1)(net().value)),
    "sph_train_opts *": lambda: ctypes.byref(filled(_abi.sph_train_opts, 1)),
    "sph_mlp *": lambda: ctypes.byref(keep(sized(_abi.sph_mlp, inputs=2, outputs=1))),
    "sph_progress_call *": lambda: keep(_abi.sph_progress_call(lambda *_: 0)),
    "void *": lambda: keep((ctypes.c_double * 64)()),
    "double *": lambda: keep((ctypes.c_double * 64)()),
    "uint32_t *": lambda: keep((ctypes.c_uint32 * 64)()),
    "int *": lambda: keep((ctypes.c_int * 1)()),
    "size_t *": lambda: keep((ctypes.c_size_t * 1)()),
    "char **": lambda: keep((ctypes.c_char_p * 1)(b"run")),
}
TEXTS = {
    "dir": b"run", "in": b"run/model.safetensors", "key": b"train.epochs", "value": b"2", "note": b"{}", "out": b"out",
    "path": b"out", "source": b"table.csv", "text": b"relu", "name": b"epochs",
}  # fmt: skip
NUMBERS = {"rows": 2, "features": 2, "targets": 1, "m": 2, "n": 3, "count": 1, "size": 64, "length": 8, "threads": 1, "kernel": 1, "stride": 1, "noise": 0.1,
           "test": 0.2, "val": 0.2, "classes": 2, "channels": 1, "height": 8, "width": 8, "seed": 1, "bytes": 1 << 30}  # fmt: skip
SPECIAL = {  # arguments whose name and type do not tell what they need
    ("sph_data_from_columns", "cells"): lambda: ctypes.byref(keep(_abi.sph_cells(name=b"a", numbers=keep((ctypes.c_double * 64)())))),
    ("sph_data_from_columns", "note"): b'[{"name": "a", "role": "feature", "kind": "number"}]',
    ("sph_data_synthetic", "name"): b"crescents",
    ("sph_experiment_open", "path"): b"small.yaml",
    ("sph_experiment_run", "opts"): sized(_abi.sph_experiment_opts, out=b"experiment"),
    ("sph_job_set", "name"): b"nesterov",
    ("sph_job_train", "job"): lambda: job(ensemble="1"),
    ("sph_job_train", "start"): None,
    ("sph_net_get", "count"): 6,
    ("sph_net_get", "name"): b"layers.0.weight",
    ("sph_net_open", "path"): b"run/model.safetensors",
    ("sph_net_set", "count"): 6,
    ("sph_net_set", "name"): b"layers.0.weight",
    ("sph_nets_export", "nets"): lambda: keep((ctypes.c_void_p * 1)(made("sph_net_open", b"run/model.safetensors").value)),
    ("sph_nets_import", "path"): b"net.onnx",
    ("sph_nets_open", "path"): b"run/model.safetensors",
    ("sph_weights", "param"): _abi.SPH_PARAM_GMP,
    ("sph_weights_grad", "param"): _abi.SPH_PARAM_GMP,
}


def valid(function, i, kind, name):
    if (function, name) in SPECIAL:
        value = SPECIAL[function, name]
        return value() if callable(value) else value
    if kind in HANDLES:
        return HANDLES[kind]()
    if kind == "char *":
        return keep(ctypes.create_string_buffer(TEXTS[name], 64))
    if kind.endswith("**"):  # something that the call makes
        return ctypes.byref(keep(_abi.FUNCTIONS[function][1][i]._type_()))
    if kind.endswith("*"):
        return ctypes.byref(filled(getattr(_abi, kind[:-2])))
    return NUMBERS.get(name, 0)


def main():
    x = np.random.default_rng(0).normal(size=(40, 2))
    np.savetxt("table.csv", np.c_[x, x[:, 0]], delimiter=",", header="a,b,y", comments="")
    Path("small.yaml").write_text("name: small\ndata: {name: table.csv}\ntrain: {epochs: 1}\nnet: {hidden: [3]}\nmethods: [{name: SP, param: sp}]\n")
    assert lib().sph_job_run(job(data="table.csv", out="run"), 0, None, 0, None) == 0, lib().sph_error()
    one = (ctypes.c_void_p * 1)(net())
    raw = sized(_abi.sph_export_opts, flags=_abi.SPH_EXPORT_RAW)
    assert lib().sph_nets_export(one, 1, 0, b"net.onnx", ctypes.byref(raw)) == 0, lib().sph_error()
    wrong, calls = [], 0
    found = list(functions(sys.argv[1]))
    missing = set(_abi.FUNCTIONS) - {name for name, _ in found}
    assert not missing, missing
    for function, arguments in found:
        for i, (kind, name) in enumerate(arguments):
            if not kind.endswith("*"):
                continue
            print(function, name, flush=True)
            calls += 1
            given = [None if j == i else valid(function, j, *argument) for j, argument in enumerate(arguments)]
            if kind == "sph_progress_call *":
                given[i] = _abi.sph_progress_call()
            code = getattr(lib(), function)(*given)
            if _abi.FUNCTIONS[function][0] is not ctypes.c_int or function in ANSWERS:
                continue
            refused = code == EARG and lib().sph_failure().contents.key == name.encode()
            if refused == (f"{function}.{name}" in OPTIONAL) or code < 0 and not refused:
                wrong.append(f"{function}.{name}: {code} {lib().sph_error().decode() if code < 0 else ''}")
    # a NULL inside of a struct
    start = ctypes.byref(filled(_abi.sph_start))
    if lib().sph_job_train(HANDLES["sph_net **"](), job(ensemble="1"), data(), start, None, 0, None, None, None) != EARG:
        wrong.append("sph_start.nets")
    print(f"{len(found)} functions, {calls} calls")
    print("\n".join(["wrong:", *wrong] if wrong else ["all"]))


main()
