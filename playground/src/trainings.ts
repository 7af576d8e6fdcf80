// SPDX-License-Identifier: MIT
// All methods of one start, step by step together: the engine's state as the worker sees it.
import { makeTable } from './data';
import { StepLog } from './steplog';
import {
  CURVE,
  EDGE,
  type Dataset,
  LINE,
  LOG,
  type Look,
  type MethodFrame,
  MOST_REGIONS,
  type Settings,
  type Shaken,
  type Table,
  type Task,
  type Tensor,
  type Window4,
} from './types';
import type { Engine } from './wasm';

const TASKS: Task[] = ['regression', 'binary', 'classes'];
const TEST_SHARE = 0.2;
const TOO_MANY = -100; // what pg_regions returns
const CHUNK = 64; // steps of a call
const LOG_MOST = 400; // rows of a frame
const KEPT = 1 << 16; // rows of the log of a training

class OneMethod {
  log = new StepLog(KEPT);
  recent = new StepLog(LOG_MOST); // since the frame before
  diverged = '';
  units = 0;
  regions = -1;
  tooMany = false;
  dead = -1;
  census: Float64Array | null = null; // shares and states as last counted
  score: number[] = [Number.NaN, Number.NaN, 0];
  train: number[] = [Number.NaN, Number.NaN, 0];
  scoredAt = -1;
  countedAt = -1;
}

export class Trainings {
  readonly dataset: Dataset;
  private readonly methods: OneMethod[];
  private rates: [number, number][] = [];
  step = 0;
  lr: number;

  constructor(
    private readonly engine: Engine,
    readonly settings: Settings,
    table: Table | null,
  ) {
    this.lr = settings.lr;
    this.dataset = this.openData(makeTable(settings, table));
    const { call } = engine;
    const levy = settings.data === 'levy';
    // as the papers' experiments: Levy as it is, with the mean absolute error; tables with standardised features
    engine.check(
      call.pg_options(
        levy ? engine.word('LOSS', 'mae') : -1,
        engine.word('OPTIMIZER', settings.optimizer),
        settings.lr,
        settings.decay,
        settings.batch,
        engine.word('STANDARDIZE', levy ? 'off' : this.dataset.task === 'regression' ? 'both' : 'features'),
        settings.seed,
      ),
    );
    const hidden = engine.put32('hidden', settings.hidden);
    this.methods = settings.methods.map((method, k) => {
      engine.check(
        call.pg_method_new(
          k,
          engine.word('PARAM', method.param),
          engine.word('NORM', method.norm),
          engine.word('ACT', settings.act),
          engine.word(
            'INIT',
            settings.init === 'paper' && !hasScale(method.param) ? 'default' : settings.init,
          ),
          engine.word('DTYPE', settings.dtype),
          hidden,
          settings.hidden.length,
          settings.seed,
        ),
      );
      return new OneMethod();
    });
  }

  get alive(): boolean {
    return this.methods.some(method => !method.diverged);
  }

  private openData(table: Table | null): Dataset {
    const { engine, settings } = this;
    const { call } = engine;
    if (table) {
      if (table.y.length < 4) throw new Error('the data have fewer than 4 points');
      const x = engine.put('x', table.x);
      const y = engine.put('y', table.y);
      const test = table.y.length < 20 ? 0 : TEST_SHARE;
      engine.check(
        call.pg_data_arrays(
          x,
          y,
          table.y.length,
          table.features,
          TASKS.indexOf(table.task),
          test,
          settings.seed,
        ),
      );
    } else {
      const name = engine.putText('name', settings.data);
      engine.check(call.pg_data_synthetic(name, settings.rows, settings.noise, TEST_SHARE, settings.seed));
    }
    const rows = call.pg_rows();
    const features = call.pg_features();
    const part = (which: number) =>
      new Uint32Array(call.memory.buffer, call.pg_part(which), call.pg_part_rows(which)).slice();
    const x = engine.doubles(call.pg_x(), rows * features).slice();
    const y = engine.doubles(call.pg_y(), rows).slice();
    return {
      x,
      y,
      features,
      task: TASKS[call.pg_task()],
      train: part(0),
      test: call.pg_part_rows(2) ? part(2) : new Uint32Array(0),
      names: table?.names ?? (features === 1 ? ['x', 'y'] : ['x1', 'x2', 'class']),
      classes: table?.classes ?? ['0', '1'],
      window: windowOf(x, y, features),
    };
  }

  /** Rates of a link: from which step on. */
  setRates(rates: [number, number][]): void {
    this.rates = rates.filter(([at]) => at > this.step);
  }

  setRate(lr: number): void {
    this.lr = lr;
    this.methods.forEach((method, k) => {
      if (!method.diverged) this.engine.check(this.engine.call.pg_set_lr(k, lr));
    });
  }

  /** All methods take the same number of steps; one that diverged stays where it is. */
  advance(steps: number): void {
    const { engine } = this;
    while (steps > 0) {
      while (this.rates.length && this.rates[0][0] <= this.step)
        this.setRate((this.rates.shift() as [number, number])[1]);
      let now = Math.min(steps, CHUNK);
      if (this.rates.length) now = Math.min(now, this.rates[0][0] - this.step);
      const log = engine.area('log', CHUNK * LOG * 8);
      this.methods.forEach((method, k) => {
        if (method.diverged) return;
        const taken = engine.call.pg_steps(k, now, log);
        const rows = engine.doubles(log, taken * LOG);
        method.log.append(rows);
        method.recent.append(rows);
        if (taken < now) method.diverged = engine.text(engine.call.pg_error());
      });
      this.step += now;
      steps -= now;
    }
  }

  /** scored: the scores are renewed; thorough: dead units and shares, too. */
  frame(look: Look | null, scored: boolean, thorough: boolean): MethodFrame[] {
    return this.methods.map((method, k) => this.frameOf(method, k, look, scored, thorough));
  }

  private frameOf(
    method: OneMethod,
    k: number,
    look: Look | null,
    scored: boolean,
    thorough: boolean,
  ): MethodFrame {
    const { engine, dataset } = this;
    const frame: MethodFrame = {
      diverged: method.diverged,
      trainLoss: Number.NaN,
      testLoss: Number.NaN,
      score: Number.NaN,
      lines: new Float64Array(0),
      log: method.recent.take(),
      image: null,
      curve: null,
      edges: null,
      regions: -1,
      tooMany: false,
      dead: method.dead,
    };
    if (!method.diverged) {
      if (scored && method.scoredAt !== this.step) this.score(method, k);
      if (thorough && method.countedAt !== this.step) {
        method.dead = engine.call.pg_dead(k);
        this.takeLines(method, k, 1);
        method.countedAt = this.step;
      }
      frame.dead = method.dead;
      frame.lines = this.takeLines(method, k, 0);
      if (look && dataset.features === 2) this.paint(frame, method, k, look);
      if (dataset.features === 1) frame.curve = this.curve(k);
    }
    frame.trainLoss = method.train[0];
    frame.testLoss = method.score[0];
    frame.score = method.score[1];
    return frame;
  }

  private score(method: OneMethod, k: number): void {
    const { engine } = this;
    const out = engine.area('score', 24);
    const of = (part: number) => {
      engine.check(engine.call.pg_score(k, part, out));
      return Array.from(engine.doubles(out, 3));
    };
    method.train = of(0);
    method.score = this.dataset.test.length ? of(2) : method.train;
    method.scoredAt = this.step;
  }

  get epoch(): number {
    return this.methods[0].train[2];
  }

  private takeLines(method: OneMethod, k: number, census: number): Float64Array {
    const { engine, settings } = this;
    const out = engine.area('lines', settings.hidden[0] * LINE * 8);
    const units = engine.call.pg_lines(k, census, out);
    if (units <= 0) return new Float64Array(0); // ln: no lines
    const lines = engine.doubles(out, units * LINE).slice();
    if (census) method.census = lines;
    else if (method.census)
      for (let j = 0; j < units; j++) {
        lines[LINE * j + 4] = method.census[LINE * j + 4];
        lines[LINE * j + 5] = method.census[LINE * j + 5];
      }
    return lines;
  }

  /** Exact regions while they are few; above that, the outputs on a coarser grid. */
  private paint(frame: MethodFrame, method: OneMethod, k: number, look: Look): void {
    const { engine } = this;
    const { call } = engine;
    const deep = this.settings.hidden.length > 1;
    const window = engine.put('window', this.dataset.window);
    // While there are too many, they are counted again from time to time only.
    const tryRegions = !method.tooMany || this.step % 16 === 0;
    const count = tryRegions ? call.pg_regions(k, window, MOST_REGIONS) : -1;
    const exact = count >= 0;
    if (tryRegions) method.tooMany = count === TOO_MANY;
    frame.tooMany = method.tooMany;
    frame.regions = exact ? count : -1;
    if (exact && deep) {
      const edges = call.pg_edges(k);
      const out = engine.area('edges', edges * EDGE * 8);
      call.pg_edges_read(k, out);
      frame.edges = engine.doubles(out, edges * EDGE).slice();
    }
    if (look.fill === 'none') return;
    const size = exact ? look.size : Math.min(look.size, 100);
    const palette = engine.put32('palette', look.palette);
    const out = engine.area('image', look.size * look.size * 4);
    if (exact) {
      const tints = look.fill === 'regions' ? look.tints : 1;
      engine.check(call.pg_paint_regions(k, window, size, size, palette, tints, look.low, look.high, out));
    } else {
      engine.check(call.pg_paint_surface(k, window, size, size, palette, look.low, look.high, out));
    }
    frame.image = call.memory.buffer.slice(out, out + size * size * 4) as ArrayBuffer;
  }

  private curve(k: number): Float64Array {
    const [from, to] = this.dataset.window;
    const x = Array.from({ length: CURVE }, (_, i) => from + ((to - from) * i) / (CURVE - 1));
    return this.predict(k, x);
  }

  predict(k: number, x: ArrayLike<number>): Float64Array {
    const { engine } = this;
    const rows = x.length / this.dataset.features;
    const count = rows * engine.call.pg_outputs(k);
    const from = engine.put('places', x);
    const out = engine.area('values', count * 8);
    engine.check(engine.call.pg_forward(k, from, rows, out));
    return engine.doubles(out, count).slice();
  }

  shake(eps: number, seed: number): Shaken[] {
    const { engine, settings } = this;
    const out = engine.area('lines', settings.hidden[0] * LINE * 8);
    const turn = engine.area('turn', 16);
    return this.methods.map((method, k) => {
      if (method.diverged) return { lines: new Float64Array(0), turn: Number.NaN, bound: Number.NaN };
      const units = engine.check(engine.call.pg_shake(k, eps, seed, out, turn));
      const [most, bound] = engine.doubles(turn, 2);
      return { lines: engine.doubles(out, units * LINE).slice(), turn: most, bound };
    });
  }

  tensors(k: number): Tensor[] {
    const { engine } = this;
    const { call } = engine;
    const found: Tensor[] = [];
    for (let i = 0; i < call.pg_tensors(k); i++) {
      const nameAt = engine.area('tensor', 128);
      const factsAt = engine.area('facts', 7 * 8);
      engine.check(call.pg_tensor(k, i, nameAt, factsAt));
      const facts = engine.doubles(factsAt, 7).slice();
      const name = engine.text(nameAt);
      const out = engine.area('tensor values', facts[5] * 8);
      engine.check(call.pg_tensor_read(k, engine.putText('name', name), out, facts[5]));
      found.push({
        name,
        shape: Array.from(facts.subarray(0, facts[4])),
        learned: facts[6] !== 0,
        values: engine.doubles(out, facts[5]).slice(),
      });
    }
    return found;
  }

  logs(): { columns: Float64Array[]; stride: number[] } {
    return { columns: this.methods.map(m => m.log.copy()), stride: this.methods.map(m => m.log.stride) };
  }

  close(): void {
    for (let k = 0; k < this.methods.length; k++) this.engine.call.pg_method_free(k);
  }
}

function hasScale(param: string): boolean {
  return param === 'gmp' || param === 'sphere';
}

/** The box of the data and an eighth more on each side; square where x and y have similar ranges. */
function windowOf(x: Float64Array, y: Float64Array, features: number): Window4 {
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  const take = (axis: number, value: number) => {
    low[axis] = Math.min(low[axis], value);
    high[axis] = Math.max(high[axis], value);
  };
  for (let i = 0; i < y.length; i++) {
    take(0, x[features * i]);
    take(1, features === 1 ? y[i] : x[features * i + 1]);
  }
  const half = [0, 1].map(axis => ((high[axis] - low[axis]) / 2 || 1) * (features === 1 ? 1.08 : 1.12));
  if (features === 2 && Math.max(...half) < 2 * Math.min(...half)) half.fill(Math.max(...half));
  const middle = [0, 1].map(axis => (low[axis] + high[axis]) / 2);
  return [middle[0] - half[0], middle[0] + half[0], middle[1] - half[1], middle[1] + half[1]];
}
