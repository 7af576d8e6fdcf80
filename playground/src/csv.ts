// SPDX-License-Identifier: MIT
// A pasted or dropped table: columns, and the two features and the target that the visitor chooses.
import type { Table } from './types';

export interface Sheet {
  names: string[];
  rows: string[][];
}

const MOST_CELLS = 2_000_000;
const MOST_ROWS = 5300;
const MOST_CLASSES = 6;
const LARGEST = 1e30; // squares of larger numbers overflow in f32

/** Lines of fields between commas, semicolons or tabs; quotes as usual. Errors name the line. */
export function parseCsv(text: string): Sheet {
  const clean = text.replace(/^\uFEFF/, '');
  if (!clean.trim()) throw new Error('The file is empty.');
  if (clean.includes('\0')) throw new Error('This is not a text file.');
  const head = clean.split(/\r?\n/, 1)[0];
  const delimiter = [',', ';', '\t'].reduce((best, c) =>
    head.split(c).length > head.split(best).length ? c : best,
  );
  const records = split(clean, delimiter);
  if (records.length * (records[0]?.fields.length ?? 0) > MOST_CELLS)
    throw new Error('The table is too large for this page.');
  const [first, ...rest] = records;
  if (first.fields.length < 2)
    throw new Error(`Line 1: expected at least 2 columns, found ${first.fields.length}.`);
  const named = first.fields.some(f => f !== '' && Number.isNaN(Number(f)));
  const names = first.fields.map((f, i) => (named && f ? f : `column ${i + 1}`));
  const body = named ? rest : records;
  for (const record of body)
    if (record.fields.length !== names.length)
      throw new Error(
        `Line ${record.line}: expected ${names.length} columns, found ${record.fields.length}.`,
      );
  if (body.length < 4)
    throw new Error(
      `The table has ${body.length === 1 ? '1 row' : `${body.length} rows`}; at least 4 are needed.`,
    );
  return { names, rows: body.map(r => r.fields) };
}

function split(text: string, delimiter: string): { line: number; fields: string[] }[] {
  const records: { line: number; fields: string[] }[] = [];
  let fields: string[] = [];
  let field = '';
  let quoted = false;
  let line = 1;
  let begin = 1;
  const end = () => {
    fields.push(field.trim());
    if (fields.length > 1 || fields[0] !== '') records.push({ line: begin, fields });
    fields = [];
    field = '';
    begin = line + 1;
  };
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '\n') line++;
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[i + 1] === '"') field += text[++i];
      else quoted = false;
    } else if (c === '"' && field.trim() === '') {
      quoted = true;
      field = '';
    } else if (c === delimiter) {
      fields.push(field.trim());
      field = '';
    } else if (c === '\n') {
      line--;
      end();
      line++;
      begin = line;
    } else if (c !== '\r') field += c;
  }
  if (quoted) throw new Error(`Line ${begin}: a quote is not closed.`);
  end();
  return records;
}

export function isNumeric(sheet: Sheet, column: number): boolean {
  return sheet.rows.every(row => row[column] !== '' && Number.isFinite(Number(row[column])));
}

/** The first two numeric columns and the last column, as a start. */
export function guess(sheet: Sheet): { x: number; y: number; target: number } {
  const target = sheet.names.length - 1;
  const numeric = sheet.names.map((_, i) => i).filter(i => i !== target && isNumeric(sheet, i));
  return { x: numeric[0] ?? 0, y: numeric[1] ?? -1, target };
}

function isUsable(value: number): boolean {
  return Math.abs(value) <= LARGEST;
}

/** At most MOST_ROWS rows at equal distances: a sorted file keeps all of its classes. */
function sample<T>(rows: T[]): T[] {
  if (rows.length <= MOST_ROWS) return rows;
  return Array.from({ length: MOST_ROWS }, (_, i) => rows[Math.floor((i * rows.length) / MOST_ROWS)]);
}

/** Whether a table from a link is one that this page could have made. */
export function isTable(table: Table): boolean {
  const { x, y, features, task, names, classes } = table;
  if (y.length < 4 || y.length > MOST_ROWS || x.length !== y.length * features) return false;
  if (names.length !== features + 1 || ![...x, ...y].every(isUsable)) return false;
  if (task === 'regression') return true;
  const count =
    task === 'binary' ? classes.length === 2 : classes.length > 2 && classes.length <= MOST_CLASSES;
  // the network has as many outputs as the largest class says
  const used = y.every(v => Number.isInteger(v) && v >= 0 && v < classes.length);
  return count && used && features === 2 && Math.max(...y) === classes.length - 1;
}

/** y -1: one feature only. */
export function tableOf(sheet: Sheet, x: number, y: number, target: number): Table {
  const features = y < 0 ? [x] : [x, y];
  for (const column of features) {
    const bad = sheet.rows.findIndex(row => row[column] === '' || !isUsable(Number(row[column])));
    if (bad < 0) continue;
    const found = sheet.rows[bad][column];
    const expected = Number.isNaN(Number(found)) ? 'a number' : `a number up to ${LARGEST}`;
    throw new Error(
      `Column "${sheet.names[column]}", row ${bad + 1}: expected ${expected}, found "${found}".`,
    );
  }
  if (features.includes(target)) throw new Error('The target must be another column than the features.');
  const rows = sample(sheet.rows);
  const values = rows.map(row => row[target]);
  const empty = sheet.rows.findIndex(row => row[target] === '');
  if (empty >= 0) throw new Error(`Column "${sheet.names[target]}", row ${empty + 1}: the target is empty.`);
  const distinct = [...new Set(values)].sort((a, b) => Number(a) - Number(b) || (a < b ? -1 : 1));
  const numeric = values.every(v => isUsable(Number(v)));
  const whole = numeric && values.every(v => Number.isInteger(Number(v)));
  const names = [...features, target].map(i => sheet.names[i]);
  const table: Table = {
    x: rows.flatMap(row => features.map(i => Number(row[i]))),
    y: [],
    features: features.length,
    task: 'regression',
    names,
    classes: [],
  };
  if (distinct.length < 2)
    throw new Error(`Column "${sheet.names[target]}" has one value only: there is nothing to learn.`);
  const classes = features.length === 2 && (!numeric || (whole && distinct.length <= MOST_CLASSES));
  if (!classes && !numeric)
    throw new Error(`Column "${sheet.names[target]}": with one feature the target must be a number.`);
  if (classes && distinct.length > MOST_CLASSES)
    throw new Error(
      `Column "${sheet.names[target]}" has ${distinct.length} classes; this page shows up to ${MOST_CLASSES}.`,
    );
  if (classes) {
    table.task = distinct.length === 2 ? 'binary' : 'classes';
    table.classes = distinct;
    table.y = values.map(v => distinct.indexOf(v));
  } else table.y = values.map(Number);
  return table;
}
