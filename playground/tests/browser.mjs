// SPDX-License-Identifier: MIT
// Chromium with the page, and the tool beside it. PLAYGROUND, SPHERELU: paths of both; CHROMIUM: another browser.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

export const page = resolve(process.env.PLAYGROUND ?? '../build/playground.html');
export const tool = resolve(process.env.SPHERELU ?? '../build/spherelu');
export const hasTool = existsSync(tool);

let browser;
const folders = [];

export async function launch() {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}

export async function close() {
  await browser?.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

export function folder() {
  const made = mkdtempSync(join(tmpdir(), 'playground-'));
  folders.push(made);
  return made;
}

export function run(args, options = {}) {
  return execFileSync(tool, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], ...options });
}

/** A page whose script errors and requests to a network fail the test: `check()` at its end. */
export async function open({
  hash = '',
  width = 1400,
  height = 900,
  dark = false,
  calm = false,
  file = page,
  framed = false, // file holds the page in a frame
} = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: calm ? 'reduce' : 'no-preference',
    acceptDownloads: true,
  });
  const tab = await context.newPage();
  const errors = [];
  tab.on('pageerror', error => errors.push(error.message));
  tab.on('console', message => message.type() === 'error' && errors.push(message.text()));
  tab.on(
    'request',
    request => /^(https?|wss?):/.test(request.url()) && errors.push(`request ${request.url()}`),
  );
  await tab.goto(pathToFileURL(file).href + (hash ? `#${hash}` : ''));
  if (!framed) await tab.waitForFunction(() => window.app?.dataset);
  return {
    tab,
    steps: () => tab.evaluate(() => window.app.step),
    waitSteps: least => tab.waitForFunction(n => window.app.step >= n, least, { timeout: 60_000 }),
    message: () => tab.textContent('#message'),
    choose: (id, value) => tab.selectOption(`#${id}`, value),
    open: id =>
      tab.evaluate(panel => {
        document.getElementById(panel).open = true;
      }, id),
    async save(id, where) {
      const [download] = await Promise.all([tab.waitForEvent('download'), tab.click(`#${id}`)]);
      const path = join(where, download.suggestedFilename());
      await download.saveAs(path);
      return path;
    },
    async end() {
      await context.close();
      if (errors.length) throw new Error(`the page reported: ${errors.join('; ')}`);
    },
  };
}

/** A link's training: at the step it names, and at rest. */
export async function openAt(hash, options = {}) {
  const opened = await open({ hash, ...options });
  const step = Number(/at=(\d+)/.exec(hash)[1]);
  await opened.tab.waitForFunction(
    n => window.app.step === n && document.getElementById('message').hidden,
    step,
    {
      timeout: 60_000,
    },
  );
  return opened;
}
