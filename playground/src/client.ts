// SPDX-License-Identifier: MIT
// The worker as the page sees it. Frames are asked for one at a time, so that a slow worker is never flooded.
import type { Dataset, Frame, FromWorker, Look, Question, Settings, Table, ToWorker } from './types';

export interface Handlers {
  ready(dataset: Dataset, version: string): void;
  frame(frame: Frame): void;
  failed(message: string): void;
}

/** A training, or a recording of one. */
export interface Source {
  start(settings: Settings, table: Table | null): void;
  look(look: Look): void;
  play(playing: boolean, speed: number): void;
  step(steps: number): void;
  setRate(lr: number): void;
  setRates(rates: [number, number][]): void;
  frame(): void;
  ask<T>(question: Question): Promise<T>;
}

export class Client implements Source {
  private readonly worker: Worker;
  private run = 0;
  private asked = 0;
  private waiting = false;
  private readonly open = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();

  constructor(
    code: string,
    module: Uint8Array<ArrayBuffer>,
    private readonly handlers: Handlers,
  ) {
    const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
    this.worker = new Worker(address);
    this.worker.onmessage = event => this.take(event.data as FromWorker);
    this.worker.onerror = event => handlers.failed(event.message || 'the worker could not be started');
    this.worker.postMessage({ type: 'module', bytes: module }, [module.buffer]);
  }

  private send(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  private take(message: FromWorker): void {
    if (message.type === 'answer') {
      const call = this.open.get(message.id);
      this.open.delete(message.id);
      if (message.error) call?.reject(new Error(message.error));
      else call?.resolve(message.answer as never);
      return;
    }
    if (message.type === 'frame') this.waiting = false;
    if (message.run !== this.run) return; // of a start that is over
    if (message.type === 'ready') this.handlers.ready(message.dataset, message.version);
    else if (message.type === 'frame') this.handlers.frame(message);
    else this.handlers.failed(message.message);
  }

  start(settings: Settings, table: Table | null): void {
    this.run++;
    this.waiting = false;
    this.send({ type: 'start', run: this.run, settings, table });
  }

  look(look: Look): void {
    this.send({ type: 'look', look });
  }

  play(playing: boolean, speed: number): void {
    this.send({ type: 'play', playing, speed });
  }

  step(steps: number): void {
    this.send({ type: 'step', steps });
  }

  setRate(lr: number): void {
    this.send({ type: 'lr', lr });
  }

  setRates(rates: [number, number][]): void {
    this.send({ type: 'rates', rates });
  }

  /** Asks for a frame unless one is on its way. */
  frame(): void {
    if (this.waiting) return;
    this.waiting = true;
    this.send({ type: 'frame' });
  }

  ask<T>(question: Question): Promise<T> {
    const id = ++this.asked;
    return new Promise<T>((resolve, reject) => {
      this.open.set(id, { resolve: resolve as (value: never) => void, reject });
      this.send({ type: 'ask', id, question });
    });
  }
}
