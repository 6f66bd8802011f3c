// Colours that the plots and the animation share; apart for people who see fewer of them.

export const ink = "#1d2733";
export const faint = "#8a94a3";
export const grid = "#e9ecf1";
export const accent = "#0b5fa5";
export const timeMark = "#d1495b";

export const separate = ["#0b5fa5", "#d1495b", "#2a8f66", "#d98c1f", "#7253a8", "#3aa0b8", "#8a5a2b", "#5b6678"];

/** A colour for each of `count` curves: separate ones, or one scale from dark to light for members of a family. */
export function colours(count: number, family: boolean): string[] {
  if (!family || count <= 2) return Array.from({ length: count }, (_, i) => separate[i % separate.length]);
  const stops = [
    [27, 38, 92],
    [11, 95, 165],
    [42, 150, 140],
    [226, 165, 50],
  ];
  return Array.from({ length: count }, (_, i) => {
    const at = (i / (count - 1)) * (stops.length - 1);
    const k = Math.min(stops.length - 2, Math.floor(at));
    const mix = stops[k].map((c, j) => Math.round(c + (at - k) * (stops[k + 1][j] - c)));
    return `rgb(${mix.join(",")})`;
  });
}

export const pageFont = '"Inter","Source Sans 3","Segoe UI","Helvetica Neue",Helvetica,Arial,"DejaVu Sans",sans-serif';

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** An element with a formula in it. The program wrote the MathML; names in it are escaped there. */
export function formula(mathml: string): HTMLElement {
  const span = element("span", { class: "formula" });
  span.innerHTML = `<math>${mathml}</math>`;
  return span;
}
