// SPDX-License-Identifier: MIT
// Links and tables without a browser: whatever a fragment holds, the page gets settings that it can train.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = join(dirname(fileURLToPath(import.meta.url)), '../src');
const { outputFiles } = await build({
  stdin: {
    contents: "export * from './state'; export * from './csv'; export * from './types';",
    resolveDir: source,
    loader: 'ts',
  },
  bundle: true,
  write: false,
  format: 'esm',
  loader: { '.csv': 'text' },
});
const page = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`
);

const packed = table => Buffer.from(JSON.stringify(table)).toString('base64url');
const table = more => ({
  f: 2,
  t: 'binary',
  n: ['a', 'b', 'c'],
  c: ['0', '1'],
  x: [0, 1, 2, 3, 4, 5, 6, 7],
  y: [0, 1, 0, 1],
  ...more,
});

function check({ settings: s, view, table, rates, at }, fragment) {
  const within = (value, least, most, what) =>
    assert.ok(value >= least && value <= most, `${what} ${value} of ${fragment}`);
  assert.ok(page.DATA.includes(s.data) && page.FILLS.includes(view.fill), fragment);
  assert.ok(
    page.OPTIMIZERS.includes(s.optimizer) && page.ACTS.includes(s.act) && page.INITS.includes(s.init),
  );
  const own = s.data === 'drawn' || s.data === 'csv'; // has its rows in the table
  within(s.rows, own ? 0 : 10, 5300, 'rows');
  within(s.noise, 0, 2, 'noise');
  within(s.methods.length, 1, 5, 'methods');
  within(s.hidden.length, 1, 4, 'layers');
  for (const units of s.hidden) within(units, 1, 200, 'units');
  within(s.lr, 1e-300, 1000, 'rate');
  within(s.batch, 0, 5300, 'batch');
  within(s.seed, 0, 4294967295, 'seed');
  within(s.decay, 0, 1, 'decay');
  within(view.speed, 0, 100000, 'speed');
  within(at, 0, 1e7, 'step');
  for (const value of [s.rows, s.batch, s.seed, at]) assert.ok(Number.isInteger(value), fragment);
  rates.forEach(([step, lr], i) => {
    within(step, i ? rates[i - 1][0] : 1, 2 ** 53, 'step of a rate');
    within(lr, 1e-300, 1000, 'later rate');
  });
  if (own) assert.ok(table && page.isTable(table), fragment);
}

test('a link that was changed at random gives settings that can be trained', () => {
  let dice = 12345;
  const random = most => {
    dice = (Math.imul(dice, 1103515245) + 12345) >>> 0;
    return Math.floor((dice / 2 ** 32) * most);
  };
  const letters = '0123456789-+.,:&=%eEinNaxzé\u0000_';
  const state = page.decode(`data=csv&methods=sp,gmp+imn&hidden=8-4&lr=0.1,20:0.01&table=${packed(table())}`);
  assert.equal(state.settings.data, 'csv');
  const whole = page.encode(state);
  assert.deepEqual(page.decode(whole), state);
  for (let i = 0; i < 5000; i++) {
    let text = whole;
    for (let change = 0; change <= random(4); change++) {
      const at = random(text.length);
      const put = letters[random(letters.length)].repeat(random(3));
      text = text.slice(0, at) + put + text.slice(at + random(6));
    }
    check(page.decode(text), text);
  }
});

test('a table of a link is refused when the page could not have made it', () => {
  const bad = [
    { y: [0, 1, 0, 9] },
    { y: [0, 1, 0, -1] },
    { y: [0, 1, 0, 0.5] },
    { y: [0, 1, 0, 1e9] },
    { c: ['0'] },
    { t: 'classes', c: Array.from({ length: 40 }, (_, i) => String(i)), y: [0, 1, 2, 39] },
    { t: 'classes', c: ['a', 'b', 'c'], y: [0, 1, 0, 1] },
    { f: 1, n: ['a', 'c'], x: [0, 1, 2, 3] },
    { x: [0, 1, 2, 3, 4, 5, 6, 1e300] },
    { n: [] },
    { y: [0, 1] },
  ];
  for (const more of bad) {
    const fragment = `data=csv&table=${packed(table(more))}`;
    assert.equal(page.decode(fragment).table, null, JSON.stringify(more));
    check(page.decode(fragment), fragment);
  }
  assert.equal(page.decode(`data=drawn&table=${packed(table({ t: 'regression' }))}`).settings.data, 'csv');
});

test('a large table is sampled over all of its rows', () => {
  const lines = Array.from({ length: 100_000 }, (_, i) => `${i},${-i},${i < 50_000 ? 'low' : 'high'}`);
  const sheet = page.parseCsv(`a,b,class\n${lines.join('\n')}\n`);
  assert.equal(sheet.rows.length, 100_000);
  const found = page.tableOf(sheet, 0, 1, 2);
  assert.deepEqual(found.classes, ['high', 'low']);
  assert.ok(found.y.length <= 5300 && found.x.at(-2) > 99_900);
  assert.equal(found.y.filter(y => y === 1).length, found.y.length / 2);
});

test('a table without usable numbers is refused with the place', () => {
  const refuse = (text, message, columns = [0, 1, 2]) =>
    assert.throws(() => page.tableOf(page.parseCsv(text), ...columns), { message });
  const rows = row => `a,b,c\n1,2,0\n${row}\n3,4,1\n5,6,0\n7,8,1\n`;
  refuse('', 'The file is empty.');
  refuse('a\n1\n2\n3\n4\n', 'Line 1: expected at least 2 columns, found 1.');
  refuse(rows('red,2,1'), 'Column "a", row 2: expected a number, found "red".');
  refuse(rows('1,1e400,1'), 'Column "b", row 2: expected a number up to 1e+30, found "1e400".');
  refuse(rows('1,2'), 'Line 3: expected 3 columns, found 2.');
  refuse(rows('1,2,'), 'Column "c", row 2: the target is empty.');
});
