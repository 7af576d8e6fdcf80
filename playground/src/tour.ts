// SPDX-License-Identifier: MIT
// Six steps with a text beside the pictures.
import { byId } from './dom';
import type { App } from './main';
import { STORIES, TOUR } from './stories';

export class Tour {
  private at = 0;

  constructor(private readonly app: App) {
    byId('tour-open').addEventListener('click', () => this.show(0));
    byId('tour-next').addEventListener('click', () =>
      this.at + 1 < TOUR.length ? this.show(this.at + 1) : this.close(),
    );
    byId('tour-back').addEventListener('click', () => this.show(this.at - 1));
    byId('tour-close').addEventListener('click', () => this.close());
  }

  private show(at: number): void {
    this.at = Math.max(0, at);
    const stop = TOUR[this.at];
    const story = STORIES.find(s => s.id === stop.story) ?? STORIES[0];
    byId('tour').hidden = false;
    byId('tour-step').textContent = `Step ${this.at + 1} of ${TOUR.length}`;
    byId('tour-title').textContent = stop.title;
    byId('tour-text').textContent = stop.text;
    byId('tour-next').textContent = this.at + 1 < TOUR.length ? 'Next' : 'Finish';
    byId<HTMLButtonElement>('tour-back').disabled = this.at === 0;
    this.app.applyStory(story, stop.play, {
      settings: stop.settings ?? {},
      view: stop.view ?? {},
      ...(stop.open ? { open: stop.open } : {}),
    });
    byId('tour-title').focus({ preventScroll: true });
    byId('tour').scrollIntoView({ block: 'nearest' });
  }

  private close(): void {
    byId('tour').hidden = true;
    byId('tour-open').focus();
  }
}
