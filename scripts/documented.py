# SPDX-License-Identifier: MIT
"""The commands that the documents show, made runnable: small, with the files and runs they take for granted.

compare-builds and check-commands share it.
"""
import json
import math
import random
import re
import shlex
import struct
import zlib
from pathlib import Path

# ---- commands of the pages made runnable: (pattern, replacement)
SUBSTITUTES = [
    (r"--record (/tmp|DIR)\b", "--record ."),  # nothing outside of the scene's folder
    (r"--threads 8", "--threads 2"),
    (r"(spherelu figures .*)--seed 3", r"\1--seed 1"),  # small experiments have two seeds
]

# ---- ... and small: (pattern, options that are added). All that match are added; the last of an option counts. Long experiments name theirs in their files.
EXPERIMENTS = Path(__file__).resolve().parent.parent / "experiments"
IN_SECONDS = "# To see in seconds what it writes: "
IMAGES = "--rows 48 --epochs 1 --width 0.125 --batch 16"
SMALLER = [
    (r"spherelu train .*--data (cifar10|my-images)", IMAGES),
    (r"spherelu train .*--data photos", "--size 32 --epochs 1 --width 0.125 --batch 8"),
    (r"spherelu train .*--data banana", "--epochs 30"),
    (r"spherelu run (?!.*--jobs).*\.yaml", "--jobs 1"),
    (r"spherelu run .*(crescents|convergence|fig4|lr-sensitivity|patterns|width-init|width-gradients)\.yaml", "--set train.epochs=5 --set seeds=2"),
    (r"spherelu run .*banana(-both|-holdout)?\.yaml", "--set train.epochs=8 --set seeds=2"),
    (r"spherelu run .*levy(-draws)?\.yaml", "--set train.epochs=40 --set seeds=2"),
    (r"spherelu run (?!.*--figures-too).*banana\.yaml", "--set figures=[turns]"),  # all of them in the scene of experiments/
    (r"spherelu run .*width-init\.yaml", "--set grid.hidden=[10,30] --set grid.init_scale=[0.1,1]"),
    (r"spherelu run .*(lr-sensitivity|banana-holdout)\.yaml", "--set grid.lr=[0.01,0.1,10]"),
    (r"spherelu run mine\.yaml", "--set train.epochs=5 --set seeds=2"),
    (r"spherelu run .*(uci-(columns|leak|reference)|beyond-motion)\.yaml", "--set train.epochs=2 --set seeds=2"),
    (r"spherelu perturb(?!.*--samples 0)", "--samples 100000"),
    (r"spherelu bench", "--repeats 3"),
    (r"spherelu bench( param|$| --json$)", "--units 64 --inputs 64"),
    (r"spherelu bench (vgg6|resnet|mobile|wrn)", "--batch 2 --size 32 --width 0.125"),
]

# ---- runs and files that a page takes for granted, and the command that makes them
RESNET = "--data my-images --net resnet18 --stem large --param sp --norm bn"
NEEDS = {
    "runs/first": "spherelu train --data crescents --out runs/first",
    "runs/prices": "spherelu train --data prices.csv --target price --epochs 200 --out runs/prices",
    "runs/prices/model.safetensors": "spherelu train --data prices.csv --target price --epochs 200 --out runs/prices",
    "runs/houses": "spherelu train --data houses.csv --target price --epochs 200 --out runs/houses",
    "runs/moving": "spherelu train --data banana --hidden 10 --record boundaries --epochs 30 --out runs/moving",
    "runs/banana": "spherelu run experiments/banana.yaml",
    "runs/moving-sp": "spherelu train --data banana --hidden 10 --param sp --record boundaries --epochs 30 --out runs/moving-sp",
    "runs/photos": "spherelu train --data photos --net resnet18 --norm bn --param sp --out runs/photos",
    "photos-packed": "spherelu pack photos photos-packed --size 32",
    "runs/resnet": f"spherelu train {RESNET} --out runs/resnet",
    "runs/tuned": f"spherelu train {RESNET} --out runs/tuned",
    "resnet18.safetensors": "spherelu convert runs/resnet resnet18.safetensors --to sp --names torchvision",
    "resnet18.onnx": "spherelu export runs/resnet resnet18.onnx --raw --keep-bn",
    "plain.safetensors": "spherelu convert runs/prices plain.safetensors --to sp",
}

# ---- a set that a command needs, and its file in SPHERELU_DATA
SETS = [
    (r"--data banana\b|banana\.yaml|runs/(moving|moving-sp|banana)\b", "banana.csv"),
    (r"--data cifar10\b|runs/(cifar10|vgg)\b", "cifar10"),
    (r"--data fashion-mnist\b", "fashion-mnist"),
    (r"--data (boston|wine)\b", "uci"),
]


# ---- files that a page takes for granted and that no command makes: name -> bytes
def prices(rows, seed, target=True, holes=False):
    rng = random.Random(seed)
    lines = ["area,rooms,town,year" + (",price" if target else "")]
    for _ in range(rows):
        area, rooms, town, year = rng.uniform(30, 200), rng.randint(1, 7), rng.choice("ABC"), rng.randint(1900, 2020)
        price = 1000 * area + 9000 * rooms + 20000 * "ABC".index(town) + 100 * (year - 1900) + rng.gauss(0, 5000)
        cell = "" if holes and rng.random() < 0.05 else f"{area:.1f}"
        lines.append(f"{cell},{rooms},{town},{year}" + (f",{price:.0f}" if target else ""))
    return ("\n".join(lines) + "\n").encode()


def points(rows, seed, classes=0, targets=1):
    """Four features; numbers to predict, or classes named c0, c1, ..."""
    rng = random.Random(seed)
    lines = [",".join(["x0", "x1", "x2", "x3"] + [f"y{k}" for k in range(targets)])]
    for _ in range(rows):
        x = [rng.gauss(0, 1) for _ in range(4)]
        values = [math.sin(x[k % 4]) + x[(k + 1) % 4] * x[2] for k in range(targets)]
        y = [f"c{min(classes - 1, max(0, round(v + classes / 2)))}" if classes else f"{v:.6f}" for v in values]
        lines.append(",".join([f"{v:.5f}" for v in x] + y))
    return ("\n".join(lines) + "\n").encode()


def dense_layers(sizes, seed):
    """What torch.nn.Sequential would be saved as: 0.weight, 0.bias, 2.weight, ..., and no description."""
    rng = random.Random(seed)
    header, data = {}, b""
    for k, (n, m) in enumerate(zip(sizes, sizes[1:])):
        for name, shape, count in ((f"{2 * k}.weight", [m, n], m * n), (f"{2 * k}.bias", [m], m)):
            values = struct.pack(f"<{count}f", *(rng.gauss(0, 0.5) for _ in range(count)))
            header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
            data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def cifar(rows, seed):
    """Records of CIFAR-10: a label and 3,072 bytes."""
    rng = random.Random(seed)
    return b"".join(bytes([k % 10]) + rng.randbytes(3072) for k in range(rows))


def picture(size, seed):
    """A PNG of random pixels."""
    rng = random.Random(seed)

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = b"".join(b"\0" + rng.randbytes(3 * size) for _ in range(size))
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


FILES = {
    **{f"photos/{kind}/{k}.png": picture(40, k) for kind in ("cats", "dogs") for k in range(12)},
    **{f"more-photos/{k}.png": picture(40, 100 + k) for k in range(3)},
    "my-images/data_batch_1.bin": cifar(100, 10),
    "my-images/test_batch.bin": cifar(40, 11),
    "prices.csv": prices(240, 1, holes=True),
    "more-prices.csv": prices(60, 2),
    "new-houses.csv": prices(40, 3, target=False),
    "houses.csv": prices(240, 4),
    "new.csv": prices(40, 5),
    "mine.yaml": b"name: mine\ndata: {file: houses.csv, target: price}\nmethods:\n  - {name: SP, param: sp}\n  - {name: GmP, param: gmp}\n"
                 b"grid: {lr: [0.003, 0.01, 0.03, 0.1]}\nseeds: 5\n",
    "more.csv": "\n".join(["x1,x2,y"] + [f"{k / 10 - 1},{k * 7 % 11 / 11},{k % 2}" for k in range(30)]).encode(),
    "mlp.safetensors": dense_layers([6, 5, 4, 2], 6),
    "numbers.csv": points(90, 7),
    "two-numbers.csv": points(90, 8, targets=2),
    "classes.csv": points(90, 9, classes=3),
}


# ---- commands out of pages ------------------------------------------------------------------------------------------
COMMAND = re.compile(r"^(?:\$ )?((?:[A-Z_]+=\S+ )*)(?:build/)?spherelu(?= )(.*)$")
PLACEHOLDER = re.compile(r"(?<![A-Za-z_])[A-Z]{2,}(?![A-Za-z_=])|[a-z]\|[a-z]|\[[A-Z]")


def command_of(text, in_help):
    """The command a line of code shows, or None. In help a remark follows behind blanks, elsewhere behind a #."""
    match = COMMAND.match(text.strip())
    if not match or re.match(r" +[a-z0-9.]+: ", match[2]):  # "spherelu run: run an experiment ..." is a title
        return None
    words = re.sub(r"\s{3,}.*" if in_help else r"\s+# .*", "", match[2].strip())
    return match[1] + "spherelu " + re.sub(r" {2,}", " ", words)


def commands_of(path, text):
    """[(line number, command)] of a page: its code blocks, indented lines, code within prose; of a man page .nf."""
    found, prose = [], []
    lines = text.split("\n")
    fence, man, held, first = None, path.suffix == ".1", "", 0
    for number, line in enumerate(lines, 1):
        prose.append("")
        if man:
            fence = {".nf": "text", ".fi": None}.get(line, fence)
            line = line.replace("\\-", "-")
        elif line.startswith("```"):
            fence = None if fence is not None else line[3:]
            continue
        if fence is None and not line.startswith("    ") and not line.startswith("#   "):
            prose[-1] = line
            continue
        first = first if held else number
        held += line.lstrip("# ") if not held else line.strip()
        if held.endswith("\\"):
            held = held[:-1]
            continue
        command = command_of(held, fence == "text")
        held = ""
        if command:
            found.append((first, command))
    if not man:
        whole = "\n".join(prose)
        for match in re.finditer(r"`((?:build/)?spherelu\s[^`]*)`", whole):
            command = command_of(" ".join(match[1].split()), False)
            if command:
                found.append((whole.count("\n", 0, match.start()) + 1, command))
    return sorted(found)


def own_options(command):
    """What the file of the experiment that is run names to make it small."""
    run = re.search(r"spherelu run \S*?([\w-]+)\.yaml", command)
    file = run and EXPERIMENTS / f"{run[1]}.yaml"
    lines = file.read_text().split("\n") if file and file.exists() else []
    return [line[len(IN_SECONDS):] for line in lines if line.startswith(IN_SECONDS)]


def runnable(command):
    """The command as it is run: substitutes, smaller settings, a folder for a training that names none."""
    for pattern, put in SUBSTITUTES:
        command = re.sub(pattern, put, command)
    tail = re.search(r" (\||>) ", command)
    head, tail = (command[:tail.start()], command[tail.start():]) if tail else (command, "")
    added = [options for pattern, options in SMALLER if re.search(pattern, head)]
    added += own_options(head)
    if re.search(r"spherelu train .*--data ", head) and "--out" not in head:
        added.append("--out runs/no-name")
    return " ".join([head.replace(" --figures-too", "")] + added) + tail


def stand_ins(word):
    """{path: bytes} of a file, or of all files of a folder, that no command makes; {} if it is neither."""
    return {path: content for path, content in FILES.items() if path == word or path.startswith(word.rstrip("/") + "/")}


def has_placeholder(command):
    return PLACEHOLDER.search(re.sub(r"^(?:[A-Z_]+=\S+ )*", "", re.sub(r"--record DIR", "", command)))


def lacks(command, folders):
    """The first set a command needs that is in none of the folders, or None."""
    for pattern, file in SETS:
        if re.search(pattern, command) and not any((folder / file).exists() for folder in folders):
            return file
    return None


def made_by(command):
    """(words, names of what it makes, whether it goes on with that) of a command."""
    words = shlex.split(command)
    made = {words[i + 1] for i, word in enumerate(words[:-1]) if word == "--out"}
    if words[1:2] and words[1] in ("convert", "import", "export", "pack") and len(words) > 3:
        made.add(words[3])
    if "run" in words[:2] and not made and len(words) > 2:
        made.add("runs/" + Path(words[2]).stem)
    return words, made, "--resume" in words


def pages_of(docs):
    return [path for pattern in ("README.md", "docs/*.md", "docs/*/*.md", "data/README.md", "experiments/README.md", "figures/README.md", "man/*.1")
            for path in sorted(docs.glob(pattern))]
