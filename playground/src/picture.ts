// SPDX-License-Identifier: MIT
// One method's picture: surface or regions, data, and the boundary of every unit with a fading trail.
import { rgb, type Theme } from './colours';
import { CURVE, type Dataset, EDGE, LINE, LOG, type MethodFrame } from './types';

export interface Unit {
  layer: number;
  unit: number;
}

export interface Drawing {
  theme: Theme;
  trails: boolean;
  points: boolean;
  calm: boolean; // reduced motion: nothing flashes
  flashing: boolean; // a training runs or was stepped: jumps are marked
}

const TRAIL = 14; // frames
const TRAIL_INK = 0.24; // of the newest of them
const FADE = 0.86; // what a frame leaves of the frames before
const FRESH = 48; // frames until the layer is drawn afresh
const BENT_TRAIL = 4;
const FLASH = 900; // milliseconds
const JUMP = 12; // degrees in a step: twice what Adam turns a line of GmP by at rate 0.1

export class Picture {
  private readonly context: CanvasRenderingContext2D;
  private readonly surface = document.createElement('canvas');
  private dataset: Dataset | null = null;
  private frame: MethodFrame | null = null;
  private step = -1;
  private trail: Float64Array[] = []; // newest last
  private bentTrail: Float64Array[] = [];
  private flashes = new Map<number, { at: number; from: Float64Array }>(); // by unit: when, and from where
  private trailLayer: { canvas: HTMLCanvasElement; key: string; drawn: number; fresh: number } | null = null;
  private taken = 0; // frames with new lines
  private pointsLayer: { key: string; canvas: HTMLCanvasElement } | null = null;
  private box: HTMLElement | null = null;
  shaken: Float64Array | null = null;
  picked: Unit | null = null;
  jumps = 0; // steps since the start in which a line jumped
  paths = new Map<number, number[]>(); // unit of the first layer: directions (degrees) and offsets of the last frames

  constructor(readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d') as CanvasRenderingContext2D;
  }

  begin(dataset: Dataset): void {
    this.dataset = dataset;
    this.frame = null;
    this.step = -1;
    this.trail = [];
    this.bentTrail = [];
    this.flashes.clear();
    this.pointsLayer = null;
    this.trailLayer = null;
    this.shaken = null;
    this.picked = null;
    this.jumps = 0;
  }

  take(frame: MethodFrame, step: number): void {
    this.countJumps(frame.log);
    const before = this.trail[this.trail.length - 1];
    if (frame.lines.length && step !== this.step) {
      if (before && step > this.step) this.findJumps(before, frame.lines, step - this.step);
      this.taken++;
      this.trail.push(frame.lines);
      if (this.trail.length > TRAIL) this.trail.shift();
    }
    if (frame.edges && step !== this.step) {
      this.bentTrail.push(frame.edges);
      if (this.bentTrail.length > BENT_TRAIL) this.bentTrail.shift();
    }
    if (!frame.edges) this.bentTrail = [];
    this.step = step;
    this.frame = frame;
    if (frame.image) {
      const side = Math.sqrt(frame.image.byteLength / 4);
      if (this.surface.width !== side) this.surface.width = this.surface.height = side;
      const pixels = new ImageData(new Uint8ClampedArray(frame.image), side, side);
      (this.surface.getContext('2d') as CanvasRenderingContext2D).putImageData(pixels, 0, 0);
    }
  }

  /** Of every step, and not of what the pictures show: there may be many steps between two of them. */
  private countJumps(log: Float64Array): void {
    const [left, right] = (this.dataset as Dataset).window;
    const flat = this.dataset?.features === 1;
    for (let i = 0; i < log.length; i += LOG)
      if (flat ? log[i + 1] > 0.05 * (right - left) : log[i + 2] > (JUMP * Math.PI) / 180) this.jumps++;
  }

  /** Lines that turned by more than JUMP degrees a step since the frame before, or left their place in 1-D. */
  private findJumps(before: Float64Array, after: Float64Array, steps: number): void {
    const [left, right] = (this.dataset as Dataset).window;
    const flat = this.dataset?.features === 1;
    for (let j = 0; j < after.length / LINE; j++) {
      const [a, b, c] = before.subarray(LINE * j, LINE * j + 3);
      const [d, e, f] = after.subarray(LINE * j, LINE * j + 3);
      const turn = (Math.abs(Math.atan2(a * e - b * d, a * d + b * e)) * 180) / Math.PI;
      const moved = Math.hypot(a * c - d * f, b * c - e * f) / (right - left);
      if (turn > JUMP * steps || (flat && moved > 0.05 * steps)) {
        this.flashes.set(j, { at: performance.now(), from: before.slice(LINE * j, LINE * (j + 1)) });
      }
    }
  }

  /* ---------------------------------------------------------------- places */

  private size(): number {
    return this.canvas.width;
  }

  private place(x: number, y: number): [number, number] {
    const [left, right, bottom, top] = (this.dataset as Dataset).window;
    return [
      ((x - left) / (right - left)) * this.canvas.width,
      ((top - y) / (top - bottom)) * this.canvas.height,
    ];
  }

  /** The data's place of a point of the canvas in CSS pixels. */
  placeOf(event: { clientX: number; clientY: number }): [number, number] {
    const [left, right, bottom, top] = (this.dataset as Dataset).window;
    const rect = this.canvas.getBoundingClientRect();
    return [
      left + ((event.clientX - rect.left) / rect.width) * (right - left),
      top - ((event.clientY - rect.top) / rect.height) * (top - bottom),
    ];
  }

  /** Ends of a unit's line on the canvas; null: it does not cross the window. */
  private ends(a: number, b: number, c: number): [number, number, number, number] | null {
    const [left, right, bottom, top] = (this.dataset as Dataset).window;
    const x = (left + right) / 2;
    const y = (bottom + top) / 2;
    const away = a * x + b * y + c;
    const reach = Math.hypot(right - left, top - bottom);
    if (!(Math.abs(away) < reach)) return null; // NaN: no line
    const [px, py] = [x - away * a, y - away * b];
    const from = this.place(px - reach * b, py + reach * a);
    const to = this.place(px + reach * b, py - reach * a);
    return [...from, ...to];
  }

  /* ---------------------------------------------------------------- drawing */

  /** Fits the canvas to its box; true: the size changed. */
  fit(): boolean {
    this.box ??= this.canvas.parentElement;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const side = Math.max(80, Math.round((this.box?.clientWidth ?? 200) * ratio));
    if (this.canvas.width === side) return false;
    this.canvas.width = this.canvas.height = side;
    this.pointsLayer = null;
    return true;
  }

  draw(how: Drawing): void {
    const { context, canvas, dataset, frame } = this;
    if (!dataset) return;
    context.globalAlpha = 1;
    context.fillStyle = how.theme.paper;
    context.fillRect(0, 0, canvas.width, canvas.height);
    if (!frame) {
      if (how.points) this.drawPoints(how);
      return;
    }
    if (frame.image) {
      context.imageSmoothingEnabled = true;
      context.drawImage(this.surface, 0, 0, canvas.width, canvas.height);
    }
    if (dataset.features === 1) this.drawFunction(how);
    else this.drawPlane(how);
  }

  private drawPlane(how: Drawing): void {
    const { theme } = how;
    const unit = this.size() / 300; // lines grow with the picture
    if (how.points) this.drawPoints(how);
    if (how.trails) {
      this.drawTrail(how, unit);
      this.bentTrail.slice(0, -1).forEach((edges, i) => {
        this.strokeEdges(edges, theme.ink, (0.2 * (i + 1)) / this.bentTrail.length, 0.7 * unit);
      });
    }
    const last = this.trail[this.trail.length - 1];
    if (this.frame?.edges) this.strokeEdges(this.frame.edges, theme.ink, 0.75, 0.9 * unit);
    if (last) this.strokeLines(last, theme.ink, 0.9, 1.3 * unit);
    if (last && how.flashing) this.drawFlashes(last, how, unit);
    if (this.shaken) {
      this.context.setLineDash([5 * unit, 3 * unit]);
      this.strokeLines(this.shaken, theme.flash, 0.95, 1.8 * unit);
      this.context.setLineDash([]);
    }
    if (this.picked) this.drawPicked(this.picked, how, unit);
  }

  /** Trails fade in a layer of their own: a frame adds its lines and dims the others. Rounding leaves a haze behind, so
   *  that the layer is drawn afresh from time to time. */
  private drawTrail(how: Drawing, unit: number): void {
    const key = `${this.canvas.width} ${how.theme.dark}`;
    if (this.trailLayer?.key !== key) {
      const canvas = document.createElement('canvas');
      canvas.width = canvas.height = this.canvas.width;
      this.trailLayer = { canvas, key, drawn: -1, fresh: -FRESH };
    }
    const layer = this.trailLayer;
    const context = layer.canvas.getContext('2d') as CanvasRenderingContext2D;
    const older = this.trail.slice(0, -1);
    if (layer.drawn !== this.taken) {
      if (layer.drawn !== this.taken - 1 || this.taken - layer.fresh >= FRESH) {
        context.clearRect(0, 0, layer.canvas.width, layer.canvas.height);
        older.forEach((lines, i) => {
          this.strokeLines(
            lines,
            how.theme.ink,
            TRAIL_INK * FADE ** (older.length - 1 - i),
            0.8 * unit,
            context,
          );
        });
        layer.fresh = this.taken;
      } else {
        context.globalCompositeOperation = 'destination-out';
        context.globalAlpha = 1 - FADE;
        context.fillRect(0, 0, layer.canvas.width, layer.canvas.height);
        context.globalCompositeOperation = 'source-over';
        if (older.length)
          this.strokeLines(older[older.length - 1], how.theme.ink, TRAIL_INK, 0.8 * unit, context);
      }
      layer.drawn = this.taken;
    }
    this.context.drawImage(layer.canvas, 0, 0);
  }

  private strokeLines(
    lines: Float64Array,
    colour: string,
    alpha: number,
    width: number,
    context: CanvasRenderingContext2D = this.context,
  ): void {
    context.globalAlpha = alpha;
    context.strokeStyle = colour;
    context.lineWidth = width;
    // Each line by itself: one path of many crossing lines takes five times as long.
    for (let i = 0; i < lines.length; i += LINE) {
      const ends = this.ends(lines[i], lines[i + 1], lines[i + 2]);
      if (!ends) continue;
      context.beginPath();
      context.moveTo(ends[0], ends[1]);
      context.lineTo(ends[2], ends[3]);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  /** Boundaries behind the first layer; a picked unit's alone if asked for. */
  private strokeEdges(edges: Float64Array, colour: string, alpha: number, width: number, only?: Unit): void {
    const { context } = this;
    context.globalAlpha = alpha;
    context.strokeStyle = colour;
    context.lineWidth = width;
    for (let i = 0; i < edges.length; i += EDGE) {
      if (only ? edges[i + 4] !== only.layer || edges[i + 5] !== only.unit : edges[i + 4] === 0) continue;
      const from = this.place(edges[i], edges[i + 1]);
      const to = this.place(edges[i + 2], edges[i + 3]);
      context.beginPath();
      context.moveTo(from[0], from[1]);
      context.lineTo(to[0], to[1]);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  private drawFlashes(lines: Float64Array, how: Drawing, unit: number): void {
    const now = performance.now();
    for (const [j, { at, from }] of this.flashes) {
      const age = (now - at) / FLASH;
      if (age > 1) {
        this.flashes.delete(j);
        continue;
      }
      const line = lines.subarray(LINE * j, LINE * (j + 1));
      const alpha = how.calm ? 0.9 : 1 - age * age;
      this.strokeLines(line, how.theme.flash, alpha, (how.calm ? 2.4 : 3.4 - 1.4 * age) * unit);
      this.context.setLineDash([3 * unit, 3 * unit]);
      this.strokeLines(from, how.theme.flash, 0.7 * alpha, 1.3 * unit); // where it was
      this.context.setLineDash([]);
    }
  }

  get flashing(): boolean {
    return this.flashes.size > 0;
  }

  private drawPicked(picked: Unit, how: Drawing, unit: number): void {
    if (picked.layer > 0) {
      if (this.frame?.edges) this.strokeEdges(this.frame.edges, how.theme.pick, 1, 3.5 * unit, picked);
      return;
    }
    const of = (lines: Float64Array) => lines.subarray(LINE * picked.unit, LINE * (picked.unit + 1));
    this.trail.forEach((lines, i) => {
      this.strokeLines(of(lines), how.theme.pick, (0.5 * (i + 1)) / this.trail.length, 1.2 * unit);
    });
    const last = this.trail[this.trail.length - 1];
    if (!last) return;
    this.strokeLines(of(last), how.theme.pick, 1, 3.5 * unit);
    // A short arrow to the active side.
    const [a, b, c] = of(last);
    const ends = this.ends(a, b, c);
    if (!ends) return;
    const middle = [(ends[0] + ends[2]) / 2, (ends[1] + ends[3]) / 2];
    const [left, right, bottom, top] = (this.dataset as Dataset).window;
    const dx = (a * this.canvas.width) / (right - left);
    const dy = (-b * this.canvas.height) / (top - bottom);
    const length = Math.hypot(dx, dy) || 1;
    const { context } = this;
    const [ux, uy] = [dx / length, dy / length];
    const tip = [middle[0] + 22 * unit * ux, middle[1] + 22 * unit * uy];
    context.strokeStyle = how.theme.pick;
    context.lineWidth = 2.5 * unit;
    context.beginPath();
    context.moveTo(middle[0], middle[1]);
    context.lineTo(tip[0], tip[1]);
    context.lineTo(tip[0] - 7 * unit * (ux - uy * 0.6), tip[1] - 7 * unit * (uy + ux * 0.6));
    context.moveTo(tip[0], tip[1]);
    context.lineTo(tip[0] - 7 * unit * (ux + uy * 0.6), tip[1] - 7 * unit * (uy - ux * 0.6));
    context.stroke();
  }

  /* The points do not change from frame to frame. Class 0 is a disc, class 1 a square. */
  private drawPoints(how: Drawing): void {
    const dataset = this.dataset as Dataset;
    const key = `${this.canvas.width} ${how.theme.dark} ${dataset.y.length}`;
    if (this.pointsLayer?.key !== key) {
      const canvas = document.createElement('canvas');
      canvas.width = canvas.height = this.canvas.width;
      this.pointsLayer = { key, canvas };
      this.paintPoints(canvas.getContext('2d') as CanvasRenderingContext2D, how);
    }
    this.context.drawImage(this.pointsLayer.canvas, 0, 0);
  }

  private paintPoints(context: CanvasRenderingContext2D, how: Drawing): void {
    const { x, y, features, task, train, test } = this.dataset as Dataset;
    const count = train.length + test.length;
    const radius = (this.size() / 300) * (count > 2000 ? 1.1 : count > 600 ? 1.6 : 2.2);
    const low = y.reduce((a, b) => Math.min(a, b), Infinity);
    const high = y.reduce((a, b) => Math.max(a, b), -Infinity);
    const paint = (rows: Uint32Array, alpha: number) => {
      for (const i of rows) {
        const [px, py] = this.place(x[features * i], features === 1 ? y[i] : x[features * i + 1]);
        const label = task === 'regression' ? (y[i] > (low + high) / 2 ? 1 : 0) : y[i];
        const share =
          task === 'regression' && features === 2 ? Math.abs((2 * (y[i] - low)) / (high - low || 1) - 1) : 1;
        context.fillStyle =
          features === 1
            ? how.theme.muted
            : rgb(how.theme.classes[label % how.theme.classes.length], alpha * (0.25 + 0.75 * share));
        context.beginPath();
        if (label % 2) context.rect(px - radius * 0.9, py - radius * 0.9, 1.8 * radius, 1.8 * radius);
        else context.arc(px, py, radius, 0, 2 * Math.PI);
        context.fill();
      }
    };
    if (features === 2) paint(test, 0.35);
    paint(train, 0.95);
  }

  /* ---------------------------------------------------------------- one input */

  /** Figure 2: the function, and below it the breakpoints as they went from frame to frame, the newest on top. */
  private drawFunction(how: Drawing): void {
    const { context, canvas, frame } = this;
    const { window: w, x, y, test } = this.dataset as Dataset;
    const unit = this.size() / 300;
    const strip = canvas.height * 0.26;
    context.strokeStyle = how.theme.muted;
    context.lineWidth = 1.2 * unit;
    context.setLineDash([4 * unit, 3 * unit]);
    context.beginPath();
    for (let i = 0; i < test.length; i++) {
      const [px, py] = this.place(x[test[i]], y[test[i]]);
      if (i) context.lineTo(px, py * 0.72);
      else context.moveTo(px, py * 0.72);
    }
    context.stroke();
    context.setLineDash([]);
    if (frame?.curve) {
      context.strokeStyle = how.theme.pick;
      context.lineWidth = 2.4 * unit;
      context.lineJoin = 'round';
      context.beginPath();
      for (let i = 0; i < CURVE; i++) {
        const [px, py] = this.place(w[0] + ((w[1] - w[0]) * i) / (CURVE - 1), frame.curve[i]);
        const at = Math.max(-canvas.height, Math.min(canvas.height * 0.74, py * 0.72));
        if (i) context.lineTo(px, at);
        else context.moveTo(px, at);
      }
      context.stroke();
    }
    if (how.points) {
      context.save();
      context.scale(1, 0.72);
      this.drawPoints(how);
      context.restore();
    }
    const top = canvas.height - strip;
    context.fillStyle = how.theme.paper;
    context.fillRect(0, top, canvas.width, strip);
    context.strokeStyle = how.theme.grid;
    context.lineWidth = unit;
    context.strokeRect(-1, top, canvas.width + 2, strip + 2);
    this.drawBreakpoints(how, top + 5 * unit, strip - 5 * unit, unit);
  }

  private drawBreakpoints(how: Drawing, top: number, height: number, unit: number): void {
    const { context } = this;
    const frames = how.trails ? this.trail : this.trail.slice(-1);
    const newest = frames[frames.length - 1];
    if (!newest) return;
    const at = (line: Float64Array, j: number) => -line[LINE * j + 2] / line[LINE * j];
    const trace = (j: number) => {
      for (let i = frames.length - 1; i >= 0; i--) {
        const [px] = this.place(at(frames[i], j), 0);
        const py = top + ((frames.length - 1 - i) / (TRAIL - 1)) * height;
        if (i === frames.length - 1) context.moveTo(px, top - 4 * unit);
        context.lineTo(Math.max(-1e5, Math.min(1e5, px)), py);
      }
    };
    const stroke = (colour: string, alpha: number, width: number, units: number[]) => {
      context.strokeStyle = colour;
      context.globalAlpha = alpha;
      context.lineWidth = width * unit;
      for (const j of units) {
        context.beginPath();
        trace(j);
        context.stroke();
      }
    };
    const now = performance.now();
    for (const [j, { at: when }] of this.flashes) if (now - when > FLASH) this.flashes.delete(j);
    const all = Array.from({ length: newest.length / LINE }, (_, j) => j);
    stroke(
      how.theme.ink,
      0.28,
      1,
      all.filter(j => !this.flashes.has(j)),
    );
    stroke(
      how.theme.flash,
      0.8,
      1,
      all.filter(j => this.flashes.has(j)),
    );
    if (this.picked?.layer === 0) stroke(how.theme.pick, 1, 2.5, [this.picked.unit]);
    if (this.shaken) {
      context.strokeStyle = how.theme.flash;
      context.globalAlpha = 0.9;
      context.lineWidth = 1.4 * unit;
      context.beginPath();
      for (let j = 0; j < this.shaken.length / LINE; j++) {
        const [px] = this.place(at(this.shaken, j), 0);
        context.moveTo(px, top - 4 * unit);
        context.lineTo(px, top + 10 * unit);
      }
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  /* ---------------------------------------------------------------- units */

  /** The unit whose boundary is nearest to the pointer, within 10 pixels. */
  nearest(event: { clientX: number; clientY: number }): Unit | null {
    const lines = this.trail[this.trail.length - 1];
    if (!this.dataset || !lines) return null;
    const rect = this.canvas.getBoundingClientRect();
    const scale = this.canvas.width / rect.width;
    const x = (event.clientX - rect.left) * scale;
    const y = (event.clientY - rect.top) * scale;
    let best = 10 * scale;
    let found: Unit | null = null;
    const consider = (ends: [number, number, number, number] | null, layer: number, unit: number) => {
      if (!ends) return;
      const away = this.dataset?.features === 1 ? Math.abs(ends[0] - x) : distance(x, y, ends);
      if (away < best) {
        best = away;
        found = { layer, unit };
      }
    };
    for (let j = 0; j < lines.length / LINE; j++)
      consider(this.ends(lines[LINE * j], lines[LINE * j + 1], lines[LINE * j + 2]), 0, j);
    const edges = this.frame?.edges ?? new Float64Array(0);
    for (let i = 0; i < edges.length; i += EDGE)
      if (edges[i + 4] > 0)
        consider(
          [...this.place(edges[i], edges[i + 1]), ...this.place(edges[i + 2], edges[i + 3])],
          edges[i + 4],
          edges[i + 5],
        );
    return found;
  }

  /** A line of the newest frame, and how far it turned and moved over the trail. */
  describe(unit: number): { line: Float64Array; turned: number; moved: number; frames: number } | null {
    const last = this.trail[this.trail.length - 1];
    if (!last || LINE * unit >= last.length) return null;
    let turned = 0;
    let moved = 0;
    for (let i = 1; i < this.trail.length; i++) {
      const [a, b, c] = this.trail[i - 1].subarray(LINE * unit, LINE * unit + 3);
      const [d, e, f] = this.trail[i].subarray(LINE * unit, LINE * unit + 3);
      turned = Math.max(turned, (Math.abs(Math.atan2(a * e - b * d, a * d + b * e)) * 180) / Math.PI);
      moved = Math.max(moved, Math.hypot(a * c - d * f, b * c - e * f));
    }
    return { line: last.subarray(LINE * unit, LINE * (unit + 1)), turned, moved, frames: this.trail.length };
  }

  get units(): number {
    return (this.trail[this.trail.length - 1]?.length ?? 0) / LINE;
  }

  /** What an SVG file needs of the picture: lines and bent edges on a canvas of the given side. */
  vectors(side: number): { lines: number[][]; edges: number[][]; image: string } {
    const factor = side / this.size();
    const scaled = (ends: number[]) => ends.map(v => Number((v * factor).toFixed(2)));
    const lines: number[][] = [];
    const last = this.trail[this.trail.length - 1] ?? new Float64Array(0);
    for (let i = 0; i < last.length; i += LINE) {
      const ends = this.ends(last[i], last[i + 1], last[i + 2]);
      if (ends) lines.push(scaled(ends));
    }
    const edges: number[][] = [];
    const from = this.frame?.edges ?? new Float64Array(0);
    for (let i = 0; i < from.length; i += EDGE)
      if (from[i + 4] > 0)
        edges.push(scaled([...this.place(from[i], from[i + 1]), ...this.place(from[i + 2], from[i + 3])]));
    return { lines, edges, image: this.frame?.image ? this.surface.toDataURL('image/png') : '' };
  }

  /** The data's points on a canvas of the given side: x, y, class. */
  pointsAt(side: number): [number, number, number][] {
    const factor = side / this.size();
    const { x, y, features } = this.dataset as Dataset;
    return Array.from(y, (label, i) => {
      const [px, py] = this.place(x[features * i], features === 1 ? y[i] : x[features * i + 1]);
      return [px * factor, py * factor, label];
    });
  }
}

function distance(x: number, y: number, [ax, ay, bx, by]: [number, number, number, number]): number {
  const dx = bx - ax;
  const dy = by - ay;
  const along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - ax - along * dx, y - ay - along * dy);
}
