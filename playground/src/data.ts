// SPDX-License-Identifier: MIT
// The data sets of the page. crescents and levy come from the library; the others are made here.
import banana from '../../data/banana.csv';
import { Random } from './random';
import type { DataKind, Settings, Table } from './types';

export interface DataFacts {
  name: string;
  rows: number; // usual
  noise: number; // usual; -1: the set has none of its own
  about: string;
}

export const FACTS: Record<DataKind, DataFacts> = {
  crescents: { name: 'Crescents', rows: 500, noise: 0.2, about: 'two interleaved crescents' },
  banana: { name: 'Banana', rows: 1000, noise: -1, about: 'the real banana set, up to 5,300 points' },
  xor: { name: 'XOR', rows: 400, noise: 0.1, about: 'opposite quarters belong together' },
  rings: { name: 'Rings', rows: 400, noise: 0.1, about: 'a disc inside a ring' },
  spiral: { name: 'Spiral', rows: 400, noise: 0.05, about: 'two spiral arms' },
  blobs: { name: 'Blobs', rows: 400, noise: 0.3, about: 'two clouds of points' },
  levy: { name: 'Levy, 1-D', rows: 50, noise: 0.1, about: 'the function of Figure 2' },
  drawn: { name: 'Draw points', rows: 0, noise: -1, about: 'click or tap in a picture' },
  csv: { name: 'CSV file', rows: 0, noise: -1, about: 'drop or paste a table' },
};

type Maker = (random: Random, i: number, noise: number) => [number, number, number];

const makers: Partial<Record<DataKind, Maker>> = {
  xor: (random, _i, noise) => {
    const x = 2 * random.unit() - 1;
    const y = 2 * random.unit() - 1;
    return [x + noise * random.normal(), y + noise * random.normal(), x * y > 0 ? 1 : 0];
  },
  rings: (random, i, noise) => {
    const outer = i % 2;
    const radius = outer ? 0.75 + 0.25 * random.unit() : 0.5 * Math.sqrt(random.unit());
    const angle = 2 * Math.PI * random.unit();
    return [
      radius * Math.cos(angle) + noise * random.normal() * 0.5,
      radius * Math.sin(angle) + noise * random.normal() * 0.5,
      outer,
    ];
  },
  spiral: (random, i, noise) => {
    const arm = i % 2;
    const share = Math.sqrt(random.unit());
    const angle = 1.75 * 2 * Math.PI * share * 0.9 + arm * Math.PI;
    return [
      share * Math.sin(angle) + noise * random.normal(),
      share * Math.cos(angle) + noise * random.normal(),
      arm,
    ];
  },
  blobs: (random, i, noise) => {
    const right = i % 2;
    const middle = right ? 0.6 : -0.6;
    return [middle + noise * random.normal(), middle + noise * random.normal(), right];
  },
};

/** The page's own sets as arrays; null: the engine makes this one. */
export function makeTable(settings: Settings, own: Table | null): Table | null {
  const kind = settings.data;
  if (kind === 'drawn' || kind === 'csv') return own;
  const table: Table = {
    x: [],
    y: [],
    features: 2,
    task: 'binary',
    names: ['x1', 'x2', 'class'],
    classes: ['0', '1'],
  };
  if (kind === 'banana') {
    const all = bananaRows();
    const order = new Random(settings.seed);
    for (let i = 0; i < Math.min(settings.rows, all.length); i++) {
      const j = i + Math.floor(order.unit() * (all.length - i));
      [all[i], all[j]] = [all[j], all[i]];
      table.x.push(all[i][0], all[i][1]);
      table.y.push(all[i][2]);
    }
    table.names = ['At1', 'At2', 'Class'];
    table.classes = ['-1', '1'];
    return table;
  }
  const maker = makers[kind];
  if (!maker) return null;
  const random = new Random(settings.seed + 1);
  for (let i = 0; i < settings.rows; i++) {
    const [x, y, label] = maker(random, i, settings.noise);
    table.x.push(x, y);
    table.y.push(label);
  }
  return table;
}

/** (5300) of x, y and class 0 or 1, as the file has them. */
function bananaRows(): [number, number, number][] {
  const lines = banana.trim().split('\n').slice(1);
  return lines.map(line => {
    const [x, y, label] = line.split(',').map(Number);
    return [x, y, label > 0 ? 1 : 0];
  });
}
