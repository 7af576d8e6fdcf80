// SPDX-License-Identifier: MIT
// The state of the page, and the fragment of the address that holds all of it.
import { isTable } from './csv';
import { FACTS } from './data';
import {
  ACTS,
  DATA,
  FILLS,
  type Fill,
  INITS,
  type Method,
  NORMS,
  OPTIMIZERS,
  PARAMS,
  type Settings,
  type Table,
  type Task,
} from './types';

/** What can change while a training runs. */
export interface View {
  speed: number; // steps a second; 0: as fast as possible
  fill: Fill;
  trails: boolean;
  points: boolean;
}

export interface State {
  settings: Settings;
  view: View;
  table: Table | null;
  rates: [number, number][]; // from which step on, which rate; after the first one
  at: number; // step at which a link shows the training; 0: it starts
}

export const SPEEDS = [1, 3, 10, 30, 60, 200, 1000, 0];
export const LR_LEAST = 1e-4;
export const LR_MOST = 10;
export const LINK_ROWS = 600; // rows of visitors' data that a link holds

export function defaults(): State {
  return {
    settings: {
      data: 'crescents',
      rows: FACTS.crescents.rows,
      noise: FACTS.crescents.noise,
      methods: [
        { param: 'sp', norm: 'none' },
        { param: 'gmp', norm: 'none' },
      ],
      hidden: [10],
      act: 'relu',
      init: 'default',
      optimizer: 'adam',
      lr: 0.1,
      decay: 0,
      batch: 32,
      seed: 1,
      dtype: 'f32',
    },
    view: { speed: 30, fill: 'surface', trails: true, points: true },
    table: null,
    rates: [],
    at: 0,
  };
}

const PARAM_NAMES: Record<string, string> = { sp: 'SP', wn: 'WN', gmp: 'GmP', sphere: 'Sphere' };

export function methodName({ param, norm }: Method): string {
  if (norm === 'none') return PARAM_NAMES[param];
  return param === 'sp' ? norm.toUpperCase() : `${PARAM_NAMES[param]}+${norm.toUpperCase()}`;
}

export function methodWord({ param, norm }: Method): string {
  return norm === 'none' ? param : `${param}+${norm}`;
}

const METHOD_TEXT: Record<string, string> = {
  SP: 'standard parameterization',
  WN: 'weight normalization',
  BN: 'batch normalization',
  LN: 'layer normalization',
  MBN: 'mean-only batch normalization',
  IMN: 'input mean normalization',
  GmP: 'geometric parameterization',
  Sphere: 'unit vector, offset and scale',
};

export function methodAbout(method: Method): string {
  return methodName(method)
    .split('+')
    .map(part => METHOD_TEXT[part])
    .join(' with ');
}

function parseMethod(word: string): Method | null {
  const [param, norm = 'none'] = word.split('+');
  const known = (PARAMS as readonly string[]).includes(param) && (NORMS as readonly string[]).includes(norm);
  return known ? ({ param, norm } as Method) : null;
}

/* ---------------------------------------------------------------- the fragment */

const short = (x: number) => String(Number(x.toPrecision(7)));

export function encode(state: State): string {
  const { settings: s, view: v } = state;
  const out = new URLSearchParams();
  const put = (key: string, value: string) => out.set(key, value);
  put('data', s.data);
  put('rows', String(s.rows));
  put('noise', short(s.noise));
  put('methods', s.methods.map(methodWord).join(','));
  put('hidden', s.hidden.join('-'));
  put('act', s.act);
  put('init', s.init);
  put('optimizer', s.optimizer);
  put('lr', [short(s.lr), ...state.rates.map(([at, lr]) => `${at}:${short(lr)}`)].join(','));
  put('decay', short(s.decay));
  put('batch', String(s.batch));
  put('seed', String(s.seed));
  put('dtype', s.dtype);
  put('speed', String(v.speed));
  put('fill', v.fill);
  if (!v.trails) put('trails', '0');
  if (!v.points) put('points', '0');
  if (state.at) put('at', String(state.at));
  if (state.table && (s.data === 'drawn' || s.data === 'csv') && state.table.y.length <= LINK_ROWS)
    put('table', packTable(state.table));
  return out.toString().replaceAll('%2C', ',').replaceAll('%2B', '+').replaceAll('%3A', ':');
}

/** Values that make no sense are left at their defaults. */
export function decode(fragment: string): State {
  const state = defaults();
  const { settings: s, view: v } = state;
  const from = new URLSearchParams(fragment.replace(/^#/, '').replaceAll('+', '%2B'));
  const word = <T extends string>(key: string, list: readonly T[], usual: T): T => {
    const value = from.get(key) as T | null;
    return value !== null && list.includes(value) ? value : usual;
  };
  const number = (key: string, least: number, most: number, usual: number, whole = false): number => {
    const text = from.get(key);
    const value = text === null || text === '' ? Number.NaN : Number(text);
    if (!(value >= least && value <= most)) return usual;
    return whole ? Math.round(value) : value;
  };
  s.data = word('data', DATA, s.data);
  const facts = FACTS[s.data];
  s.rows = number('rows', 10, 5300, facts.rows, true);
  s.noise = number('noise', 0, 2, Math.max(0, facts.noise));
  const methods = (from.get('methods') ?? '')
    .split(',')
    .map(parseMethod)
    .filter(m => m !== null);
  if (methods.length >= 1) s.methods = methods.slice(0, 5);
  const hidden = (from.get('hidden') ?? '').split('-').map(Number);
  if (hidden.every(h => Number.isInteger(h) && h >= 1 && h <= 200) && hidden.length <= 4) s.hidden = hidden;
  s.act = word('act', ACTS, s.act);
  s.init = word('init', INITS, s.init);
  s.optimizer = word('optimizer', OPTIMIZERS, s.optimizer);
  const [first, ...later] = (from.get('lr') ?? '').split(',');
  const rate = (text: string, usual: number) =>
    Number(text) > 0 && Number(text) <= 1000 ? Number(text) : usual;
  s.lr = rate(first, s.lr);
  for (const entry of later) {
    const [at, lr] = entry.split(':');
    if (Number.isInteger(Number(at)) && Number(at) > 0 && rate(lr, 0))
      state.rates.push([Number(at), Number(lr)]);
  }
  state.rates.sort(([a], [b]) => a - b);
  s.decay = number('decay', 0, 1, s.decay);
  s.batch = number('batch', 0, 5300, s.batch, true);
  s.seed = number('seed', 0, 4294967295, s.seed, true);
  s.dtype = word('dtype', ['f32', 'f64'] as const, s.dtype);
  v.speed = number('speed', 0, 100000, v.speed);
  v.fill = word('fill', FILLS, v.fill);
  v.trails = from.get('trails') !== '0';
  v.points = from.get('points') !== '0';
  state.at = number('at', 0, 10_000_000, 0, true);
  const table = from.get('table');
  if (table) state.table = unpackTable(table);
  if (s.data === 'drawn' && state.table && state.table.task !== 'binary') s.data = 'csv';
  if ((s.data === 'drawn' || s.data === 'csv') && !state.table) {
    s.data = 'crescents';
    s.rows = FACTS.crescents.rows;
    s.noise = FACTS.crescents.noise;
  }
  return state;
}

/* The table as JSON in base64url, numbers with seven digits. */
function packTable(table: Table): string {
  const slim = {
    f: table.features,
    t: table.task,
    n: table.names,
    c: table.classes,
    x: table.x.map(v => Number(v.toPrecision(7))),
    y: table.y.map(v => Number(v.toPrecision(7))),
  };
  const bytes = new TextEncoder().encode(JSON.stringify(slim));
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function unpackTable(packed: string): Table | null {
  try {
    const text = atob(packed.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(text, c => c.charCodeAt(0));
    const slim = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    const numbers = (value: unknown) =>
      Array.isArray(value) && value.every(v => typeof v === 'number' && Number.isFinite(v))
        ? (value as number[])
        : [];
    const names = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
    const table: Table = {
      x: numbers(slim.x),
      y: numbers(slim.y),
      features: slim.f === 1 ? 1 : 2,
      task: (['regression', 'binary', 'classes'] as const).find(t => t === slim.t) ?? ('binary' as Task),
      names: names(slim.n),
      classes: names(slim.c),
    };
    return isTable(table) ? table : null;
  } catch {
    return null;
  }
}
