// SPDX-License-Identifier: MIT
// The steps of one method in flat memory of bounded size. When it is full, pairs of rows become one: the mean loss, and the
// largest move and turn, so that no jump is lost.
import { LOG } from './types';

export class StepLog {
  private values = new Float64Array(LOG * 256);
  private filled = 0; // steps in the row at `count`, which is not complete
  count = 0;
  stride = 1; // steps of a row

  /** most: rows, an even number. */
  constructor(private readonly most: number) {}

  /** steps rows of loss, move and turn; a move or a turn may be NaN. */
  append(rows: Float64Array): void {
    for (let i = 0; i < rows.length; i += LOG) this.push(rows[i], rows[i + 1], rows[i + 2]);
  }

  private push(loss: number, move: number, turn: number): void {
    const at = LOG * this.count;
    if (at === this.values.length) this.grow();
    const { values } = this;
    if (this.filled === 0) {
      values[at] = loss;
      values[at + 1] = move;
      values[at + 2] = turn;
    } else {
      values[at] += loss;
      values[at + 1] = larger(values[at + 1], move);
      values[at + 2] = larger(values[at + 2], turn);
    }
    if (++this.filled < this.stride) return;
    this.close();
    if (this.count === this.most) this.halve();
  }

  private close(): void {
    this.values[LOG * this.count++] /= this.filled;
    this.filled = 0;
  }

  private grow(): void {
    const values = new Float64Array(Math.min(2 * this.values.length, LOG * this.most));
    values.set(this.values);
    this.values = values;
  }

  private halve(): void {
    const { values } = this;
    this.count /= 2;
    for (let i = 0; i < this.count; i++) {
      const [to, a, b] = [LOG * i, 2 * LOG * i, 2 * LOG * i + LOG];
      values[to] = (values[a] + values[b]) / 2;
      values[to + 1] = larger(values[a + 1], values[b + 1]);
      values[to + 2] = larger(values[a + 2], values[b + 2]);
    }
    this.stride *= 2;
  }

  copy(): Float64Array {
    return this.values.slice(0, LOG * this.count);
  }

  /** All rows, the incomplete one too; then the log is empty. */
  take(): Float64Array {
    if (this.filled) this.close();
    const rows = this.copy();
    this.count = 0;
    this.stride = 1;
    return rows;
  }
}

function larger(a: number, b: number): number {
  return b > a || Number.isNaN(a) ? b : a;
}
