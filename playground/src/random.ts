// SPDX-License-Identifier: MIT
// Small random numbers for the synthetic sets of the page (mulberry32); training has the library's own generator.

export class Random {
  private state: number;
  private spare: number | null = null;

  constructor(seed: number) {
    this.state = (seed * 0x9e3779b9 + 0x6d2b79f5) >>> 0;
  }

  unit(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  normal(): number {
    if (this.spare !== null) {
      const value = this.spare;
      this.spare = null;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.unit()));
    const angle = 2 * Math.PI * this.unit();
    this.spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }
}
