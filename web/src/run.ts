// What the program wrote into the page: a description in JSON and two blocks of numbers in base64.

export interface Curve {
  name: string;
  label: string; // MathML
  series: number;
  offset: number; // taken off before the absolute value, in logarithmic panels
}

export interface Panel {
  title: string;
  unit: string;
  logarithmic: boolean;
  family: boolean; // the curves are members of one family, in order
  notes: string[];
  curves: Curve[];
}

export interface PhasePanel {
  title: string;
  x: Curve;
  xUnit: string;
  yUnit: string;
  curves: Curve[];
}

export interface Drawing {
  dimension: 2 | 3;
  names: string[];
  lines: number[][];
  trails: number[];
  frames: number;
}

export interface Description {
  model: string;
  logarithmicTime: boolean; // the run spans decades, and so do the axes
  timeUnit: string;
  rows: number;
  allRows: number; // before thinning
  columns: string[]; // of the CSV file: the first series, with t in front
  series: number;
  panels: Panel[];
  phases: PhasePanel[];
  drawing: Drawing | null;
}

export interface Run extends Description {
  t: Float64Array;
  values: Float64Array[]; // one per series, t first
  coordinates: Float32Array; // frame after frame, point after point
}

export function bytesOf(id: string): ArrayBuffer {
  const encoded = document.getElementById(id)?.textContent ?? "";
  const decode = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (decode) return decode.call(Uint8Array, encoded).buffer as ArrayBuffer;
  const text = atob(encoded);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

export function readRun(): Run {
  const description = JSON.parse(document.getElementById("run")!.textContent!) as Description;
  const numbers = new Float64Array(bytesOf("numbers"));
  const values: Float64Array[] = [];
  for (let s = 0; s < description.series; ++s)
    values.push(numbers.subarray(s * description.rows, (s + 1) * description.rows));
  const coordinates = new Float32Array(bytesOf("frames"));
  return { ...description, values, t: values[0] ?? new Float64Array(0), coordinates };
}

/** The largest i with t[i] <= time, at least 0. */
export function rowBefore(t: ArrayLike<number>, time: number): number {
  let low = 0;
  let high = t.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (t[middle] <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A number for people: four digits, powers of ten where they are shorter. */
export function brief(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(4))) : value.toExponential(2);
  return withPower(text.replace("-", "−"));
}

/** A number with all its digits, powers of ten where they are shorter: for axes. */
export function exact(value: number): string {
  const size = Math.abs(value);
  const digits = Number(value.toPrecision(10));
  const text = size === 0 || (size >= 1e-3 && size < 1e5) ? String(digits) : digits.toExponential();
  return withPower(text.replace("-", "−"));
}

/** "1.5e-6" as 1.5·10⁻⁶. */
export function withPower(text: string): string {
  return text.replace(/e([+−-]?)0*(\d+)/, (_, sign: string, digits: string) =>
    "·10" + superscript((sign === "−" || sign === "-" ? "-" : "") + digits));
}

export function superscript(digits: string): string {
  return [...digits].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)])).join("");
}
