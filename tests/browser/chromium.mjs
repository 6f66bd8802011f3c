// Drives a headless Chromium through the DevTools protocol over a pipe: no port, no package.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const flags = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-extensions",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--no-default-browser-check",
  "--hide-scrollbars",
  "--force-device-scale-factor=1",
  // whatever a page might ask for, nothing answers
  "--host-resolver-rules=MAP * ~NOTFOUND",
  "--remote-debugging-pipe",
];

export class Browser {
  static async start(program) {
    const browser = new Browser();
    browser.profile = mkdtempSync(join(tmpdir(), "daedalus-browser-"));
    browser.child = spawn(program, [...flags, `--user-data-dir=${browser.profile}`, "about:blank"], {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    });
    browser.next = 1;
    browser.waiting = new Map();
    browser.listeners = [];
    let text = "";
    browser.child.stdio[4].setEncoding("utf8").on("data", (part) => {
      text += part;
      for (let end = text.indexOf("\0"); end >= 0; end = text.indexOf("\0")) {
        browser.take(JSON.parse(text.slice(0, end)));
        text = text.slice(end + 1);
      }
    });
    browser.child.on("exit", () => {
      for (const { fail } of browser.waiting.values()) fail(new Error("the browser ended"));
    });
    browser.child.on("error", (error) => {
      for (const { fail } of browser.waiting.values()) fail(error);
    });
    return browser;
  }

  take(message) {
    const entry = this.waiting.get(message.id);
    if (entry) {
      this.waiting.delete(message.id);
      if (message.error) entry.fail(new Error(`${entry.method}: ${message.error.message}`));
      else entry.done(message.result);
      return;
    }
    for (const listener of this.listeners) listener(message);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    return new Promise((done, fail) => {
      this.waiting.set(id, { done, fail, method });
      this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    });
  }

  /** Opens an address in a new tab of the given size and waits until it is loaded. */
  async open(address, width, height) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    await page.start(address, width, height);
    return page;
  }

  async stop() {
    const ended = new Promise((done) => this.child.once("exit", done));
    this.send("Browser.close").catch(() => {});
    const timer = setTimeout(() => this.child.kill("SIGKILL"), 5000);
    await ended;
    clearTimeout(timer);
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Page {
  constructor(browser, session, target) {
    Object.assign(this, { browser, session, target, faults: [], requests: [] });
  }

  send(method, params = {}) {
    return this.browser.send(method, params, this.session);
  }

  async start(address, width, height) {
    const loaded = new Promise((done) => {
      this.browser.listeners.push((message) => {
        if (message.sessionId !== this.session) return;
        const { method, params } = message;
        if (method === "Page.loadEventFired") done();
        if (method === "Runtime.exceptionThrown")
          this.faults.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
        if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type))
          this.faults.push(params.args.map((argument) => argument.value ?? argument.description).join(" "));
        if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)) this.faults.push(params.entry.text);
        if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
      });
    });
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await this.send(`${domain}.enable`);
    await this.send("Network.emulateNetworkConditions", { offline: true, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await this.send("Page.navigate", { url: address });
    await loaded;
  }

  async evaluate(expression) {
    const answer = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (answer.exceptionDetails) throw new Error(answer.exceptionDetails.exception?.description ?? answer.exceptionDetails.text);
    return answer.result.value;
  }

  async mouse(type, x, y, more = {}) {
    await this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", buttons: type === "mouseReleased" ? 0 : 1, clickCount: 1, ...more });
  }

  async drag(x1, y1, x2, y2) {
    await this.send("Input.dispatchMouseEvent", { type: "mouseMoved", x: x1, y: y1 });
    await this.mouse("mousePressed", x1, y1);
    for (let i = 1; i <= 5; ++i) await this.mouse("mouseMoved", x1 + ((x2 - x1) * i) / 5, y1 + ((y2 - y1) * i) / 5);
    await this.mouse("mouseReleased", x2, y2);
  }

  async click(selector) {
    const [x, y] = await this.evaluate(
      `(() => { const e = document.querySelector(${JSON.stringify(selector)}); e.scrollIntoView({ block: "center" });
         const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()`,
    );
    await this.mouse("mousePressed", x, y);
    await this.mouse("mouseReleased", x, y);
  }

  async screenshot(whole = false) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: whole });
    return Buffer.from(data, "base64");
  }

  async pdf() {
    const { data } = await this.send("Page.printToPDF", { printBackground: true, preferCSSPageSize: true });
    return Buffer.from(data, "base64");
  }

  close() {
    return this.browser.send("Target.closeTarget", { targetId: this.target });
  }
}
