#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bad_corpus.py TOOL BAD: gives every file of the folder BAD to the tool, under limits of time and memory.

Each command must end with exit code 1 or 2 and one line on stderr, within 10 seconds of processor time per MB of input and
within MEMORY plus MARGIN. With SPH_LAYER=long each file also goes to the readers of the other formats, which may accept it.
The current folder holds ok.csv, small.yaml and the run folder good.
"""
import os
import resource
import shutil
import subprocess
import sys
import threading
from pathlib import Path

TOOL, BAD = sys.argv[1], Path(sys.argv[2])
SANITIZED = bool(os.environ.get("SPH_SAN"))  # a sanitizer takes several times the time and memory
MEMORY = 100  # MB, the value of --max-memory
MARGIN = 100  # MB for the program, its libraries and the stacks of its threads, which --max-memory does not count
SECONDS_PER_MB = 10 * (10 if SANITIZED else 1)  # a file of less than 1 MB counts as 1 MB
CLOCK = 600  # seconds after which a command that waits for something is killed

# The readers: the file of the run folder that the bad file replaces, and the command. {} is the bad file.
READERS = {
    "table": (None, "train --data {} --hidden 3 --epochs 1 --out refused"),
    "model": (None, "convert {} out.safetensors --to gmp"),
    "init": (None, "train --data ok.csv --hidden 4 --epochs 1 --init {} --out refused"),
    "model of a run": ("model.safetensors", "eval run --data ok.csv"),
    "checkpoint": ("checkpoint.safetensors", "train --resume --out run"),
    "record": ("boundaries.npz", "figures run turns"),
    "config": ("config.yaml", "eval run --data ok.csv"),
    "onnx": (None, "import {} out.safetensors"),
    "experiment": (None, "run {} --out refused"),
}
OWN = {"safetensors": ("model", "init", "model of a run", "checkpoint"), "onnx": ("onnx",), "npz": ("record", "table")}

failures, commands, most_memory, most_seconds = [], 0, 0.0, 0.0


def give(name, command, size=0, may_succeed=False):
    """Runs the command under the limits. `name` is that of the file, which has `size` bytes."""
    global commands, most_memory, most_seconds
    limit = max(1, size >> 20) * SECONDS_PER_MB
    with open("out", "wb") as out, open("err", "wb") as err:
        child = subprocess.Popen([TOOL, *command, "--max-memory", f"{MEMORY}M"], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        resource.prlimit(child.pid, resource.RLIMIT_CPU, (limit, limit))
        timer = threading.Timer(CLOCK, child.kill)
        timer.start()
        _, status, used = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = code = os.waitstatus_to_exitcode(status)
    shutil.rmtree("refused", ignore_errors=True)
    seconds, memory, said = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, Path("err").read_bytes()
    commands, most_memory, most_seconds = commands + 1, max(most_memory, memory), max(most_seconds, seconds)
    if code not in ((0, 1, 2) if may_succeed else (1, 2)):
        failures.append(f"{name}: exit code {code}, expected 1 or 2")
    elif code and (said.count(b"\n") != 1 or not said.startswith(b"spherelu")):
        failures.append(f"{name}: not one line on stderr")
    elif memory > MEMORY + MARGIN and not SANITIZED:
        failures.append(f"{name}: {memory:.0f} MB")
    else:
        return
    failures[-1] += f"\n  spherelu {' '.join(map(str, command))}\n  {said[:400]!r}"


def read(path, reader, size, may_succeed):
    replaced, command = READERS[reader]
    if replaced:
        shutil.rmtree("run", ignore_errors=True)
        shutil.copytree("good", "run")
        shutil.copyfile(path, Path("run", replaced))
        if reader == "checkpoint":
            Path("run/result.json").unlink()  # so that there is something to resume
    give(f"{path} as {reader}", [word.replace("{}", str(path)) for word in command.split()], size, may_succeed)


def rows(folder):
    r"""The first two columns of each line of an expect.txt, with \n, \t, \\ and \xHH replaced."""
    for line in (BAD / folder / "expect.txt").read_text().splitlines():
        if not line.startswith("#"):
            yield [column.encode().decode("unicode_escape").encode("latin-1") for column in line.split("\t")[:2]]


def main():
    files = sorted(path for path in BAD.rglob("*") if path.is_file() and path.suffix not in (".txt", ".py"))
    for folder in ("csv", "libsvm", "npy", "images"):
        for name, *options in rows(folder):
            path = BAD / folder / name.decode()
            size = sum(part.stat().st_size for part in ([path] if path.is_file() else path.rglob("*")))
            more = [] if folder == "images" or options == [b"-"] else [b"--" + option for option in options[0].split(b" ")]
            give(path, [*READERS["table"][1].replace("{}", str(path)).split(), *([] if folder == "images" or b"drop=" in options[0] else ["--drop", "none"]), *more], size)
    for path in files:
        folder, size = path.relative_to(BAD).parts[0], path.stat().st_size
        own = ("experiment",) if path.suffix == ".yaml" else OWN.get(folder, ())
        good = path.name.startswith("ok") or path.name == "open-size.onnx"
        for reader in READERS:
            if reader in own or os.environ.get("SPH_LAYER") == "long":
                read(path, reader, size, may_succeed=good or reader not in own)
    for text, _ in rows("config"):
        Path("bad.yaml").write_bytes(text)
        read(Path("bad.yaml"), "config", len(text), may_succeed=False)
    for option, value in rows("options"):
        give(option, ["train", "--data", "ok.csv", "--out", "refused", b"--" + option + b"=" + value])
    for option, value in rows("set"):
        give(option, ["run", "small.yaml", "--out", "refused", "--set", option + b"=" + value])
    for failure in failures:
        print("FAILED:", failure)
    print(f"{len(files)} files, {commands} commands, at most {most_memory:.0f} MB and {most_seconds:.2f} s of the processor, "
          f"{len(failures)} failed")
    return bool(failures) or len(files) < 200


sys.exit(main())
