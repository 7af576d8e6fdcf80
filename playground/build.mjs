// SPDX-License-Identifier: MIT
// One HTML file of everything: node build.mjs ENGINE.wasm OUT.html
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const [engine, out] = process.argv.slice(2);
const LIMIT = 2_000_000;

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, 'src', entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    loader: { '.csv': 'text' },
  });
  return result.outputFiles[0].text;
}

const uplot = readFileSync(join(here, 'node_modules/uplot/dist/uPlot.min.css'), 'utf8');
const inScript = code => code.replaceAll('</script', '<\\/script');
const parts = {
  '/*STYLE*/': uplot + readFileSync(join(here, 'style.css'), 'utf8'),
  '/*ENGINE*/': readFileSync(engine).toString('base64'),
  '/*WORKER*/': inScript(await bundle('worker.ts')),
  '/*MAIN*/': inScript(await bundle('main.ts')),
};
let page = readFileSync(join(here, 'index.html'), 'utf8');
for (const [mark, text] of Object.entries(parts)) page = page.replace(mark, () => text);
if (page.length > LIMIT) throw new Error(`${out} has ${page.length} bytes, at most ${LIMIT} are allowed`);
writeFileSync(out, page);
console.log(`playground: ${out}, ${Math.round(page.length / 1000)} KB`);
