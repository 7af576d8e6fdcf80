// SPDX-License-Identifier: MIT
// A recorded run in place of a training: `spherelu playground RUN` puts its boundaries.npz into the page.
import type { Handlers, Source } from './client';
import {
  type Dataset,
  type Frame,
  LINE,
  LOG,
  type Method,
  NORMS,
  PARAMS,
  type Question,
  type Task,
} from './types';

interface Recorded {
  run: string;
  param: string;
  norm: string;
  inputs: number;
  units: number;
  x?: number[];
  y?: number[];
  classes?: string[];
  task?: string;
  npz: string; // base64
}

interface Numbers {
  shape: number[];
  values: Float64Array;
}

/** The record of the page; null: it has none. */
export function recordOf(text: string): Recorded | null {
  return text.trimStart().startsWith('{') ? (JSON.parse(text) as Recorded) : null;
}

export function methodOf(record: Recorded): Method {
  return {
    param: PARAMS.find(p => p === record.param) ?? 'sp',
    norm: NORMS.find(n => n === record.norm) ?? 'none',
  };
}

/** Arrays of an npz file, stored as the tool writes it. */
export function readNpz(bytes: Uint8Array): Map<string, Numbers> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = new Map<string, Numbers>();
  let end = bytes.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw new Error('the record is not an npz file');
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    const stored = view.getUint16(at + 10, true) === 0;
    const size = view.getUint32(at + 24, true);
    const nameLength = view.getUint16(at + 28, true);
    const name = new TextDecoder()
      .decode(bytes.subarray(at + 46, at + 46 + nameLength))
      .replace(/\.npy$/, '');
    const local = view.getUint32(at + 42, true);
    const data = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    if (!stored) throw new Error(`${name}: compressed arrays are not supported`);
    const numbers = readNpy(bytes.slice(data, data + size));
    if (numbers) found.set(name, numbers);
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return found;
}

/** null: an array of something else than numbers. */
function readNpy(bytes: Uint8Array<ArrayBuffer>): Numbers | null {
  const view = new DataView(bytes.buffer);
  const wide = bytes[6] > 1;
  const length = wide ? view.getUint32(8, true) : view.getUint16(8, true);
  const begin = (wide ? 12 : 10) + length;
  const head = new TextDecoder().decode(bytes.subarray(wide ? 12 : 10, begin));
  const type = /'descr': '[<|]?([a-zA-Z]\d+)'/.exec(head)?.[1] ?? '';
  const shape = (/'shape': \(([^)]*)\)/.exec(head)?.[1] ?? '')
    .split(',')
    .filter(s => s.trim())
    .map(Number);
  const data = bytes.slice(begin).buffer;
  const arrays: Record<string, () => ArrayLike<number>> = {
    f4: () => new Float32Array(data),
    f8: () => new Float64Array(data),
    i4: () => new Int32Array(data),
    u4: () => new Uint32Array(data),
    i8: () => Array.from(new BigInt64Array(data), Number),
    u8: () => Array.from(new BigUint64Array(data), Number),
  };
  const values = arrays[type]?.();
  return values ? { shape, values: Float64Array.from(values) } : null;
}

export class Replay implements Source {
  private readonly arrays: Map<string, Numbers>;
  private readonly frameSteps: Float64Array;
  private readonly dataset: Dataset;
  private at = 0; // frame
  private shownStep = 0;
  private playing = false;
  private speed = 30;
  private last = 0;
  private owed = 0;

  constructor(
    private readonly record: Recorded,
    private readonly handlers: Handlers,
  ) {
    const bytes = Uint8Array.from(atob(record.npz), c => c.charCodeAt(0));
    this.arrays = readNpz(bytes);
    this.frameSteps = this.array('frame_step').values;
    this.dataset = this.makeDataset();
  }

  private array(name: string): Numbers {
    const found = this.arrays.get(name);
    if (!found) throw new Error(`the record has no ${name}`);
    return found;
  }

  private scale(): { mean: ArrayLike<number>; scale: ArrayLike<number> } {
    return {
      mean: this.arrays.get('x_mean')?.values ?? [0, 0],
      scale: this.arrays.get('x_scale')?.values ?? [1, 1],
    };
  }

  private makeDataset(): Dataset {
    const { record } = this;
    const { mean, scale } = this.scale();
    const x = Float64Array.from(record.x ?? []);
    const y = Float64Array.from(record.y ?? []);
    const features = record.inputs;
    const reach = (axis: number, values: number[]) => {
      const low = values.length ? values.reduce((a, b) => Math.min(a, b)) : mean[axis] - 2.5 * scale[axis];
      const high = values.length ? values.reduce((a, b) => Math.max(a, b)) : mean[axis] + 2.5 * scale[axis];
      const margin = 0.1 * (high - low || 1);
      return [low - margin, high + margin];
    };
    const column = (axis: number) => Array.from(y, (_, i) => x[features * i + axis]);
    const horizontal = reach(0, column(0));
    const vertical = features === 1 ? reach(0, Array.from(y)) : reach(1, column(1));
    return {
      x,
      y,
      features,
      task: (['regression', 'binary', 'classes'] as Task[]).find(t => t === record.task) ?? 'regression',
      train: Uint32Array.from(y, (_, i) => i),
      test: new Uint32Array(0),
      names: features === 1 ? ['x', 'y'] : ['x1', 'x2', 'y'],
      classes: record.classes ?? [],
      window: [horizontal[0], horizontal[1], vertical[0], vertical[1]],
    };
  }

  start(): void {
    this.at = 0;
    this.shownStep = 0;
    queueMicrotask(() => this.handlers.ready(this.dataset, `replay of ${this.record.run}`));
  }

  look(): void {}
  setRate(): void {}
  setRates(): void {}

  play(playing: boolean, speed: number): void {
    this.playing = playing;
    this.speed = speed;
    this.last = performance.now();
    this.owed = 0;
  }

  step(steps: number): void {
    this.at = Math.min(this.at + steps, this.frameSteps.length - 1);
  }

  frame(): void {
    const now = performance.now();
    if (this.playing) {
      this.owed += ((now - this.last) * (this.speed || 2000)) / 1000;
      this.step(Math.floor(this.owed));
      this.owed %= 1;
    }
    this.last = now;
    this.handlers.frame(this.make());
  }

  /** Lines in the units of the data: normal (x - mean) / scale - normal phi = 0. */
  private lines(): Float64Array {
    const { shape, values: phi } = this.array('layers.0.phi');
    const normal = this.array('layers.0.normal').values;
    const [, units, n] = shape;
    const { mean, scale } = this.scale();
    const out = new Float64Array(units * LINE).fill(Number.NaN);
    for (let j = 0; j < units; j++) {
      const base = (this.at * units + j) * n;
      const w = [0, 0];
      let offset = 0;
      for (let i = 0; i < n; i++) {
        w[i] = normal[base + i] / scale[i];
        offset -= normal[base + i] * phi[base + i] + w[i] * mean[i];
      }
      const length = Math.hypot(w[0], w[1]);
      out.set([w[0] / length, w[1] / length, offset / length, length], LINE * j);
    }
    return out;
  }

  /** Moves and turns of the steps up to this frame that were not shown yet: the first column is the largest. */
  private log(): Float64Array {
    const steps = this.arrays.get('step')?.values ?? new Float64Array(0);
    const move = this.arrays.get('layers.0.move');
    const turn = this.arrays.get('layers.0.turn');
    const until = this.frameSteps[this.at];
    const rows: number[] = [];
    for (let i = 0; i < steps.length && steps[i] <= until; i++) {
      if (steps[i] <= this.shownStep || !move || !turn) continue;
      rows.push(Number.NaN, move.values[i * (move.shape[1] ?? 1)], turn.values[i * (turn.shape[1] ?? 1)]);
    }
    this.shownStep = until;
    return Float64Array.from(rows.slice(-LOG * 2000));
  }

  private make(): Frame {
    return {
      type: 'frame',
      run: 0,
      step: this.frameSteps[this.at],
      epoch: 0,
      stepsPerSecond: 0,
      lr: Number.NaN,
      methods: [
        {
          diverged: '',
          trainLoss: Number.NaN,
          testLoss: Number.NaN,
          score: Number.NaN,
          lines: this.lines(),
          log: this.log(),
          image: null,
          curve: null,
          edges: null,
          regions: -1,
          tooMany: false,
          dead: -1,
        },
      ],
    };
  }

  ask<T>(question: Question): Promise<T> {
    return question.what === 'tensors'
      ? Promise.resolve([] as unknown as T)
      : Promise.reject(
          new Error('This page replays a recorded run; open the playground without a run to train.'),
        );
  }
}
