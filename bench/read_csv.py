#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reading a CSV of a gigabyte: ours beside pandas' C reader and polars, one core each.

    read_csv.py --library build/libspherelu.so [--megabytes 1000] [--rounds 3] [--folder DIR] [--check]

Run it with a Python that has pandas and polars (`python3 -m venv V; V/bin/pip install pandas polars`); one that is missing is
left out. Two files: 30 columns of floats, and a mixed one (floats, whole numbers, categories with and without quotes,
missing cells). Each reading is a process of its own, bound to one core, the file in the system's cache; the readers take
turns, and the best of the rounds counts, by the clock and by the processor's time. Ours ends with the numbers a training
takes (f64, words as indicator columns); the others with their data frames. Writes bench/results/csv.csv; --check fails
below 150 MB/s of processor time.
"""
import argparse
import csv
import ctypes
import json
import os
import random
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BAR = 150  # MB/s, one core
BLOCK = 20_000_000  # bytes of different rows; they are written again and again


def floats(rng):
    return ",".join("%.6g" % rng.gauss(0, 10) for _ in range(30))


def mixed(rng):
    cells = ["%.5f" % rng.random() for _ in range(10)]
    cells += [str(rng.randrange(100_000)) for _ in range(5)]
    cells += [rng.choice(("red", "green", "blue", "black")), rng.choice(("Paris", '"New York, NY"', "Rome"))]
    cells += ["" if rng.random() < 0.05 else "%.3f" % rng.gauss(5, 2) for _ in range(3)]
    return ",".join(cells + ["%.4f" % rng.gauss(0, 1)])


FILES = {"floats": (floats, 30), "mixed": (mixed, 21)}


def write(path, kind, megabytes):
    row, columns = FILES[kind]
    rng, lines, size = random.Random(0), [], 0
    while size < min(BLOCK, megabytes * 1_000_000):
        lines.append(row(rng) + "\n")
        size += len(lines[-1])
    block = "".join(lines).encode()
    with open(path, "wb") as out:
        out.write((",".join(f"c{i}" for i in range(columns)) + "\n").encode())
        while out.tell() < megabytes * 1_000_000:
            out.write(block)


# ---------------------------------------------------------------- one reading, in a process of its own

def read_ours(path, library):
    lib = ctypes.CDLL(library)
    lib.sph_error.restype = ctypes.c_char_p
    lib.sph_version.restype = ctypes.c_char_p
    lib.sph_data_rows.restype = ctypes.c_size_t
    lib.sph_data_rows.argtypes = [ctypes.c_void_p]
    data = ctypes.c_void_p()

    def read():
        if lib.sph_data_open(ctypes.byref(data), path.encode(), None) < 0:
            sys.exit(lib.sph_error().decode())
        return lib.sph_data_rows(data)
    return read, lib.sph_version().decode()


def read_pandas(path, _):
    import pandas
    return lambda: len(pandas.read_csv(path, engine="c")), pandas.__version__


def read_polars(path, _):
    import polars
    return lambda: polars.read_csv(path).height, polars.__version__


READERS = {"spherelu": read_ours, "pandas": read_pandas, "polars": read_polars}


def child(name, path, library):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    try:
        read, version = READERS[name](path, library)
    except ImportError:
        print("{}")
        return
    wall, cpu = time.perf_counter(), time.process_time()
    rows = read()
    print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "rows": rows,
                      "version": version}))
    sys.stdout.flush()
    os._exit(0)  # giving the memory back is not what is measured


def measure(name, path, library):
    env = dict(os.environ, POLARS_MAX_THREADS="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    done = subprocess.run([sys.executable, __file__, "--child", name, "--folder", path, "--library", library],
                          env=env, text=True, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


# ---------------------------------------------------------------- all of them, in turns

def cpu_name():
    with open("/proc/cpuinfo") as info:
        return next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "unknown")


def compare(kind, args, folder):
    path = os.path.join(folder, f"{kind}.csv")
    write(path, kind, args.megabytes)
    size = os.path.getsize(path) / 1e6
    with open(path, "rb") as file:  # into the system's cache
        while file.read(1 << 24):
            pass
    best, out = {}, []
    for _ in range(args.rounds):
        for name in READERS:
            run = measure(name, path, args.library)
            if not run:
                continue
            kept = best.setdefault(name, run)
            for clock in ("wall", "cpu"):
                kept[clock] = min(kept[clock], run[clock])
    os.unlink(path)
    for name, run in best.items():
        wall, cpu = size / run["wall"], size / run["cpu"]
        ratio = best["spherelu"]["cpu"] / run["cpu"]
        print(f"{kind:8s} {name:10s} {run['version']:10s} {wall:8.0f} MB/s, {cpu:8.0f} of processor time, "
              f"{ratio:6.2f} of ours", flush=True)
        out.append([cpu_name(), 1, name, run["version"], kind, f"{size:.0f}", run["rows"], f"{wall:.1f}",
                    f"{cpu:.1f}", f"{ratio:.3f}"])
    return out, size / best["spherelu"]["cpu"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default=os.path.join(HERE, "..", "build", "libspherelu.so"))
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="for the files; by default a temporary one")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.library = os.path.abspath(args.library)
    if args.child:
        return child(args.child, args.folder, args.library)
    rows, slow = [], []
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        for kind in FILES:
            found, speed = compare(kind, args, folder)
            rows += found
            if speed < BAR:
                slow.append(f"{kind}: {speed:.0f} MB/s, expected {BAR}")
    with open(os.path.join(HERE, "results", "csv.csv"), "w", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["machine", "threads", "reader", "version", "file", "megabytes", "rows", "mb_per_second",
                        "mb_per_cpu_second", "speed_of_ours"])
        table.writerows(rows)
    if args.check and slow:
        sys.exit("\n".join(slow))


if __name__ == "__main__":
    main()
