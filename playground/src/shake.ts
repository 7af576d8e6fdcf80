// SPDX-License-Identifier: MIT
// Figure 1 live: epsilon on every parameter, the turn it makes and the bound of Theorem 3.7.
import type { Cards } from './cards';
import type { Source } from './client';
import type { Theme } from './colours';
import { byId, degrees, element, short } from './dom';
import { methodName } from './state';
import type { Method, Shaken } from './types';

const ONE_UNIT = ['SP', 'WN', 'BN', 'LN', 'GmP'];
const COLUMNS = 3; // of the windows of Figure 1
const LENGTH = 0.1; // of the weight of Figure 1's unit here

export class Shake {
  private on = false;
  private seed = 0;
  private busy = false;
  private again = false;
  private methods: Method[] = [];

  constructor(
    private readonly client: Source,
    private readonly cards: Cards,
    private readonly theme: () => Theme,
    private readonly redraw: () => void,
  ) {
    byId('shake').addEventListener('click', () => this.switch(!this.on));
    byId('eps').addEventListener('input', () => {
      if (!this.on) this.switch(true);
      this.update();
    });
    byId('shake-other').addEventListener('click', () => {
      this.seed = this.seed + 1;
      if (!this.on) this.switch(true);
      this.update();
    });
    byId<HTMLDetailsElement>('panel-shake').addEventListener('toggle', () => this.update());
  }

  begin(methods: Method[]): void {
    this.methods = methods;
    this.switch(false);
  }

  switch(on: boolean): void {
    this.on = on;
    byId('shake').setAttribute('aria-pressed', String(on));
    byId('shake').textContent = on ? 'Stop' : 'Shake';
    byId('shake-table').hidden = !on;
    if (!on) for (const picture of this.cards.pictures) picture.shaken = null;
    this.update();
    this.redraw();
  }

  get eps(): number {
    return 10 ** Number(byId<HTMLInputElement>('eps').value);
  }

  /** One question at a time; the newest value of the slider wins. */
  update(): void {
    byId('eps-value').textContent = short(this.eps, 2);
    if (!byId<HTMLDetailsElement>('panel-shake').open && !this.on) return;
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    this.ask()
      .catch(() => undefined)
      .finally(() => {
        this.busy = false;
        if (this.again) {
          this.again = false;
          this.update();
        }
      });
  }

  private async ask(): Promise<void> {
    const { eps, seed } = this;
    this.drawUnit(
      await this.client.ask<Float64Array>({ what: 'figure1', eps, length: LENGTH, seed: seed + 1 }),
    );
    if (!this.on) return;
    const shaken = await this.client.ask<Shaken[]>({ what: 'shake', eps, seed });
    if (!this.on || shaken.length !== this.cards.pictures.length) return;
    const body = byId('shake-table').querySelector('tbody') as HTMLElement;
    body.replaceChildren(
      ...shaken.map((one, k) => {
        this.cards.picture(k).shaken = one.lines;
        const bound = Number.isFinite(one.bound) ? `≤ ${degrees((one.bound * 180) / Math.PI)}` : 'none';
        return element(
          'tr',
          {},
          element('td', { textContent: methodName(this.methods[k]) }),
          element('td', { textContent: degrees((one.turn * 180) / Math.PI) }),
          element('td', { textContent: bound }),
        );
      }),
    );
    this.redraw();
  }

  /** Five small windows: before (solid) and after (dashed). */
  private drawUnit(values: Float64Array): void {
    const canvas = byId<HTMLCanvasElement>('figure1');
    const context = canvas.getContext('2d') as CanvasRenderingContext2D;
    const theme = this.theme();
    const width = canvas.width / COLUMNS;
    const height = canvas.height / 2;
    context.fillStyle = theme.paper;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.font = '26px system-ui, sans-serif';
    context.textAlign = 'center';
    ONE_UNIT.forEach((name, i) => {
      const row = values.subarray(8 * i, 8 * (i + 1));
      const left = (i % COLUMNS) * width;
      const top = Math.floor(i / COLUMNS) * height;
      context.save();
      context.beginPath();
      context.rect(left + 4, top + 4, width - 8, height - 44);
      context.clip();
      context.strokeStyle = theme.grid;
      context.lineWidth = 4;
      context.strokeRect(left + 4, top + 4, width - 8, height - 44);
      const middle: [number, number] = [left + width / 2, top + (height - 36) / 2];
      this.stroke(context, middle, width / 6, row.subarray(0, 3), theme.ink, []);
      this.stroke(context, middle, width / 6, row.subarray(3, 6), theme.flash, [10, 7]);
      context.restore();
      context.fillStyle = theme.ink;
      context.fillText(`${name} ${degrees(Math.abs(row[6]))}`, left + width / 2, top + height - 12);
    });
  }

  /** The line a x + b y + c = 0 around a middle, with so many pixels to a unit. */
  private stroke(
    context: CanvasRenderingContext2D,
    [x0, y0]: [number, number],
    scale: number,
    [a, b, c]: Float64Array,
    colour: string,
    dash: number[],
  ): void {
    const length = Math.hypot(a, b);
    if (!(length > 0)) return;
    const [ux, uy, away] = [a / length, b / length, c / length];
    const x = x0 - away * ux * scale;
    const y = y0 + away * uy * scale;
    const reach = 20 * scale;
    context.strokeStyle = colour;
    context.lineWidth = 4;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x - uy * reach, y - ux * reach);
    context.lineTo(x + uy * reach, y + ux * reach);
    context.stroke();
    context.setLineDash([]);
  }
}
