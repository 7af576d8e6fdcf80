#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// Speed of the playground, measured in turns in one Chromium: training steps a second beside TensorFlow Playground's
// network code and beside the native tool on one thread, and frames a second of the page.
//
//   bench/playground NN.TS [BUILD]      NN.TS: src/nn.ts of github.com/tensorflow/playground; it is not part of this project
//   bench/playground - [BUILD]          without it
//
// Every figure is the best of ROUNDS turns: other work on the machine makes a turn slower, never faster. "page": steps of GmP
// with Adam, every move and turn tracked, as the page takes them; "engine": the same without tracking; "plain": SP with gradient
// descent, what TensorFlow Playground's code does. Trainings start anew in every turn: a finished one computes with denormals.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const load = createRequire(join(root, 'playground/package.json'));
const { build } = load('esbuild');
const { chromium } = load('playwright-core');

const [theirs, folder = join(root, 'build')] = process.argv.slice(2);
if (!theirs) {
  console.error('usage: bench/playground NN.TS|- [BUILD]');
  process.exit(2);
}
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SHORT = 8; // milliseconds
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
globalThis.prepareOurs = (base64, hidden, batch) => {
  const engine = Engine.open(Uint8Array.from(atob(base64), c => c.charCodeAt(0)));
  const { call } = engine;
  const rows = batch * 8;
  const at = engine.put32('hidden', hidden);
  const log = engine.area('log', 64 * 24);
  engine.check(call.pg_data_synthetic(engine.putText('name', 'crescents'), rows, 0.2, 0, 1));
  const begin = (k, param, optimizer) => {
    engine.check(call.pg_options(-1, engine.word('OPTIMIZER', optimizer), 0.01, 0, batch, engine.word('STANDARDIZE', 'features'), 1));
    engine.check(call.pg_method_new(k, engine.word('PARAM', param), 0, engine.word('ACT', 'relu'), 0, 0, at, hidden.length, 1));
  };
  globalThis.ours = {
    begin: () => { begin(0, 'gmp', 'adam'); begin(1, 'sp', 'sgd'); },
    page: n => { for (let i = 0; i < n; i += 64) if (call.pg_steps(0, 64, log) !== 64) throw new Error('the training ended'); },
    engine: n => engine.check(call.pg_advance(0, n)),
    plain: n => engine.check(call.pg_advance(1, n)),
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
const measure = ([name, kind, short, windows]) => {
  const call = kind ? globalThis[name][kind] : globalThis[name];
  if (kind) globalThis.ours.begin();
  const took = n => {
    const begin = performance.now();
    call(n);
    return performance.now() - begin;
  };
  let n = 64;
  while (took(n) < short) n *= 2;
  let best = Infinity;
  for (let i = 0; i < windows; i++) best = Math.min(best, took(n));
  return (n * 1000) / best;
};

const rate = x => (x >= 1e4 ? `${(x / 1000).toFixed(0)}k` : x >= 1000 ? `${(x / 1000).toFixed(1)}k` : x.toFixed(0));

async function steps(browser) {
  const wasm = join(folder, 'playground/engine.wasm');
  const bytes = execFileSync('base64', ['-w0', wasm], { encoding: 'utf8', maxBuffer: 1 << 26 });
  const page = await browser.newPage();
  await page.addScriptTag({ content: await bundle(OURS) });
  if (theirs !== '-') await page.addScriptTag({ content: await bundle(THEIRS(theirs)) });
  const tool = join(folder, 'spherelu');
  const native = existsSync(join(folder, 'spherelu-bench'));
  console.log('network   batch    page  engine   plain  TF Playground  page / TF  plain / TF  native  engine / native');
  for (const { hidden, batch } of SHAPES) {
    await page.evaluate(([b, h, n]) => globalThis.prepareOurs(b, h, n), [bytes, hidden, batch]);
    if (theirs !== '-') await page.evaluate(([h, n]) => globalThis.prepareTheirs(h, n), [hidden, batch]);
    const best = { page: 0, engine: 0, plain: 0, theirs: 0, native: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      for (const kind of ['page', 'engine', 'plain'])
        best[kind] = Math.max(best[kind], await page.evaluate(measure, ['ours', kind, SHORT, WINDOWS]));
      if (theirs !== '-') best.theirs = Math.max(best.theirs, await page.evaluate(measure, ['theirs', '', SHORT, WINDOWS]));
      if (native) {
        const options = ['--rows', batch, '--inputs', 2, '--hidden', hidden.join(','), '--param', 'gmp', '--optimizer', 'adam', '--threads', 1, '--json'];
        const out = JSON.parse(execFileSync(tool, ['bench', 'mlp', ...options.map(String)], { encoding: 'utf8' }));
        best.native = Math.max(best.native, 1e6 / out.us_per_step);
      }
    }
    const cells = [
      `2-${hidden.join('-')}-1`.padEnd(9),
      String(batch).padStart(5),
      rate(best.page).padStart(8),
      rate(best.engine).padStart(7),
      rate(best.plain).padStart(7),
      (best.theirs ? rate(best.theirs) : '-').padStart(14),
      (best.theirs ? `${(best.page / best.theirs).toFixed(1)}x` : '-').padStart(10),
      (best.theirs ? `${(best.plain / best.theirs).toFixed(1)}x` : '-').padStart(11),
      (best.native ? rate(best.native) : '-').padStart(7),
      (best.native ? (best.engine / best.native).toFixed(2) : '-').padStart(16),
    ];
    console.log(cells.join(' '));
  }
  await page.close();
}

/** Pictures a second with all methods, at 1400 pixels, while it trains. */
async function frames(browser) {
  const address = pathToFileURL(join(folder, 'playground.html')).href;
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
    console.log(`${name.padEnd(38)} ${best.toFixed(0).padStart(8)} ${speed.toFixed(0).padStart(8)}`);
  }
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  await steps(browser);
  await frames(browser);
} finally {
  await browser.close();
}
