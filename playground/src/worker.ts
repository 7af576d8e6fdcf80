// SPDX-License-Identifier: MIT
// Trains in turns of a few milliseconds, so that questions of the page are answered at once, and makes a frame when the page
// asks for one.
import { Trainings } from './trainings';
import type { Frame, FromWorker, Look, Question, Settings, Table, ToWorker } from './types';
import { Engine } from './wasm';

const BUDGET = 6; // milliseconds of a turn
const SCORED = 80; // milliseconds between scores
const THOROUGH = 250; // milliseconds between counts of dead units

let engine: Engine;
let trainings: Trainings | null = null;
let run = 0;
let look: Look | null = null;
let playing = false;
let speed = 30;
let owed = 0;
let last = 0;
let scoredAt = 0;
let thoroughAt = 0;
let target = Infinity; // of a link
let arrived: (() => void) | null = null;
let rate = { at: 0, step: 0, value: 0 };

const channel = new MessageChannel();
let scheduled = false;
channel.port1.onmessage = () => {
  scheduled = false;
  turn();
};

function schedule(wait: number): void {
  if (scheduled) return;
  scheduled = true;
  if (wait > 0) setTimeout(() => channel.port2.postMessage(0), wait);
  else channel.port2.postMessage(0);
}

function send(message: FromWorker, transfer: Transferable[] = []): void {
  (self as unknown as { postMessage(m: unknown, t: Transferable[]): void }).postMessage(message, transfer);
}

function failed(error: unknown): void {
  playing = false;
  send({ type: 'failed', run, message: error instanceof Error ? error.message : String(error) });
}

function turn(): void {
  const hurry = target !== Infinity;
  if (!trainings || (!playing && !hurry)) return;
  const now = performance.now();
  owed = speed && !hurry ? Math.min(owed + ((now - last) * speed) / 1000, Math.max(1, speed / 4)) : Infinity;
  last = now;
  try {
    let chunk = 1;
    while (owed >= 1 && trainings.alive) {
      const steps = Math.min(
        chunk,
        Math.floor(Math.min(owed, 64)),
        hurry ? target - trainings.step : Infinity,
      );
      if (steps <= 0) break;
      const begin = performance.now();
      trainings.advance(steps);
      owed -= steps;
      const end = performance.now();
      if (end - now > BUDGET) break;
      if (end - begin < 1) chunk *= 2;
    }
  } catch (error) {
    failed(error);
  }
  if (hurry && (trainings.step >= target || !trainings.alive)) {
    target = Infinity;
    arrived?.();
    arrived = null;
  }
  schedule(speed && !hurry ? 3 : 0);
}

function start(settings: Settings, table: Table | null): void {
  trainings?.close();
  trainings = null;
  target = Infinity;
  trainings = new Trainings(engine, settings, table);
  owed = 0;
  rate = { at: performance.now(), step: 0, value: 0 };
  send({
    type: 'ready',
    run,
    dataset: trainings.dataset,
    version: engine.text(engine.call.pg_version()),
  });
}

function frame(): void {
  if (!trainings) return;
  const now = performance.now();
  const thorough = now - thoroughAt > THOROUGH || !playing;
  if (thorough) thoroughAt = now;
  const scored = thorough || now - scoredAt > SCORED;
  if (scored) scoredAt = now;
  const methods = trainings.frame(look, scored, thorough);
  if (now - rate.at > 500) {
    rate = { at: now, step: trainings.step, value: ((trainings.step - rate.step) * 1000) / (now - rate.at) };
  }
  const message: Frame = {
    type: 'frame',
    run,
    step: trainings.step,
    epoch: trainings.epoch,
    stepsPerSecond: rate.value,
    lr: trainings.lr,
    methods,
  };
  const transfer: Transferable[] = [];
  for (const m of methods) {
    transfer.push(m.lines.buffer, m.log.buffer);
    if (m.image) transfer.push(m.image);
    if (m.curve) transfer.push(m.curve.buffer);
    if (m.edges) transfer.push(m.edges.buffer);
  }
  send(message, transfer);
}

async function answer(question: Question): Promise<unknown> {
  if (!trainings) throw new Error('there is no training');
  const current = trainings;
  switch (question.what) {
    case 'shake':
      return current.shake(question.eps, question.seed);
    case 'figure1': {
      const out = engine.area('figure1', 5 * 8 * 8);
      engine.check(engine.call.pg_figure1(question.eps, question.length, question.seed, out));
      return engine.doubles(out, 40).slice();
    }
    case 'tensors':
      return current.tensors(question.method);
    case 'predict':
      return current.predict(question.method, question.x);
    case 'log':
      return current.logs();
    case 'memory':
      return engine.call.memory.buffer.byteLength;
    case 'goto':
      target = question.step;
      return new Promise(resolve => {
        arrived = () => resolve(current.step);
        last = performance.now();
        schedule(0);
      });
    case 'speed': {
      const begin = performance.now();
      engine.check(engine.call.pg_advance(question.method, question.steps));
      return (question.steps * 1000) / (performance.now() - begin);
    }
  }
}

function take(message: ToWorker): void {
  switch (message.type) {
    case 'start':
      run = message.run;
      start(message.settings, message.table);
      break;
    case 'look':
      look = message.look;
      break;
    case 'play':
      playing = message.playing;
      speed = message.speed;
      last = performance.now();
      owed = playing ? 1 : 0;
      schedule(0);
      break;
    case 'step':
      trainings?.advance(message.steps);
      break;
    case 'rates':
      trainings?.setRates(message.rates);
      break;
    case 'lr':
      trainings?.setRate(message.lr);
      break;
    case 'frame':
      frame();
      break;
    case 'ask':
      answer(message.question).then(
        value => send({ type: 'answer', id: message.id, answer: value, error: '' }),
        error =>
          send({ type: 'answer', id: message.id, answer: null, error: String(error.message ?? error) }),
      );
      break;
  }
}

self.onmessage = (event: MessageEvent<ToWorker | { type: 'module'; bytes: Uint8Array<ArrayBuffer> }>) => {
  try {
    if (event.data.type === 'module') engine = Engine.open(event.data.bytes);
    else take(event.data);
  } catch (error) {
    failed(error);
  }
};
