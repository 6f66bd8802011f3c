// Plots of one quantity against another: the whole curve faintly, the part inside the plots' window of time strongly.

import uPlot from "uplot";
import { Clock } from "./clock";
import { axis, calmRange } from "./plots";
import { chosenRows, windowOf } from "./reduce";
import { PhasePanel, rowBefore, Run } from "./run";
import { colours, element, formula, grid } from "./style";

function extent(curves: Float64Array[]): [number, number] {
  let min = Infinity;
  let max = -Infinity;
  for (const curve of curves)
    for (const value of curve) {
      if (value < min) min = value;
      if (value > max) max = value;
    }
  return calmRange(min, max);
}

export class PhasePlot {
  readonly node = element("figure", { class: "plot phase" });
  private readonly plot: uPlot;
  private readonly x: Float64Array;
  private readonly ys: Float64Array[];
  private readonly marks: HTMLElement[] = [];
  private readonly full: () => void;

  constructor(
    private readonly run: Run,
    panel: PhasePanel,
    private readonly clock: Clock,
  ) {
    this.x = run.values[panel.x.series];
    this.ys = panel.curves.map((curve) => run.values[curve.series]);
    const palette = colours(panel.curves.length, false);
    const caption = element("figcaption", {}, element("span", { class: "title" }, panel.title), element("span", { class: "unit" }));
    const unit = caption.querySelector(".unit")!;
    panel.curves.forEach((curve, i) => {
      if (i > 0) unit.append(", ");
      const name = formula(curve.label);
      name.style.color = palette[i];
      unit.append(name);
    });
    if (panel.yUnit) unit.append(` in ${panel.yUnit}`);
    unit.append(" over ", formula(panel.x.label));
    if (panel.xUnit) unit.append(` in ${panel.xUnit}`);
    this.node.append(caption);

    const xRange = extent([this.x]);
    const yRange = extent(this.ys);
    const whole = chosenRows([this.x, ...this.ys], { first: 0, last: run.t.length - 1 }, 2500);
    // one scale for both axes where they have one unit: a circle is round
    const alike = panel.xUnit !== "" && panel.xUnit === panel.yUnit;
    const full = (u: uPlot) => {
      const spans = [xRange[1] - xRange[0], yRange[1] - yRange[0]];
      const sides = [u.over.clientWidth || 1, u.over.clientHeight || 1];
      const perPixel = Math.max(spans[0] / sides[0], spans[1] / sides[1]);
      const widened = (range: [number, number], k: number) => {
        const more = alike ? (perPixel * sides[k] - spans[k]) / 2 : 0;
        return { min: range[0] - more, max: range[1] + more };
      };
      u.batch(() => {
        u.setScale("x", widened(xRange, 0));
        u.setScale("y", widened(yRange, 1));
      });
    };
    this.full = () => full(this.plot);
    this.plot = new uPlot(
      {
        mode: 2,
        width: 480,
        height: 320,
        legend: { show: false },
        scales: {
          x: { time: false, range: (_, min, max) => [min ?? xRange[0], max ?? xRange[1]] },
          y: { range: (_, min, max) => [min ?? yRange[0], max ?? yRange[1]] },
        },
        axes: [axis(undefined, "x"), axis(undefined, "y")],
        series: [
          {},
          ...panel.curves.map((_, i) => ({
            paths: (u: uPlot) => {
              const part = chosenRows([this.x, ...this.ys], windowOf(run.t, clock.view.min, clock.view.max), 2500);
              this.trace(u, whole, i, clock.zoomed ? grid : palette[i]);
              if (clock.zoomed) this.trace(u, part, i, palette[i]);
              return null;
            },
            facets: [
              { scale: "x", auto: false },
              { scale: "y", auto: false },
            ],
          })),
        ] as uPlot.Series[],
        cursor: {
          drag: { x: true, y: true, uni: 20, setScale: true },
          points: { show: false },
          dataIdx: () => null as unknown as number,
          bind: { dblclick: () => () => (this.full(), null) },
        },
        hooks: { draw: [() => this.place()], setSize: [() => this.place()] },
      },
      [null, ...this.ys.map((y) => [this.x, y])] as unknown as uPlot.AlignedData,
      this.node,
    );
    this.full();
    for (const colour of palette.slice(0, this.ys.length)) {
      const mark = element("div", { class: "phase-mark" });
      mark.style.background = colour;
      this.plot.over.append(mark);
      this.marks.push(mark);
    }
    clock.viewChanged(() => this.plot.redraw(false));
    clock.timeChanged(() => this.place());
    this.place();
  }

  resize(width: number): void {
    this.plot.setSize({ width, height: 320 });
    this.full();
  }

  private trace(u: uPlot, rows: number[], curve: number, colour: string): void {
    const { ctx, bbox } = u;
    const y = this.ys[curve];
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.beginPath();
    let drawing = false;
    for (const row of rows) {
      const px = u.valToPos(this.x[row], "x", true);
      const py = u.valToPos(y[row], "y", true);
      if (!Number.isFinite(px) || !Number.isFinite(py)) drawing = false;
      else if (drawing) ctx.lineTo(px, py);
      else {
        ctx.moveTo(px, py);
        drawing = true;
      }
    }
    ctx.strokeStyle = colour;
    ctx.lineWidth = 1.3 * devicePixelRatio;
    ctx.lineJoin = "round";
    ctx.stroke();
    ctx.restore();
  }

  private place(): void {
    if (!this.plot || this.marks.length === 0) return;
    const { t } = this.run;
    const i = rowBefore(t, this.clock.time);
    const j = Math.min(i + 1, t.length - 1);
    const s = t[j] > t[i] ? (this.clock.time - t[i]) / (t[j] - t[i]) : 0;
    const between = (values: Float64Array) => values[i] + s * (values[j] - values[i]);
    this.marks.forEach((mark, k) => {
      const left = this.plot.valToPos(between(this.x), "x");
      const top = this.plot.valToPos(between(this.ys[k]), "y");
      mark.style.transform = `translate(${left}px,${top}px)`;
    });
  }
}
