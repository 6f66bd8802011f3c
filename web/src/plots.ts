// Plots over time. All show the same window of time: dragging in one zooms all of them.

import uPlot from "uplot";
import { Clock } from "./clock";
import { chosenRows, windowOf } from "./reduce";
import { brief, exact, Panel, rowBefore, Run, superscript, withPower } from "./run";
import { colours, element, formula, grid, ink, pageFont } from "./style";

const height = 196;
const axisFont = `11px ${pageFont}`;
const buckets = 800;

/** Ranges that do not blow rounding errors of a constant up to the height of the plot. */
export function calmRange(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null || !Number.isFinite(min) || !Number.isFinite(max)) return [-1, 1];
  const size = Math.max(Math.abs(min), Math.abs(max));
  if (size === 0) return [-1, 1];
  if (max - min < 1e-6 * size) return [(min + max) / 2 - 0.1 * size, (min + max) / 2 + 0.1 * size];
  const margin = 0.06 * (max - min);
  return [min - margin, max + margin];
}

function decades(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null || !(min > 0)) return [1e-17, 1e-15];
  const low = Math.floor(Math.log10(min));
  let high = Math.ceil(Math.log10(max) + 1e-9);
  if (high - low < 2) high = low + 2;
  return [Math.pow(10, low), Math.pow(10, high)];
}

function decadeSplits(min: number, max: number, most: number): number[] {
  const low = Math.ceil(Math.log10(min) - 1e-9);
  const high = Math.floor(Math.log10(max) + 1e-9);
  const every = Math.max(1, Math.ceil((high - low) / most));
  const splits: number[] = [];
  for (let k = low; k <= high; k += every) splits.push(Math.pow(10, k));
  return splits;
}

export function axisTexts(values: (number | null)[]): string[] {
  const size = Math.max(...values.map((v) => Math.abs(v ?? 0)));
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return values.map((v) => (v === null ? "" : exact(v)));
  return values.map((v) => (v === null ? "" : String(Number(v.toPrecision(10))).replace("-", "−")));
}

export function axis(label: string | undefined, side: "x" | "y"): uPlot.Axis {
  return {
    stroke: ink,
    font: axisFont,
    labelFont: `12px ${pageFont}`,
    label,
    labelSize: label ? 20 : 0,
    labelGap: 0,
    grid: { stroke: grid, width: 1 },
    ticks: { stroke: grid, width: 1, size: 4 },
    gap: 4,
    size: side === "x" ? 26 : 62,
    values: (_, values) => axisTexts(values),
  };
}

function logarithmicAxis(label: string | undefined, side: "x" | "y", most: number): uPlot.Axis {
  return {
    ...axis(label, side),
    splits: (_u, _a, min, max) => decadeSplits(min, max, most),
    filter: (_u, splits) => splits,
    values: (_u, splits) => splits.map((v) => `10${superscript(String(Math.round(Math.log10(v))))}`),
  };
}

export class TimePlot {
  readonly node = element("figure", { class: "plot" });
  private readonly plot: uPlot;
  private readonly curves: Float64Array[];
  private readonly line = element("div", { class: "time-line" });
  private hovered = false;
  private shown: number[] = [];

  constructor(
    private readonly run: Run,
    panel: Panel,
    private readonly clock: Clock,
    last: boolean,
  ) {
    this.curves = panel.curves.map((curve) => {
      const values = run.values[curve.series];
      if (!panel.logarithmic) return values;
      return values.map((y) => {
        const size = Math.abs(y - curve.offset);
        return size > 0 ? size : NaN;
      });
    });
    const caption = element("figcaption", {}, panelTitle(panel));
    if (panel.unit) caption.append(element("span", { class: "unit" }, panel.unit));
    for (const note of panel.notes) caption.append(element("span", { class: "note" }, withPower(note)));
    this.node.append(caption);

    const palette = colours(panel.curves.length, panel.family);
    const timeLabel = run.timeUnit ? `t in ${run.timeUnit}` : "t";
    const options: uPlot.Options = {
      width: 600,
      height: last ? height + 18 : height,
      scales: {
        x: { time: false, distr: clock.logarithmic ? 3 : 1, range: () => [clock.view.min, clock.view.max] },
        y: panel.logarithmic
          ? { distr: 3, range: (_, min, max) => decades(min, max) }
          : { range: (_, min, max) => calmRange(min, max) },
      },
      axes: [
        clock.logarithmic ? logarithmicAxis(last ? timeLabel : undefined, "x", 16) : axis(last ? timeLabel : undefined, "x"),
        panel.logarithmic ? logarithmicAxis(undefined, "y", 6) : axis(undefined, "y"),
      ],
      series: [
        { label: "t", value: (_, t) => brief(t) },
        ...panel.curves.map((curve, i) => ({
          label: formula(panel.logarithmic ? `<mrow><mo>|</mo>${curve.label}<mo>|</mo></mrow>` : curve.label),
          stroke: palette[i],
          width: 1.6,
          pxAlign: 0,
          spanGaps: panel.logarithmic,
          points: { show: false },
          // steps are few in a decade, and smooth
          ...(clock.logarithmic && !panel.logarithmic ? { paths: uPlot.paths.spline!() } : {}),
          value: (_: uPlot, y: number | null) => (panel.logarithmic && y === null ? "0" : brief(y)),
        })),
      ],
      cursor: {
        sync: {
          key: "time",
          scales: ["x", null],
          filters: { pub: (type) => type === "mousemove" || type === "mouseleave", sub: () => true },
        },
        drag: { x: true, y: false, setScale: false },
        points: { size: 6 },
        bind: { dblclick: () => () => (clock.setView(clock.start, clock.end), null) },
      },
      hooks: {
        setSelect: [
          (u) => {
            if (u.select.width < 4) return;
            const min = u.posToVal(u.select.left, "x");
            const max = u.posToVal(u.select.left + u.select.width, "x");
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            clock.setView(min, max);
          },
        ],
        // scales change after the call that asks for it
        draw: [() => this.place()],
        setScale: [
          (u, key) => {
            if (key === "x") this.node.dataset.window = `${u.scales.x.min} ${u.scales.x.max}`;
          },
        ],
      },
    };
    this.plot = new uPlot(options, this.data(), this.node);
    this.plot.over.append(this.line);
    this.plot.over.addEventListener("mouseenter", () => (this.hovered = true));
    this.plot.over.addEventListener("mouseleave", () => (this.hovered = false));
    let pressed = 0;
    this.plot.over.addEventListener("mousedown", (event) => (pressed = event.clientX));
    this.plot.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - pressed) < 4)
        clock.seek(this.plot.posToVal(event.clientX - this.plot.over.getBoundingClientRect().left, "x"));
    });
    clock.viewChanged(() => this.plot.setData(this.data()));
    clock.timeChanged(() => this.place());
  }

  resize(width: number): void {
    this.plot.setSize({ width, height: this.plot.height });
  }

  /** Shows the values at the animation's time in the legend, unless the pointer asks for others. */
  legend(): void {
    if (this.hovered || this.shown.length === 0) return;
    const i = rowBefore(this.plot.data[0], this.clock.time);
    this.plot.setLegend({ idx: i }, false);
  }

  private data(): uPlot.AlignedData {
    const { t } = this.run;
    if (t.length === 0) return [[], ...this.curves.map(() => [])];
    const rows = chosenRows(this.curves, windowOf(t, this.clock.view.min, this.clock.view.max), buckets).filter(
      (row) => !this.clock.logarithmic || t[row] > 0,
    );
    this.shown = rows;
    return [
      rows.map((row) => t[row]),
      ...this.curves.map((curve) => rows.map((row) => (Number.isFinite(curve[row]) ? curve[row] : null))),
    ] as uPlot.AlignedData;
  }

  private place(): void {
    if (!this.plot) return;
    const { min, max } = this.clock.view;
    const inside = this.clock.time >= min && this.clock.time <= max;
    this.line.style.display = inside ? "" : "none";
    this.line.style.transform = `translateX(${this.plot.valToPos(this.clock.time, "x")}px)`;
  }
}

function panelTitle(panel: Panel): HTMLElement {
  const title = element("span", { class: "title" });
  if (panel.curves.length === 1 && !panel.logarithmic) title.append(formula(panel.curves[0].label));
  else title.append(panel.title);
  return title;
}

