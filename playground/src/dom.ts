// SPDX-License-Identifier: MIT

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found as T;
}

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), props);
  made.append(...children);
  return made;
}

export function fillSelect(select: HTMLSelectElement, options: [string, string][], value: string): void {
  select.replaceChildren(...options.map(([v, text]) => element('option', { value: v, textContent: text })));
  select.value = value;
}

export function short(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size && (size >= 1e5 || size < 1e-3)) return value.toExponential(1);
  return String(Number(value.toPrecision(digits)));
}

export function degrees(value: number): string {
  return Number.isFinite(value) ? `${value >= 10 ? value.toFixed(0) : value.toFixed(1)}°` : '–';
}
