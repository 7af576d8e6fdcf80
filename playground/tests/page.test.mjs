// SPDX-License-Identifier: MIT
// The page in Chromium: presets, controls, links, data of the visitor, keyboard, layout and accessibility.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { close, page as file, folder, launch, open, openAt } from './browser.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

before(launch);
after(close);

test('opening the page shows SP jumping and GmP gliding side by side', async () => {
  const page = await open();
  await page.waitSteps(25);
  const names = await page.tab.$$eval('.card h2', list => list.map(h => h.childNodes[1].textContent));
  assert.deepEqual(names, ['SP', 'GmP']);
  const turns = await page.tab.evaluate(() => window.app.plots.largestTurn);
  assert.ok(turns[0] > 40, `SP turns by ${turns[0]} degrees`);
  assert.ok(turns[1] < 7, `GmP turns by ${turns[1]} degrees`);
  const jumps = await page.tab.evaluate(() => window.app.cards.pictures.map(p => p.jumps));
  assert.ok(jumps[0] > 0 && jumps[1] === 0, `jumps: ${jumps}`);
  assert.match(await page.tab.textContent('#lead'), /jump/);
  await page.end();
});

test('every preset trains', async () => {
  const page = await open();
  const ids = await page.tab.$$eval('#story option', list => list.map(o => o.value).filter(Boolean));
  assert.ok(ids.length >= 8);
  for (const id of ids) {
    await page.choose('story', id);
    await page.choose('speed', '0');
    if (id === 'figure1') await page.tab.click('#play'); // it is at rest
    await page.tab.waitForFunction(() => window.app.step >= 60, null, { timeout: 60_000 });
    assert.equal(await page.message(), '', id);
    const losses = await page.tab.$$eval('.card dl div:first-child dd', list => list.map(d => d.textContent));
    assert.ok(
      losses.every(text => text !== '–'),
      `${id}: losses ${losses}`,
    );
    assert.ok((await page.tab.textContent('#story-text')).length > 80, id);
  }
  await page.end();
});

test('the learning rate slider acts on the running training', async () => {
  const page = await open({ hash: 'data=rings&methods=gmp&hidden=12&lr=0.1&batch=16&seed=2&speed=200' });
  await page.waitSteps(60);
  await page.tab.$eval('#lr', slider => {
    slider.value = '-3';
    slider.dispatchEvent(new Event('input'));
  });
  const changed = await page.steps();
  await page.waitSteps(changed + 120);
  const turns = await page.tab.evaluate(async () => {
    const { columns } = await window.app.client.ask({ what: 'log' });
    return Array.from(columns[0]).filter((_, i) => i % 3 === 2);
  });
  const most = list => Math.max(...list);
  assert.ok(most(turns.slice(5, 50)) > 0.03, 'the turns before are those of rate 0.1');
  assert.ok(most(turns.slice(-60)) < 0.003, 'the turns after are those of rate 0.001');
  const [, rate] = await page.tab.evaluate(() => window.app.state.rates[0]);
  assert.equal(rate, 0.001);
  await page.end();
});

test('play, pause, step, restart and a new seed', async () => {
  const page = await open({ calm: true });
  assert.equal(await page.steps(), 0, 'with reduced motion the page starts at rest');
  await page.tab.click('#step');
  await page.waitSteps(1);
  assert.equal(await page.steps(), 1);
  await page.tab.click('#play');
  await page.waitSteps(5);
  await page.tab.click('#play');
  await page.tab.waitForTimeout(300);
  const rest = await page.steps();
  await page.tab.waitForTimeout(400);
  assert.equal(await page.steps(), rest, 'nothing moves while it is paused');
  const seed = () => page.tab.evaluate(() => window.app.state.settings.seed);
  const first = await seed();
  await page.tab.click('#reseed');
  assert.notEqual(await seed(), first);
  await page.end();
});

test('training goes on after hundreds of epochs without a better loss', async () => {
  const page = await open({
    hash: 'data=levy&rows=50&methods=sp,gmp&hidden=30&batch=0&init=glorot&lr=0.1&speed=0',
  });
  await page.waitSteps(2000);
  const losses = await page.tab.evaluate(async () => {
    const { columns } = await window.app.client.ask({ what: 'log' });
    return columns.map(c => Array.from(c.slice(-300)).filter((_, i) => i % 3 === 0));
  });
  for (const list of losses)
    assert.ok(new Set(list).size > 50, `${new Set(list).size} different losses in 100 steps`);
  await page.end();
});

test('controls of a new start change the network', async () => {
  const page = await open({ hash: 'data=xor&methods=sp,gmp&speed=200' });
  for (const panel of ['panel-net', 'panel-train']) await page.open(panel);
  const settings = () => page.tab.evaluate(() => window.app.state.settings);
  await page.tab.$eval('#depth', input => {
    input.value = '3';
    input.dispatchEvent(new Event('input'));
  });
  await page.tab.$eval('#width', input => {
    input.value = '6';
    input.dispatchEvent(new Event('change'));
  });
  await page.choose('optimizer', 'sgd');
  await page.choose('batch', '128');
  await page.choose('act', 'leaky_relu');
  await page.choose('init', 'he');
  await page.choose('decay', '0.001');
  await page.choose('data', 'blobs');
  await page.tab.click('#add');
  const now = await settings();
  assert.deepEqual(
    [now.hidden, now.optimizer, now.batch, now.act, now.init, now.decay, now.data, now.methods.length],
    [[6, 6, 6], 'sgd', 128, 'leaky_relu', 'he', 0.001, 'blobs', 3],
  );
  await page.waitSteps(40);
  await page.tab.waitForFunction(() => document.querySelectorAll('.card').length === 3);
  const edges = await page.tab.evaluate(() => window.app.cards.picture(0).vectors(100).edges.length);
  assert.ok(edges > 0, 'bent boundaries are drawn');
  assert.equal(await page.message(), '');
  await page.end();
});

test('LN has a surface and no lines; all parameterizations and normalizations train', async () => {
  const page = await open({
    hash: 'data=crescents&methods=sp+ln,wn+mbn,sphere,gmp+imn,sphere+bn&hidden=8-6&lr=0.01&speed=0',
  });
  await page.waitSteps(50);
  assert.match(await page.tab.textContent('.card .badge:not([hidden])'), /no lines/);
  const units = await page.tab.evaluate(() => window.app.cards.pictures.map(p => p.units));
  assert.deepEqual(units, [0, 8, 8, 8, 8]);
  await page.end();
});

test('a method that diverges says so, and the others go on', async () => {
  const page = await open();
  await page.choose('story', 'diverge');
  await page.choose('speed', '200');
  await page.tab.waitForSelector('.badge.bad:not([hidden])', { timeout: 30_000 });
  const at = await page.steps();
  await page.waitSteps(at + 100);
  assert.equal(await page.tab.locator('.badge.bad:visible').count(), 1);
  assert.match(await page.tab.textContent('.badge.bad:not([hidden])'), /Diverged/);
  assert.equal(await page.message(), '');
  await page.end();
});

test('a link restores the state, the step and the bits of every boundary', async () => {
  const hash =
    'data=rings&rows=300&noise=0.15&methods=sp,wn+mbn,gmp&hidden=9-5&lr=0.1,40:0.02&batch=16&seed=7&fill=regions&trails=0&at=120';
  const lines = page => page.tab.evaluate(() => window.app.cards.pictures.map(p => p.vectors(1000).lines));
  const first = await openAt(hash);
  await first.tab.waitForTimeout(300);
  const before = await lines(first);
  const link = await first.tab.evaluate(() => window.app.link().split('#')[1]);
  await first.end();
  const second = await openAt(link);
  await second.tab.waitForTimeout(300);
  assert.deepEqual(await lines(second), before);
  assert.equal(await second.tab.evaluate(() => window.app.link().split('#')[1]), link);
  const state = await second.tab.evaluate(() => window.app.state);
  assert.deepEqual(state.rates, [[40, 0.02]]);
  assert.deepEqual(state.settings.hidden, [9, 5]);
  assert.equal(state.view.trails, false);
  assert.ok(before.every(list => list.length > 0));
  await second.end();
});

test('a link with nonsense falls back to defaults', async () => {
  const page = await open({
    hash: 'data=nothing&methods=sp,foo&hidden=0-x&lr=-1&batch=1e99&seed=-4&table=%%%&speed=abc',
  });
  await page.waitSteps(3);
  const { settings } = await page.tab.evaluate(() => window.app.state);
  assert.deepEqual(
    [settings.data, settings.hidden, settings.lr, settings.batch],
    ['crescents', [10], 0.1, 32],
  );
  await page.end();
});

test('a pasted table trains, with columns of the visitor, and travels in the link', async () => {
  const page = await open();
  await page.choose('data', 'csv');
  const rows = Array.from(
    { length: 60 },
    (_, i) => `${i},${i % 7},${(i * 13) % 11},${['red', 'green', 'blue'][i % 3]}`,
  );
  await page.tab.fill('#csv-text', `id,"a b",c,colour\n${rows.join('\n')}\n`);
  assert.match(await page.tab.textContent('#csv-message'), /60 rows, 4 columns/);
  await page.choose('csv-x', { label: 'a b' });
  await page.choose('csv-y', { label: 'c' });
  await page.choose('csv-target', { label: 'colour' });
  await page.tab.click('#csv-use');
  await page.waitSteps(10);
  const dataset = await page.tab.evaluate(() => ({
    task: window.app.dataset.task,
    classes: window.app.dataset.classes,
    names: window.app.dataset.names,
  }));
  assert.deepEqual(dataset, {
    task: 'classes',
    classes: ['blue', 'green', 'red'],
    names: ['a b', 'c', 'colour'],
  });
  await page.tab.click('#play');
  await page.tab.waitForTimeout(200);
  const link = await page.tab.evaluate(() => window.app.link().split('#')[1]);
  await page.end();
  const again = await openAt(link);
  assert.deepEqual(await again.tab.evaluate(() => window.app.dataset.classes), ['blue', 'green', 'red']);
  await again.end();
});

test('a table of one feature and a number trains as a regression', async () => {
  const page = await open();
  await page.choose('data', 'csv');
  const rows = Array.from({ length: 40 }, (_, i) => `${i / 10};${Math.sin(i / 4).toFixed(4)}`);
  await page.tab.fill('#csv-text', `x;y\n${rows.join('\n')}`);
  await page.tab.click('#csv-use');
  await page.waitSteps(10);
  assert.equal(await page.tab.evaluate(() => window.app.dataset.task), 'regression');
  await page.end();
});

test('a bad table gives a message that names the place', async () => {
  const page = await open();
  await page.choose('data', 'csv');
  const says = async text => {
    await page.tab.fill('#csv-text', text);
    if (await page.tab.isVisible('#csv-use')) await page.tab.click('#csv-use');
    return page.tab.textContent('#csv-message');
  };
  assert.match(await says('a,b,c\n1,2,3\n1,2\n'), /Line 3: expected 3 columns, found 2/);
  assert.match(await says('only\n1\n2\n'), /Line 1: expected at least 2 columns/);
  assert.match(await says('a,b,c\n1,2,3\n'), /1 row; at least 4/);
  assert.match(await says('a,b\nx,y\nx,y\nx,y\nx,y\n'), /no column of numbers/);
  assert.match(await says('a,b,c\n1,2,"3\n1,2,3\n'), /Line 2: a quote is not closed/);
  assert.match(await says('a,b,c\n1,2,5\n3,4,5\n1,1,5\n2,2,5\n'), /one value only/);
  const many = Array.from({ length: 20 }, (_, i) => `${i},${i},name${i}`).join('\n');
  assert.match(await says(`a,b,c\n${many}\n`), /20 classes; this page shows up to 6/);
  await page.tab.setInputFiles('#csv-file', {
    name: 'x.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from([0, 1, 2, 0]),
  });
  await page.tab.waitForFunction(() => /x\.csv/.test(document.getElementById('csv-message').textContent));
  assert.match(await page.tab.textContent('#csv-message'), /not a text file/);
  await page.end();
});

test('points drawn with the mouse train', async () => {
  const page = await open();
  await page.choose('data', 'drawn');
  await page.tab.waitForTimeout(200);
  const box = await page.tab.locator('.card canvas').first().boundingBox();
  const put = (x, y) => page.tab.mouse.click(box.x + x * box.width, box.y + y * box.height);
  for (let i = 0; i < 5; i++) await put(0.2 + 0.02 * i, 0.2 + 0.1 * i);
  await page.tab.check('input[name="draw-class"][value="1"]');
  for (let i = 0; i < 5; i++) await put(0.7 + 0.02 * i, 0.2 + 0.1 * i);
  await page.waitSteps(10);
  assert.equal(await page.tab.evaluate(() => window.app.dataset.y.length), 10);
  assert.equal(await page.message(), '');
  await page.end();
});

test('shake: GmP stays within the bound of Theorem 3.7', async () => {
  const page = await open({ hash: 'data=rings&methods=sp,wn,sp+bn,gmp&hidden=12&seed=2&at=5' });
  await page.open('panel-shake');
  // Angles of f32 are rounded to about 2e-7.
  for (const value of ['-2', '-1', '-0.3']) {
    await page.tab.$eval(
      '#eps',
      (slider, v) => {
        slider.value = v;
        slider.dispatchEvent(new Event('input'));
      },
      value,
    );
    await page.tab.waitForTimeout(300);
    const shaken = await page.tab.evaluate(
      eps => window.app.client.ask({ what: 'shake', eps, seed: 0 }),
      10 ** Number(value),
    );
    const gmp = shaken[3];
    assert.ok(gmp.turn <= gmp.bound + 1e-6 && gmp.turn > 0, `${gmp.turn} above ${gmp.bound}`);
    assert.ok(shaken.slice(0, 3).every(one => Number.isNaN(one.bound)));
  }
  assert.ok((await page.tab.$$('#shake-table tbody tr')).length === 4);
  await page.end();
});

test('the tour has six steps', async () => {
  const page = await open();
  await page.tab.click('#tour-open');
  for (let i = 1; i <= 6; i++) {
    assert.equal(await page.tab.textContent('#tour-step'), `Step ${i} of 6`);
    await page.tab.waitForTimeout(250);
    if (i === 1) assert.equal(await page.steps(), 0, 'the first step of the tour is at rest');
    await page.tab.click('#tour-next');
  }
  assert.ok(await page.tab.isHidden('#tour'));
  assert.equal(await page.message(), '');
  await page.end();
});

test('an address with a preset opens it, and the shake preset is at rest with its dashed lines', async () => {
  const page = await open({ hash: 'preset=figure1' });
  assert.equal(await page.tab.inputValue('#story'), 'figure1');
  await page.tab.waitForFunction(() => window.app.cards.pictures.every(p => p.shaken));
  assert.equal(await page.steps(), 0);
  assert.ok(await page.tab.isHidden('#whole'));
  await page.tab.evaluate(() => {
    location.hash = 'preset=figure3';
  });
  await page.tab.waitForFunction(() => window.app.dataset?.names[0] === 'At1' && window.app.step > 2);
  assert.equal(await page.tab.inputValue('#story'), 'figure3');
  await page.end();
});

test('in a frame of another page: pictures, buttons and a link to the whole page', async () => {
  const where = folder();
  writeFileSync(
    join(where, 'index.html'),
    `<iframe src="${pathToFileURL(file)}#preset=jump" width="700" height="660">`,
  );
  const page = await open({ file: join(where, 'index.html'), framed: true });
  const frame = page.tab.frames()[1];
  await frame.waitForFunction(() => window.app?.step > 3);
  assert.ok(await frame.isVisible('.card canvas'));
  assert.ok(await frame.isVisible('#play'));
  assert.ok(await frame.isHidden('#panels'));
  assert.match(await frame.getAttribute('#whole', 'href'), /playground\.html#preset=jump$/);
  const over = await frame.evaluate(() => document.documentElement.scrollHeight - window.innerHeight);
  assert.ok(over <= 0, `the frame scrolls by ${over} pixels`);
  await page.end();
});

test('keyboard: play, step, units of a picture', async () => {
  const page = await open({ calm: true });
  await page.tab.locator('.card canvas').first().focus();
  await page.tab.keyboard.press('s');
  await page.waitSteps(1);
  await page.tab.keyboard.press('ArrowRight');
  await page.tab.waitForSelector('#unit:not([hidden])');
  assert.match(await page.tab.textContent('#unit'), /SP, unit 1/);
  await page.tab.keyboard.press('ArrowRight');
  await page.tab.waitForFunction(() => /unit 2/.test(document.getElementById('unit').textContent));
  assert.match(await page.tab.textContent('#unit'), /weight/);
  await page.tab.keyboard.press('Escape');
  await page.tab.waitForSelector('#unit', { state: 'hidden' });
  await page.tab.keyboard.press(' ');
  await page.waitSteps(4);
  await page.end();
});

test('hovering a line shows its unit', async () => {
  const page = await openAt('data=rings&methods=gmp&hidden=6&seed=2&at=30');
  const [ax, ay, bx, by] = await page.tab.evaluate(() => window.app.cards.picture(0).vectors(1).lines[0]);
  const box = await page.tab.locator('.card canvas').first().boundingBox();
  const inside = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    .map(t => [ax + t * (bx - ax), ay + t * (by - ay)])
    .find(([x, y]) => x > 0.02 && x < 0.98 && y > 0.02 && y < 0.98);
  await page.tab.mouse.move(box.x + inside[0] * box.width, box.y + inside[1] * box.height);
  await page.tab.waitForSelector('#unit:not([hidden])');
  assert.match(await page.tab.textContent('#unit'), /theta/);
  await page.end();
});

for (const width of [390, 800, 1400])
  for (const dark of [false, true])
    test(`nothing overflows and axe finds nothing serious at ${width} pixels, ${dark ? 'dark' : 'light'}`, async () => {
      const page = await open({
        width,
        height: width < 500 ? 844 : 900,
        dark,
        hash: 'data=rings&methods=sp,wn,sp+bn,sp+ln,gmp&hidden=8&lr=0.1&speed=30',
      });
      for (const panel of ['net', 'train', 'shake', 'take']) await page.open(`panel-${panel}`);
      await page.waitSteps(3);
      const wide = await page.tab.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(wide <= 0, `the page is ${wide} pixels too wide`);
      const overlaps = await page.tab.evaluate(() => {
        const boxes = [
          ...document.querySelectorAll('header, #bar, .card, .plot, #panels > details, footer'),
        ].map(e => [e.id || e.className || e.tagName, e.getBoundingClientRect()]);
        const found = [];
        for (const [a, p] of boxes)
          for (const [b, q] of boxes)
            if (
              p !== q &&
              p.left < q.right - 1 &&
              q.left < p.right - 1 &&
              p.top < q.bottom - 1 &&
              q.top < p.bottom - 1
            )
              found.push(`${a} and ${b}`);
        return found;
      });
      assert.deepEqual(overlaps, []);
      await page.tab.click('#play');
      await page.tab.evaluate(axe);
      const { violations } = await page.tab.evaluate(() => window.axe.run());
      const serious = violations.filter(v => v.impact === 'serious' || v.impact === 'critical');
      assert.deepEqual(
        serious.map(v => `${v.id}: ${v.nodes.map(n => n.html).join(' | ')}`),
        [],
      );
      await page.end();
    });
