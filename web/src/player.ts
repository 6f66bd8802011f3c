// The animation with its controls.

import { Clock, usualSpeed } from "./clock";
import { Frames, projected } from "./frames";
import { brief, Run } from "./run";
import { element } from "./style";
import { View, View2d } from "./view2d";

const playIcon = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M4 2.5v11l9-5.5z"/></svg>';
const pauseIcon = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z"/></svg>';

function makeView(run: Run, clock: Clock, note: HTMLElement): View | null {
  if (!run.drawing || run.drawing.frames === 0) return null;
  if (run.drawing.dimension === 3 && window.daedalusView3d) {
    try {
      const view = window.daedalusView3d(run.drawing, new Frames(run.drawing, run), clock);
      note.textContent = "Drag to turn, scroll to come closer.";
      return view;
    } catch {
      note.textContent = "This browser cannot draw in 3D (no WebGL): the picture is a fixed view from the side.";
    }
  }
  if (run.drawing.dimension === 2) return new View2d(run.drawing, new Frames(run.drawing, run), clock);
  const flat = projected(run.drawing, run);
  return new View2d(flat.drawing, new Frames(flat.drawing, { t: run.t, coordinates: flat.coordinates }), clock);
}

function speeds(usual: number): number[] {
  return [0.1, 0.25, 0.5, 1, 2, 4, 10].map((factor) => Number((factor * usual).toPrecision(3)));
}

/** Builds the controls into `place`. Without a drawing they move the mark in the plots alone. */
export function addPlayer(place: HTMLElement, run: Run, clock: Clock): void {
  const note = element("p", { class: "hint" });
  const view = makeView(run, clock, note);
  const usual = usualSpeed(clock.length);
  clock.setSpeed(usual);

  const play = element("button", { type: "button", class: "play", id: "play", title: "play or pause (space)" });
  const slider = element("input", {
    type: "range",
    id: "time",
    min: String(clock.place(clock.start)),
    max: String(clock.place(clock.end)),
    step: "any",
    value: String(clock.place(clock.start)),
    "aria-label": "time",
  });
  const clockText = element("output", { class: "clock", id: "clock" });
  const speed = element("select", { id: "speed", title: "speed" });
  for (const factor of speeds(usual)) {
    const option = element("option", { value: String(factor) }, clock.logarithmic ? `${brief(factor)} decades/s` : `${brief(factor)}×`);
    option.selected = factor === usual;
    speed.append(option);
  }
  const showState = () => {
    play.innerHTML = clock.playing ? pauseIcon : playIcon;
    play.setAttribute("aria-label", clock.playing ? "pause" : "play");
  };
  const showTime = () => {
    slider.value = String(clock.place(clock.time));
    const digits = Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(Math.max(1e-12, clock.end - clock.start)))));
    const text = clock.logarithmic ? brief(clock.time) : clock.time.toFixed(digits);
    clockText.textContent = `t = ${text}${run.timeUnit ? " " + run.timeUnit : ""}`;
    view?.draw();
  };
  play.addEventListener("click", () => clock.toggle());
  slider.addEventListener("input", () => {
    if (clock.playing) clock.pause();
    clock.seek(clock.timeAt(Number(slider.value)));
  });
  speed.addEventListener("change", () => clock.setSpeed(Number(speed.value)));
  clock.stateChanged(showState);
  clock.timeChanged(showTime);
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.code !== "Space" || /^(INPUT|SELECT|BUTTON|SUMMARY)$/.test(target.tagName)) return;
    event.preventDefault();
    clock.toggle();
  });

  const controls = element("div", { class: "controls" }, play, slider, clockText, element("label", { class: "speed" }, speed));
  if (view) {
    const stage = element("div", { class: "stage-box" }, view.node);
    place.append(stage);
    const labels = element("input", { type: "checkbox", id: "labels" });
    labels.addEventListener("change", () => {
      view.labels = labels.checked;
      view.draw();
    });
    const extras = element("div", { class: "extras" }, element("label", {}, labels, " names"));
    if (view.reset) {
      const reset = element("button", { type: "button", class: "quiet" }, "reset view");
      reset.addEventListener("click", () => view.reset!());
      extras.append(reset);
    }
    if (note.textContent) extras.append(note);
    place.append(controls, extras);
    const fit = () => {
      const width = stage.clientWidth;
      const tall = Math.min(width, Math.max(260, window.innerHeight * 0.54));
      if (width > 0) view.resize(width, Math.round(tall));
    };
    new ResizeObserver(fit).observe(stage);
    window.addEventListener("resize", fit);
    fit();
  } else {
    place.append(controls);
  }
  showState();
  showTime();
}
