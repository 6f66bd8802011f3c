// Brings the page to life: what is text stands in it already, plots and animation are made here.

import { Clock } from "./clock";
import { startComparison } from "./comparison";
import { csvOf, download } from "./csv";
import { PhasePlot } from "./phase";
import { addPlayer } from "./player";
import { TimePlot } from "./plots";
import { brief, readRun, Run } from "./run";
import { element } from "./style";

function addPlots(run: Run, clock: Clock): void {
  const place = document.getElementById("plots")!;
  const bar = element("div", { class: "plot-bar" });
  const hint = element("span", { class: "hint" }, "Drag to zoom all plots, click to move the time, double-click for all.");
  const reset = element("button", { type: "button", class: "quiet", id: "reset-zoom" }, "whole run");
  reset.addEventListener("click", () => clock.setView(clock.start, clock.end));
  const showView = () => {
    reset.hidden = !clock.zoomed;
    hint.textContent = clock.zoomed
      ? `Showing t = ${brief(clock.view.min)} to ${brief(clock.view.max)}.`
      : "Drag to zoom all plots, click to move the time, double-click for all.";
  };
  clock.viewChanged(showView);
  bar.append(hint, reset);
  place.append(bar);
  showView();

  const plots = run.panels.map((panel, i) => new TimePlot(run, panel, clock, i + 1 === run.panels.length));
  place.append(...plots.map((plot) => plot.node));
  const phasePlace = document.getElementById("phases");
  const phases = phasePlace ? run.phases.map((panel) => new PhasePlot(run, panel, clock)) : [];
  phasePlace?.append(...phases.map((plot) => plot.node));
  new ResizeObserver(() => {
    for (const plot of [...plots, ...phases]) if (plot.node.clientWidth > 0) plot.resize(plot.node.clientWidth);
  }).observe(place);

  let due = false;
  const legends = () => {
    due = false;
    for (const plot of plots) plot.legend();
  };
  const later = () => {
    if (due) return;
    due = true;
    setTimeout(legends, clock.playing ? 120 : 0);
  };
  clock.timeChanged(later);
  clock.viewChanged(later);
  later();
}

function start(): void {
  performance.mark("start");
  const run = readRun();
  performance.mark("read");
  const button = document.getElementById("csv");
  button?.addEventListener("click", () => download(csvOf(run), `${run.model}.csv`));
  if (run.rows === 0) return;
  // a logarithmic axis begins with the first step
  const first = run.logarithmicTime ? Math.max(run.t.find((t) => t > 0)!, 1e-18 * run.t[run.rows - 1]) : run.t[0];
  const clock = new Clock(first, run.t[run.rows - 1], run.logarithmicTime);
  addPlayer(document.getElementById("player")!, run, clock);
  addPlots(run, clock);
  document.documentElement.dataset.ready = "yes";
  performance.mark("ready");
}

if (document.getElementById("comparison")) startComparison();
else start();
