// SPDX-License-Identifier: MIT
// Live curves of all methods: loss, score, and the papers' largest move and largest turn of a step.
import uPlot from 'uplot';
import { DASHES, methodColour, type Theme } from './colours';
import { Series } from './series';
import { methodName } from './state';
import { type Frame, LOG, type Method, type Task } from './types';

const CAPACITY = 1200; // entries of a curve
const COLUMNS = 4; // of a method: loss, score, move, turn

interface Chart {
  title: string;
  about: string;
  log: boolean;
  unit: string;
}

export class Plots {
  private series: Series;
  private plots: uPlot[] = [];
  private methods: Method[] = [];
  private dirty = false;
  private step = 0;
  readonly largestTurn: number[] = []; // degrees since the start
  readonly largestMove: number[] = [];

  constructor(private readonly root: HTMLElement) {
    this.series = new Series([], CAPACITY);
  }

  begin(methods: Method[], task: Task, theme: Theme): void {
    this.methods = methods;
    this.step = 0;
    this.series = new Series(
      methods.flatMap(() => ['mean', 'last', 'max', 'max'] as const),
      CAPACITY,
    );
    this.largestTurn.splice(0, Infinity, ...methods.map(() => 0));
    this.largestMove.splice(0, Infinity, ...methods.map(() => 0));
    this.build(task, theme);
  }

  private charts(task: Task): Chart[] {
    const score =
      task === 'regression'
        ? {
            title: 'Test error (RMSE)',
            about: 'root mean squared error on the test points',
            log: false,
            unit: '',
          }
        : {
            title: 'Test accuracy',
            about: 'share of the test points with the right class',
            log: false,
            unit: '',
          };
    return [
      { title: 'Loss of each batch', about: 'loss before the step, logarithmic', log: true, unit: '' },
      score,
      {
        title: 'Largest move in a step',
        about: 'how far the boundary point nearest to the origin moved, logarithmic',
        log: true,
        unit: '',
      },
      {
        title: 'Largest turn in a step',
        about: 'angle between old and new boundary, logarithmic',
        log: true,
        unit: '°',
      },
    ];
  }

  build(task: Task, theme: Theme): void {
    for (const plot of this.plots) plot.destroy();
    this.root.replaceChildren();
    this.plots = this.charts(task).map((chart, c) => {
      const figure = document.createElement('figure');
      figure.className = 'plot';
      figure.tabIndex = 0;
      const caption = document.createElement('figcaption');
      caption.textContent = chart.title;
      caption.title = chart.about;
      const box = document.createElement('div');
      figure.append(caption, box);
      figure.setAttribute('role', 'img');
      figure.setAttribute('aria-label', `${chart.title}: ${chart.about}`);
      this.root.append(figure);
      return new uPlot(this.options(chart, c, theme), this.data(c), box);
    });
    this.resize();
    this.dirty = true;
  }

  private options(chart: Chart, c: number, theme: Theme): uPlot.Options {
    const axis: uPlot.Axis = {
      stroke: theme.muted,
      grid: { stroke: theme.grid, width: 1 },
      ticks: { stroke: theme.grid, width: 1, size: 4 },
      font: '11px system-ui, sans-serif',
    };
    const label = (value: number) =>
      value === null
        ? ''
        : `${Math.abs(value) >= 1e4 || (value && Math.abs(value) < 1e-3) ? value.toExponential(0) : Number(value.toPrecision(3))}${chart.unit}`;
    const powers = (_u: uPlot, splits: number[]) => splits.map(v => (chart.log && !isPower(v) ? null : v));
    return {
      width: 300,
      height: 150,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 5 } },
      scales: {
        x: { time: false },
        y: chart.log
          ? { distr: 3, range: (_u, low, high) => logRange(low, high, c === 0 ? 3 : 30) }
          : {
              range: (_u, low, high) =>
                c === 1 && high <= 1
                  ? [Math.max(0, Math.min(0.45, low - 0.05)), 1.02]
                  : [0, (high || 1) * 1.05],
            },
      },
      axes: [
        { ...axis, size: 26, space: 60 },
        {
          ...axis,
          size: 46,
          grid: { ...axis.grid, filter: powers },
          ticks: { ...axis.ticks, filter: powers },
          filter: powers,
          values: (_u, splits) => splits.map(v => (v === null ? '' : label(v))),
        },
      ],
      series: [
        {},
        ...this.methods.map((method, k) => ({
          label: methodName(method),
          stroke: methodColour(this.methods, k, theme.dark),
          width: 1.6,
          dash: DASHES[k % DASHES.length],
          points: { show: false },
          spanGaps: true,
        })),
      ],
    };
  }

  private data(c: number): uPlot.AlignedData {
    const positive = c !== 1;
    return [
      this.series.step,
      ...this.methods.map((_, k) =>
        this.series.columns[COLUMNS * k + c].map(v =>
          Number.isFinite(v) && (!positive || v > 0) ? v : null,
        ),
      ),
    ] as uPlot.AlignedData;
  }

  take(frame: Frame): void {
    const steps = frame.step - this.step;
    const entries = Math.max(0, ...frame.methods.map(m => m.log.length / LOG));
    for (let i = 0; i < entries; i++) {
      const row: number[] = [];
      frame.methods.forEach((method, k) => {
        const there = LOG * i < method.log.length;
        const [loss, move, turn] = there
          ? method.log.subarray(LOG * i, LOG * (i + 1))
          : [Number.NaN, Number.NaN, Number.NaN];
        const degrees = (turn * 180) / Math.PI;
        if (degrees > this.largestTurn[k]) this.largestTurn[k] = degrees;
        if (move > this.largestMove[k]) this.largestMove[k] = move;
        row.push(loss, i === entries - 1 && !method.diverged ? method.score : Number.NaN, move, degrees);
      });
      this.series.push(Math.round(this.step + (steps * (i + 1)) / entries), row);
    }
    this.step = frame.step;
    this.dirty ||= entries > 0;
  }

  draw(): void {
    if (!this.dirty) return;
    this.dirty = false;
    this.plots.forEach((plot, c) => {
      plot.setData(this.data(c));
    });
  }

  resize(): void {
    for (const plot of this.plots) {
      const box = plot.root.parentElement;
      const width = box ? box.clientWidth : 300;
      if (width > 0 && width !== plot.width) plot.setSize({ width, height: 150 });
    }
  }
}

function isPower(value: number): boolean {
  const log = Math.log10(value);
  return Math.abs(log - Math.round(log)) < 1e-6;
}

/** Whole powers of ten; at least one of them. */
function logRange(low: number | null, high: number | null, most: number): [number, number] {
  if (low === null || high === null || !(low > 0)) return [0.1, 10];
  const from = Math.floor(Math.log10(low));
  // A loss on its way to infinity must not flatten the others.
  const to = Math.max(from + 1, Math.min(most, Math.ceil(Math.log10(high))));
  return [10 ** Math.max(from, to - 8), 10 ** Math.max(to, from + 1)];
}
