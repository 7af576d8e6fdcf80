// SPDX-License-Identifier: MIT
// Memory stays flat: PLAYGROUND_MINUTES (default 10) of training at full speed, with a new start every half minute.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { close, launch, open } from './browser.mjs';

const minutes = Number(process.env.PLAYGROUND_MINUTES ?? 10);

before(launch);
after(close);

test(`memory stays flat for ${minutes} minutes`, { timeout: (minutes + 3) * 60_000 }, async () => {
  const page = await open({
    hash: 'data=rings&methods=sp,wn,sp+bn,gmp&hidden=20-8&lr=0.01&speed=0&fill=regions',
  });
  const session = await page.tab.context().newCDPSession(page.tab);
  const used = async () => {
    await session.send('HeapProfiler.collectGarbage');
    return (await session.send('Runtime.getHeapUsage')).usedSize;
  };
  const end = Date.now() + minutes * 60_000;
  const seen = [];
  while (Date.now() < end) {
    await page.tab.waitForTimeout(Math.min(30_000, (minutes * 60_000) / 10));
    seen.push((await used()) + (await page.tab.evaluate(() => window.app.client.ask({ what: 'memory' }))));
    await page.tab.click('#reseed');
  }
  const early = Math.max(...seen.slice(1, Math.ceil(seen.length / 3) + 1));
  const late = Math.max(...seen.slice(-3));
  console.log(`memory of page and engine in MB: ${seen.map(b => (b / 1e6).toFixed(1)).join(' ')}`);
  assert.ok(late < early * 1.3 + 3e6, `${early} bytes became ${late}`);
  await page.end();
});
