// SPDX-License-Identifier: MIT
// Buttons, sliders and menus. Those of the bar act on the running training, those of the panels start a new one.
import { methodColour } from './colours';
import { guess, isNumeric, parseCsv, type Sheet, tableOf } from './csv';
import { FACTS } from './data';
import { byId, element, fillSelect, short } from './dom';
import type { App } from './main';
import { LR_LEAST, LR_MOST, SPEEDS } from './state';
import { STORIES } from './stories';
import {
  ACTS,
  DATA,
  type DataKind,
  type Fill,
  INITS,
  type Method,
  NORMS,
  type Norm,
  OPTIMIZERS,
  PARAMS,
  type Param,
  type Settings,
  type Table,
} from './types';

const PARAM_TEXT: Record<Param, string> = { sp: 'SP', wn: 'WN', gmp: 'GmP', sphere: 'Sphere' };
const BATCHES = [8, 32, 128, 512, 0];
const DECAYS = [0, 1e-5, 1e-4, 1e-3, 1e-2];
const MOST_METHODS = 5;
const MOST_BYTES = 20_000_000;
const NEXT: Method[] = [
  { param: 'wn', norm: 'none' },
  { param: 'sp', norm: 'bn' },
  { param: 'sphere', norm: 'none' },
  { param: 'gmp', norm: 'imn' },
  { param: 'gmp', norm: 'none' },
  { param: 'sp', norm: 'none' },
];

export class Controls {
  private sheet: Sheet | null = null;

  constructor(private readonly app: App) {
    const speeds = SPEEDS.map(
      s => [String(s), s ? `${s.toLocaleString('en')} steps/s` : 'as fast as possible'] as [string, string],
    );
    fillSelect(byId('speed'), speeds, '30');
    fillSelect(
      byId('story'),
      [['', 'own settings'], ...STORIES.map(s => [s.id, s.name] as [string, string])],
      '',
    );
    fillSelect(
      byId('data'),
      DATA.map(d => [d, FACTS[d].name]),
      'crescents',
    );
    fillSelect(
      byId('act'),
      ACTS.map(a => [a, a.replace('_', ' ')]),
      'relu',
    );
    const inits: Record<string, string> = {
      default: 'usual of each method',
      paper: 'paper (r = 1)',
      glorot: 'Glorot',
      he: 'He',
    };
    fillSelect(
      byId('init'),
      INITS.map(i => [i, inits[i]]),
      'default',
    );
    fillSelect(
      byId('optimizer'),
      OPTIMIZERS.map(o => [
        o,
        { adam: 'Adam', sgd: 'SGD, momentum 0.9', rmsprop: 'RMSprop', lion: 'Lion' }[o],
      ]),
      'adam',
    );
    fillSelect(
      byId('batch'),
      BATCHES.map(b => [String(b), b ? String(b) : 'all points']),
      '32',
    );
    fillSelect(
      byId('decay'),
      DECAYS.map(d => [String(d), d ? String(d) : 'none']),
      '0',
    );
    this.bar();
    this.panels();
    this.table();
  }

  private get settings(): Settings {
    return this.app.state.settings;
  }

  /** Another start: the story no longer describes it. */
  private change(set: (settings: Settings) => void): void {
    set(this.settings);
    this.app.state.at = 0;
    this.app.clearStory();
    this.app.start(this.app.playing);
  }

  private bar(): void {
    const { app } = this;
    byId('play').addEventListener('click', () => app.play(!app.playing));
    byId('step').addEventListener('click', () => app.oneStep());
    byId('restart').addEventListener('click', () => {
      app.state.at = 0;
      app.start(true);
    });
    byId('reseed').addEventListener('click', () => app.reseed());
    byId<HTMLSelectElement>('speed').addEventListener('change', event => {
      app.state.view.speed = Number((event.target as HTMLSelectElement).value);
      app.play(app.playing);
    });
    byId<HTMLInputElement>('lr').addEventListener('input', event => {
      const lr = Number((10 ** Number((event.target as HTMLInputElement).value)).toPrecision(2));
      app.setRate(lr);
      byId('lr-value').textContent = short(lr, 2);
    });
    byId<HTMLSelectElement>('story').addEventListener('change', event => {
      const story = STORIES.find(s => s.id === (event.target as HTMLSelectElement).value);
      if (story) app.applyStory(story, true);
    });
  }

  private panels(): void {
    const { app } = this;
    const on = (id: string, kind: string, act: (value: string) => void) =>
      byId(id).addEventListener(kind, event => act((event.target as HTMLInputElement).value));
    const choose = <K extends keyof Settings>(id: string, key: K, read: (value: string) => Settings[K]) =>
      on(id, 'change', value => this.change(s => Object.assign(s, { [key]: read(value) })));
    choose('act', 'act', v => v as Settings['act']);
    choose('init', 'init', v => v as Settings['init']);
    choose('optimizer', 'optimizer', v => v as Settings['optimizer']);
    choose('batch', 'batch', Number);
    choose('decay', 'decay', Number);
    choose('dtype', 'dtype', v => v as Settings['dtype']);
    choose('seed', 'seed', v => Math.max(0, Math.min(4294967295, Math.round(Number(v)) || 0)));
    choose('rows', 'rows', v => Math.max(10, Math.min(5300, Math.round(Number(v)) || 10)));
    choose('noise', 'noise', Number);
    on('noise', 'input', value => {
      byId('noise-value').textContent = value;
    });
    on('depth', 'input', value =>
      this.change(s => {
        s.hidden = Array.from({ length: Number(value) }, () => s.hidden[0]);
      }),
    );
    on('width', 'input', value => {
      byId('width-value').textContent = value;
    });
    on('width', 'change', value =>
      this.change(s => {
        s.hidden = s.hidden.map(() => Number(value));
      }),
    );
    on('data', 'change', value => this.setData(value as DataKind));
    on('fill', 'change', value => {
      app.state.view.fill = value as Fill;
      app.look();
    });
    for (const key of ['trails', 'points'] as const)
      byId<HTMLInputElement>(key).addEventListener('change', event => {
        app.state.view[key] = (event.target as HTMLInputElement).checked;
        app.touch();
      });
    byId('add').addEventListener('click', () => {
      const has = (m: Method) => this.settings.methods.some(o => o.param === m.param && o.norm === m.norm);
      const next = NEXT.find(m => !has(m)) ?? NEXT[0];
      this.change(s => {
        s.methods = [...s.methods, { ...next }];
      });
    });
    byId('draw-clear').addEventListener('click', () => {
      app.drawn.x = [];
      app.drawn.y = [];
      app.state.table = null;
      app.start(false);
    });
  }

  private setData(kind: DataKind): void {
    const { app } = this;
    if (kind === 'csv' && !app.state.table) {
      // The training goes on until a table is chosen.
      byId('csv-tools').hidden = false;
      byId('draw-tools').hidden = true;
      byId('data-about').textContent = FACTS.csv.about;
      return;
    }
    this.change(s => {
      s.data = kind;
      if (FACTS[kind].rows) s.rows = FACTS[kind].rows;
      if (FACTS[kind].noise >= 0) s.noise = FACTS[kind].noise;
      if (kind === 'levy') {
        s.batch = 0;
        s.init = 'glorot';
        s.hidden = [Math.max(50, s.hidden[0])];
      }
      if (kind === 'drawn') app.state.table = enough(app.drawn) ? app.drawn : null;
    });
  }

  /* ---------------------------------------------------------------- points of the visitor */

  addPoint([x, y]: [number, number]): void {
    const { app } = this;
    const { drawn } = app;
    const label = Number(
      (document.querySelector('input[name="draw-class"]:checked') as HTMLInputElement).value,
    );
    const n = drawn.y.length;
    if (n && Math.hypot(drawn.x[2 * n - 2] - x, drawn.x[2 * n - 1] - y) < 0.03) return;
    if (n >= 500) return;
    drawn.x.push(Number(x.toPrecision(6)), Number(y.toPrecision(6)));
    drawn.y.push(label);
    app.state.table = enough(drawn) ? drawn : null;
    app.start(enough(drawn));
  }

  private table(): void {
    const text = byId<HTMLTextAreaElement>('csv-text');
    text.addEventListener('input', () => this.takeText(text.value));
    byId<HTMLInputElement>('csv-file').addEventListener('change', event => {
      const file = (event.target as HTMLInputElement).files?.[0];
      if (file) this.takeFile(file);
    });
    byId('csv-use').addEventListener('click', () => this.useTable());
    for (const kind of ['dragover', 'dragleave', 'drop'] as const)
      document.addEventListener(kind, event => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        document.body.classList.toggle('dropping', kind === 'dragover');
        const file = event.dataTransfer.files[0];
        if (kind === 'drop' && file) this.takeFile(file);
      });
  }

  private takeFile(file: File): void {
    byId<HTMLDetailsElement>('panel-data').open = true;
    byId<HTMLSelectElement>('data').value = 'csv';
    byId('csv-tools').hidden = false;
    if (file.size > MOST_BYTES) {
      this.say(
        `${file.name}: the file is larger than 20 MB. Train on it with: spherelu train --data ${file.name}`,
      );
      return;
    }
    file.text().then(
      text => this.takeText(text, file.name),
      () => this.say(`${file.name}: the file cannot be read.`),
    );
  }

  takeText(text: string, name = ''): void {
    const columns = byId('csv-columns');
    try {
      const sheet = parseCsv(text);
      this.sheet = sheet;
      const options = sheet.names.map((n, i) => [String(i), n] as [string, string]);
      const numeric = options.filter((_, i) => isNumeric(sheet, i));
      if (!numeric.length) throw new Error('The table has no column of numbers.');
      const { x, y, target } = guess(sheet);
      fillSelect(byId('csv-x'), numeric, String(x));
      fillSelect(byId('csv-y'), [...numeric, ['-1', 'none: one feature']], String(y));
      fillSelect(byId('csv-target'), options, String(target));
      columns.hidden = false;
      this.say(
        `${name ? `${name}: ` : ''}${sheet.rows.length.toLocaleString('en')} rows, ${sheet.names.length} columns.`,
      );
    } catch (error) {
      this.sheet = null;
      columns.hidden = true;
      this.say(`${name ? `${name}: ` : ''}${(error as Error).message}`);
    }
  }

  private useTable(): void {
    if (!this.sheet) return;
    const column = (id: string) => Number(byId<HTMLSelectElement>(id).value);
    try {
      const table = tableOf(this.sheet, column('csv-x'), column('csv-y'), column('csv-target'));
      this.app.state.table = table;
      this.change(s => {
        s.data = 'csv';
        s.rows = Math.max(10, table.y.length);
      });
      this.app.play(true);
      const all = this.sheet.rows.length;
      const rows = table.y.length.toLocaleString('en');
      this.say(
        `Training on ${all > table.y.length ? `${rows} of ${all.toLocaleString('en')} rows, evenly spaced` : `${rows} rows`}: ${table.task === 'regression' ? 'regression' : `${table.classes.length} classes`}.`,
      );
    } catch (error) {
      this.say((error as Error).message);
    }
  }

  private say(text: string): void {
    byId('csv-message').textContent = text;
  }

  /* ---------------------------------------------------------------- showing the state */

  show(): void {
    const { app } = this;
    const { settings: s, view: v } = app.state;
    const set = (id: string, value: string | number) => {
      byId<HTMLInputElement>(id).value = String(value);
    };
    this.ensureOption('speed', v.speed, `${v.speed} steps/s`);
    this.ensureOption('batch', s.batch, String(s.batch));
    this.ensureOption('decay', s.decay, String(s.decay));
    set('speed', v.speed);
    set('lr', Math.log10(Math.max(LR_LEAST, Math.min(LR_MOST, app.rate))));
    byId('lr-value').textContent = short(app.rate, 2);
    set('data', s.data);
    byId('data-about').textContent = FACTS[s.data].about;
    const own = s.data === 'drawn' || s.data === 'csv';
    byId('rows-field').hidden = own;
    byId('noise-field').hidden = FACTS[s.data].noise < 0;
    byId('draw-tools').hidden = s.data !== 'drawn';
    byId('csv-tools').hidden = s.data !== 'csv';
    set('rows', s.rows);
    set('noise', s.noise);
    byId('noise-value').textContent = short(s.noise);
    set('depth', s.hidden.length);
    byId('depth-value').textContent = String(s.hidden.length);
    set('width', s.hidden[0]);
    byId('width-value').textContent =
      [...new Set(s.hidden)].length > 1 ? s.hidden.join(', ') : String(s.hidden[0]);
    for (const key of ['act', 'init', 'optimizer', 'batch', 'decay', 'seed', 'dtype'] as const)
      set(key, s[key]);
    set('fill', v.fill);
    byId<HTMLInputElement>('trails').checked = v.trails;
    byId<HTMLInputElement>('points').checked = v.points;
    this.showMethods();
  }

  private ensureOption(id: string, value: number, text: string): void {
    const select = byId<HTMLSelectElement>(id);
    if (![...select.options].some(o => o.value === String(value)))
      select.append(element('option', { value: String(value), textContent: text }));
  }

  private showMethods(): void {
    const { methods } = this.settings;
    const dark = this.app.theme.dark;
    byId('methods').replaceChildren(
      ...methods.map((method, k) => {
        const swatch = element('span', { className: 'swatch' });
        swatch.style.background = methodColour(methods, k, dark);
        const param = element('select');
        param.setAttribute('aria-label', `Parameterization of method ${k + 1}`);
        fillSelect(
          param,
          PARAMS.map(p => [p, PARAM_TEXT[p]]),
          method.param,
        );
        const norm = element('select');
        norm.setAttribute('aria-label', `Normalization of method ${k + 1}`);
        fillSelect(
          norm,
          NORMS.map(n => [n, n === 'none' ? 'none' : n.toUpperCase()]),
          method.norm,
        );
        param.addEventListener('change', () =>
          this.change(s => {
            s.methods[k].param = param.value as Param;
          }),
        );
        norm.addEventListener('change', () =>
          this.change(s => {
            s.methods[k].norm = norm.value as Norm;
          }),
        );
        const remove = element('button', { type: 'button', textContent: '×', disabled: methods.length < 2 });
        remove.setAttribute('aria-label', `Remove method ${k + 1}`);
        remove.addEventListener('click', () =>
          this.change(s => {
            s.methods = s.methods.filter((_, i) => i !== k);
          }),
        );
        return element('div', { className: 'method-row' }, swatch, param, norm, remove);
      }),
    );
    byId('add').hidden = methods.length >= MOST_METHODS;
  }

  ready(): void {
    this.show();
  }
}

function enough(table: Table): boolean {
  return [0, 1].every(label => table.y.filter(y => y === label).length >= 4);
}
