// SPDX-License-Identifier: MIT
// What the page gives away, in the tool: models predict the same, commands repeat the losses, records replay.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { close, folder, hasTool, launch, open, openAt, run, tool } from './browser.mjs';

before(launch);
after(close);
const skip = hasTool ? false : `there is no ${tool}`;

const rowsOf = text => {
  const [head, ...lines] = text
    .trim()
    .split('\n')
    .map(line => line.split(','));
  return lines.map(line => Object.fromEntries(head.map((name, i) => [name, line[i]])));
};

/** Unpacks a stored zip file: python3 is there wherever the tests of the package run; unzip may not be. */
function unzip(file, where) {
  execFileSync('python3', ['-m', 'zipfile', '-e', file, where]);
}

const MODELS = [
  ['data=crescents&rows=300&methods=gmp&hidden=10&dtype=f32&at=100', 'binary'],
  ['data=banana&rows=400&methods=sp+bn&hidden=8-6&dtype=f32&lr=0.03&at=100', 'binary'],
  ['data=rings&methods=gmp+imn&hidden=7-5&dtype=f32&lr=0.03&at=100', 'binary'],
  ['data=levy&rows=50&methods=wn&hidden=20&batch=0&init=glorot&dtype=f32&lr=0.01&at=100', 'regression'],
  ['data=spiral&methods=sphere+bn&hidden=9&dtype=f64&at=60', 'binary'],
];

for (const [hash, task] of MODELS)
  test(`an exported model predicts the same in the tool: ${hash}`, { skip }, async () => {
    const where = folder();
    const page = await openAt(hash);
    await page.open('panel-take');
    const zip = await page.save('take-run', where);
    const model = await page.save('take-model', where);
    const own = await page.tab.evaluate(async () =>
      Array.from(
        await window.app.client.ask({ what: 'predict', method: 0, x: Array.from(window.app.dataset.x) }),
      ),
    );
    await page.end();
    unzip(zip, where);
    const predicted = rowsOf(run(['predict', join(where, 'run'), '--data', join(where, 'run/data.csv')]));
    assert.equal(predicted.length, own.length);
    const bar = hash.includes('f64') ? 1e-12 : 1e-6;
    predicted.forEach((row, i) => {
      const [mine, theirs] =
        task === 'binary' ? [1 / (1 + Math.exp(-own[i])), row.probability] : [own[i], row.prediction];
      assert.ok(
        Math.abs(mine - Number(theirs)) <= bar * Math.max(1, Math.abs(mine)),
        `row ${i}: ${mine} and ${theirs}`,
      );
    });
    assert.match(run(['show', model]), /layers\.0/);
  });

const LOSSES = [
  'data=crescents&rows=500&noise=0.2&methods=gmp,sp&hidden=10&lr=0.1&batch=32&seed=3&dtype=f64&at=130',
  'data=rings&rows=400&noise=0.1&methods=wn,gmp&hidden=12-6&lr=0.03&batch=16&seed=5&dtype=f64&at=100',
  'data=banana&rows=300&methods=sp+bn,gmp&hidden=10&lr=0.01&batch=64&seed=4&dtype=f64&optimizer=sgd&at=80',
  'data=levy&rows=50&noise=0.1&methods=sphere,gmp&hidden=30&lr=0.01&batch=0&seed=2&dtype=f64&init=glorot&at=60',
];

for (const hash of LOSSES)
  test(`the command repeats the losses to 1e-12: ${hash}`, { skip }, async () => {
    const where = folder();
    const page = await openAt(hash);
    await page.open('panel-take');
    await page.choose('take-method', '0');
    await page.save('take-data', where);
    const motion = rowsOf(readFileSync(await page.save('take-motion', where), 'utf8'));
    const command = await page.tab.textContent('#command');
    const train = await page.tab.evaluate(() => window.app.dataset.train.length);
    const { batch } = await page.tab.evaluate(() => window.app.state.settings);
    await page.end();
    execFileSync('sh', ['-c', command.replace(/^spherelu/, `'${tool}'`)], { cwd: where, stdio: 'pipe' });
    const [name] = readdirSync(join(where, 'runs'));
    const epochs = readFileSync(join(where, 'runs', name, 'metrics.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map(JSON.parse);
    const losses = motion.filter(row => row.method === motion[0].method).map(row => Number(row.loss));
    const size = batch || train;
    const steps = Math.ceil(train / size);
    let compared = 0;
    epochs.forEach((epoch, e) => {
      const own = losses.slice(e * steps, (e + 1) * steps);
      if (own.length < steps) return;
      const rows = own.map((_, i) => Math.min(size, train - i * size));
      const mean = own.reduce((sum, loss, i) => sum + loss * rows[i], 0) / train;
      assert.ok(
        Math.abs(mean - epoch.train_loss) <= 1e-12,
        `epoch ${e + 1}: ${mean} and ${epoch.train_loss}`,
      );
      compared++;
    });
    assert.ok(compared >= 3, `${compared} epochs compared`);
  });

test('the experiment file runs', { skip }, async () => {
  const where = folder();
  const page = await openAt('data=xor&rows=200&methods=sp,gmp+imn&hidden=6-4&lr=0.03&batch=32&seed=1&at=30');
  await page.open('panel-take');
  await page.save('take-data', where);
  const file = await page.save('take-yaml', where);
  await page.end();
  const table = run(['run', file, '--out', join(where, 'out')], { cwd: where });
  assert.match(table, /SP/);
  assert.match(table, /GmP\+IMN/);
});

test('pictures are saved as PNG and SVG', async () => {
  const where = folder();
  const page = await openAt('data=spiral&methods=sp,gmp&hidden=8-6&fill=regions&at=40');
  await page.open('panel-take');
  const png = readFileSync(await page.save('take-png', where));
  const svg = readFileSync(await page.save('take-svg', where), 'utf8');
  await page.end();
  assert.equal(png.toString('latin1', 1, 4), 'PNG');
  assert.ok(png.length > 20_000);
  assert.match(svg, /^<svg[\s\S]*<path[\s\S]*<\/svg>\s*$/);
  assert.match(svg, /GmP, step 40/);
});

test('a recorded run replays', { skip }, async () => {
  const where = folder();
  const out = join(where, 'run');
  run([
    'train',
    '--data',
    'crescents',
    '--hidden',
    '8',
    '--param',
    'gmp',
    '--val',
    '0',
    '--epochs',
    '5',
    '--record',
    'boundaries:every',
    '--out',
    out,
  ]);
  const path = run(['playground', out, '--no-open']).trim();
  const page = await open({ file: path });
  await page.waitSteps(30);
  assert.equal(await page.tab.locator('.card').count(), 1);
  assert.equal(await page.tab.evaluate(() => window.app.cards.picture(0).units), 8);
  assert.match(await page.tab.textContent('#story-text'), /Replay/);
  await page.end();
});
