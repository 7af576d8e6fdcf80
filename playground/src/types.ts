// SPDX-License-Identifier: MIT
// What the page and the worker tell each other.

export const PARAMS = ['sp', 'wn', 'gmp', 'sphere'] as const;
export const NORMS = ['none', 'bn', 'ln', 'mbn', 'imn'] as const;
export const ACTS = ['relu', 'leaky_relu', 'elu'] as const;
export const INITS = ['default', 'paper', 'glorot', 'he'] as const;
export const OPTIMIZERS = ['adam', 'sgd', 'rmsprop', 'lion'] as const;
export const DATA = [
  'crescents',
  'banana',
  'xor',
  'rings',
  'spiral',
  'blobs',
  'levy',
  'drawn',
  'csv',
] as const;
export const FILLS = ['surface', 'regions', 'none'] as const;

export type Param = (typeof PARAMS)[number];
export type Norm = (typeof NORMS)[number];
export type Act = (typeof ACTS)[number];
export type Init = (typeof INITS)[number];
export type Optimizer = (typeof OPTIMIZERS)[number];
export type DataKind = (typeof DATA)[number];
export type Fill = (typeof FILLS)[number];
export type Dtype = 'f32' | 'f64';
export type Task = 'regression' | 'binary' | 'classes';

export interface Method {
  param: Param;
  norm: Norm;
}

/** Everything that a training depends on. */
export interface Settings {
  data: DataKind;
  rows: number;
  noise: number;
  methods: Method[];
  hidden: number[];
  act: Act;
  init: Init;
  optimizer: Optimizer;
  lr: number;
  decay: number;
  batch: number; // 0: all rows
  seed: number;
  dtype: Dtype;
}

/** Data of the visitor: drawn with the mouse, or from a CSV file. */
export interface Table {
  x: number[]; // (rows, features)
  y: number[]; // (rows) numbers, or classes from 0 on
  features: number;
  task: Task;
  names: string[]; // of the features, then of the target
  classes: string[];
}

/** The data as the worker uses them. */
export interface Dataset {
  x: Float64Array; // (rows, features)
  y: Float64Array; // (rows)
  features: number;
  task: Task;
  train: Uint32Array;
  test: Uint32Array;
  names: string[];
  classes: string[];
  window: Window4;
}

export type Window4 = [number, number, number, number];

/** How the worker paints. */
export interface Look {
  size: number; // pixels of a side
  fill: Fill;
  palette: Uint32Array; // (tints, outputs, 256) RGBA
  tints: number;
  low: number;
  high: number;
}

/** One method at one moment. */
export interface MethodFrame {
  diverged: string; // why it ended; "": it goes on
  trainLoss: number;
  testLoss: number;
  score: number; // accuracy or RMSE on the test rows, or on the training rows if there are no others
  lines: Float64Array; // (units, LINE) direction, offset, length of the weight, active share, state
  log: Float64Array; // (entries, LOG) since the frame before
  image: ArrayBuffer | null; // RGBA, size x size
  curve: Float64Array | null; // 1-D: the network at CURVE places of the window
  edges: Float64Array | null; // (edges, EDGE) bent boundaries: from, to, layer, unit
  regions: number; // -1: not counted
  tooMany: boolean; // more regions than the page draws
  dead: number; // -1: not counted
}

export interface Frame {
  type: 'frame';
  run: number; // which start it belongs to
  step: number;
  epoch: number;
  stepsPerSecond: number;
  lr: number;
  methods: MethodFrame[];
}

export interface Tensor {
  name: string;
  shape: number[];
  learned: boolean;
  values: Float64Array;
}

export interface Shaken {
  lines: Float64Array;
  turn: number; // radians
  bound: number; // radians; NaN: none
}

export const LINE = 6;
export const LOG = 3; // loss, move, turn
export const EDGE = 6;
export const CURVE = 401;
export const MOST_REGIONS = 1000;

export type ToWorker =
  | { type: 'start'; run: number; settings: Settings; table: Table | null }
  | { type: 'look'; look: Look }
  | { type: 'play'; playing: boolean; speed: number } // steps a second; 0: as fast as possible
  | { type: 'step'; steps: number }
  | { type: 'rates'; rates: [number, number][] } // from step, rate: those of a link
  | { type: 'lr'; lr: number }
  | { type: 'frame' }
  | { type: 'ask'; id: number; question: Question };

export type Question =
  | { what: 'shake'; eps: number; seed: number }
  | { what: 'figure1'; eps: number; length: number; seed: number }
  | { what: 'tensors'; method: number }
  | { what: 'predict'; method: number; x: number[] }
  | { what: 'log' }
  | { what: 'memory' } // bytes of the engine
  | { what: 'goto'; step: number }
  | { what: 'speed'; method: number; steps: number };

export interface LogOf {
  step: number[];
  columns: Float64Array[]; // of each method (entries, LOG)
  stride: number; // steps that an entry stands for
}

export type FromWorker =
  | { type: 'ready'; run: number; dataset: Dataset; version: string }
  | Frame
  | { type: 'failed'; run: number; message: string }
  | { type: 'answer'; id: number; answer: unknown; error: string };
