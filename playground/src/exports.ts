// SPDX-License-Identifier: MIT
// What visitors take home: model files, curves, data, and the commands that repeat a training natively.
import { methodName } from './state';
import { type Dataset, LOG, type Method, type Settings, type Tensor } from './types';

/* ---------------------------------------------------------------- the model */

interface Moments {
  mean: number[];
  scale: number[];
}

/** Mean and standard deviation of columns over the training rows, as the library standardises. */
function moments(values: Float64Array, columns: number, rows: Uint32Array): Moments {
  const mean: number[] = [];
  const scale: number[] = [];
  for (let c = 0; c < columns; c++) {
    let sum = 0;
    for (const r of rows) sum += values[columns * r + c];
    const middle = sum / rows.length;
    let squares = 0;
    for (const r of rows) squares += (values[columns * r + c] - middle) ** 2;
    mean.push(middle);
    scale.push(Math.sqrt(squares / rows.length) || 1);
  }
  return { mean, scale };
}

function standardizes(settings: Settings, dataset: Dataset): 'off' | 'features' | 'both' {
  if (settings.data === 'levy') return 'off';
  return dataset.task === 'regression' ? 'both' : 'features';
}

function description(settings: Settings, dataset: Dataset, method: Method): object {
  const sizes = [...settings.hidden, dataset.task === 'classes' ? dataset.classes.length : 1];
  const nodes: object[] = [{ kind: 'input', features: dataset.features }];
  sizes.forEach((units, k) => {
    const hidden = k < settings.hidden.length;
    nodes.push({
      kind: 'dense',
      from: k,
      path: `layers.${k}`,
      units,
      param: hidden ? method.param : 'sp',
      norm: hidden && !(method.norm === 'imn' && k === 0) ? method.norm : 'none',
      act: hidden ? settings.act : 'identity',
      signs: false,
    });
  });
  const x = moments(dataset.x, dataset.features, dataset.train);
  const y = moments(dataset.y, 1, dataset.train);
  const how = standardizes(settings, dataset);
  const standardisation: Record<string, unknown> = { features: dataset.features, targets: 1 };
  if (how !== 'off') Object.assign(standardisation, { x_mean: x.mean, x_scale: x.scale });
  standardisation.x_fill = x.mean;
  if (how === 'both') Object.assign(standardisation, { y_mean: y.mean, y_scale: y.scale });
  const data: Record<string, unknown> = { named: true, missing: 'mean', task: dataset.task };
  if (dataset.task !== 'regression') data.classes = dataset.classes;
  const last = dataset.names.length - 1;
  const numbers = dataset.classes.every(c => c !== '' && Number.isFinite(Number(c)));
  data.columns = dataset.names.map((name, i) =>
    i < last
      ? { name, role: 'feature', kind: 'number' }
      : { name, role: 'target', kind: dataset.task === 'regression' || numbers ? 'number' : 'text', at: 0 },
  );
  return {
    format: 1,
    architecture: { dtype: settings.dtype, nodes, output: sizes.length },
    standardisation,
    data,
  };
}

/** A safetensors file: the length of the header, the header (JSON, padded to 8 bytes), the numbers. */
export function safetensors(
  settings: Settings,
  dataset: Dataset,
  method: Method,
  tensors: Tensor[],
): Uint8Array<ArrayBuffer> {
  const wide = settings.dtype === 'f64';
  const size = wide ? 8 : 4;
  const header: Record<string, unknown> = {
    __metadata__: { spherelu: JSON.stringify(description(settings, dataset, method)) },
  };
  let at = 0;
  for (const tensor of tensors) {
    const end = at + size * tensor.values.length;
    header[tensor.name] = { dtype: wide ? 'F64' : 'F32', shape: tensor.shape, data_offsets: [at, end] };
    at = end;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = Math.ceil(text.length / 8) * 8;
  const bytes = new Uint8Array(8 + length + at);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(length), true);
  bytes.fill(0x20, 8, 8 + length);
  bytes.set(text, 8);
  let place = 8 + length;
  for (const tensor of tensors)
    for (const value of tensor.values) {
      if (wide) view.setFloat64(place, value, true);
      else view.setFloat32(place, value, true);
      place += size;
    }
  return bytes;
}

/* ---------------------------------------------------------------- commands */

const number = (x: number) => String(Number(x.toPrecision(12)));

/** Sets that the tool makes by itself; the others are saved as a CSV file. */
function isBuiltIn(settings: Settings): boolean {
  return settings.data === 'crescents' || settings.data === 'levy';
}

function epochs(settings: Settings, dataset: Dataset, step: number): number {
  const batch = settings.batch || dataset.train.length;
  return Math.max(
    1,
    Math.ceil(step / Math.ceil(dataset.train.length / Math.min(batch, dataset.train.length))),
  );
}

function initOf(settings: Settings, method: Method): string {
  const geometric = method.param === 'gmp' || method.param === 'sphere';
  if (settings.init === 'default') return method.param === 'gmp' ? 'paper' : 'glorot';
  return settings.init === 'paper' && !geometric ? 'glorot' : settings.init;
}

function lossOf(settings: Settings, dataset: Dataset): string {
  if (settings.data === 'levy') return 'mae';
  return { regression: 'mse', binary: 'bce', classes: 'ce' }[dataset.task];
}

export function command(settings: Settings, dataset: Dataset, method: Method, step: number): string {
  const target = dataset.names[dataset.names.length - 1];
  const quoted = (text: string) => (/^[\w.,:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const parts = [
    'spherelu train',
    isBuiltIn(settings)
      ? `--data ${settings.data} --rows ${settings.rows} --noise ${number(settings.noise)}`
      : `--data playground-data.csv --target ${quoted(target)} --task ${dataset.task}`,
    `--test ${dataset.test.length ? 0.2 : 0} --val 0 --standardize ${standardizes(settings, dataset)}`,
    `--hidden ${settings.hidden.join(',')} --param ${method.param} --norm ${method.norm} --activation ${settings.act}`,
    `--init ${initOf(settings, method)} --loss ${lossOf(settings, dataset)} --optimizer ${settings.optimizer}`,
    `--lr ${number(settings.lr)} --weight-decay ${number(settings.decay)} --batch ${settings.batch || 'full'}`,
    `--epochs ${epochs(settings, dataset, step)} --schedule none --patience 0 --ensemble 1`,
    `--seed ${settings.seed} --dtype ${settings.dtype} --record boundaries:every --out runs/playground-${methodName(method).toLowerCase()}`,
  ];
  return parts.join(' \\\n    ');
}

/** All methods as an experiment. */
export function experiment(
  settings: Settings,
  dataset: Dataset,
  step: number,
  rates: [number, number][],
  link: string,
): string {
  const data = isBuiltIn(settings)
    ? `name: ${settings.data}, rows: ${settings.rows}, noise: ${number(settings.noise)}`
    : `name: playground-data.csv, target: ${JSON.stringify(dataset.names[dataset.names.length - 1])}, task: ${dataset.task}`;
  const lines = [
    '# Made by the playground. Repeat it with: spherelu run playground.yaml --out runs/playground',
    `# ${link}`,
    ...(isBuiltIn(settings) ? [] : ['# playground-data.csv comes from the button "Data (CSV)".']),
    ...rates.map(
      ([at, lr]) =>
        `# In the browser the learning rate was changed to ${number(lr)} at step ${at}; here it stays.`,
    ),
    'name: playground',
    `data: {${data}, test: ${dataset.test.length ? 0.2 : 0}, val: 0, standardize: ${standardizes(settings, dataset)}}`,
    `net: {kind: mlp, hidden: [${settings.hidden.join(', ')}], activation: ${settings.act}}`,
    `train: {loss: ${lossOf(settings, dataset)}, optimizer: ${settings.optimizer}, lr: ${number(settings.lr)}, weight_decay: ${number(settings.decay)}, batch: ${settings.batch || 'full'}, epochs: ${epochs(settings, dataset, step)}, schedule: none, patience: 0}`,
    `dtype: ${settings.dtype}`,
    'methods:',
    ...settings.methods.map(
      method =>
        `  - {name: ${methodName(method)}, param: ${method.param}, norm: ${method.norm}, init: ${initOf(settings, method)}}`,
    ),
    `seeds: [${settings.seed}]`,
    'record: {boundaries: every}',
    'figures: [decision, turns, convergence]',
  ];
  return `${lines.join('\n')}\n`;
}

/** The options of a run folder, so that `spherelu predict` takes it. */
function config(settings: Settings, dataset: Dataset, method: Method, version: string, step: number): string {
  return `# made by the playground
version: "${version}"
protocol: holdout
seed: ${settings.seed}
threads: 1
dtype: ${settings.dtype}
data:
  name: ${isBuiltIn(settings) ? settings.data : 'playground-data.csv'}
${isBuiltIn(settings) ? `  rows: ${settings.rows}\n  noise: ${number(settings.noise)}\n` : `  target: [${JSON.stringify(dataset.names[dataset.names.length - 1])}]\n`}  task: ${dataset.task}
  missing: mean
  standardize: ${standardizes(settings, dataset)}
  test: ${dataset.test.length ? 0.2 : 0}
  val: 0
  split: random
net:
  kind: mlp
  hidden: [${settings.hidden.join(', ')}]
  param: ${method.param}
  norm: ${method.norm}
  activation: ${settings.act}
  init: ${initOf(settings, method)}
train:
  loss: ${lossOf(settings, dataset)}
  optimizer: ${settings.optimizer}
  lr: ${number(settings.lr)}
  weight_decay: ${number(settings.decay)}
  batch: ${settings.batch || 'full'}
  epochs: ${epochs(settings, dataset, step)}
  schedule: none
  patience: 0
`;
}

/** A run folder as a zip file: config.yaml and model.safetensors. */
export function runFolder(
  settings: Settings,
  dataset: Dataset,
  method: Method,
  tensors: Tensor[],
  version: string,
  step: number,
): Uint8Array<ArrayBuffer> {
  return zip([
    ['run/config.yaml', new TextEncoder().encode(config(settings, dataset, method, version, step))],
    ['run/model.safetensors', safetensors(settings, dataset, method, tensors)],
    ['run/data.csv', new TextEncoder().encode(dataCsv(dataset))],
  ]);
}

/* ---------------------------------------------------------------- tables */

function cell(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function dataCsv(dataset: Dataset): string {
  const lines = [dataset.names.map(cell).join(',')];
  for (let i = 0; i < dataset.y.length; i++) {
    const x = Array.from(dataset.x.subarray(dataset.features * i, dataset.features * (i + 1)), String);
    const y =
      dataset.task === 'regression'
        ? String(dataset.y[i])
        : cell(dataset.classes[dataset.y[i]] ?? String(dataset.y[i]));
    lines.push([...x, y].join(','));
  }
  return `${lines.join('\n')}\n`;
}

/** Loss, largest move and largest turn of every step; long trainings: of every stride steps, maxima kept. */
export function motionCsv(methods: Method[], columns: Float64Array[], strides: number[]): string {
  const lines = ['method,step,loss,max_move,max_turn_degrees'];
  methods.forEach((method, k) => {
    for (let i = 0; i < columns[k].length / LOG; i++) {
      const [loss, move, turn] = columns[k].subarray(LOG * i, LOG * (i + 1));
      lines.push([methodName(method), (i + 1) * strides[k], loss, move, (turn * 180) / Math.PI].join(','));
    }
  });
  return `${lines.join('\n')}\n`;
}

/* ---------------------------------------------------------------- zip, stored */

function crc32(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

export function zip(files: [string, Uint8Array][]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  const record = (signature: number, central: boolean, name: Uint8Array, bytes: Uint8Array) => {
    const head = new DataView(new ArrayBuffer(central ? 46 : 30));
    let at = 0;
    const put16 = (v: number) => {
      head.setUint16(at, v, true);
      at += 2;
    };
    const put32 = (v: number) => {
      head.setUint32(at, v, true);
      at += 4;
    };
    put32(signature);
    if (central) put16(20);
    for (const v of [20, 0, 0, 0, 0x21]) put16(v); // version, flags, stored, time, 1 January 1980
    for (const v of [crc32(bytes), bytes.length, bytes.length]) put32(v);
    put16(name.length);
    put16(0);
    if (central) {
      for (const v of [0, 0, 0]) put16(v);
      put32(0);
      put32(offset);
    }
    return [new Uint8Array(head.buffer), name];
  };
  for (const [path, bytes] of files) {
    const name = new TextEncoder().encode(path);
    directory.push(...record(0x02014b50, true, name, bytes));
    const local = [...record(0x04034b50, false, name, bytes), bytes];
    parts.push(...local);
    offset += local.reduce((sum, p) => sum + p.length, 0);
  }
  const size = directory.reduce((sum, p) => sum + p.length, 0);
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, files.length, true);
  end.setUint16(10, files.length, true);
  end.setUint32(12, size, true);
  end.setUint32(16, offset, true);
  const all = [...parts, ...directory, new Uint8Array(end.buffer)];
  const out = new Uint8Array(all.reduce((sum, p) => sum + p.length, 0));
  let place = 0;
  for (const part of all) {
    out.set(part, place);
    place += part.length;
  }
  return out;
}

export function save(name: string, content: BlobPart, type: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
