// The page of a comparison: charts, one per method side by side, that share axes, colours, filters and the curve under
// the pointer with each other and with the table.

import { Chart, ChartAxis, ChartLine, ChartPoint, Mark, markSample } from "./chart";
import { brief, bytesOf } from "./run";
import { element, separate } from "./style";

interface ComparedRun {
  row: number; // in the table
  series: number;
  method: string;
  rtol: number | null;
  step: number | null;
  error: (number | null)[]; // by quantity
  work: number[]; // by kind of work
}

interface Description {
  series: string[]; // what has a colour of its own: formulations, with several models theirs
  shapes: number; // of marks
  quantities: string[];
  agreement: number[]; // of the reference, by quantity: smaller errors cannot be told from 0
  work: string[];
  levels: string[];
  parts: number; // of the time, of which residuals are kept
  start: number;
  end: number;
  rows: [number, string][]; // series and method of the rows of the table
  runs: ComparedRun[]; // that reached the end
}

/** A series with a method: one curve. */
interface Pair {
  series: number;
  method: string;
  dashed: boolean; // fixed steps
  runs: { run: ComparedRun; number: number }[];
}

function controlOf(run: ComparedRun): string {
  const text = run.step !== null ? `step ${brief(run.step)}` : `rtol ${brief(run.rtol)}`;
  return text.replace(/\.0+·/, "·").replace(/ 1·/, " ");
}

function pairsOf(description: Description): Pair[] {
  const pairs = new Map<string, Pair>();
  description.runs.forEach((run, number) => {
    const dashed = run.step !== null;
    const key = `${run.series}|${run.method}|${dashed}`;
    if (!pairs.has(key)) pairs.set(key, { series: run.series, method: run.method, dashed, runs: [] });
    pairs.get(key)!.runs.push({ run, number });
  });
  return [...pairs.values()];
}

/** One chart per method, on common axes. */
class Multiples {
  readonly charts = new Map<string, Chart>();

  constructor(place: HTMLElement, methods: string[], x: ChartAxis, y: ChartAxis) {
    for (const method of methods) {
      const chart = new Chart(method, x, y);
      this.charts.set(method, chart);
      place.append(chart.node);
    }
  }

  show(lines: (method: string) => ChartLine[], shown: Set<string>, titles: { x?: string; y?: string }): void {
    const all = new Map([...shown].map((method) => [method, lines(method)]));
    const points: ChartPoint[] = [...all.values()].flatMap((some) => some.flatMap((line) => line.points));
    for (const [method, chart] of this.charts) {
      chart.node.hidden = !shown.has(method);
      chart.show(all.get(method) ?? [], points, titles);
    }
  }
}

/** Buttons of which some are pressed; all at the start. */
function addFilter(place: HTMLElement, names: string[], sample: (name: string) => Node[], changed: () => void): Set<string> {
  const chosen = new Set(names);
  for (const name of names) {
    const button = element("button", { type: "button", class: "chip", "aria-pressed": "true", "data-name": name }, ...sample(name), name);
    button.addEventListener("click", (event) => {
      // With a key held, this one alone; all again if it was alone.
      if (event.shiftKey || event.ctrlKey || event.metaKey) {
        const alone = chosen.size === 1 && chosen.has(name);
        chosen.clear();
        for (const other of alone ? names : [name]) chosen.add(other);
      } else if (chosen.has(name)) chosen.delete(name);
      else chosen.add(name);
      for (const other of place.querySelectorAll<HTMLElement>(".chip"))
        other.setAttribute("aria-pressed", String(chosen.has(other.dataset.name!)));
      changed();
    });
    place.append(button);
  }
  return chosen;
}

function addChoice(place: HTMLElement, id: string, label: string, names: string[], changed: () => void): HTMLSelectElement {
  const select = element("select", { id }, ...names.map((name, i) => element("option", { value: String(i) }, name)));
  select.addEventListener("change", changed);
  place.append(element("label", { for: id }, label), select);
  return select;
}

/** Sorts the table by the column whose head is clicked; what has no value comes last. */
function makeSortable(table: HTMLTableElement): void {
  const body = table.tBodies[0];
  const heads = [...table.querySelectorAll<HTMLTableCellElement>("thead tr:last-child th")];
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    const sort = () => {
      const rising = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const valueOf = (row: HTMLTableRowElement) => row.cells[column]?.dataset.value;
      const rows = [...body.rows].sort((a, b) => {
        const [one, other] = [valueOf(a), valueOf(b)];
        if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
        const [x, y] = [Number(one), Number(other)];
        const order = Number.isNaN(x) || Number.isNaN(y) ? one.localeCompare(other) : x - y;
        return rising ? order : -order;
      });
      body.append(...rows);
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        sort();
      }
    });
  });
}

export function startComparison(): void {
  const description = JSON.parse(document.getElementById("comparison")!.textContent!) as Description;
  const residuals = new Float32Array(bytesOf("residuals"));
  const { series } = description;
  const pairs = pairsOf(description);
  const methodNames = [...new Set(description.rows.map((row) => row[1]))];
  const marks: Mark[] = series.map((_, i) => ({
    shape: i % description.shapes,
    open: Math.floor(i / separate.length) % 2 === 1,
    colour: separate[i % separate.length],
  }));
  const table = document.getElementById("runs") as HTMLTableElement;
  const rows = [...table.tBodies[0].rows];
  makeSortable(table);
  rows.forEach((row, i) => row.cells[0].prepend(markSample(marks[description.rows[i][0]])));

  const bar = document.getElementById("filters")!;
  const forms = element("div", { class: "chips", id: "formulations" });
  const methodChips = element("div", { class: "chips", id: "methods" });
  bar.append(forms, methodChips);
  const chosen = addFilter(forms, series, (name) => [markSample(marks[series.indexOf(name)])], () => update());
  const methods = addFilter(methodChips, methodNames, () => [], () => update());
  if (methodNames.length === 1) methodChips.hidden = true;

  const place = (id: string) => document.getElementById(id);
  const plotted = methodNames.filter((method) => pairs.some((pair) => pair.method === method));
  const logarithmic = (title: string, falling = false): ChartAxis => ({ title, logarithmic: true, falling });
  const byStep = description.runs.every((run) => run.rtol === null);
  const groups: Multiples[] = [];
  const multiples = (id: string, x: ChartAxis, y: ChartAxis): Multiples | null => {
    const where = place(id);
    if (!where) return null;
    groups.push(new Multiples(where, plotted, x, y));
    return groups[groups.length - 1];
  };
  const work = multiples("work", logarithmic(""), logarithmic("error"));
  const proportion = multiples("proportion", logarithmic(byStep ? "step size" : "rtol", true), logarithmic("error"));
  const drift = multiples("drift", { title: "t", logarithmic: false }, logarithmic("residual"));
  if (!byStep)
    for (const chart of proportion?.charts.values() ?? []) chart.setGuide([{ x: 1, y: 1 }, { x: 1e-16, y: 1e-16 }]);

  const choices = place("work-choices");
  const quantity = choices ? addChoice(choices, "quantity", "Error of", description.quantities, () => update()) : null;
  const kind = choices ? addChoice(choices, "kind", "against", description.work, () => update()) : null;
  const driftChoices = place("drift-choices");
  const controls = [...new Set(description.runs.map(controlOf))];
  const level = driftChoices ? addChoice(driftChoices, "level", "Level", description.levels, () => update()) : null;
  const control = driftChoices ? addChoice(driftChoices, "control", "at", controls, () => update()) : null;
  // In the middle: neither the crudest nor the tightest.
  if (control) control.value = String(Math.floor((controls.length - 1) / 2));

  const shown = (method: string) => pairs.filter((pair) => pair.method === method && chosen.has(series[pair.series]));
  const errors = (x: (run: ComparedRun) => number | null, told: (value: number) => string) => (method: string): ChartLine[] =>
    shown(method).map((pair) => ({
      key: series[pair.series],
      colour: marks[pair.series].colour,
      mark: marks[pair.series],
      dashed: pair.dashed,
      points: pair.runs.flatMap(({ run }) => {
        const [at, error] = [x(run), run.error[Number(quantity?.value)]];
        if (at === null || !(at > 0) || !error) return [];
        return [{ x: at, y: error, words: `${series[pair.series]}, ${controlOf(run)}: error ${brief(error)}${told(at)}` }];
      }),
    }));
  const width = (description.end - description.start) / description.parts;
  const history = (method: string): ChartLine[] =>
    shown(method).flatMap((pair) =>
      pair.runs
        .filter(({ run }) => controlOf(run) === controls[Number(control?.value)])
        .map(({ run, number }) => {
          const from = (number * description.levels.length + Number(level?.value)) * description.parts;
          const values = [...residuals.subarray(from, from + description.parts)];
          const points = values.map((y, i) => {
            const x = description.start + (i + 0.5) * width;
            return { x, y, words: `${series[pair.series]}, ${controlOf(run)}: residual ${brief(y)} at t = ${brief(x)}` };
          });
          return { key: series[pair.series], colour: marks[pair.series].colour, mark: null, points: points.filter((p) => p.y > 0) };
        }),
    );

  function update(): void {
    const what = Number(quantity?.value ?? 0);
    const [error, cost] = [`error of ${description.quantities[what]}`, Number(kind?.value ?? 0)];
    const unit = description.work[cost].endsWith("(s)") ? " s" : ` ${description.work[cost]}`;
    for (const group of [work, proportion])
      for (const chart of group?.charts.values() ?? []) chart.setFloor(description.agreement[what] ?? 0);
    work?.show(errors((run) => run.work[cost], (value) => `, ${brief(value)}${unit}`), methods, { x: description.work[cost], y: error });
    proportion?.show(errors((run) => (byStep ? run.step : run.rtol), () => ""), methods, { y: error });
    drift?.show(history, methods, {});
    rows.forEach((row, i) => {
      const [own, method] = description.rows[i];
      row.hidden = !chosen.has(series[own]) || !methods.has(method);
    });
  }
  const highlight = (key: string | null) => {
    for (const group of groups) for (const chart of group.charts.values()) chart.highlight(key);
    rows.forEach((row, i) => row.classList.toggle("pointed", series[description.rows[i][0]] === key));
    for (const chip of forms.querySelectorAll<HTMLElement>(".chip")) chip.classList.toggle("pointed", chip.dataset.name === key);
  };
  for (const group of groups) for (const chart of group.charts.values()) chart.pointed = highlight;
  const pointAt = (node: HTMLElement, key: string) => {
    node.addEventListener("mouseenter", () => highlight(key));
    node.addEventListener("mouseleave", () => highlight(null));
  };
  rows.forEach((row, i) => pointAt(row, series[description.rows[i][0]]));
  for (const chip of forms.querySelectorAll<HTMLElement>(".chip")) pointAt(chip, chip.dataset.name!);
  update();
  document.documentElement.dataset.ready = "yes";
}
