// SPDX-License-Identifier: MIT
// Colours. Classes are orange and purple, methods have a colour and a dash each; both sets can be told apart with the
// common kinds of colour blindness.
import { methodName } from './state';
import type { Method, Task } from './types';

export interface Theme {
  dark: boolean;
  ink: string; // lines of units
  flash: string; // a line that jumped
  pick: string; // a line that was chosen
  muted: string;
  grid: string;
  paper: string;
  classes: [number, number, number][];
}

type Rgb = [number, number, number];

const CLASSES_LIGHT: Rgb[] = [
  [230, 126, 20],
  [94, 70, 170],
  [0, 140, 130],
  [190, 50, 110],
  [90, 130, 40],
  [90, 90, 90],
];

const CLASSES_DARK: Rgb[] = [
  [255, 165, 64],
  [160, 140, 255],
  [60, 200, 185],
  [245, 120, 170],
  [165, 205, 90],
  [190, 190, 190],
];

export function themeOf(dark: boolean): Theme {
  return dark
    ? {
        dark,
        ink: '#e9edf5',
        flash: '#ff5c8a',
        pick: '#ffe14d',
        muted: '#9aa6b8',
        grid: '#2b3444',
        paper: '#141a24',
        classes: CLASSES_DARK,
      }
    : {
        dark,
        ink: '#1d2733',
        flash: '#e0003c',
        pick: '#0057d9',
        muted: '#5a6675',
        grid: '#dfe4ea',
        paper: '#ffffff',
        classes: CLASSES_LIGHT,
      };
}

const METHOD_COLOURS: Record<string, [string, string]> = {
  SP: ['#c8102e', '#ff6b7d'],
  WN: ['#b26a00', '#ffb648'],
  BN: ['#1b7f3b', '#55d17f'],
  LN: ['#8a3fa0', '#d79bea'],
  GmP: ['#0060b6', '#58b0ff'],
  Sphere: ['#007c8a', '#4ad3e0'],
};

const OTHERS: [string, string][] = [
  ['#5b4bb5', '#a99cff'],
  ['#7a5c3e', '#d0ab84'],
  ['#4f5b66', '#b4c0cc'],
];

export const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [4, 2]];

export function methodColour(methods: Method[], k: number, dark: boolean): string {
  const known = METHOD_COLOURS[methodName(methods[k])];
  const others = methods.slice(0, k).filter(m => !METHOD_COLOURS[methodName(m)]).length;
  return (known ?? OTHERS[others % OTHERS.length])[dark ? 1 : 0];
}

export function rgb([r, g, b]: Rgb, alpha = 1): string {
  return `rgba(${r}, ${g}, ${b}, ${alpha})`;
}

export const TINTS = 4;

/** (TINTS, outputs, 256) RGBA as the engine takes it, and the range of values that the shades stand for. */
export function paletteOf(theme: Theme, task: Task, outputs: number, range: [number, number]) {
  const paper: Rgb = theme.dark ? [20, 26, 36] : [255, 255, 255];
  const palette = new Uint32Array(TINTS * outputs * 256);
  for (let tint = 0; tint < TINTS; tint++)
    for (let k = 0; k < outputs; k++)
      for (let i = 0; i < 256; i++) {
        const share = outputs > 1 ? i / 255 : (i - 127.5) / 127.5;
        const probability =
          task === 'regression' ? Math.abs(share) : Math.abs(2 / (1 + Math.exp(-6 * share)) - 1);
        const colour = theme.classes[(outputs > 1 ? k : share > 0 ? 1 : 0) % theme.classes.length];
        const strength = (theme.dark ? 0.36 : 0.3) * probability;
        // Tints of regions: a little darker or lighter than their neighbours.
        const tone = tint * (theme.dark ? 9 : -9);
        const mix = (c: number) =>
          Math.max(0, Math.min(255, Math.round(paper[c] + (colour[c] - paper[c]) * strength + tone)));
        palette[(tint * outputs + k) * 256 + i] =
          ((255 << 24) | (mix(2) << 16) | (mix(1) << 8) | mix(0)) >>> 0;
      }
  if (outputs > 1) return { palette, low: 0, high: 6 };
  if (task === 'binary') return { palette, low: -6, high: 6 };
  return { palette, low: range[0], high: range[1] };
}
