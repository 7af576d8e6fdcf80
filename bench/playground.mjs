#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// Speed of the playground, measured in turns in one Chromium: training steps a second beside TensorFlow Playground's
// network code and beside the native tool on one thread, and frames a second of the page.
//
//   bench/playground.mjs NN.TS [BUILD [FOLDER]]      NN.TS: src/nn.ts of github.com/tensorflow/playground; it is not part of this project
//   bench/playground.mjs - [BUILD [FOLDER]]          without it
//
// FOLDER receives playground.csv and playground_frames.csv. MACHINE=NAME names the machine there.
//
// Every figure is the best of ROUNDS turns: other work on the machine makes a turn slower, never faster. Trainings start anew in
// every turn, because a finished one computes with denormals.
//
// CLOCK=processor measures steps in Node by processor time instead, and no frames: for a machine that is busy with other work.
//
//   page adam    GmP with Adam, every move and turn tracked and logged: the steps of a preset
//   page sgd     SP with gradient descent, tracked and logged
//   adam, sgd    the same steps of the engine without tracking and log
//   TF           TensorFlow Playground's network code: gradient descent, nothing tracked. Like for like: sgd / TF
//   native       GmP with Adam in the native tool, one thread, without tracking: adam / native
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const load = createRequire(join(root, 'playground/package.json'));
const { build } = load('esbuild');
const { chromium } = load('playwright-core');

const [theirs, folder = join(root, 'build'), results] = process.argv.slice(2);
if (!theirs) {
  console.error('usage: bench/playground.mjs NN.TS|- [BUILD [FOLDER]]');
  process.exit(2);
}
const PROCESSOR = process.env.CLOCK === 'processor';
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SHORT = 5; // milliseconds
const WINDOWS = 30;
const SHAPES = [
  { hidden: [8, 8], batch: 10 },
  { hidden: [8, 8], batch: 128 },
  { hidden: [100], batch: 10 },
  { hidden: [100], batch: 128 },
];

/* ---------------------------------------------------------------- pages */

const OURS = `
import { Engine } from ${JSON.stringify(join(root, 'playground/src/wasm.ts'))};
import { Trainings } from ${JSON.stringify(join(root, 'playground/src/trainings.ts'))};
let engine;
globalThis.prepareOurs = (base64, hidden, batch) => {
  engine ??= Engine.open(Uint8Array.from(atob(base64), c => c.charCodeAt(0)));
  const settings = (param, optimizer) => ({
    data: 'crescents', rows: batch * 10, noise: 0.2, methods: [{ param, norm: 'none' }], hidden, act: 'relu',
    init: 'default', optimizer, lr: 0.01, decay: 0, batch, seed: 1, dtype: 'f32',
  });
  let trainings;
  const begin = (param, optimizer) => {
    trainings?.close();
    trainings = new Trainings(engine, settings(param, optimizer), null);
  };
  const page = n => trainings.advance(n);
  const alone = n => engine.check(engine.call.pg_advance(0, n));
  globalThis.ours = {
    'page adam': [() => begin('gmp', 'adam'), page],
    'page sgd': [() => begin('sp', 'sgd'), page],
    adam: [() => begin('gmp', 'adam'), alone],
    sgd: [() => begin('sp', 'sgd'), alone],
  };
};`;

const THEIRS = path => `
import * as nn from ${JSON.stringify(resolve(path))};
globalThis.prepareTheirs = (hidden, batch) => {
  const shape = [2, ...hidden, 1];
  const net = nn.buildNetwork(shape, nn.Activations.RELU, nn.Activations.TANH, null, ['x', 'y'], false);
  const points = Array.from({ length: batch * 8 }, (_, i) => [Math.sin(i), Math.cos(3 * i), i % 2 ? 1 : -1]);
  let at = 0;
  globalThis.theirs = n => {
    for (let s = 0; s < n; s++) {
      for (let i = 0; i < batch; i++) {
        const [x, y, t] = points[at++ % points.length];
        nn.forwardProp(net, [x, y]);
        nn.backProp(net, t, nn.Errors.SQUARE);
      }
      nn.updateWeights(net, 0.03, 0);
    }
  };
};`;

async function bundle(code) {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: root, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'iife',
    loader: { '.csv': 'text' },
    minify: true,
  });
  return outputFiles[0].text;
}

/** Steps a second, in the page: the best of WINDOWS windows of at least SHORT milliseconds. Short ones may fit between the
 *  turns of other programs. */
const measure = ([kind, short, windows]) => {
  const [begin, call] = kind ? globalThis.ours[kind] : [() => undefined, globalThis.theirs];
  begin();
  const now = globalThis.processorTime ?? (() => performance.now());
  const took = n => {
    const from = now();
    call(n);
    return now() - from;
  };
  let n = 64;
  while (took(n) < short) n *= 2;
  let best = Infinity;
  for (let i = 0; i < windows; i++) best = Math.min(best, took(n));
  return (n * 1000) / best;
};

const rate = x => (x >= 1e4 ? `${(x / 1000).toFixed(0)}k` : x >= 1000 ? `${(x / 1000).toFixed(1)}k` : x.toFixed(0));

const MACHINE = process.env.MACHINE ?? cpus()[0].model.replaceAll(',', ' ').trim();

function save(name, lines) {
  if (results) writeFileSync(join(results, name), `${lines.join('\n')}\n`);
}

/** Where the code of both sides runs: load(code), call(function, argument) and close(). */
async function chromiumPlace(browser) {
  const page = await browser.newPage();
  return {
    load: content => page.addScriptTag({ content }),
    call: (f, argument) => page.evaluate(f, argument),
    close: () => page.close(),
  };
}

function nodePlace() {
  globalThis.processorTime = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  return { load: code => globalThis.eval(code), call: (f, argument) => f(argument), close: () => undefined };
}

async function steps(place) {
  const wasm = join(folder, 'playground/engine.wasm');
  const bytes = execFileSync('base64', ['-w0', wasm], { encoding: 'utf8', maxBuffer: 1 << 26 });
  await place.load(await bundle(OURS));
  if (theirs !== '-') await place.load(await bundle(THEIRS(theirs)));
  const tool = join(folder, 'spherelu');
  const native = existsSync(join(folder, 'spherelu-bench'));
  const kinds = ['page adam', 'page sgd', 'adam', 'sgd'];
  const ratios = [
    ['page adam', 'TF'],
    ['page sgd', 'TF'],
    ['sgd', 'TF'],
    ['adam', 'native'],
  ];
  const names = [...kinds, 'TF', 'native', ...ratios.map(([a, b]) => `${a} / ${b}`)];
  const slug = name => name.toLowerCase().replace(' / ', '_per_').replaceAll(' ', '_');
  const lines = [`machine,network,batch,${names.map(slug).join(',')}`];
  console.log(`steps a second\nnetwork   batch  ${names.join('  ')}`);
  for (const { hidden, batch } of SHAPES) {
    await place.call(([b, h, n]) => globalThis.prepareOurs(b, h, n), [bytes, hidden, batch]);
    if (theirs !== '-') await place.call(([h, n]) => globalThis.prepareTheirs(h, n), [hidden, batch]);
    const best = {};
    const take = (name, value) => {
      best[name] = Math.max(best[name] ?? 0, value);
    };
    for (let round = 0; round < ROUNDS; round++) {
      for (const kind of kinds) take(kind, await place.call(measure, [kind, SHORT, WINDOWS]));
      if (theirs !== '-') take('TF', await place.call(measure, ['', SHORT, WINDOWS]));
      if (native) {
        const options = ['--rows', batch, '--inputs', 2, '--hidden', hidden.join(','), '--param', 'gmp', '--optimizer', 'adam', '--threads', 1, '--json', '--clock', PROCESSOR ? 'processor' : 'wall'];
        const out = JSON.parse(execFileSync(tool, ['bench', 'mlp', ...options.map(String)], { encoding: 'utf8' }));
        take('native', 1e6 / out.us_per_step);
      }
    }
    const network = `2-${hidden.join('-')}-1`;
    for (const [a, b] of ratios) if (best[b]) best[`${a} / ${b}`] = best[a] / best[b];
    const cell = name => (!best[name] ? '-' : name.includes('/') ? best[name].toFixed(2) : rate(best[name]));
    console.log(`${network.padEnd(9)} ${String(batch).padStart(5)}  ${names.map(n => cell(n).padStart(n.length)).join('  ')}`);
    const number = name => (!best[name] ? '' : best[name].toFixed(name.includes('/') ? 2 : 0));
    lines.push([MACHINE, network, batch, ...names.map(number)].join(','));
  }
  save(PROCESSOR ? 'playground_processor.csv' : 'playground.csv', lines);
  await place.close();
}

/** Pictures a second with all methods, at 1400 pixels, while it trains. */
async function frames(browser) {
  const address = pathToFileURL(join(folder, 'playground.html')).href;
  const lines = ['machine,page,frames_per_second,steps_per_second'];
  console.log('\npage at 1400 pixels                    frames/s  steps/s');
  for (const [name, hidden, fill] of [
    ['four methods x 20 units, regions', '20', 'regions'],
    ['four methods x 20 units, surface', '20', 'surface'],
    ['four methods x 100 units, surface', '100', 'surface'],
  ]) {
    let best = 0;
    let speed = 0;
    for (let round = 0; round < Math.min(3, ROUNDS); round++) {
      const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
      await page.goto(`${address}#data=rings&methods=sp,wn,sp+bn,gmp&hidden=${hidden}&lr=0.01&speed=60&fill=${fill}`);
      await page.waitForFunction(() => window.app?.step > 10);
      const seen = await page.evaluate(async () => {
        let count = 0;
        const { cards } = window.app;
        const draw = cards.draw.bind(cards);
        cards.draw = how => {
          count++;
          draw(how);
        };
        const [begin, step] = [performance.now(), window.app.step];
        await new Promise(done => setTimeout(done, 4000));
        const seconds = (performance.now() - begin) / 1000;
        return [count / seconds, (window.app.step - step) / seconds];
      });
      best = Math.max(best, seen[0]);
      speed = Math.max(speed, seen[1]);
      await page.close();
    }
    lines.push([MACHINE, `"${name}"`, best.toFixed(0), speed.toFixed(0)].join(','));
    console.log(`${name.padEnd(38)} ${best.toFixed(0).padStart(8)} ${speed.toFixed(0).padStart(8)}`);
  }
  save('playground_frames.csv', lines);
}

if (PROCESSOR) {
  await steps(nodePlace());
} else {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  try {
    await steps(await chromiumPlace(browser));
    await frames(browser);
  } finally {
    await browser.close();
  }
}
