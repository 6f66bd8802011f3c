// The mechanism in the plane.

import { Clock } from "./clock";
import { Frames } from "./frames";
import { brief, Drawing } from "./run";
import { accent, element, faint, grid, ink, pageFont, timeMark } from "./style";

export interface View {
  readonly node: HTMLElement;
  /** Draws at the clock's time into a box of that many pixels. */
  resize(width: number, height: number): void;
  draw(): void;
  labels: boolean;
  reset?(): void;
}

const margin = 34;
const trailSeconds = 2;

export class View2d implements View {
  readonly node = element("canvas", { class: "stage", role: "img", "aria-label": "animation" });
  labels = false;
  private ratio = 1;
  private width = 400;
  private height = 400;
  private scale = 1;
  private centre = [0, 0];
  private readonly now: Float64Array;

  constructor(
    private readonly drawing: Drawing,
    private readonly frames: Frames,
    private readonly clock: Clock,
  ) {
    this.now = new Float64Array(frames.points * frames.dimension);
  }

  resize(width: number, height: number): void {
    const ratio = devicePixelRatio || 1;
    this.ratio = ratio;
    this.width = width;
    this.height = height;
    this.node.width = Math.round(width * ratio);
    this.node.height = Math.round(height * ratio);
    this.node.style.width = `${width}px`;
    this.node.style.height = `${height}px`;
    const { min, max } = this.frames.box;
    const span = [Math.max(max[0] - min[0], 1e-12), Math.max(max[1] - min[1], 1e-12)];
    const largest = Math.max(span[0], span[1]);
    const inner = [width - 2 * margin, height - 2 * margin];
    this.scale = Math.min(inner[0] / Math.max(span[0], 0.05 * largest), inner[1] / Math.max(span[1], 0.05 * largest));
    this.centre = [(min[0] + max[0]) / 2, (min[1] + max[1]) / 2];
    this.draw();
  }

  private x(value: number): number {
    return this.width / 2 + (value - this.centre[0]) * this.scale;
  }
  private y(value: number): number {
    return this.height / 2 - (value - this.centre[1]) * this.scale;
  }

  draw(): void {
    const context = this.node.getContext("2d")!;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = "#fff";
    context.fillRect(0, 0, this.width, this.height);
    this.drawGrid(context);
    this.frames.at(this.clock.time, this.now);
    context.lineJoin = context.lineCap = "round";
    for (const trail of this.drawing.trails) this.drawTrail(context, trail);

    const small = this.frames.points > 60;
    context.strokeStyle = ink;
    context.lineWidth = small ? 1.5 : 3;
    for (const line of this.drawing.lines) {
      context.beginPath();
      line.forEach((point, i) => {
        const [x, y] = [this.x(this.now[2 * point]), this.y(this.now[2 * point + 1])];
        if (i === 0) context.moveTo(x, y);
        else context.lineTo(x, y);
      });
      context.stroke();
    }
    for (let point = 0; point < this.frames.points; ++point) this.drawPoint(context, point, small);
  }

  private drawPoint(context: CanvasRenderingContext2D, point: number, small: boolean): void {
    const [x, y] = [this.x(this.now[2 * point]), this.y(this.now[2 * point + 1])];
    context.beginPath();
    if (this.frames.fixed[point]) {
      // a bearing: what stands still
      context.fillStyle = "#fff";
      context.strokeStyle = ink;
      context.lineWidth = 1.6;
      context.arc(x, y, small ? 2 : 4.5, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
      if (!small) {
        context.beginPath();
        context.fillStyle = ink;
        context.arc(x, y, 1.3, 0, 2 * Math.PI);
        context.fill();
      }
    } else {
      const radius = small ? 2.2 : this.frames.points > 20 ? 4.5 : 8;
      context.fillStyle = accent;
      context.strokeStyle = "#fff";
      context.lineWidth = small ? 0 : 1.5;
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
      if (!small) context.stroke();
    }
    if (this.labels) {
      context.font = `12px ${pageFont}`;
      context.fillStyle = ink;
      context.textAlign = "left";
      context.textBaseline = "bottom";
      context.fillText(this.drawing.names[point], x + 9, y - 6);
    }
  }

  /** The whole path faintly, the last seconds strongly. */
  private drawTrail(context: CanvasRenderingContext2D, point: number): void {
    const { frames, clock } = this;
    const every = Math.max(1, Math.floor(frames.count / 4000));
    context.beginPath();
    for (let k = 0; k < frames.count; k += every) {
      const [x, y] = [this.x(frames.value(k, point, 0)), this.y(frames.value(k, point, 1))];
      if (k === 0) context.moveTo(x, y);
      else context.lineTo(x, y);
    }
    context.strokeStyle = "#dbe6f0"; // opaque: a curve that passes often must not grow dark
    context.lineWidth = 1;
    context.stroke();

    const last = frames.frameBefore(clock.time);
    const length = trailSeconds * clock.speed;
    const first = frames.frameBefore(clock.time - length);
    context.strokeStyle = timeMark;
    context.lineWidth = 2;
    const parts = 24;
    for (let part = 0; part < parts; ++part) {
      const from = first + Math.floor(((last - first) * part) / parts);
      const to = first + Math.floor(((last - first) * (part + 1)) / parts);
      context.globalAlpha = (0.75 * (part + 1)) / parts;
      context.beginPath();
      context.moveTo(this.x(frames.value(from, point, 0)), this.y(frames.value(from, point, 1)));
      for (let k = from + 1; k <= to; ++k) context.lineTo(this.x(frames.value(k, point, 0)), this.y(frames.value(k, point, 1)));
      if (part === parts - 1) context.lineTo(this.x(this.now[2 * point]), this.y(this.now[2 * point + 1]));
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  private drawGrid(context: CanvasRenderingContext2D): void {
    const wish = 70 / this.scale;
    const power = Math.pow(10, Math.floor(Math.log10(wish)));
    const step = power * (wish / power < 1.5 ? 1 : wish / power < 3.5 ? 2 : wish / power < 7.5 ? 5 : 10);
    const left = this.centre[0] - this.width / 2 / this.scale;
    const right = this.centre[0] + this.width / 2 / this.scale;
    const bottom = this.centre[1] - this.height / 2 / this.scale;
    const top = this.centre[1] + this.height / 2 / this.scale;
    context.lineWidth = 1;
    context.font = `11px ${pageFont}`;
    context.fillStyle = faint;
    const line = (x1: number, y1: number, x2: number, y2: number, zero: boolean) => {
      context.strokeStyle = zero ? "#cfd5de" : grid;
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
      context.stroke();
    };
    context.textAlign = "center";
    context.textBaseline = "bottom";
    for (let k = Math.ceil(left / step); k <= right / step; ++k) {
      const x = Math.round(this.x(k * step)) + 0.5;
      line(x, 0, x, this.height, k === 0);
      if (x > 30 && x < this.width - 12) context.fillText(brief(k * step), x, this.height - 4);
    }
    context.textAlign = "left";
    context.textBaseline = "middle";
    for (let k = Math.ceil(bottom / step); k <= top / step; ++k) {
      const y = Math.round(this.y(k * step)) + 0.5;
      line(0, y, this.width, y, k === 0);
      if (y > 10 && y < this.height - 22) context.fillText(brief(k * step), 5, y);
    }
  }
}
