# SPDX-License-Identifier: MIT
"""Nets, trainings, boundaries: the C interface as Python reads it."""

import copy
import json
import os
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest

import spherelu


@pytest.fixture
def net(table):
    return spherelu.train(*table, param="gmp", hidden=[8, 6], epochs=30, dtype="f64").net


# ---------------------------------------------------------------- training


def test_options_are_the_library_s_own():
    names = {o.name for o in spherelu.options()}
    assert {"lr", "lr_theta", "param", "hidden", "out"} <= names
    in_memory = {o.name for o in spherelu.options(in_memory=True)}
    assert "lr" in in_memory and "out" not in in_memory and "data" not in in_memory


def test_training_learns_and_says_what_it_did(table):
    x, y = table
    run = spherelu.train(x, y, hidden=20, epochs=300, lr=0.02)
    assert run.scores["test"]["rmse"] < 0.5 * y.std()
    assert run.options["lr"] == "0.02" and run.options["loss"] == "mse"
    assert list(run.history["epoch"]) == list(range(1, run.epochs + 1))
    assert run.history["val_loss"].shape == (run.epochs,)
    assert "<table>" in run._repr_html_() and "rmse" in run._repr_html_()


def test_the_same_seed_gives_the_same_bits(table):
    first, second = (spherelu.train(*table, epochs=10, seed=4).net(table[0]) for _ in range(2))
    other = spherelu.train(*table, epochs=10, seed=5).net(table[0])
    assert np.array_equal(first, second) and not np.array_equal(first, other)


def test_words_are_classes(rng):
    x = rng.normal(size=(150, 2))
    run = spherelu.train(x, np.where(x[:, 0] > 0.3, "b", np.where(x[:, 0] < -0.3, "a", "c")), epochs=50)
    assert run.classes.tolist() == ["a", "b", "c"] and run.net.outputs == 3
    assert run.options["task"] == "classes"


def test_a_net_can_be_gone_on_from(table):
    first = spherelu.train(*table, epochs=50, hidden=8, test=0, val=0)
    second = spherelu.train(*table, epochs=50, hidden=8, test=0, val=0, start=first.net)
    assert second.history["train_loss"][0] < 0.5 * first.history["train_loss"][0]
    with pytest.raises(spherelu.ArgumentError):
        spherelu.train(*table, epochs=1, hidden=9, start=first.net)


def test_a_known_set_trains_into_a_folder(tmp_path):
    run = spherelu.train("crescents", out=tmp_path / "run", epochs=20)
    assert (tmp_path / "run" / "result.json").exists() and run.folder == str(tmp_path / "run")
    assert run.net.inputs == 2 and run.scores["test"]["accuracy"] > 0.5


def test_callbacks_see_epochs_and_can_stop(table):
    seen = []

    def third(view):
        seen.append(view)
        return view.epoch == 3

    run = spherelu.train(*table, epochs=50, callbacks=[third])
    assert [view.epoch for view in seen] == [1, 2, 3] and run.stopped
    assert seen[0].values["train_loss"] > 0


def test_what_a_callback_raises_arrives(table):
    def bad(view):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        spherelu.train(*table, epochs=5, callbacks=[bad])
    with pytest.raises(TypeError):
        spherelu.train(*table, epochs=5, callbacks=[3])


def test_the_tracker_sees_what_gmp_promises(table):
    gmp, plain = spherelu.Tracker(), spherelu.Tracker()
    common = dict(hidden=10, epochs=40, patience=0, test=0, val=0, optimizer="sgd", lr=0.01, momentum=0.0, batch="full", dtype="f64")
    spherelu.train(*table, param="gmp", callbacks=[gmp], **common)
    spherelu.train(*table, param="sp", callbacks=[plain], **common)
    assert gmp.layers == ["layers.0"] and gmp.turn.shape == (40, 1)
    assert np.isfinite(gmp.turn).all() and (gmp.turn >= 0).all() and gmp.turn.max() > 0
    assert plain.move.shape == (40, 1)


def test_divergence_is_an_exception_with_its_code(table):
    with pytest.raises(spherelu.DivergedError) as caught:
        spherelu.train(*table, optimizer="sgd", lr=1e30, epochs=50, param="sp")
    assert caught.value.code == -5 and isinstance(caught.value, ArithmeticError)


# ---------------------------------------------------------------- failures


@pytest.mark.parametrize(
    "options, key",
    [
        (dict(lr=-1), "lr"),
        (dict(optimizer="nobody"), "optimizer"),
        (dict(learning_rate=1), "learning_rate"),
        (dict(out="x"), "out"),
        (dict(momentum=0.5), "momentum"),
        (dict(net="vgg6"), "net"),
        (dict(missing="error"), "missing"),
    ],
)
def test_wrong_options_name_their_key(table, options, key):
    x, y = table
    x = x.copy()
    x[0, 0] = np.nan
    with pytest.raises(spherelu.ArgumentError) as caught:
        spherelu.train(x, y, epochs=1, **options)
    assert caught.value.key.replace("-", "_") == key and caught.value.code == -1 and str(caught.value)


def test_a_pipe_is_an_exception_at_once(tmp_path):
    path = tmp_path / "pipe.safetensors"
    os.mkfifo(path)
    with pytest.raises(OSError) as caught:
        spherelu.load(path)
    assert caught.value.path == str(path) and caught.value.code == -2


def test_a_broken_file_is_an_exception_with_its_path(tmp_path):
    path = tmp_path / "broken.safetensors"
    path.write_bytes(b"\xff" * 30)
    with pytest.raises(spherelu.FormatError) as caught:
        spherelu.load(path)
    assert caught.value.path == str(path) and caught.value.code == -3
    with pytest.raises(OSError) as missing:
        spherelu.load(tmp_path / "none")
    assert missing.value.code == -2
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.code, again.path, str(again)) == (-3, str(path), str(caught.value))


def test_a_csv_names_its_line(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("a,b\n1,2\n3\n4,5\n")
    with pytest.raises(spherelu.Error) as caught:
        spherelu.train(path, epochs=1)
    assert caught.value.line == 3 and caught.value.path.endswith("bad.csv")


@pytest.mark.parametrize(
    "x, y",
    [
        (np.zeros((4, 2)), np.zeros(5)),
        (np.full((4, 2), np.inf), np.zeros(4)),
        (np.zeros((4, 2)), np.full(4, np.nan)),
        (np.zeros((0, 2)), np.zeros(0)),
        (np.zeros((4, 0)), np.zeros(4)),
        (np.array([[{}], [1]], dtype=object), np.zeros(2)),
        ([["a"], ["b"]], np.zeros(2)),
        (np.zeros((4, 2), dtype=complex), np.zeros(4)),
        ([[1, 2], [3]], np.zeros(2)),
    ],
)
def test_bad_arrays_are_exceptions(x, y):
    with pytest.raises(ValueError):
        spherelu.train(x, y, epochs=1)


BAD = {
    "perturb: no inputs": lambda net, x: spherelu.perturb(inputs=-1),
    "perturb: too many": lambda net, x: spherelu.perturb(inputs=2**62),
    "perturb: half an input": lambda net, x: spherelu.perturb(inputs=1.5),
    "perturb: nothing added": lambda net, x: spherelu.perturb(()),
    "perturb: NaN": lambda net, x: spherelu.perturb((float("nan"),)),
    "perturb: words": lambda net, x: spherelu.perturb(("a",)),
    "perturb: rows": lambda net, x: spherelu.perturb(rows=-1),
    "regions: NaN": lambda net, x: net.regions((0, float("nan"), 0, 1)),
    "regions: infinite": lambda net, x: net.regions((0, float("inf"), 0, 1)),
    "regions: turned around": lambda net, x: net.regions((1, 0, 0, 1)),
    "regions: none": lambda net, x: net.regions((0, 1, 0, 1), most=-1),
    "regions: a word": lambda net, x: net.regions((0, 1, 0, 1), most="a"),
    "regions: NaN plane": lambda net, x: net.regions(plane=np.full((3, 3), np.nan)),
    "regions: no plane": lambda net, x: net.regions(plane=np.zeros((3, 3))),
    "boundaries: before the first": lambda net, x: net.boundaries(layer=-1),
    "boundaries: a word": lambda net, x: net.boundaries(layer="a"),
    "boundaries: infinite": lambda net, x: net.boundaries(np.full((3, 3), np.inf)),
    "weight: behind the last": lambda net, x: net.weight(99),
    "net: objects": lambda net, x: net(np.array([[{}, 1, 2]], dtype=object)),
    "net: a number": lambda net, x: net(3.0),
    "net: a text": lambda net, x: net("abc"),
    "set: words": lambda net, x: net.set("layers.0.r", ["a"] * 8),
    "set: no name": lambda net, x: net.set(None, [1]),
    "bytes: none": lambda net, x: spherelu.Net.from_bytes(b""),
    "bytes: nothing": lambda net, x: spherelu.Net.from_bytes(None),
    "bytes: a text": lambda net, x: spherelu.Net.from_bytes("abc"),
    "load: a folder": lambda net, x: spherelu.load(os.sep),
    "load: a zero byte": lambda net, x: spherelu.load("a\0b"),
    "load: nothing": lambda net, x: spherelu.load(None),
    "save: nowhere": lambda net, x: net.save("/nonexistent/x"),
    "run: nowhere": lambda net, x: spherelu.run("/nonexistent"),
    "convert: nothing": lambda net, x: net.convert(None),
    "train: a zero byte": lambda net, x: spherelu.train("a\0b"),
    "option: a zero byte": lambda net, x: spherelu.train(x, x[:, 0], optimizer="adam\0b"),
    "option: a dictionary": lambda net, x: spherelu.train(x, x[:, 0], lr={}),
    "option: an object": lambda net, x: spherelu.train(x, x[:, 0], lr=object()),
    "start: no net": lambda net, x: spherelu.train(x, x[:, 0], start=[net, 3]),
    "start: another shape": lambda net, x: spherelu.train(x, x[:, 0], start=net, hidden=3),
    "y: three axes": lambda net, x: spherelu.train(x, np.zeros((len(x), 2, 2))),
    "y: too large": lambda net, x: spherelu.train(x, np.copysign(1e308, x[:, 0])),
    "rows: one": lambda net, x: spherelu.train(x[:1], x[:1, 0]),
    "weights: infinite": lambda net, x: spherelu.train(x, x[:, 0], sample_weight=np.full(len(x), np.inf)),
    "weights: none": lambda net, x: spherelu.train(x, x[:, 0], sample_weight=np.zeros(len(x))),
    "ensemble: too many": lambda net, x: spherelu.train(x, x[:, 0], ensemble=10**18),
    "threads: too many": lambda net, x: spherelu.train(x, x[:, 0], threads=10**9),
    "hidden: too many": lambda net, x: spherelu.train(x, x[:, 0], hidden=10**13),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_exceptions(case, net, table):
    with pytest.raises((ValueError, TypeError, IndexError, OSError, MemoryError, OverflowError)) as caught:
        BAD[case](net, table[0])
    assert str(caught.value) or isinstance(caught.value, MemoryError)


def test_missing_features_take_their_mean(table, rng):
    x, y = table
    x = x.copy()
    x[rng.random(x.shape) < 0.1] = np.nan
    net = spherelu.train(x, y, epochs=20).net
    assert np.isfinite(net(x)).all()


# ---------------------------------------------------------------- nets


def test_bytes_files_pickles_and_copies_are_the_same_net(net, table, tmp_path):
    want = net(table[0])
    net.save(tmp_path / "net.safetensors")
    assert (tmp_path / "net.safetensors").read_bytes() == net.to_bytes()
    for other in (
        spherelu.load(tmp_path / "net.safetensors"),
        pickle.loads(pickle.dumps(net)),
        copy.copy(net),
        copy.deepcopy(net),
        spherelu.Net.from_bytes(net.to_bytes()),
    ):
        assert np.array_equal(other(table[0]), want)
        assert repr(other) == repr(net)
    assert "layers.1" in net._repr_html_()


def test_a_pickle_holds_no_code(net):
    import pickletools

    names = {arg for op, arg, _ in pickletools.genops(pickle.dumps(net)) if op.name in ("SHORT_BINUNICODE", "BINUNICODE")}
    assert names <= {"spherelu._net", "Net", "Net.from_bytes", "from_bytes", "getattr", "builtins"}


def test_f32_and_views_are_taken(net, table):
    x = table[0]
    assert np.allclose(net(x.astype(np.float32)), net(x), atol=1e-4)
    assert np.array_equal(net(np.asfortranarray(x)), net(x))
    assert np.array_equal(net(np.repeat(x, 2, axis=0)[::2]), net(x))
    assert net(np.empty((0, 3))).shape == (0, 1)
    with pytest.raises(ValueError):
        net(x[:, :2])


def test_tensors_are_those_of_the_file(net):
    tensors = net.tensors
    assert tensors["layers.0.theta"].shape == (8, 2) and tensors["layers.0.r"].shape == (8,)
    net.set("layers.0.r", np.zeros(8))
    assert (net.tensors["layers.0.r"] == 0).all()
    with pytest.raises(ValueError):
        net.set("layers.0.r", np.zeros(7))
    with pytest.raises(ValueError):
        net.set("nobody", np.zeros(7))


@pytest.mark.parametrize("to", ["sp", "wn", "sphere", "gmp"])
def test_conversion_keeps_the_function(net, table, to):
    assert np.allclose(spherelu.convert(net, to)(table[0]), net(table[0]), atol=1e-12)
    with pytest.raises(ValueError):
        net.convert("nobody")


def test_a_closed_net_says_so(net, table):
    net.close()
    net.close()
    for use in (lambda: net(table[0]), lambda: net.tensors, lambda: net.inputs, lambda: pickle.dumps(net), lambda: net.boundaries()):
        with pytest.raises(spherelu.ArgumentError, match="closed"):
            use()
    assert "closed" in repr(net)


def test_threads_on_one_net_take_turns(net, rng):
    from concurrent.futures import ThreadPoolExecutor

    x = rng.normal(size=(500, 3))
    want = net(x)
    with ThreadPoolExecutor(8) as pool:
        for got in pool.map(lambda _: net(x), range(60)):
            assert np.array_equal(got, want)


def test_a_net_that_is_closed_while_others_use_it(net, rng):
    """They get what it computes or hear that it is closed, and it is freed once."""
    from concurrent.futures import ThreadPoolExecutor

    x = rng.normal(size=(2000, 3))
    want = net(x)

    def use(i):
        if i == 20:
            net.close()
        try:
            return np.array_equal(net(x), want)
        except spherelu.ArgumentError as error:
            return "closed" in str(error) and i >= 0

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(use, range(40)))
    with pytest.raises(spherelu.ArgumentError, match="closed"):
        spherelu.train(x, x[:, 0], start=net)


def test_one_net_is_the_start_of_two_trainings_at_once(net, table):
    from concurrent.futures import ThreadPoolExecutor

    def go_on(_):
        return spherelu.train(*table, param="gmp", hidden=[8, 6], epochs=20, dtype="f64", start=net).net(table[0])

    want = go_on(0)
    with ThreadPoolExecutor(3) as pool:
        assert all(np.array_equal(got, want) for got in pool.map(go_on, range(6)))


def test_trainings_run_side_by_side(table):
    from concurrent.futures import ThreadPoolExecutor

    want = spherelu.train(*table, epochs=60, seed=1).net(table[0])
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: spherelu.train(*table, epochs=60, seed=1).net(table[0]), range(8)):
            assert np.array_equal(got, want)


def test_a_child_of_fork_can_go_on(table):
    net = spherelu.train(*table, epochs=2).net
    want = net(table[0])
    pid = os.fork()
    if pid == 0:
        try:
            same = np.array_equal(net(table[0]), want) and np.array_equal(spherelu.train(*table, epochs=2).net(table[0]), want)
            os._exit(0 if same and len(net.boundaries(table[0])) == 2 else 2)
        except BaseException:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_threads_after_fork_are_refused_and_not_taken_unasked():
    code = """
import os, numpy as np, spherelu
x = np.random.default_rng(0).normal(size=(3000, 4))
spherelu.train(x, x[:, 0], epochs=2, threads=2)
want = spherelu.train(x[:100], x[:100, 0], threads=2).net(x)
pid = os.fork()
if pid == 0:
    try:
        spherelu.train(x, x[:, 0], epochs=2, threads=2)
    except spherelu.ArgumentError as error:
        if error.key != "threads":
            os._exit(3)
        few = spherelu.train(x[:100], x[:100, 0])
        os._exit(0 if few.options["threads"] == "1" and np.array_equal(few.net(x), want) else 5)
    os._exit(4)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120).stdout.strip() == "0"


# ---------------------------------------------------------------- boundaries, regions, perturbations


def test_boundaries_are_where_units_switch(net, table):
    first, second, last = net.boundaries(table[0])
    assert first.kind == "hyperplane" and last.kind == "none" and first.points == 200
    inside = table[0] @ first.direction.T + first.offset > 0
    assert np.allclose(inside.mean(axis=0), first.active_share)
    assert np.allclose(first.phi, -first.offset[:, None] * first.direction)
    assert len(net.boundaries(layer=0)) == 1 and net.boundaries(layer=0)[0].points == 0
    with pytest.raises(ValueError):
        net.boundaries(layer=7)


def test_regions_tile_the_window_and_tell_the_function(rng):
    x = rng.normal(size=(100, 2))
    net = spherelu.train(x, (x[:, 0] > x[:, 1]).astype(int), hidden=[6, 5], epochs=50, dtype="f64").net
    found = net.regions((-2, 2, -1, 1), task="binary")
    assert np.isclose(found.area.sum(), 8) and len(found) == len(found.maps) and len(found.segments)
    assert found.patterns.shape == (len(found), 11)
    centre = np.array([polygon.mean(axis=0) for polygon in found.vertices])
    values = (found.maps[:, 0, :2] * centre).sum(axis=1) + found.maps[:, 0, 2]
    assert np.allclose(values, net(centre)[:, 0], atol=1e-9)
    with pytest.raises(ValueError):
        net.regions((-2, 2, -1, 1), most=3)
    with pytest.raises(ValueError):
        net.regions((1, 2, 3))
    assert len(net.regions(plane=x[:3])) > 0


def test_perturbations_are_figure_one():
    found = {p.method: p for p in spherelu.perturb((1e-4, 1e-3, 1e-2))}
    assert found["GmP"].turn.shape == (3,) and abs(found["GmP"].turn[2]) < 1
    assert abs(found["SP"].turn[2]) > 10
    with pytest.raises(TypeError):
        spherelu.perturb(nobody=1)


def test_an_experiment_gives_its_table(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text("name: small\ndata: {name: crescents, rows: 100}\ntrain: {epochs: 5}\nmethods:\n  - {name: SP, param: sp}\n  - {name: GmP, param: gmp}\nseeds: 2\n")
    done = spherelu.run(path, tmp_path / "out", set={"train.epochs": 3})
    assert done.jobs == 4 and done.failed == 0 and "GmP" in str(done) and "GmP" in done._repr_html_()
    with pytest.raises(spherelu.Error) as caught:
        spherelu.run(path, tmp_path / "other", set={"train.nobody": 3})
    assert "nobody" in caught.value.key
    assert json.loads((tmp_path / "out" / "results.json").read_text()) == done.results


# ---------------------------------------------------------------- the process around it


def test_import_is_quick_and_brings_nothing_along():
    code = "import sys, time; t = time.process_time(); import spherelu; s = time.process_time() - t; print('numpy' in sys.modules, 'ctypes' in sys.modules, s)"
    answers = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() for _ in range(5)]
    assert answers[0][:2] == ["False", "False"]
    assert min(float(a[2]) for a in answers) < 0.15


LONG = {
    "a net": "spherelu.train(x, x[:, 0], hidden=[100, 100], epochs=10**6, patience=0)",
    "a net and a callback": "spherelu.train(x, x[:, 0], hidden=[100, 100], epochs=10**6, patience=0, callbacks=[lambda view: None])",
    "an ensemble": "spherelu.train(x, x[:, 0], ensemble=3, hidden=[100, 100], epochs=10**6, patience=0)",
    "a file": "spherelu.train('crescents', out=sys.argv[1] + '/run', epochs=10**6, patience=0)",
    "an experiment": "spherelu.run(sys.argv[1] + '/long.yaml', sys.argv[1] + '/out')",
    "regions": "net.regions((-9, 9, -9, 9), most=10**7)",
}


@pytest.mark.parametrize("what", LONG)
def test_ctrl_c_stops_within_a_second(what, tmp_path):
    yaml = "name: long\ndata: {name: crescents}\ntrain: {epochs: 1000000, patience: 0}\nmethods:\n  - {name: SP, param: sp}\nseeds: 2\n"
    code = f"""
import numpy as np, spherelu, sys
x = np.random.default_rng(0).normal(size=(5000, 20))
net = spherelu.train(x[:50, :2], x[:50, 0], hidden=[300, 300, 300], epochs=1).net
print("ready", flush=True)
try:
    {LONG[what]}
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    import signal

    taken = []
    for k in range(3):
        (tmp_path / str(k)).mkdir()
        (tmp_path / str(k) / "long.yaml").write_text(yaml)
    while not taken or taken[-1] >= 1.0 and len(taken) < 3:  # other processes may have had the processor
        # who runs tests in the background of a shell has Ctrl-C ignored, and hands that down
        heeding = dict(stdout=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / str(len(taken)))], **heeding)
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        begin = time.perf_counter()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        taken.append(time.perf_counter() - begin)
        assert process.wait(60) == 0
    assert min(taken) < 1.0


def test_other_threads_run_while_one_computes(rng):
    import threading

    net = spherelu.train(rng.normal(size=(20, 20)), np.arange(20.0), hidden=[300, 300], epochs=1).net
    x = rng.normal(size=(60000, 20))
    done, ticks = threading.Event(), 0
    worker = threading.Thread(target=lambda: (net(x), done.set()))  # one call, and no Python in it
    worker.start()
    while not done.is_set():
        done.wait(0.001)
        ticks += 1
    worker.join()
    assert ticks > 5


# ---------------------------------------------------------------- what a notebook shows


def test_everything_shows_itself(rng, tmp_path):
    x = rng.normal(size=(100, 2))
    run = spherelu.train(x, (x[:, 0] > x[:, 1]).astype(int), hidden=[6, 5], epochs=20)
    found = run.net.regions((-1, 1, -1, 1))
    for shown, words in ((run, ["accuracy", "val"]), (run.net, ["layers.0", "sphere"]), (found, ["regions"])):
        page = shown._repr_html_()
        assert all(word in page for word in words) and page.count("<table") == page.count("</table>") and repr(shown)


def test_plots(rng):
    plt = pytest.importorskip("matplotlib.pyplot")
    x = rng.normal(size=(100, 2))
    run = spherelu.train(x, (x[:, 0] > x[:, 1]).astype(int), hidden=[6, 5], epochs=20)
    curves = run.plot()
    assert [line.get_label() for line in curves.lines] == ["train_loss", "val_loss"]
    assert np.array_equal(curves.lines[1].get_ydata(), run.history["val_loss"])
    assert len(run.plot(["val_accuracy"], ax=curves).lines) == 3
    found = run.net.regions((-1, 1, -1, 1))
    drawn = run.net.plot_regions((-1, 1, -1, 1))
    assert sum(len(c.get_paths()) for c in drawn.collections) + len(drawn.patches) >= len(found)
    line = spherelu.train(x[:, :1], x[:, 0], hidden=5, epochs=5).net.plot_regions((-1, 1))
    assert line is not drawn
    plt.close("all")


def test_without_torch_there_is_a_clear_error(tmp_path):
    """A finder that knows no torch stands for a Python that has none."""
    code = """
import sys
class None_such:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "sklearn"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, None_such())
import numpy as np, spherelu
for use, word in ((lambda: __import__("spherelu.torch"), "pip install torch"), (lambda: spherelu.Regressor, "pip install scikit-learn")):
    try:
        use()
        raise SystemExit("no error")
    except ImportError as error:
        assert word in str(error), error
x = np.eye(20)
print(spherelu.train(x, np.arange(20.0), epochs=2, hidden=3).epochs)
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "2"


def test_features_are_in_the_order_in_which_a_net_takes_them(tmp_path):
    draw = np.random.default_rng(0)
    a, b = draw.normal(size=(2, 80))
    town = draw.choice(["Oslo", "Rome"], 80)
    table = tmp_path / "table.csv"
    table.write_text("a,town,b,y\n" + "".join(f"{p},{t},{q},{2 * p - q + len(t)}\n" for p, t, q in zip(a, town, b)))
    columns = {"a": a, "b": b, "town=Oslo": town == "Oslo", "town=Rome": town == "Rome"}
    for order, names in ("as-is", ["a", "town=Oslo", "town=Rome", "b"]), ("reversed", ["b", "town=Oslo", "town=Rome", "a"]):
        folder = tmp_path / order
        run = spherelu.train(str(table), columns=order, hidden=20, epochs=60, out=folder, dtype="f64")
        assert run.net.features == names and spherelu.load(folder / "model.safetensors").features == names
        y = run.net(np.column_stack([columns[name] for name in run.net.features]))[:, 0]
        assert np.abs(y - (2 * a - b + [len(t) for t in town])).mean() < 0.3
    arrays = spherelu.train(np.column_stack([a, b]), a, hidden=3, epochs=2).net
    assert arrays.features == ["0", "1"]


def test_directions_of_sphere_have_length_one(table):
    net = spherelu.train(*table, param="sphere", hidden=6, epochs=2).net
    u = net.tensors["layers.0.u"]
    with pytest.raises(ValueError, match="layers.0.u"):
        net.set("layers.0.u", 2 * u)
    net.set("layers.0.u", u / np.linalg.norm(u, axis=1, keepdims=True))
    data = bytearray(net.to_bytes())
    at = data.index(np.ascontiguousarray(net.tensors["layers.0.u"], dtype="<f4").tobytes())
    data[at : at + 4 * u.size] = np.ascontiguousarray(2 * u, dtype="<f4").tobytes()
    with pytest.raises(Exception, match="layers.0.u: unit 0 has length 2"):
        spherelu.Net.from_bytes(bytes(data))
    data[at : at + 4] = np.array([np.nan], dtype="<f4").tobytes()
    with pytest.raises(Exception, match="finite"):
        spherelu.Net.from_bytes(bytes(data))


@pytest.mark.parametrize("dtype, sizes", [("f32", (1e20, 1e25, 1e-23, 1e-30)), ("f64", (1e160, 1e200, 1e-170, 1e-300))])
def test_weights_whose_squares_are_no_numbers_convert_and_come_back(table, dtype, sizes):
    x, y = table
    first = spherelu.train(x, y, param="sp", hidden=5, epochs=3, dtype=dtype, standardize="off").net
    for size in sizes:
        net = first.copy()
        for name, factor in ("layers.0.weight", size), ("layers.0.bias", size), ("layers.1.weight", 1 / size):
            net.set(name, first.tensors[name] * factor)
        expected, [plane, *_] = net(x), net.boundaries()
        for to in "wn", "gmp", "sphere":
            other = net.convert(to)
            for found in other, other.convert("sp"):
                assert np.abs(found(x) - expected).max() <= (2e-6 if dtype == "f32" else 1e-14) * np.abs(expected).max()
            assert np.allclose(other.boundaries()[0].direction, plane.direction, rtol=0, atol=1e-6)
            assert np.allclose(other.boundaries()[0].offset, plane.offset, rtol=1e-5, atol=1e-7)


# ---------------------------------------------------------------- progress, and the network inside of a callback


def test_a_view_has_the_network_as_it_is():
    x, nets = np.random.default_rng(0).normal(size=(80, 2)), []
    run = spherelu.train(x, x[:, 0], hidden=6, epochs=8, val=0, test=0, patience=0, callbacks=[lambda view: nets.append(view.net)])
    assert np.array_equal(nets[-1].predict(x), run.predict(x))
    assert not np.allclose(nets[0].predict(x), run.predict(x))  # a copy: it does not learn on
    assert nets[0].boundaries(x)[0].raw and len(nets) == 8


def test_a_view_has_no_network_afterwards_and_the_first_of_an_ensemble():
    x, views = np.random.default_rng(0).normal(size=(80, 2)), []
    spherelu.train(x, x[:, 0], hidden=4, epochs=2, callbacks=[views.append])
    with pytest.raises(spherelu.ArgumentError, match="callback that has returned"):
        views[0].net
    nets = []
    run = spherelu.train(x, x[:, 0], hidden=4, epochs=2, ensemble=2, val=0, patience=0, callbacks=[lambda view: nets.append(view.net)])
    assert np.array_equal(nets[-1].predict(x), run.nets[0].predict(x))


def test_progress_by_tqdm_and_without_it(monkeypatch, capsys):
    x, bars = np.random.default_rng(0).normal(size=(80, 2)), []

    class Bar:
        def __init__(self, total, unit):
            self.total, self.n, self.text, self.open = total, 0, "", True
            bars.append(self)

        def set_postfix_str(self, text, refresh):
            self.text = text

        def update(self, n):
            self.n += n

        def close(self):
            self.open = False

    monkeypatch.setitem(sys.modules, "tqdm.auto", type(sys)("tqdm.auto"))
    sys.modules["tqdm.auto"].tqdm = Bar
    spherelu.train(x, x[:, 0], hidden=4, epochs=7, patience=0, verbose=True)
    assert [(bar.total, bar.n, bar.open) for bar in bars] == [(7, 7, False)] and bars[0].text.startswith("val_loss ")
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    spherelu.train(x, x[:, 0], hidden=4, epochs=25, patience=0, verbose=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10 and lines[-1].startswith("epoch 25/25: val_loss ")


def test_fit_calls_back_and_draws_its_learning_curve():
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib").use("Agg")
    x, epochs = np.random.default_rng(0).normal(size=(80, 2)), []
    model = spherelu.Regressor(hidden=4, epochs=5, patience=0).fit(x, x[:, 0], callbacks=[lambda view: epochs.append(view.epoch)])
    assert epochs == [1, 2, 3, 4, 5]
    assert {line.get_label() for line in model.plot().lines} >= {"train_loss", "val_loss"}


# ---------------------------------------------------------------- rows for validation


def test_eval_set_is_the_validation_part(table):
    x, y = table
    run = spherelu.train(x[:150], y[:150], hidden=6, epochs=20, seed=1, test=0, eval_set=(x[150:], y[150:]))
    seen = run.predict(x[150:])
    assert np.isclose(run.scores["val"]["rmse"], np.sqrt(np.mean((seen - y[150:]) ** 2)), rtol=1e-5)
    assert np.isclose(run.scores["train"]["rmse"], np.sqrt(np.mean((run.predict(x[:150]) - y[:150]) ** 2)), rtol=1e-5)
    more = spherelu.train(x[:150], y[:150], hidden=6, epochs=20, seed=1, test=0, eval_set=[(x[150:], 100 + y[150:])])
    assert more.scores["val"]["rmse"] > 50, "its targets are those of the validation part"
    assert np.array_equal(more.history["train_loss"], run.history["train_loss"]), "rows of eval_set are not trained on"
    weighted = spherelu.train(x[:150], y[:150], hidden=6, epochs=3, ensemble=2, test=0, sample_weight=np.ones(150), eval_set=(x[150:], y[150:]))
    assert len(weighted.nets) == 2 and "val" in weighted.scores


def test_eval_set_is_encoded_as_the_training_rows():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    x = pandas.DataFrame({"size": rng.normal(size=120), "colour": rng.choice(["red", "blue", "green"], 120)})
    y = np.where(x["size"] > 0, "up", "down")
    run = spherelu.train(x[:80], y[:80], hidden=6, epochs=30, test=0, eval_set=(x[80:], y[80:]))
    assert np.isclose(run.scores["val"]["accuracy"], np.mean(run.predict(x[80:]) == y[80:]))


@pytest.mark.parametrize(
    "more, words",
    [
        (dict(eval_set=np.ones((5, 3))), "pair"),
        (dict(eval_set=(np.ones((5, 2)), np.ones(5))), "2 features, expected 3"),
        (dict(eval_set=(np.ones((5, 3)), np.ones((5, 2)))), "2 targets, expected 1"),
        (dict(eval_set=(np.ones((5, 3)), np.ones(4))), "5 rows and 4 targets"),
        (dict(eval_set=(np.ones((5, 3)), np.ones(5)), val=0.2), "not used with eval_set"),
        (dict(eval_set=(np.ones((5, 3)), np.ones(5)), ensemble=2, ensemble_val="folds"), "folds"),
    ],
)
def test_errors_of_eval_set_name_the_problem(table, more, words):
    with pytest.raises(ValueError, match=words):
        spherelu.train(*table, hidden=3, epochs=1, **more)
    with pytest.raises(ValueError, match="the class 'c'"):
        spherelu.train(table[0], np.where(table[1] > 0, "a", "b"), hidden=3, epochs=1, eval_set=(table[0], ["c"] * 200))


def test_numbers_with_units_and_marks_of_a_file(tmp_path):
    """Decimal commas, points between thousands, signs of money, and words for missing cells are read as by `spherelu train`."""
    rows = [(1000 + 7.5 * i, i % 29) for i in range(120)]

    def euro(value: float) -> str:
        whole, cents = divmod(round(100 * value), 100)
        return f"{whole:,}".replace(",", ".") + f",{cents:02d} €"

    marked, plain = tmp_path / "marked.csv", tmp_path / "plain.csv"
    marked.write_text("price;rooms;y\n" + "".join(f"{euro(p)};{'k.A.' if r == 28 else r};{i % 13},5\n" for i, (p, r) in enumerate(rows)))
    plain.write_text("price,rooms,y\n" + "".join(f"{p},{'' if r == 28 else r},{i % 13}.5\n" for i, (p, r) in enumerate(rows)))
    with pytest.raises(spherelu.FormatError, match="missing.words"):
        spherelu.train(str(marked), epochs=1)
    first = spherelu.train(str(marked), missing_words="k.A.", hidden=5, epochs=3)
    second = spherelu.train(str(plain), hidden=5, epochs=3)
    assert first.net.features == ["price", "rooms"]
    x = np.array([[p, r] for p, r in rows])
    assert np.array_equal(first.net(x), second.net(x))


def test_text_makes_categories_of_codes(tmp_path):
    table = tmp_path / "codes.csv"
    table.write_text("zip,x,y\n" + "".join(f"0{4967 + i % 3},{i % 7},{i % 5}.5\n" for i in range(60)))
    assert spherelu.train(str(table), text="zip", hidden=3, epochs=2).net.features == ["zip=04967", "zip=04968", "zip=04969", "x"]
    assert spherelu.train(str(table), hidden=3, epochs=2).net.features == ["zip", "x"]
