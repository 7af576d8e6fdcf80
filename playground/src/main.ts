// SPDX-License-Identifier: MIT
// The page: state, controls, worker and pictures together.
import { Cards } from './cards';
import { Client, type Handlers, type Source } from './client';
import { DASHES, methodColour, paletteOf, TINTS, themeOf } from './colours';
import { Controls } from './controls';
import { byId, degrees, element, short } from './dom';
import type { Unit } from './picture';
import { Plots } from './plots';
import { methodOf, Replay, recordOf } from './replay';
import { Shake } from './shake';
import { decode, encode, methodName, type State } from './state';
import { STORIES, type Story } from './stories';
import { TakeHome } from './take';
import { Tour } from './tour';
import type { Dataset, Frame, Table, Tensor } from './types';

const PLOTS_EVERY = 120; // milliseconds
const PAINT_MOST = 260; // pixels of a side that the engine fills

export class App {
  state: State;
  dataset: Dataset | null = null;
  version = '';
  playing = false;
  step = 0;
  readonly client: Source;
  readonly cards: Cards;
  readonly plots: Plots;
  private readonly controls: Controls;
  private readonly shake: Shake;
  private readonly calm = matchMedia('(prefers-reduced-motion: reduce)');
  private readonly darkMedia = matchMedia('(prefers-color-scheme: dark)');
  private dark: boolean;
  private plotsAt = 0;
  private frames = 0;
  private redraw = true;
  private hovered: { card: number; unit: Unit } | null = null;
  private pinned: { card: number; unit: Unit } | null = null;
  private resume: boolean | null = null; // after a link: play or not
  drawn: Table = emptyTable();
  framesPerSecond = 0;

  constructor() {
    const fragment = location.hash.slice(1);
    this.state = decode(fragment);
    document.body.classList.toggle('embedded', window.self !== window.top);
    this.dark = this.darkMedia.matches;
    document.documentElement.dataset.theme = this.dark ? 'dark' : 'light';
    const handlers: Handlers = {
      ready: (dataset, version) => this.ready(dataset, version),
      frame: frame => this.take(frame),
      failed: message => this.failed(message),
    };
    const record = recordOf(byId('replay').textContent ?? '');
    this.client = record
      ? new Replay(record, handlers)
      : new Client(byId('worker').textContent ?? '', engineBytes(), handlers);
    this.cards = new Cards(byId('cards'), {
      hover: (card, unit) => this.hover(card, unit),
      pick: (card, unit) => this.pick(card, unit),
      draw: (_card, place) => this.controls.addPoint(place),
      isDrawing: () => this.state.settings.data === 'drawn',
    });
    this.plots = new Plots(byId('plots'));
    this.shake = new Shake(
      this.client,
      this.cards,
      () => this.theme,
      () => this.touch(),
    );
    this.controls = new Controls(this);
    new TakeHome(this);
    new Tour(this);
    this.listen();
    if (record) {
      document.body.classList.add('replay');
      this.state.settings.methods = [methodOf(record)];
      this.state.settings.hidden = [record.units];
      this.state.view.fill = 'none';
      byId('story-text').textContent =
        `Replay of ${record.run}: the boundaries of the first layer as they were recorded.`;
      this.start(!this.calm.matches);
    } else this.follow(!this.calm.matches);
    requestAnimationFrame(() => this.loop());
  }

  get theme() {
    return themeOf(this.dark);
  }

  private listen(): void {
    this.darkMedia.addEventListener('change', () => this.setTheme(this.darkMedia.matches));
    byId('theme').addEventListener('click', () => this.setTheme(!this.dark));
    window.addEventListener('hashchange', () => {
      if (location.hash.slice(1) !== encode(this.linkState())) this.follow(true);
    });
    new ResizeObserver(() => this.resize()).observe(byId('stage'));
    window.addEventListener('resize', () => this.resize());
    document.addEventListener('visibilitychange', () => this.send());
    document.addEventListener('keydown', event => {
      const target = event.target as HTMLElement;
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        target.matches('input, select, textarea, summary, button, a')
      )
        return;
      const action = {
        ' ': () => this.play(!this.playing),
        s: () => this.oneStep(),
        r: () => this.start(this.playing),
        n: () => this.reseed(),
      }[event.key.toLowerCase()];
      if (!action) return;
      event.preventDefault();
      action();
    });
  }

  /* ---------------------------------------------------------------- training */

  /** What the address asks for: a preset by its id, or a whole state; the first preset without a fragment. */
  private follow(playing: boolean): void {
    const fragment = location.hash.slice(1);
    const id = new URLSearchParams(fragment).get('preset');
    const story = STORIES.find(s => s.id === (fragment ? id : STORIES[0].id));
    byId<HTMLAnchorElement>('whole').href = location.href;
    if (story) this.applyStory(story, playing);
    else {
      this.state = decode(fragment);
      this.start(playing && !this.state.at);
    }
  }

  /** A new training with the settings of the state. */
  start(playing: boolean): void {
    this.message('');
    this.playing = false;
    this.client.play(false, this.state.view.speed);
    this.resume = playing;
    this.step = 0;
    const { settings } = this.state;
    const table = settings.data === 'drawn' || settings.data === 'csv' ? this.state.table : null;
    if ((settings.data === 'drawn' || settings.data === 'csv') && !table) {
      this.controls.show();
      this.showEmpty();
      return;
    }
    this.client.start(settings, table);
    this.controls.show();
  }

  /** No data yet: an empty picture to draw into. */
  private showEmpty(): void {
    this.client.play(false, 0);
    this.dataset = {
      x: new Float64Array(this.drawn.x),
      y: new Float64Array(this.drawn.y),
      features: 2,
      task: 'binary',
      train: Uint32Array.from(this.drawn.y.map((_, i) => i)),
      test: new Uint32Array(0),
      names: this.drawn.names,
      classes: this.drawn.classes,
      window: [-1, 1, -1, 1],
    };
    this.cards.begin(this.state.settings, this.dataset, this.theme);
    this.showPlaying();
    this.touch();
  }

  private ready(dataset: Dataset, version: string): void {
    this.dataset = dataset;
    byId('lead-data').textContent = leadOf(dataset);
    this.version = version;
    byId('version').textContent = version;
    const { settings, rates, at } = this.state;
    if (settings.data === 'drawn') dataset.window = [-1, 1, -1, 1];
    document.body.classList.toggle('one-input', dataset.features === 1);
    this.cards.begin(settings, dataset, this.theme);
    this.plots.begin(settings.methods, dataset.task, this.theme);
    this.shake.begin(settings.methods);
    this.pinned = this.hovered = null;
    byId('unit').hidden = true;
    this.legend();
    this.look();
    this.controls.ready();
    if (at > 0) {
      this.client.setRates(rates);
      this.message(`Training to step ${at.toLocaleString('en')} …`);
      this.client.ask({ what: 'goto', step: at }).then(() => {
        this.message('');
        this.state.at = 0; // it is there: a restart begins anew
        this.controls.show();
        this.client.frame();
      });
    } else {
      this.state.rates = [];
      this.play(this.resume ?? false);
    }
    this.client.frame();
    for (const act of this.readyCalls.splice(0)) act();
  }

  play(playing: boolean): void {
    this.playing = playing;
    if (playing) {
      this.shake.switch(false);
      this.state.at = 0;
    }
    this.send();
    this.showPlaying();
  }

  private send(): void {
    this.client.play(this.playing && !document.hidden, this.state.view.speed);
  }

  private showPlaying(): void {
    const button = byId('play');
    button.textContent = this.playing ? 'Pause' : 'Play';
    button.setAttribute('aria-pressed', String(this.playing));
  }

  oneStep(): void {
    if (this.playing) this.play(false);
    this.client.step(1);
    this.client.frame();
    this.touch();
  }

  reseed(): void {
    this.state.settings.seed = Math.floor(Math.random() * 100000);
    this.clearStory();
    this.start(true);
  }

  setRate(lr: number): void {
    this.state.rates = this.step
      ? [...this.state.rates.filter(([at]) => at < this.step), [this.step, lr]]
      : [];
    if (!this.step) this.state.settings.lr = lr;
    this.client.setRate(lr);
  }

  get rate(): number {
    const { rates, settings } = this.state;
    return rates.length ? rates[rates.length - 1][1] : settings.lr;
  }

  applyStory(story: Story, playing: boolean, more?: Partial<Story>): void {
    const usual = decode('');
    this.state.settings = structuredClone({ ...usual.settings, ...story.settings, ...more?.settings });
    this.state.view = { ...usual.view, ...story.view, ...more?.view };
    this.state.table = null;
    this.state.rates = [];
    this.state.at = 0;
    byId<HTMLSelectElement>('story').value = story.id;
    byId('story-text').textContent = more ? '' : story.text;
    const open = more ? more.open : story.open;
    const panel = byId<HTMLDetailsElement>('panel-shake');
    panel.open = open === 'shake';
    if (open !== 'shake') byId('panel-take').before(panel);
    else if (matchMedia('(max-width: 1020px)').matches)
      byId('cards').after(panel); // the panels are far below
    else byId('panels').prepend(panel);
    this.start(playing && open !== 'shake');
    if (open === 'shake') this.whenReady(() => this.shakeNow());
  }

  private readyCalls: (() => void)[] = [];

  /** Once, when the next training is there. */
  whenReady(act: () => void): void {
    this.readyCalls.push(act);
  }

  private shakeNow(): void {
    this.shake.switch(true);
  }

  clearStory(): void {
    byId<HTMLSelectElement>('story').value = '';
    byId('story-text').textContent = '';
  }

  /* ---------------------------------------------------------------- frames */

  private loop(): void {
    requestAnimationFrame(() => this.loop());
    if (document.hidden || !this.dataset) return;
    if (this.playing || this.state.at) this.client.frame();
    if (this.redraw || this.cards.flashing) {
      this.redraw = false;
      this.cards.draw({
        theme: this.theme,
        trails: this.state.view.trails,
        points: this.state.view.points,
        calm: this.calm.matches,
        flashing: true,
      });
      this.frames++;
    }
    const now = performance.now();
    if (now - this.plotsAt > PLOTS_EVERY) {
      if (now - this.plotsAt < 400) this.framesPerSecond = (this.frames * 1000) / (now - this.plotsAt);
      this.frames = 0;
      this.plotsAt = now;
      this.plots.draw();
      if (this.pinned) this.describe(this.pinned.card, this.pinned.unit);
    }
  }

  touch(): void {
    this.redraw = true;
  }

  private take(frame: Frame): void {
    this.step = frame.step;
    this.plots.take(frame);
    this.cards.show(frame, this.plots.largestTurn, this.plots.largestMove, this.playing);
    byId('steps').textContent = frame.step.toLocaleString('en');
    byId('steps-word').textContent = frame.step === 1 ? 'step' : 'steps';
    byId('counter').title = `epoch ${frame.epoch.toLocaleString('en')}`;
    byId('rate').textContent =
      this.playing && frame.stepsPerSecond > 0
        ? `· ${Math.round(frame.stepsPerSecond).toLocaleString('en')}/s`
        : '';
    this.touch();
  }

  private failed(message: string): void {
    this.playing = false;
    this.showPlaying();
    this.message(message);
  }

  message(text: string): void {
    const box = byId('message');
    box.textContent = text;
    box.hidden = !text;
  }

  /** Tells the worker how to paint. */
  look(): void {
    const { dataset } = this;
    if (!dataset) return;
    const outputs = dataset.task === 'classes' ? dataset.classes.length : 1;
    const low = dataset.y.reduce((a, b) => Math.min(a, b), Infinity);
    const high = dataset.y.reduce((a, b) => Math.max(a, b), -Infinity);
    const paint = paletteOf(this.theme, dataset.task, outputs, [low, high]);
    this.client.look({
      ...paint,
      tints: TINTS,
      size: Math.min(PAINT_MOST, this.cards.side),
      fill: this.state.view.fill,
    });
    this.client.frame();
  }

  private resize(): void {
    if (this.cards.fit()) this.look();
    this.plots.resize();
    this.touch();
  }

  private setTheme(dark: boolean): void {
    this.dark = dark;
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    if (this.dataset) this.plots.build(this.dataset.task, this.theme);
    this.legend();
    this.controls.show();
    this.look();
    this.shake.update();
    this.touch();
  }

  private legend(): void {
    const { methods } = this.state.settings;
    byId('legend').replaceChildren(
      ...methods.map((method, k) => {
        const svg = `<svg viewBox="0 0 34 8" aria-hidden="true"><path d="M0 4H34" stroke="${methodColour(methods, k, this.dark)}" stroke-width="2.5" stroke-dasharray="${DASHES[k % DASHES.length].join(' ')}"/></svg>`;
        const item = element('span', {}, methodName(method));
        item.insertAdjacentHTML('afterbegin', svg);
        return item;
      }),
    );
  }

  /* ---------------------------------------------------------------- one unit */

  private hover(card: number, unit: Unit | null): void {
    this.hovered = unit ? { card, unit } : null;
    this.highlight();
  }

  private pick(card: number, unit: Unit | null): void {
    this.pinned = unit ? { card, unit } : null;
    this.highlight();
  }

  /** The same unit is marked in all pictures: it began at the same place. */
  private highlight(): void {
    const shown = this.hovered ?? this.pinned;
    for (const picture of this.cards.pictures) picture.picked = shown?.unit ?? null;
    if (shown) this.describe(shown.card, shown.unit);
    else byId('unit').hidden = true;
    this.touch();
  }

  private describing = false;

  private async describe(card: number, unit: Unit): Promise<void> {
    if (this.describing) return;
    this.describing = true;
    try {
      const tensors = await this.client.ask<Tensor[]>({ what: 'tensors', method: card });
      if (this.hovered ?? this.pinned) this.showUnit(card, unit, tensors);
    } catch {
      // The training was replaced meanwhile.
    } finally {
      this.describing = false;
    }
  }

  private showUnit(card: number, unit: Unit, tensors: Tensor[]): void {
    const box = byId('unit');
    const path = `layers.${unit.layer}.`;
    const list = element('dl');
    const put = (name: string, value: string) =>
      list.append(
        element('div', {}, element('dt', { textContent: name }), element('dd', { textContent: value })),
      );
    const about = unit.layer === 0 ? this.cards.picture(card).describe(unit.unit) : null;
    if (about) {
      const [a, b, c, , share, state] = about.line;
      put('Direction', degrees(((Math.atan2(b, a) * 180) / Math.PI + 360) % 360));
      put('Distance from the origin', short(Math.abs(c)));
      if (Number.isFinite(share))
        put(
          'Active for',
          `${Math.round(100 * share)} % of the training points${state === 2 ? ' (dead)' : ''}`,
        );
      put(`Largest turn, last ${about.frames} frames`, degrees(about.turned));
      put(`Largest move, last ${about.frames} frames`, short(about.moved));
    }
    for (const tensor of tensors) {
      if (!tensor.name.startsWith(path) || !tensor.learned) continue;
      const width = tensor.values.length / tensor.shape[0];
      const row = tensor.values.subarray(unit.unit * width, (unit.unit + 1) * width);
      const shown = Array.from(row.subarray(0, 4), v => short(v)).join(', ');
      put(tensor.name.slice(path.length), row.length > 4 ? `${shown}, … (${row.length})` : shown);
    }
    const name = methodName(this.state.settings.methods[card]);
    box.replaceChildren(
      element('b', {
        textContent: `${name}, ${this.state.settings.hidden.length > 1 ? `layer ${unit.layer + 1}, ` : ''}unit ${unit.unit + 1}`,
      }),
      list,
    );
    box.hidden = false;
  }

  /* ---------------------------------------------------------------- links */

  linkState(): State {
    return { ...this.state, at: this.playing ? 0 : this.step, rates: this.playing ? [] : this.state.rates };
  }

  link(): string {
    return `${location.href.split('#')[0]}#${encode(this.linkState())}`;
  }
}

function emptyTable(): Table {
  return { x: [], y: [], features: 2, task: 'binary', names: ['x1', 'x2', 'class'], classes: ['0', '1'] };
}

function engineBytes(): Uint8Array<ArrayBuffer> {
  const text = atob(byId('engine').textContent ?? '');
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

(window as unknown as { app: App }).app = new App();

/** The first sentences of the page: the task, and the meaning of the lines. */
function leadOf({ features, task, classes }: Dataset): string {
  if (features === 1)
    return 'Small networks learn a function of one input. The lines in the strip below each picture mark where hidden units switch on.';
  const lines = 'Each line marks where one hidden unit switches on.';
  if (task === 'regression') return `Small networks learn the value of each point. ${lines}`;
  const what = classes.length === 2 ? 'orange from purple points' : `${classes.length} classes of points`;
  return `Small networks learn to tell ${what}${classes.length === 2 ? '' : ' apart'}. ${lines}`;
}
