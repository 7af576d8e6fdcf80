// SPDX-License-Identifier: MIT
// Curves of a training in bounded memory. When they are full, pairs of entries become one: the mean of a loss, and the
// largest of moves and turns, so that no jump is lost.

export type Merge = 'mean' | 'max' | 'last';

export class Series {
  step: number[] = [];
  columns: number[][];
  stride = 1; // steps that an entry stands for
  private pending: number[][] = [];

  constructor(
    private readonly merges: Merge[],
    private readonly capacity: number,
  ) {
    this.columns = merges.map(() => []);
  }

  /** values: one per column; NaN: none. */
  push(step: number, values: number[]): void {
    this.pending.push(values);
    if (this.pending.length < this.stride) return;
    this.step.push(step);
    this.merges.forEach((merge, c) => {
      this.columns[c].push(
        combine(
          merge,
          this.pending.map(row => row[c]),
        ),
      );
    });
    this.pending = [];
    if (this.step.length >= this.capacity) this.halve();
  }

  private halve(): void {
    const count = this.step.length >> 1;
    for (let i = 0; i < count; i++) {
      this.step[i] = this.step[2 * i + 1];
      this.merges.forEach((merge, c) => {
        const column = this.columns[c];
        column[i] = combine(merge, [column[2 * i], column[2 * i + 1]]);
      });
    }
    this.step.length = count;
    for (const column of this.columns) column.length = count;
    this.stride *= 2;
  }
}

function combine(merge: Merge, values: number[]): number {
  const known = values.filter(v => !Number.isNaN(v));
  if (!known.length) return Number.NaN;
  if (merge === 'max') return Math.max(...known);
  if (merge === 'last') return known[known.length - 1];
  return known.reduce((a, b) => a + b, 0) / known.length;
}
