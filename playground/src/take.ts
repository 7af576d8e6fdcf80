// SPDX-License-Identifier: MIT
// The panel "Export" and the link.
import { rgb } from './colours';
import { byId, fillSelect } from './dom';
import { command, dataCsv, experiment, motionCsv, runFolder, safetensors, save } from './exports';
import type { App } from './main';
import { LINK_ROWS, methodName } from './state';
import type { Dataset, Tensor } from './types';

const SIDE = 480;
const GAP = 20;
const HEAD = 44;

export class TakeHome {
  constructor(private readonly app: App) {
    const on = (id: string, act: () => void | Promise<void>) =>
      byId(id).addEventListener('click', async () => {
        try {
          await act();
        } catch (error) {
          app.message((error as Error).message);
        }
      });
    on('share', () => this.share());
    on('take-model', () => this.model());
    on('take-run', () => this.run());
    on('take-motion', () => this.motion());
    on('take-data', () => save('playground-data.csv', dataCsv(this.dataset), 'text/csv'));
    on('take-png', () => this.png());
    on('take-svg', () => this.svg());
    on('take-yaml', () => {
      const { settings, rates } = app.state;
      save('playground.yaml', experiment(settings, this.dataset, app.step, rates, app.link()), 'text/yaml');
    });
    on('take-command', async () => {
      this.showCommand();
      await navigator.clipboard?.writeText(byId('command').textContent ?? '').catch(() => undefined);
    });
    byId<HTMLDetailsElement>('panel-take').addEventListener('toggle', () => this.show());
    byId('take-method').addEventListener('change', () => this.showCommand());
  }

  private get dataset(): Dataset {
    if (!this.app.dataset) throw new Error('There is no training yet.');
    return this.app.dataset;
  }

  private show(): void {
    const { methods } = this.app.state.settings;
    const select = byId<HTMLSelectElement>('take-method');
    const chosen = Number(select.value) < methods.length ? select.value : String(methods.length - 1);
    fillSelect(
      select,
      methods.map((m, k) => [String(k), methodName(m)]),
      chosen || String(methods.length - 1),
    );
    this.showCommand();
  }

  private get chosen(): number {
    const select = byId<HTMLSelectElement>('take-method');
    const { methods } = this.app.state.settings;
    if (select.options.length !== methods.length) this.show();
    return Number(select.value) || 0;
  }

  private showCommand(): void {
    const { settings } = this.app.state;
    byId('command').textContent = command(
      settings,
      this.dataset,
      settings.methods[this.chosen],
      this.app.step,
    );
  }

  private tensors(): Promise<Tensor[]> {
    return this.app.client.ask<Tensor[]>({ what: 'tensors', method: this.chosen });
  }

  private async model(): Promise<void> {
    const { settings } = this.app.state;
    const method = settings.methods[this.chosen];
    save(
      'model.safetensors',
      safetensors(settings, this.dataset, method, await this.tensors()),
      'application/octet-stream',
    );
  }

  private async run(): Promise<void> {
    const { settings } = this.app.state;
    const method = settings.methods[this.chosen];
    const { version, step } = this.app;
    save(
      'playground-run.zip',
      runFolder(settings, this.dataset, method, await this.tensors(), version, step),
      'application/zip',
    );
  }

  private async motion(): Promise<void> {
    const { columns, stride } = await this.app.client.ask<{ columns: Float64Array[]; stride: number[] }>({
      what: 'log',
    });
    save('playground-motion.csv', motionCsv(this.app.state.settings.methods, columns, stride), 'text/csv');
  }

  private async share(): Promise<void> {
    const { app } = this;
    const link = app.link();
    history.replaceState(null, '', `#${link.split('#')[1]}`);
    const button = byId('share');
    const large = app.state.table && app.state.table.y.length > LINK_ROWS;
    try {
      await navigator.clipboard.writeText(link);
      button.textContent = 'Link copied';
    } catch {
      button.textContent = 'Link is in the address bar';
    }
    if (large)
      app.message(
        `The link does not contain your data: it holds up to ${LINK_ROWS} rows. Send the file too.`,
      );
    setTimeout(() => {
      button.textContent = 'Copy link';
    }, 2000);
  }

  private png(): Promise<void> {
    const { pictures } = this.app.cards;
    const { theme } = this.app;
    const canvas = document.createElement('canvas');
    canvas.width = pictures.length * (SIDE + GAP) + GAP;
    canvas.height = SIDE + HEAD + GAP;
    const context = canvas.getContext('2d') as CanvasRenderingContext2D;
    context.fillStyle = theme.paper;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.fillStyle = theme.ink;
    context.font = '600 20px system-ui, sans-serif';
    pictures.forEach((picture, k) => {
      const left = GAP + k * (SIDE + GAP);
      context.fillText(this.caption(k), left, 30);
      context.drawImage(picture.canvas, left, HEAD, SIDE, SIDE);
    });
    return new Promise((resolve, reject) => {
      canvas.toBlob(blob => {
        if (!blob) return reject(new Error('The picture could not be made.'));
        save('playground.png', blob, 'image/png');
        resolve();
      });
    });
  }

  private caption(k: number): string {
    return `${methodName(this.app.state.settings.methods[k])}, step ${this.app.step.toLocaleString('en')}`;
  }

  private svg(): void {
    const { pictures } = this.app.cards;
    const { theme } = this.app;
    const width = pictures.length * (SIDE + GAP) + GAP;
    const path = (list: number[][]) => list.map(([a, b, c, d]) => `M${a} ${b}L${c} ${d}`).join('');
    const parts = pictures.map((picture, k) => {
      const left = GAP + k * (SIDE + GAP);
      const { lines, edges, image } = picture.vectors(SIDE);
      const points = picture
        .pointsAt(SIDE)
        .map(
          ([x, y, label]) =>
            `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="2.5" fill="${rgb(theme.classes[label % theme.classes.length] ?? theme.classes[0])}"/>`,
        )
        .join('');
      return `<text x="${left}" y="30" font-family="sans-serif" font-size="20" fill="${theme.ink}">${this.caption(k)}</text>
<svg x="${left}" y="${HEAD}" width="${SIDE}" height="${SIDE}" viewBox="0 0 ${SIDE} ${SIDE}">
${image ? `<image width="${SIDE}" height="${SIDE}" href="${image}"/>` : ''}
${points}
<path d="${path(edges)}" stroke="${theme.ink}" stroke-width="1" fill="none"/>
<path d="${path(lines)}" stroke="${theme.ink}" stroke-width="1.6" fill="none"/>
<rect width="${SIDE}" height="${SIDE}" fill="none" stroke="${theme.grid}"/></svg>`;
    });
    const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${SIDE + HEAD + GAP}" viewBox="0 0 ${width} ${SIDE + HEAD + GAP}">
<rect width="100%" height="100%" fill="${theme.paper}"/>
${parts.join('\n')}
</svg>
`;
    save('playground.svg', text, 'image/svg+xml');
  }
}
