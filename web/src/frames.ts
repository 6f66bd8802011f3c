// Positions of the drawn points at any time, by cubic interpolation between the frames that the page holds.

import { Drawing, Run, rowBefore } from "./run";

export interface Box {
  min: number[];
  max: number[];
}

export class Frames {
  readonly count: number;
  readonly points: number;
  readonly dimension: number;
  readonly times: Float64Array;
  readonly box: Box;
  readonly fixed: boolean[];
  private readonly data: Float32Array;
  private readonly width: number;

  constructor(drawing: Drawing, run: Pick<Run, "t" | "coordinates">) {
    this.count = drawing.frames;
    this.dimension = drawing.dimension;
    this.points = drawing.names.length;
    this.width = this.points * this.dimension;
    this.data = run.coordinates;
    this.times = new Float64Array(this.count);
    const rows = run.t.length;
    for (let k = 0; k < this.count; ++k)
      this.times[k] = run.t[this.count > 1 ? Math.floor((k * (rows - 1)) / (this.count - 1)) : 0];
    const min = new Array<number>(this.dimension).fill(Infinity);
    const max = new Array<number>(this.dimension).fill(-Infinity);
    const low = new Float32Array(this.width).fill(Infinity);
    const high = new Float32Array(this.width).fill(-Infinity);
    for (let k = 0; k < this.count; ++k)
      for (let j = 0; j < this.width; ++j) {
        const value = this.data[k * this.width + j];
        if (value < low[j]) low[j] = value;
        if (value > high[j]) high[j] = value;
      }
    this.fixed = [];
    for (let p = 0; p < this.points; ++p) {
      let still = true;
      for (let d = 0; d < this.dimension; ++d) {
        const j = p * this.dimension + d;
        min[d] = Math.min(min[d], low[j]);
        max[d] = Math.max(max[d], high[j]);
        still = still && high[j] === low[j];
      }
      this.fixed.push(still);
    }
    this.box = { min, max };
  }

  value(frame: number, point: number, axis: number): number {
    return this.data[frame * this.width + point * this.dimension + axis];
  }

  frameBefore(time: number): number {
    return rowBefore(this.times, time);
  }

  /** Writes all coordinates at a time, point after point. */
  at(time: number, out: Float64Array): void {
    const { times, data, width } = this;
    const k = Math.min(this.frameBefore(time), Math.max(0, this.count - 2));
    if (this.count < 2) {
      for (let j = 0; j < width; ++j) out[j] = data[j];
      return;
    }
    const h = times[k + 1] - times[k];
    const s = h > 0 ? Math.min(1, Math.max(0, (time - times[k]) / h)) : 0;
    const before = Math.max(0, k - 1);
    const after = Math.min(this.count - 1, k + 2);
    const h0 = times[k] - times[before];
    const h2 = times[after] - times[k + 1];
    for (let j = 0; j < width; ++j) {
      const y1 = data[k * width + j];
      const y2 = data[(k + 1) * width + j];
      const slope = h > 0 ? (y2 - y1) / h : 0;
      // slopes of the parabolas through three neighbours
      const d0 = h0 > 0 ? (y1 - data[before * width + j]) / h0 : slope;
      const d2 = h2 > 0 ? (data[after * width + j] - y2) / h2 : slope;
      const m1 = h0 > 0 ? (d0 * h + slope * h0) / (h + h0) : h2 > 0 ? slope - ((d2 - slope) * h) / (h + h2) : slope;
      const m2 = h2 > 0 ? (slope * h2 + d2 * h) / (h + h2) : h0 > 0 ? slope + ((slope - d0) * h) / (h + h0) : slope;
      const u = 1 - s;
      out[j] = u * u * (1 + 2 * s) * y1 + s * s * (3 - 2 * s) * y2 + s * u * h * (u * m1 - s * m2);
    }
  }
}

/** The same points seen from the front, a little from the left and from above: for browsers that cannot draw in 3D. */
export function projected(drawing: Drawing, run: Run): { drawing: Drawing; coordinates: Float32Array } {
  const points = drawing.names.length;
  const coordinates = new Float32Array(drawing.frames * points * 2);
  const [a, e] = [0.6, 0.35];
  for (let i = 0; i < drawing.frames * points; ++i) {
    const [x, y, z] = [run.coordinates[3 * i], run.coordinates[3 * i + 1], run.coordinates[3 * i + 2]];
    coordinates[2 * i] = Math.cos(a) * x - Math.sin(a) * y;
    coordinates[2 * i + 1] = Math.cos(e) * z + Math.sin(e) * (Math.sin(a) * x + Math.cos(a) * y);
  }
  return { drawing: { ...drawing, dimension: 2 }, coordinates };
}
