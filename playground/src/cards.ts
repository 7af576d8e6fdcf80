// SPDX-License-Identifier: MIT
// The methods side by side: a picture each, and its numbers.
import { methodColour, type Theme } from './colours';
import { degrees, element, short } from './dom';
import { type Drawing, Picture, type Unit } from './picture';
import { methodAbout, methodName } from './state';
import type { Dataset, Frame, Method, Settings } from './types';

export interface CardEvents {
  hover(card: number, unit: Unit | null): void;
  pick(card: number, unit: Unit | null): void;
  draw(card: number, place: [number, number]): void;
  isDrawing(): boolean;
}

const BELOW = 155; // pixels of a card around its picture
const TEXT_EVERY = 90; // milliseconds: numbers that change faster cannot be read
const TEXT_FROM = 5; // steps
const BIG_MOVE = 2; // of a breakpoint, in units of x
const BIG_TURN = 20; // degrees: shown in the colour of jumps

class Card {
  readonly root: HTMLElement;
  readonly picture: Picture;
  private readonly badge = element('p', { className: 'badge', hidden: true });
  private readonly turn = element('b');
  private readonly values: Record<string, HTMLElement> = {};
  private said = '';
  private toldAt = 0;

  constructor(
    private readonly method: Method,
    colour: string,
    regression: boolean,
    private readonly flat: boolean, // one input
    private readonly index: number,
    events: CardEvents,
  ) {
    const name = methodName(method);
    const swatch = element('span', { className: 'swatch' });
    swatch.style.background = colour;
    const canvas = element('canvas', { tabIndex: 0 });
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', `${name}: boundaries of the hidden units`);
    this.picture = new Picture(canvas);
    const stats = element('dl');
    const add = (key: string, label: string, title: string) => {
      this.values[key] = element('dd', {}, '–');
      const entry = element('div', { title }, element('dt', {}, label), this.values[key]);
      entry.dataset.key = key;
      stats.append(entry);
    };
    add('loss', 'Loss', 'loss on the training points');
    add(
      'score',
      regression ? 'Test error' : 'Accuracy',
      regression ? 'RMSE on the test points' : 'on the test points',
    );
    add(
      'jumps',
      'Jumps',
      flat
        ? 'steps since the start in which a breakpoint moved by more than 5 % of the width'
        : 'steps since the start in which a line turned by more than 12 degrees',
    );
    if (!flat) add('regions', 'Regions', 'linear regions in the picture');
    add('dead', 'Dead', 'units that are active for no training point');
    this.root = element(
      'article',
      { className: 'card' },
      element('h2', {}, swatch, name, element('small', { textContent: methodAbout(method) })),
      element('div', { className: 'frame' }, canvas, this.badge),
      element(
        'p',
        { className: 'turn', title: 'in one step since the start, over all units' },
        element('span', { textContent: `Largest ${flat ? 'move' : 'turn in one step'}` }),
        this.turn,
      ),
      stats,
    );
    this.listen(canvas, events);
  }

  private listen(canvas: HTMLCanvasElement, events: CardEvents): void {
    let down = false;
    canvas.addEventListener('pointermove', event => {
      if (events.isDrawing()) {
        if (down) events.draw(this.index, this.picture.placeOf(event));
      } else events.hover(this.index, this.picture.nearest(event));
    });
    canvas.addEventListener('pointerdown', event => {
      down = true;
      if (events.isDrawing()) events.draw(this.index, this.picture.placeOf(event));
      else events.pick(this.index, this.picture.nearest(event));
    });
    canvas.addEventListener('pointerleave', () => {
      down = false;
      events.hover(this.index, null);
    });
    canvas.addEventListener('pointerup', () => {
      down = false;
    });
    canvas.addEventListener('keydown', event => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === 'Escape') events.pick(this.index, null);
      if (!by || !this.picture.units) return;
      event.preventDefault();
      const now = this.picture.picked?.layer === 0 ? this.picture.picked.unit : by > 0 ? -1 : 0;
      events.pick(this.index, { layer: 0, unit: (now + by + this.picture.units) % this.picture.units });
    });
  }

  show(frame: Frame, k: number, largestTurn: number, largestMove: number, playing: boolean): void {
    const method = frame.methods[k];
    this.picture.take(method, frame.step);
    const now = performance.now();
    if (frame.step > TEXT_FROM && now - this.toldAt < TEXT_EVERY && playing) return;
    this.toldAt = now;
    const set = (key: string, text: string) => {
      if (this.values[key] && this.values[key].textContent !== text) this.values[key].textContent = text;
    };
    const followed = method.lines.length > 0 || method.diverged !== '';
    const score = Number.isFinite(method.score) ? method.score : Number.NaN;
    set('loss', method.diverged ? 'diverged' : short(method.trainLoss));
    set('score', short(score));
    set('jumps', followed ? String(this.picture.jumps) : '–');
    set('regions', method.tooMany ? '> 1000' : method.regions >= 0 ? String(method.regions) : '–');
    set('dead', method.dead >= 0 ? String(method.dead) : '–');
    const largest = this.flat ? short(largestMove, 2) : degrees(largestTurn);
    const turn = frame.step && followed ? largest : '–';
    if (this.turn.textContent !== turn) this.turn.textContent = turn;
    this.turn.classList.toggle('big', this.flat ? largestMove >= BIG_MOVE : largestTurn >= BIG_TURN);
    this.mark(method.diverged ? 'diverged' : followed ? '' : 'no lines');
    this.badge.title = method.diverged;
    const text = `${methodName(this.method)} after ${frame.step} steps: loss ${short(method.trainLoss)}, largest turn ${degrees(largestTurn)}`;
    if (frame.step % 50 === 0 && text !== this.said) {
      this.said = text;
      this.picture.canvas.setAttribute('aria-label', text);
    }
  }

  private mark(kind: '' | 'diverged' | 'no lines'): void {
    const text = {
      '': '',
      diverged: 'Diverged: the loss is no longer a number',
      'no lines': 'LN: the boundary depends on the sample, so there are no lines',
    }[kind];
    this.badge.hidden = !text;
    this.badge.classList.toggle('bad', kind === 'diverged');
    if (this.badge.textContent !== text) this.badge.textContent = text;
  }
}

export class Cards {
  private cards: Card[] = [];

  constructor(
    private readonly root: HTMLElement,
    private readonly events: CardEvents,
  ) {}

  begin(settings: Settings, dataset: Dataset, theme: Theme): void {
    const { methods } = settings;
    this.cards = methods.map(
      (method, k) =>
        new Card(
          method,
          methodColour(methods, k, theme.dark),
          dataset.task === 'regression',
          dataset.features === 1,
          k,
          this.events,
        ),
    );
    this.root.replaceChildren(...this.cards.map(card => card.root));
    this.root.dataset.count = String(methods.length);
    this.arrange();
    for (const card of this.cards) {
      card.picture.begin(dataset);
      card.picture.fit();
    }
  }

  /** As many columns as fit beside each other; pictures stay within the height of the screen. */
  arrange(): void {
    const count = this.cards.length;
    const width = this.root.parentElement?.clientWidth ?? 900;
    const columns = width < 560 ? Math.min(2, count) : Math.min(count, Math.max(2, Math.floor(width / 200)));
    const rows = Math.ceil(count / columns);
    const even = Math.ceil(count / rows);
    this.root.style.setProperty('--columns', String(even));
    const top = this.root.getBoundingClientRect().top + window.scrollY;
    const most = Math.max(300, Math.min(560, window.innerHeight - top - BELOW));
    this.root.style.setProperty('--cards-width', `${even * most + (even - 1) * 14}px`);
  }

  fit(): boolean {
    this.arrange();
    return this.cards.map(card => card.picture.fit()).some(Boolean);
  }

  show(frame: Frame, largestTurns: number[], largestMoves: number[], playing: boolean): void {
    this.cards.forEach((card, k) => {
      card.show(frame, k, largestTurns[k], largestMoves[k], playing);
    });
  }

  draw(how: Drawing): void {
    for (const card of this.cards) card.picture.draw(how);
  }

  get flashing(): boolean {
    return this.cards.some(card => card.picture.flashing);
  }

  get side(): number {
    return this.cards[0]?.picture.canvas.width ?? 300;
  }

  picture(k: number): Picture {
    return this.cards[k].picture;
  }

  get pictures(): Picture[] {
    return this.cards.map(card => card.picture);
  }
}
