// node pages.mjs PROGRAM SOURCES OUTPUT: makes pages, opens them in Chromium without network and uses them as a person would.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser } from "./chromium.mjs";

const [program, sources, output] = process.argv.slice(2);
const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
if (!chromium) {
  console.log("no Chromium here: apt-get install chromium");
  process.exit(77);
}
mkdirSync(output, { recursive: true });

let failures = 0;
function expect(good, what) {
  if (good) return;
  ++failures;
  console.log(`  FAILED: ${what}`);
}

const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Waits until a condition in the page holds; the machine may be busy. */
async function eventually(page, expression, what) {
  for (let i = 0; i < 100; ++i) {
    if (await page.evaluate(expression)) return;
    await sleep(50);
  }
  expect(false, what);
}

// The animation's picture as a number of colours and a checksum.
const picture = `(() => {
  const stage = document.querySelector(".stage-box canvas");
  const copy = document.createElement("canvas");
  copy.width = stage.width; copy.height = stage.height;
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(stage, 0, 0);
  return summary(context.getImageData(0, 0, copy.width, copy.height).data);
})()`;
const plotPictures = `[...document.querySelectorAll("#plots canvas")].map((canvas) =>
  summary(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data).colours)`;
const helpers = `window.summary = (data) => {
  const words = new Uint32Array(data.buffer);
  const colours = new Set();
  let sum = 0;
  for (const word of words) { sum = (Math.imul(sum, 31) + word) | 0; if (colours.size < 1000) colours.add(word); }
  return { colours: colours.size, sum };
}`;
const windows = `[...document.querySelectorAll("#plots .plot")].map((plot) => plot.dataset.window.split(" ").map(Number))`;
const clock = `Number(document.getElementById("time").value)`;

function make(name, model, more = []) {
  const file = join(output, `${name}.html`);
  rmSync(file, { force: true });
  execFileSync(program, ["simulate", join(sources, model), "--report", file, "--quiet", ...more]);
  return file;
}

function expectNoFaults(page, file) {
  // remarks of the software renderer about reading pictures back, which only this test does
  const faults = page.faults.filter((text) => !text.includes("GL Driver Message"));
  expect(faults.length === 0, `no errors in the console, but: ${faults.join(" | ")}`);
  const elsewhere = page.requests.filter((url) => url !== pathToFileURL(file).href && !/^(data|blob):/.test(url));
  expect(elsewhere.length === 0, `no requests, but: ${elsewhere.join(" ")}`);
}

async function checkAnimation(page) {
  const before = await page.evaluate(picture);
  expect(before.colours > 20, `the stage shows something (${before.colours} colours)`);

  const box = await page.evaluate(`(() => { const b = document.getElementById("time").getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()`);
  await page.mouse("mousePressed", box[0] + 0.37 * box[2], box[1] + box[3] / 2);
  await page.mouse("mouseReleased", box[0] + 0.37 * box[2], box[1] + box[3] / 2);
  const [start, end] = await page.evaluate(`["min", "max"].map((name) => Number(document.getElementById("time")[name]))`);
  const part = ((await page.evaluate(clock)) - start) / (end - start);
  expect(Math.abs(part - 0.37) < 0.03, `the slider is where it was put (${part})`);
  const moved = await page.evaluate(picture);
  expect(moved.sum !== before.sum, "the slider moves the mechanism");

  await page.click("#play");
  await sleep(400);
  const first = await page.evaluate(clock);
  await eventually(page, `${clock} !== ${first}`, "playing moves the time");
  expect((await page.evaluate(picture)).sum !== moved.sum, "playing moves the mechanism");
  await page.click("#play");
  await sleep(100);
  const stopped = await page.evaluate(clock);
  await sleep(300);
  expect((await page.evaluate(clock)) === stopped, "pausing stops the time");

  const speed = await page.evaluate(`document.getElementById("speed").options.length`);
  expect(speed > 3, "speeds can be chosen");
  const unnamed = await page.evaluate(picture);
  await page.click("#labels");
  const tags = await page.evaluate(`[...document.querySelectorAll(".tag")].filter((tag) => tag.style.display !== "none").length`);
  expect(tags > 0 || (await page.evaluate(picture)).sum !== unnamed.sum, "names of points can be shown");
  await page.click("#labels");
}

async function checkOrbit(page) {
  const before = await page.evaluate(picture);
  const [x, y] = await page.evaluate(`(() => { const s = document.querySelector(".stage-box canvas"); s.scrollIntoView({ block: "center" });
    const b = s.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()`);
  await page.drag(x, y, x + 90, y + 20);
  expect((await page.evaluate(picture)).sum !== before.sum, "dragging turns the view");
}

async function checkPlots(page) {
  const colours = await page.evaluate(plotPictures);
  expect(colours.length > 0, "there are plots");
  expect(colours.every((count) => count > 10), `all plots show something (${colours})`);

  const [x, y, width] = await page.evaluate(`(() => { const over = document.querySelector("#plots .u-over"); over.scrollIntoView({ block: "center" });
    const b = over.getBoundingClientRect(); return [b.left, b.top + b.height / 2, b.width]; })()`);
  const [start, end] = (await page.evaluate(windows))[0];
  await page.drag(x + 0.25 * width, y, x + 0.5 * width, y);
  await eventually(page, `${windows}.every(([min, max]) => max - min < ${0.5 * (end - start)})`, "dragging zooms every plot");
  const zoomed = await page.evaluate(windows);
  const wish = [start + 0.25 * (end - start), start + 0.5 * (end - start)];
  // a pixel or two of the drag
  const close = 3 * ((end - start) / width);
  for (const [min, max] of zoomed)
    expect(Math.abs(min - wish[0]) < close && Math.abs(max - wish[1]) < close, `the window is the one dragged (${min} .. ${max})`);

  await page.mouse("mousePressed", x + 0.5 * width, y);
  await page.mouse("mouseReleased", x + 0.5 * width, y);
  const middle = (zoomed[0][0] + zoomed[0][1]) / 2;
  expect(Math.abs((await page.evaluate(clock)) - middle) < close, "a click in a plot moves the time there");
  const mark = await page.evaluate(`document.querySelector("#plots .time-line").getBoundingClientRect().left`);
  expect(Math.abs(mark - (x + 0.5 * width)) < 3, "the mark follows");

  await page.click("#reset-zoom");
  await eventually(page, `${windows}.every(([min, max]) => min === ${start} && max === ${end})`, "the button shows the whole run again");
  const place = x + ((middle - start) / (end - start)) * width;
  await eventually(page, `Math.abs(document.querySelector("#plots .time-line").getBoundingClientRect().left - ${place}) < 3`, "the mark stays at its time");
}

async function checkPage(browser, name, model, kind) {
  console.log(name);
  const file = make(name, model);
  console.log(`  ${(readFileSync(file).length / 1e6).toFixed(2)} MB`);
  const page = await browser.open(pathToFileURL(file).href, 1440, 1000);
  await page.evaluate(helpers);
  expect((await page.evaluate("document.documentElement.dataset.ready")) === "yes", "the page gets ready");
  expect((await page.evaluate(`document.querySelectorAll("math").length`)) > 3, "equations are typeset");
  const stages = await page.evaluate(`document.querySelectorAll(".stage-box canvas").length`);
  expect(stages === (kind === "none" ? 0 : 1), `the animation is ${kind}`);
  expect((await page.evaluate(`document.querySelectorAll(".stage3d").length`)) === (kind === "3D" ? 1 : 0), `the animation is ${kind}`);
  if (kind !== "none") await checkAnimation(page);
  if (kind === "3D") await checkOrbit(page);
  await checkPlots(page);
  await page.evaluate("window.scrollTo(0, 0)");
  await sleep(200);
  writeFileSync(join(output, `${name}.png`), await page.screenshot());

  await page.send("Emulation.setDeviceMetricsOverride", { width: 420, height: 900, deviceScaleFactor: 1, mobile: false });
  await sleep(300);
  expect((await page.evaluate("document.documentElement.scrollWidth")) <= 420, "a narrow window needs no sideways scrolling");
  writeFileSync(join(output, `${name}_narrow.png`), await page.screenshot());
  expectNoFaults(page, file);
  await page.close();
}

async function checkDownload(browser) {
  console.log("download");
  const file = make("download", "models/pendulum.toml", ["--samples", "11"]);
  const csv = join(output, "pendulum.csv");
  rmSync(csv, { force: true });
  const page = await browser.open(pathToFileURL(file).href, 1200, 900);
  await browser.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: output });
  await page.click("#csv");
  for (let i = 0; i < 100 && !existsSync(csv); ++i) await sleep(50);
  expect(existsSync(csv), "the button downloads a file");
  const direct = join(output, "direct.csv");
  execFileSync(program, ["simulate", join(sources, "models/pendulum.toml"), "--samples", "11", "--residuals", "--output", direct, "--quiet"]);
  const numbers = (path) => readFileSync(path, "utf8").trim().split("\n").slice(1).map((line) => line.split(",").map(Number));
  const heads = [csv, direct].map((path) => readFileSync(path, "utf8").split("\n")[0]);
  expect(heads[0] === heads[1], `the columns are those of --output: ${heads[0]} and ${heads[1]}`);
  expect(JSON.stringify(numbers(csv)) === JSON.stringify(numbers(direct)), "the numbers are those of --output, to the last bit");
  await page.close();
}

/** A run of 100,000 steps must be there within a second; the best of three counts, the machine may be busy. */
async function checkLongRun(browser) {
  console.log("long run");
  const file = make("long", "models/pendulum.toml", ["--max-step", "0.0005"]);
  const times = [];
  for (let i = 0; i < 3; ++i) {
    const page = await browser.open(pathToFileURL(file).href, 1440, 1000);
    times.push(Math.round(await page.evaluate(`performance.getEntriesByName("ready")[0].startTime`)));
    expectNoFaults(page, file);
    await page.close();
  }
  console.log(`  ${(readFileSync(file).length / 1e6).toFixed(1)} MB, ready after ${times.join(", ")} ms`);
  expect(Math.min(...times) < 1000, "the page is ready within a second");
}

/** The page of a comparison: charts by method, filters, the curve under the pointer, the table. */
async function checkComparison(browser) {
  console.log("comparison");
  const file = join(output, "comparison.html");
  rmSync(file, { force: true });
  execFileSync(program, ["compare", join(sources, "models/pendulum.toml"), "--t-end", "3", "--rtol", "1e-4,1e-6,1e-8",
    "--report", file, "--quiet"]);
  const page = await browser.open(pathToFileURL(file).href, 1440, 1000);
  expect((await page.evaluate("document.documentElement.dataset.ready")) === "yes", "the page gets ready");
  const description = JSON.parse(await page.evaluate(`document.getElementById("comparison").textContent`));
  const curves = (id) => `[...document.querySelectorAll("#${id} .chart")].filter((chart) => !chart.hidden).map((chart) => chart.querySelectorAll("g.line").length)`;
  const expected = (keep = () => true) =>
    ["dop853", "radau", "bdf"].map((method) => new Set(description.runs.filter((run) => run.method === method && keep(run)).map((run) => run.series)).size);
  for (const id of ["work", "proportion", "drift"])
    expect(JSON.stringify(await page.evaluate(curves(id))) === JSON.stringify(expected()), `every pair has its curve in ${id}`);
  const marks = await page.evaluate(`document.querySelectorAll("#work g.line circle, #work g.line polygon").length`);
  expect(marks === description.runs.length, `every run has its point (${marks} of ${description.runs.length})`);
  // Where a point is, to the pixel: further down is a smaller error, further right more time.
  const places = await page.evaluate(`[...document.querySelectorAll("#proportion .chart")][0].querySelector("g.line polyline").getAttribute("points")`);
  const xs = places.split(" ").map((pair) => pair.split(",").map(Number));
  expect(xs[0][0] < xs[1][0] && Math.abs(xs[2][0] - 2 * xs[1][0] + xs[0][0]) < 0.3, "equal factors of the tolerance are equal distances");
  expect(xs[0][1] < xs[2][1], "a tighter tolerance has a smaller error");

  // a filter by formulation takes its curves and its rows away, and brings them back
  const seen = `[...document.querySelectorAll("#runs tbody tr")].filter((row) => !row.hidden).length`;
  const all = await page.evaluate(seen);
  expect(all === description.rows.length, "the table has a row for every run");
  await page.click("#formulations .chip");
  expect(JSON.stringify(await page.evaluate(curves("work"))) === JSON.stringify(expected((run) => run.series !== 0)), "a click hides a formulation");
  expect((await page.evaluate(seen)) === description.rows.filter((row) => row[0] !== 0).length, "its rows too");
  await page.click("#formulations .chip");
  await page.click("#methods .chip");
  expect((await page.evaluate(curves("work"))).length === 2, "a click hides a method");
  await page.click("#methods .chip");
  expect((await page.evaluate(seen)) === all, "all is back");

  // what the pointer is at is named and stands out in every chart
  const [x, y] = await page.evaluate(`(() => { const node = document.querySelector("#work g.line circle, #work g.line polygon");
    node.scrollIntoView({ block: "center" }); const b = node.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()`);
  await page.mouse("mouseMoved", x, y);
  const told = await page.evaluate(`[...document.querySelectorAll(".chart-words")].filter((words) => !words.hidden).map((words) => words.textContent)`);
  expect(told.length === 1 && /, rtol 10⁻[⁴⁶⁸]: error .*, .* s$/.test(told[0]), `the point is told: ${told}`);
  expect((await page.evaluate(`document.querySelectorAll("#drift g.faded").length`)) > 0, "the others fade in the other charts");
  expect((await page.evaluate(`document.querySelectorAll("#runs tr.pointed").length`)) > 0, "its rows are marked");
  writeFileSync(join(output, "comparison_pointed.png"), await page.screenshot());

  // another quantity, another kind of work, another level
  const before = await page.evaluate(`document.getElementById("work").innerHTML`);
  for (const [id, value] of [["quantity", 1], ["kind", 1], ["level", 1], ["control", 2]])
    await page.evaluate(`(() => { const select = document.getElementById("${id}"); select.value = "${value}"; select.dispatchEvent(new Event("change")); })()`);
  expect((await page.evaluate(`document.getElementById("work").innerHTML`)) !== before, "choices change the charts");
  expect(await page.evaluate(`document.getElementById("work").textContent.includes("right-hand sides")`), "the axis says what it shows");

  // sorting by time: ascending, then descending; runs without a value would come last
  const heads = `[...document.querySelectorAll("#runs thead tr:last-child th")]`;
  const times = `[...document.querySelectorAll("#runs tbody tr")].map((row) => Number(row.cells[row.cells.length - 1].dataset.value))`;
  const sorted = (values, sign) => values.every((value, i) => i === 0 || sign * (value - values[i - 1]) >= 0);
  await page.evaluate(`${heads}.at(-1).click()`);
  expect(sorted(await page.evaluate(times), 1), "a click sorts by time");
  await page.evaluate(`${heads}.at(-1).click()`);
  expect(sorted(await page.evaluate(times), -1), "another one turns it around");

  await page.evaluate("window.scrollTo(0, 0)");
  await sleep(200);
  writeFileSync(join(output, "comparison.png"), await page.screenshot());
  await page.send("Emulation.setDeviceMetricsOverride", { width: 420, height: 900, deviceScaleFactor: 1, mobile: false });
  await sleep(300);
  expect((await page.evaluate("document.documentElement.scrollWidth")) <= 420, "a narrow window needs no sideways scrolling");
  const widths = await page.evaluate(`[...document.querySelectorAll(".chart svg[role=img]")].map((chart) => chart.getBoundingClientRect().right)`);
  expect(widths.every((right) => right <= 420), `charts fit into it (${widths})`);
  writeFileSync(join(output, "comparison_narrow.png"), await page.screenshot());
  expectNoFaults(page, file);
  await page.close();
}

const browser = await Browser.start(chromium);
try {
  await checkComparison(browser);
  await checkPage(browser, "pendulum", "models/pendulum.toml", "2D");
  await checkPage(browser, "spherical_pendulum", "models/spherical_pendulum.toml", "3D");
  await checkPage(browser, "chain", "models/chain.toml", "2D");
  await checkPage(browser, "no_drawing", "tests/browser/no_drawing.toml", "2D");
  await checkPage(browser, "no_points", "tests/browser/no_points.toml", "none");
  await checkDownload(browser);
  await checkLongRun(browser);
} finally {
  await browser.stop();
}
console.log(failures === 0 ? "all good" : `${failures} failures`);
process.exit(failures === 0 ? 0 : 1);
