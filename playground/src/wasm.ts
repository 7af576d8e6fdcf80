// SPDX-License-Identifier: MIT
// The engine's module and the four functions it asks for. emscripten's own loader is not needed: nothing is printed, and
// there are no files.

type Address = number;

export interface Exports {
  memory: WebAssembly.Memory;
  _initialize?: () => void;
  pg_alloc(bytes: number): Address;
  pg_free(at: Address): void;
  pg_error(): Address;
  pg_version(): Address;
  pg_word(kind: number, text: Address): number;
  pg_word_kind(text: Address): number;
  pg_data_synthetic(name: Address, rows: number, noise: number, test: number, seed: number): number;
  pg_data_arrays(
    x: Address,
    y: Address,
    rows: number,
    features: number,
    task: number,
    test: number,
    seed: number,
  ): number;
  pg_rows(): number;
  pg_features(): number;
  pg_task(): number;
  pg_x(): Address;
  pg_y(): Address;
  pg_part(part: number): Address;
  pg_part_rows(part: number): number;
  pg_options(
    loss: number,
    optimizer: number,
    lr: number,
    decay: number,
    batch: number,
    standardize: number,
    seed: number,
  ): number;
  pg_method_free(k: number): void;
  pg_method_new(
    k: number,
    param: number,
    norm: number,
    act: number,
    init: number,
    dtype: number,
    hidden: Address,
    depth: number,
    seed: number,
  ): number;
  pg_steps(k: number, steps: number, log: Address): number;
  pg_advance(k: number, steps: number): number;
  pg_diverged(k: number): number;
  pg_set_lr(k: number, lr: number): number;
  pg_score(k: number, part: number, out: Address): number;
  pg_forward(k: number, x: Address, rows: number, y: Address): number;
  pg_outputs(k: number): number;
  pg_lines(k: number, census: number, out: Address): number;
  pg_dead(k: number): number;
  pg_regions(k: number, window: Address, most: number): number;
  pg_edges(k: number): number;
  pg_edges_read(k: number, out: Address): void;
  pg_paint_regions(
    k: number,
    window: Address,
    width: number,
    height: number,
    palette: Address,
    tints: number,
    low: number,
    high: number,
    out: Address,
  ): number;
  pg_paint_surface(
    k: number,
    window: Address,
    width: number,
    height: number,
    palette: Address,
    low: number,
    high: number,
    out: Address,
  ): number;
  pg_shake(k: number, eps: number, seed: number, out: Address, turn: Address): number;
  pg_figure1(eps: number, length: number, seed: number, out: Address): number;
  pg_tensors(k: number): number;
  pg_tensor(k: number, i: number, name: Address, facts: Address): number;
  pg_tensor_read(k: number, name: Address, values: Address, count: number): number;
}

/** The module's memory by name: areas grow when asked for more and are never given back one by one. */
export class Engine {
  private readonly areas = new Map<string, { at: Address; bytes: number }>();
  private readonly words = new Map<string, number>();

  private constructor(readonly call: Exports) {}

  static open(bytes: Uint8Array<ArrayBuffer>): Engine {
    const state: { memory: WebAssembly.Memory | null } = { memory: null };
    const write64 = (at: Address, value: bigint) =>
      new DataView((state.memory as WebAssembly.Memory).buffer).setBigUint64(at, value, true);
    const functions: Record<string, (...args: never[]) => unknown> = {
      proc_exit: (code: number) => {
        throw new Error(`the engine ended with ${code}`);
      },
      clock_time_get: (_clock: number, _precision: bigint, out: Address) => {
        write64(out, BigInt(Math.round(performance.now() * 1e6)));
        return 0;
      },
      emscripten_notify_memory_growth: () => undefined,
    };
    const module = new WebAssembly.Module(bytes);
    const imports: WebAssembly.Imports = {};
    for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
      if (kind !== 'function') throw new Error(`the engine asks for ${from}.${name}, a ${kind}`);
      imports[from] ??= {};
      imports[from][name] = functions[name] ?? (() => 52); // any other call of the system: not supported
    }
    const instance = new WebAssembly.Instance(module, imports);
    const exports = instance.exports as unknown as Exports;
    state.memory = exports.memory;
    exports._initialize?.();
    return new Engine(exports);
  }

  area(name: string, bytes: number): Address {
    const old = this.areas.get(name);
    if (old && old.bytes >= bytes) return old.at;
    if (old) this.call.pg_free(old.at);
    const at = this.call.pg_alloc(bytes + 16);
    if (!at) throw new Error('out of memory');
    this.areas.set(name, { at, bytes });
    return at;
  }

  doubles(at: Address, count: number): Float64Array {
    return new Float64Array(this.call.memory.buffer, at, count);
  }

  put(name: string, values: ArrayLike<number>): Address {
    const at = this.area(name, values.length * 8);
    this.doubles(at, values.length).set(values);
    return at;
  }

  put32(name: string, values: ArrayLike<number>): Address {
    const at = this.area(name, values.length * 4);
    new Uint32Array(this.call.memory.buffer, at, values.length).set(values);
    return at;
  }

  text(at: Address): string {
    const bytes = new Uint8Array(this.call.memory.buffer, at);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  putText(name: string, text: string): Address {
    const bytes = new TextEncoder().encode(`${text}\0`);
    const at = this.area(name, bytes.length);
    new Uint8Array(this.call.memory.buffer, at, bytes.length).set(bytes);
    return at;
  }

  /** The number of a word of the library, such as "gmp" of PARAM. */
  word(kind: string, text: string): number {
    const key = `${kind} ${text}`;
    let number = this.words.get(key);
    if (number === undefined) {
      number = this.call.pg_word(
        this.call.pg_word_kind(this.putText('kind', kind)),
        this.putText('word', text),
      );
      if (number < 0) throw new Error(`the engine does not know '${text}' (${kind})`);
      this.words.set(key, number);
    }
    return number;
  }

  check(code: number): number {
    if (code < 0) throw new Error(this.text(this.call.pg_error()));
    return code;
  }
}
