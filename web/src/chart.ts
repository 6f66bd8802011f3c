// A chart of curves with points in SVG, on linear or logarithmic axes: few points, each of which can be asked.

import { superscript } from "./run";
import { element, grid, ink } from "./style";

export interface ChartPoint {
  x: number;
  y: number;
  words: string; // what the pointer is told
}

export interface ChartLine {
  key: string;
  colour: string;
  mark: Mark | null; // none: a line alone
  dashed?: boolean;
  points: ChartPoint[];
}

/** What a point looks like. */
export interface Mark {
  shape: number;
  open: boolean;
  colour: string;
}

export interface ChartAxis {
  title: string;
  logarithmic: boolean;
  falling?: boolean; // the largest number first
}

const left = 62;
const right = 14;
const top = 10;
const bottom = 46;
const reach = 22; // pixels within which a point is found

function svg(tag: string, attributes: Record<string, string | number>): SVGElement {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}

/** Where a number lies between the ends of an axis, 0 to 1, and the ticks on it. */
class Scale {
  readonly ticks: { value: number; text: string }[] = [];
  private low: number;
  private high: number;

  constructor(
    private readonly axis: ChartAxis,
    values: number[],
    wanted: number,
  ) {
    const used = values.filter((v) => Number.isFinite(v) && (!axis.logarithmic || v > 0)).map((v) => this.of(v));
    this.low = used.length > 0 ? Math.min(...used) : 0;
    this.high = used.length > 0 ? Math.max(...used) : 1;
    // Traces of nothing do not stretch an axis.
    if (axis.logarithmic) this.low = Math.max(this.low, this.high - 18);
    if (axis.logarithmic) this.findDecades(wanted);
    else this.findSteps(wanted);
  }

  private of(value: number): number {
    return this.axis.logarithmic ? Math.log10(value) : value;
  }

  private findDecades(wanted: number): void {
    const narrow = this.high - this.low < 1.5;
    const margin = narrow ? 0.1 : 0.04 * (this.high - this.low);
    this.low -= margin;
    this.high += margin;
    const every = Math.max(1, Math.ceil((this.high - this.low) / wanted));
    for (let k = Math.floor(this.low); k <= this.high; ++k) {
      if (k >= this.low && k % every === 0) this.ticks.push({ value: Math.pow(10, k), text: `10${superscript(String(k))}` });
      if (narrow)
        for (const m of [2, 5]) {
          const at = k + Math.log10(m);
          if (at > this.low && at < this.high) this.ticks.push({ value: Math.pow(10, at), text: `${m}·10${superscript(String(k))}` });
        }
    }
  }

  private findSteps(wanted: number): void {
    if (!(this.high > this.low)) this.high = this.low + 1;
    const rough = (this.high - this.low) / wanted;
    const power = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? rough;
    for (let k = Math.ceil(this.low / step - 1e-9); k * step <= this.high + 1e-9 * step; ++k)
      this.ticks.push({ value: k * step, text: String(Number((k * step).toPrecision(10))).replace("-", "−") });
  }

  place(value: number): number {
    const part = (this.of(value) - this.low) / (this.high - this.low);
    return this.axis.falling ? 1 - part : part;
  }
}

/** A small shape around a point: circle, square, triangle, diamond, triangle upside down. */
function markNode(mark: Mark, x: number, y: number): SVGElement {
  const r = mark.open ? 3.4 : 4;
  const paint: Record<string, string | number> = mark.open
    ? { fill: "#fff", stroke: mark.colour, "stroke-width": 1.5 }
    : { fill: mark.colour };
  const corners: [number, number][][] = [
    [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
    [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]],
    [[0, -1.25], [1.1, 0], [0, 1.25], [-1.1, 0]],
    [[0, 1.2], [1.1, -0.8], [-1.1, -0.8]],
  ];
  if (mark.shape === 0) return svg("circle", { cx: x, cy: y, r, ...paint });
  return svg("polygon", { points: corners[mark.shape - 1].map(([u, v]) => `${x + r * u},${y + r * v}`).join(" "), ...paint });
}

/** A piece of a curve for a legend. */
export function markSample(mark: Mark): SVGElement {
  const node = svg("svg", { width: 24, height: 12, class: "sample", "aria-hidden": "true" });
  node.append(svg("line", { x1: 1, x2: 23, y1: 6, y2: 6, stroke: mark.colour, "stroke-width": 1.6 }), markNode(mark, 12, 6));
  return node;
}

export class Chart {
  readonly node = element("figure", { class: "chart" });
  /** Told which curve the pointer is at, or none. */
  pointed: (key: string | null) => void = () => {};
  private lines: ChartLine[] = [];
  private places: { key: string; x: number; y: number; words: string }[] = [];
  private picture: SVGElement | null = null;
  private readonly box = element("div", { class: "chart-box" });
  private readonly words = element("div", { class: "chart-words" });
  private guide: { x: number; y: number }[] = [];
  private all: ChartPoint[] = [];
  private floor = 0;

  constructor(
    heading: string,
    private xAxis: ChartAxis,
    private yAxis: ChartAxis,
    private readonly height = 340,
  ) {
    this.words.hidden = true;
    this.box.append(this.words);
    if (heading) this.node.append(element("figcaption", {}, heading));
    this.node.append(this.box);
    this.box.addEventListener("pointermove", (event) => this.look(event));
    this.box.addEventListener("pointerleave", () => this.leave());
    new ResizeObserver(() => this.draw()).observe(this.node);
  }

  /** A line through two points of the chart for comparison, such as error = rtol. */
  setGuide(points: { x: number; y: number }[]): void {
    this.guide = points;
  }

  /** Draws the lines on axes that reach over all the points given, those of charts beside it too. */
  show(lines: ChartLine[], all: ChartPoint[], titles: { x?: string; y?: string } = {}): void {
    this.lines = lines;
    this.all = all;
    this.xAxis = { ...this.xAxis, title: titles.x ?? this.xAxis.title };
    this.yAxis = { ...this.yAxis, title: titles.y ?? this.yAxis.title };
    this.draw();
  }

  /** What lies below cannot be told from 0. */
  setFloor(value: number): void {
    this.floor = value;
  }

  highlight(key: string | null): void {
    for (const node of this.node.querySelectorAll<SVGElement>("g.line"))
      node.classList.toggle("faded", key !== null && node.dataset.key !== key);
  }

  private draw(): void {
    const width = Math.floor(this.node.clientWidth);
    if (width < 80) return;
    const inside = { width: width - left - right, height: this.height - top - bottom };
    const x = new Scale(this.xAxis, this.all.map((p) => p.x), Math.max(3, Math.floor(inside.width / 70)));
    const y = new Scale(this.yAxis, this.all.map((p) => p.y), Math.max(3, Math.floor(inside.height / 34)));
    const px = (value: number) => left + inside.width * x.place(value);
    const py = (value: number) => top + inside.height * (1 - y.place(value));
    const shown = (p: ChartPoint) =>
      Number.isFinite(p.x) && Number.isFinite(p.y) && (!this.xAxis.logarithmic || p.x > 0) && (!this.yAxis.logarithmic || p.y > 0);

    const picture = svg("svg", { width, height: this.height, role: "img" });
    for (const tick of y.ticks) {
      picture.append(svg("line", { x1: left, x2: left + inside.width, y1: py(tick.value), y2: py(tick.value), stroke: grid }));
      this.text(picture, tick.text, left - 7, py(tick.value) + 4, "end");
    }
    for (const tick of x.ticks) {
      picture.append(svg("line", { x1: px(tick.value), x2: px(tick.value), y1: top, y2: top + inside.height, stroke: grid }));
      this.text(picture, tick.text, px(tick.value), top + inside.height + 17, "middle");
    }
    this.text(picture, this.xAxis.title, left + inside.width / 2, this.height - 8, "middle", "axis-title");
    const title = this.text(picture, this.yAxis.title, 0, 0, "middle", "axis-title");
    title.setAttribute("transform", `translate(14 ${top + inside.height / 2}) rotate(-90)`);

    const clip = svg("clipPath", { id: `inside${Math.random().toString(36).slice(2)}` });
    clip.append(svg("rect", { x: left, y: top - 6, width: inside.width, height: inside.height + 12 }));
    picture.append(clip);
    const something = this.all.some(shown);
    if (something && this.guide.length > 1) {
      const corners = this.guide.map((p) => `${px(p.x)},${py(p.y)}`).join(" ");
      picture.append(svg("polyline", { points: corners, class: "guide", "clip-path": `url(#${clip.id})` }));
    }
    if (something && this.floor > 0 && y.place(this.floor) > 0 && y.place(this.floor) < 1)
      picture.append(svg("line", { x1: left, x2: left + inside.width, y1: py(this.floor), y2: py(this.floor), class: "floor" }));

    this.places = [];
    for (const line of this.lines) {
      const group = svg("g", { class: "line", "data-key": line.key });
      const good = line.points.filter(shown);
      if (good.length > 1)
        group.append(
          svg("polyline", {
            points: good.map((p) => `${px(p.x).toFixed(1)},${py(p.y).toFixed(1)}`).join(" "),
            fill: "none",
            stroke: line.colour,
            "stroke-width": 1.6,
            "stroke-linejoin": "round",
            "stroke-dasharray": line.dashed ? "5 3" : "none",
            "clip-path": `url(#${clip.id})`,
          }),
        );
      for (const p of good) {
        if (line.mark) group.append(markNode(line.mark, px(p.x), py(p.y)));
        this.places.push({ key: line.key, x: px(p.x), y: py(p.y), words: p.words });
      }
      picture.append(group);
    }
    if (!this.lines.some((line) => line.points.some(shown))) this.text(picture, "nothing to show", width / 2, this.height / 2, "middle");
    this.picture?.remove();
    this.picture = picture;
    this.box.prepend(picture);
  }

  private text(picture: SVGElement, words: string, x: number, y: number, anchor: string, kind = "tick"): SVGElement {
    const node = svg("text", { x, y, "text-anchor": anchor, class: kind, fill: ink });
    node.textContent = words;
    picture.append(node);
    return node;
  }

  private look(event: PointerEvent): void {
    const box = this.box.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    let best: (typeof this.places)[number] | null = null;
    let distance = reach;
    for (const place of this.places) {
      const d = Math.hypot(place.x - x, place.y - y);
      if (d < distance) {
        distance = d;
        best = place;
      }
    }
    if (!best) {
      this.leave();
      return;
    }
    this.words.hidden = false;
    this.words.textContent = best.words;
    const room = box.width - this.words.offsetWidth - 4;
    this.words.style.left = `${Math.max(0, Math.min(best.x + 12, room))}px`;
    this.words.style.top = `${Math.max(0, best.y - this.words.offsetHeight - 10)}px`;
    this.pointed(best.key);
  }

  private leave(): void {
    this.words.hidden = true;
    this.pointed(null);
  }
}
