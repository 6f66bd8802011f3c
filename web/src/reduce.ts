// Thins a curve to what a screen can show: of each of a few hundred buckets its smallest and its largest value.

import { rowBefore } from "./run";

export interface Window {
  first: number;
  last: number; // included
}

/** The rows inside a time window, with one on either side. */
export function windowOf(t: Float64Array, min: number, max: number): Window {
  const first = Math.max(0, rowBefore(t, min) - 1);
  const last = Math.min(t.length - 1, rowBefore(t, max) + 1);
  return { first, last };
}

/** Row numbers that all curves of one plot share: in each bucket the extremes of every curve. */
export function chosenRows(curves: ArrayLike<number>[], window: Window, buckets: number): number[] {
  const count = window.last - window.first + 1;
  const rows: number[] = [];
  if (count <= 8 * buckets) {
    for (let i = window.first; i <= window.last; ++i) rows.push(i);
    return rows;
  }
  const marks = new Set<number>();
  for (let b = 0; b < buckets; ++b) {
    const from = window.first + Math.floor((b * count) / buckets);
    const to = window.first + Math.floor(((b + 1) * count) / buckets);
    marks.clear();
    marks.add(from);
    for (const curve of curves) {
      let low = from;
      let high = from;
      for (let i = from; i < to; ++i) {
        const y = curve[i];
        if (y < curve[low] || Number.isNaN(curve[low])) low = i;
        if (y > curve[high] || Number.isNaN(curve[high])) high = i;
      }
      marks.add(low);
      marks.add(high);
    }
    for (const row of [...marks].sort((a, b) => a - b)) rows.push(row);
  }
  if (rows[rows.length - 1] !== window.last) rows.push(window.last);
  return rows;
}
