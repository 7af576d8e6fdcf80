# SPDX-License-Identifier: MIT
"""Exceptions that arrive while C computes: nothing is freed before the thread that uses it has ended."""

import math
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import spherelu
import spherelu._lib

YAML = "name: long\ndata: {name: crescents}\ntrain: {epochs: 1000000, patience: 0}\nmethods:\n  - {name: SP, param: sp}\nseeds: 2\n"


class Limit(BaseException):
    """As pytest's own failures, not an Exception."""


def workers():
    """Threads that still compute."""
    return spherelu._lib._running


def inside(frame):
    """Whether the main thread is in what waits for the work: who runs the tests is not to be hit, also where Python calls a hook of
    pytest because an exception was raised in a destructor."""
    while frame is not None and frame.f_code is not spherelu._lib.interruptible.__code__:
        if "_pytest" in frame.f_code.co_filename:
            return False
        frame = frame.f_back
    return frame is not None


@pytest.fixture
def alarm():
    """alarm(error, seconds, interval, most): SIGALRM raises error after seconds, then each interval, `most` times in all."""
    raised = []

    def after(error, seconds, interval=0.0, most=1):
        def handler(_signal, frame):
            if len(raised) < most and (most == 1 or inside(frame)):
                raised.append(1)
                raise error

        raised.clear()
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, seconds, interval)
        return raised

    before = signal.getsignal(signal.SIGALRM)
    yield after
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def long_training(_net, _folder):
    x = np.random.default_rng(0).normal(size=(2000, 20))
    spherelu.train(x, x[:, 0], hidden=[64, 64], ensemble=1, epochs=1000000, patience=0)


def long_run_of_a_file(_net, folder):
    spherelu.train("crescents", ensemble=1, epochs=1000000, patience=0, out=folder / "run")


def long_experiment(_net, folder):
    (folder / "long.yaml").write_text(YAML)
    spherelu.run(folder / "long.yaml", folder / "out")


def long_regions(net, _folder):
    net.regions((-300, 300, -300, 300), most=10**7)


LONG = [long_training, long_run_of_a_file, long_experiment, long_regions]


@pytest.fixture(scope="module")
def net():
    x = np.random.default_rng(0).normal(size=(50, 2))
    return spherelu.train(x, x[:, 0], hidden=[300, 300, 300], epochs=1).net


@pytest.mark.parametrize("error", [TimeoutError, Limit], ids=["exception", "base exception"])
@pytest.mark.parametrize("work", LONG, ids=lambda work: work.__name__)
def test_a_handler_that_raises_stops_the_work_first(work, error, alarm, net, tmp_path):
    alarm(error, 0.5)
    with pytest.raises(error):
        work(net, tmp_path)
    assert not workers()


@pytest.mark.parametrize("work", LONG, ids=lambda work: work.__name__)
def test_more_exceptions_while_it_stops_change_nothing(work, alarm, net, tmp_path):
    raised = alarm(TimeoutError, 0.5, 0.00005, most=300)
    with pytest.raises(TimeoutError):
        work(net, tmp_path)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert len(raised) > 1 and not workers()


def test_an_exception_at_any_moment_leaves_nothing_behind(alarm, table):
    start = time.perf_counter()
    want = spherelu.train(*table, hidden=6, epochs=5).net(table[0])
    times, ended, stopped = random.Random(0), 0, 0
    most = max(2e-4, 3 * (time.perf_counter() - start))
    while ended < 15 or stopped < 15:
        try:
            try:
                alarm(Limit, times.uniform(0.0001, most))
                got = spherelu.train(*table, hidden=6, epochs=5).net(table[0])
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Limit:
                stopped += 1
            else:
                ended += 1
                assert np.array_equal(got, want)
        except Limit:  # it came between two of these lines
            pass
        assert not workers()
        assert ended + stopped < 2000


def test_bytes_are_whole_or_an_exception(alarm, net):
    want, times, raised, best = net.to_bytes(), random.Random(1), 0, math.inf
    for _ in range(5):
        start = time.perf_counter()
        net.to_bytes()
        best = min(best, time.perf_counter() - start)
    for _ in range(300):
        try:
            alarm(Limit, times.uniform(0.02, 2) * best)
            got = net.to_bytes()
            signal.setitimer(signal.ITIMER_REAL, 0)
        except Limit:
            raised += 1
        else:
            assert got == want
    assert raised > 30


def test_a_callback_that_raises_ends_the_training(table):
    for error in KeyError, Limit:

        def fail(view):
            if view.epoch == 3:
                raise error

        with pytest.raises(error):
            spherelu.train(*table, hidden=6, epochs=1000000, patience=0, callbacks=[fail])
        assert not workers()


@pytest.mark.parametrize("handler", ["sys.exit(7)", "raise Limit"])
def test_the_interpreter_ends_after_the_work(handler):
    code = f"""
import signal, sys, numpy as np, spherelu
class Limit(BaseException): pass
def handler(*_): {handler}
signal.signal(signal.SIGALRM, handler)
x = np.random.default_rng(0).normal(size=(2000, 20))
signal.setitimer(signal.ITIMER_REAL, 0.4)
spherelu.train(x, x[:, 0], hidden=[64, 64], ensemble=1, epochs=1000000, patience=0, callbacks=[lambda view: None])
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.returncode == (7 if "exit" in handler else 1), (ended.returncode, ended.stderr[-2000:])


def test_a_net_that_another_thread_trains_from_is_free_in_a_child(table):
    net = spherelu.train(*table, hidden=6, epochs=1).net
    want, began, enough = net(table[0]), threading.Event(), threading.Event()

    def keep(_view):
        began.set()
        return enough.is_set()

    options = dict(hidden=6, epochs=1000000, patience=0, threads=1, start=net, callbacks=[keep])
    thread = threading.Thread(target=lambda: spherelu.train(*table, **options))
    thread.start()
    try:
        assert began.wait(60)
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)  # a lock that nobody gives back
            try:
                same = np.array_equal(net(table[0]), want)
                net.close()
                os._exit(0 if same else 2)
            except BaseException:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    finally:
        enough.set()
        thread.join()


def test_work_of_other_threads_is_not_disturbed(alarm, table):
    """An exception in the main thread is its own affair."""
    want = spherelu.train(*table, hidden=6, epochs=200, patience=0).net(table[0])
    got = []
    thread = threading.Thread(target=lambda: got.append(spherelu.train(*table, hidden=6, epochs=200, patience=0).net(table[0])))
    thread.start()
    with pytest.raises(TimeoutError):
        alarm(TimeoutError, 0.01)
        time.sleep(60)
    thread.join()
    assert np.array_equal(got[0], want)


def test_the_best_network_is_kept():
    pytest.importorskip("sklearn")
    x = np.random.default_rng(0).normal(size=(200, 2))
    model = spherelu.Regressor(hidden=8, epochs=10**6, patience=0)

    def stop(view):
        if view.epoch == 5:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as interrupt:
        model.fit(x, x[:, 0], callbacks=[stop])
    assert 5 <= model.n_iter_ < 10**6
    assert np.array_equal(model.predict(x), interrupt.value.run.predict(x))


@pytest.mark.parametrize("members", [1, 2])
def test_control_c_of_a_terminal_keeps_the_best_network(members, tmp_path):
    """SIGINT from outside, while C computes, as a terminal or Jupyter sends it. The learning rate is so large that the last network
    is not the best one."""
    pytest.importorskip("sklearn")
    code = f"""
import numpy as np, spherelu
x = np.random.default_rng(0).normal(size=(1000, 5))
y = np.abs(x[:, 0])
model = spherelu.Regressor(hidden=[32], ensemble={members}, epochs=10**6, patience=0, lr=0.1, random_state=0)
def say(view):
    if view.epoch == 30:
        open({str(tmp_path / "begun")!r}, "w").close()
try:
    model.fit(x[:800], y[:800], eval_set=(x[800:], y[800:]), callbacks=[say])
except KeyboardInterrupt as error:
    print("kept", model.n_iter_ >= 30, np.array_equal(model.predict(x), error.run.predict(x)))
    errors = [np.sqrt(np.mean((net.predict(x[800:]).ravel() - y[800:]) ** 2)) for net in model.nets_]
    best = error.run.history["val_rmse"].min()
    print("best", np.isclose(errors[0], best, rtol=1e-4) if len(errors) == 1 else max(errors) < 3 * best, errors, best)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + 120
        while not (tmp_path / "begun").exists():
            assert child.poll() is None and time.monotonic() < until
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        shown = child.communicate(timeout=120)[0].splitlines()
    finally:
        child.kill()
    assert shown[0] == "kept True True" and shown[1].startswith("best True"), shown
