#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
#   read_events.py RUN [boundaries]    RUN's event files, by TensorBoard's own reader, against its metrics.jsonl
import json
import os
import struct
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

run = sys.argv[1]
lines = [json.loads(line) for line in open(os.path.join(run, "metrics.jsonl"))]
reader = EventAccumulator(run, size_guidance={"scalars": 0, "histograms": 0, "tensors": 0})
reader.Reload()
tags = reader.Tags()


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


for name in lines[0]:
    if name in ("epoch", "step", "seconds"):
        continue
    found = [(e.step, e.value) for e in reader.Scalars(name)]
    expected = [(line["step"], f32(line[name])) for line in lines if line[name] is not None]
    assert found == expected, f"{name}: {len(found)} found, {len(expected)} expected\n{found[:5]}\n{expected[:5]}"
content = reader.summary_metadata["_hparams_/session_start_info"].plugin_data.content
from tensorboard.plugins.hparams import plugin_data_pb2

hparams = plugin_data_pb2.HParamsPluginData.FromString(content).session_start_info.hparams
assert hparams["param"].string_value and hparams["epochs"].number_value > 0, hparams
if len(sys.argv) > 2:
    for what in ("turn_largest", "turn_median", "dead_share"):
        values = [e.value for e in reader.Scalars(f"layers.0/{what}")]
        assert len(values) == len(lines) and all(0 <= v <= 180 for v in values), (what, values)
    assert all(a.value >= b.value for a, b in zip(reader.Scalars("layers.0/turn_largest"), reader.Scalars("layers.0/turn_median")))
    for what in ("theta", "lambda", "r"):
        histograms = reader.Histograms(f"layers.0.{what}")
        assert len(histograms) == len(lines), what
        for h in histograms:
            v = h.histogram_value
            assert v.num == sum(v.bucket) > 0 and v.min <= v.max <= v.bucket_limit[-1] + 1e-9, v
print(f"{len(lines)} epochs, {len(tags['scalars'])} scalars, {len(tags['histograms'])} histograms")
