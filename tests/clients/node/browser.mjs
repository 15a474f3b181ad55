// A headless browser, driven by its DevTools protocol over a pipe: file descriptor 3 to it, 4 from it, each message
// JSON that ends with a zero byte. Nothing but the browser is needed for it.
import {spawn, spawnSync} from "node:child_process";
import {setTimeout as sleep} from "node:timers/promises";

const program = process.env.CUZK_BROWSER || "chromium";

export class Browser {
  static installed() {
    return spawnSync(program, ["--version"]).status === 0;
  }

  // Its profile is kept in `folder`.
  constructor(folder) {
    this.pending = new Map();
    this.complaints = [];  // exceptions and errors of the page, refused loads among them
    this.nextId = 1;
    this.process = spawn(program, ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--hide-scrollbars", "--remote-debugging-pipe", `--user-data-dir=${folder}`, "about:blank"],
    {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
    this.exited = new Promise((resolve) => this.process.on("exit", resolve));
    this.exited.then(() => {
      for (const {reject} of this.pending.values()) reject(new Error(`${program} has ended`));
    });
    const [, , , to, from] = this.process.stdio;
    this.to = to;
    this.to.on("error", () => {});  // it has ended; who waits is told above
    let text = "";
    from.setEncoding("utf8");
    from.on("data", (more) => {
      const messages = (text + more).split("\0");
      text = messages.pop();
      for (const message of messages) this.take(JSON.parse(message));
    });
  }

  take({id, result, error, method, params}) {
    if (method === "Page.loadEventFired") this.onLoad();
    if (method === "Runtime.exceptionThrown") this.complaints.push(params.exceptionDetails);
    if (method === "Log.entryAdded" && params.entry.level === "error") this.complaints.push(params.entry);
    const caller = this.pending.get(id);
    if (!caller) return;
    this.pending.delete(id);
    if (error) caller.reject(new Error(`${caller.method}: ${error.message}`));
    else caller.resolve(result);
  }

  call(method, params = {}) {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, {method, resolve, reject});
      this.to.write(`${JSON.stringify({id, method, params, sessionId: this.session})}\0`);
    });
  }

  // Opens a page of that size, in pixels.
  async open(url, width, height) {
    const {targetId} = await this.call("Target.createTarget", {url: "about:blank"});
    this.session = (await this.call("Target.attachToTarget", {targetId, flatten: true})).sessionId;
    await this.call("Runtime.enable");
    await this.call("Log.enable");
    await this.call("Emulation.setDeviceMetricsOverride", {width, height, deviceScaleFactor: 1, mobile: false});
    await this.call("Page.enable");
    const loaded = new Promise((resolve) => { this.onLoad = resolve; });
    await this.call("Page.navigate", {url});
    await loaded;
  }

  // Value of a JavaScript expression in the page.
  async evaluate(expression) {
    const {result, exceptionDetails} = await this.call("Runtime.evaluate", {expression, returnByValue: true});
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception.description}`);
    return result.value;
  }

  // What the window shows, PNG.
  async picture() {
    return Buffer.from((await this.call("Page.captureScreenshot", {format: "png"})).data, "base64");
  }

  async close() {
    this.process.kill("SIGTERM");
    await Promise.race([this.exited, sleep(10000, undefined, {ref: false}).then(() => this.process.kill("SIGKILL"))]);
    return this.exited;
  }
}
