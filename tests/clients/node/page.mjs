// The status page in a browser while a daemon proves. Usage: node page.mjs CUZK
// CUZK_PICTURE names a file for a picture of the page; docs/status-page.png is made so.
// Exit status 77 (skipped) where there is no browser.
import assert from "node:assert/strict";
import {writeFileSync} from "node:fs";
import {setTimeout as sleep} from "node:timers/promises";

import {Browser} from "./browser.mjs";
import {check, finish} from "./checks.mjs";
import {Daemon} from "./daemon.mjs";
import {requests} from "./requests.mjs";

const [program] = process.argv.slice(2);
assert.ok(program, "usage: node page.mjs CUZK");
if (!Browser.installed()) {
  console.log("skipped: chromium is not installed (scripts/setup --clients installs it)");
  process.exit(77);
}

const winning = requests.winning();
const porep = requests.porep();
const next = {...requests.porep(), request_id: `${porep.request_id}-next`};

const daemon = new Daemon(program);
let browser;
let running;  // what the page shows while the job is on the device

// What the page shows, all of one moment: jobs by id, devices, the text.
function look() {
  return browser.evaluate(`({
    jobs: Object.fromEntries([...document.querySelectorAll("#jobs .job")].map((card) => [card.dataset.job, {
      text: card.innerText,
      cells: [...card.querySelectorAll(".cell")].map((cell) => ({stage: cell.className.replace("cell ", ""), title: cell.title})),
    }])),
    devices: [...document.querySelectorAll("#devices .card")].map((card) => card.innerText),
    state: document.getElementById("state").innerText,
    calm: document.getElementById("attention").hidden,
    text: document.body.innerText,
  })`);
}

async function lookUntil(condition, seconds) {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(50)) {
    const seen = await look();
    if (condition(seen)) return seen;
  }
  throw new Error(`not within ${seconds} s: ${condition}\n${(await look()).text}`);
}

function isAt(seen, id, stage) {
  return seen.jobs[id]?.cells.some((cell) => cell.stage === stage);
}

async function showsAFinishedJob() {
  const {result} = await daemon.call("Prove", {submit: winning});
  assert.equal(result.status, "COMPLETED", result.error_message);
  const {text} = (await lookUntil((seen) => isAt(seen, winning.request_id, "done"), 10)).jobs[winning.request_id];
  assert.match(text, /winning-post · winning-2k · critical/);
  assert.match(text, /1\/1 · completed, took [0-9.]+ m?s/);
}

async function showsARunningJob() {
  for (const request of [porep, next]) await daemon.call("SubmitProof", request);
  const partitions = (await daemon.call("GetStatus", {}, 5)).jobs.find((job) => job.job_id === porep.request_id).partitions_total;
  running = await lookUntil((seen) => isAt(seen, porep.request_id, "gpu") && seen.jobs[next.request_id], 300);
  if (process.env.CUZK_PICTURE) writeFileSync(process.env.CUZK_PICTURE, await browser.picture());
  const {text, cells} = running.jobs[porep.request_id];
  assert.match(text, /porep-c2 · porep-2k · normal/);
  assert.match(text, /0\/1 · running, accepted [0-9.]+ (s|min) ago/);
  assert.equal(cells.length, partitions);
  assert.match(cells[0].title, /^partition 0: gpu, cpu, witness /);
  assert.doesNotMatch(running.jobs[next.request_id].text, /completed/);
}

function showsTheDevice() {
  assert.equal(running.devices.length, 1, running.devices.join("\n"));
  assert.match(running.devices[0], /^cpu\b/);
  assert.ok(running.devices[0].includes(`: ${porep.request_id}, partition 0, `), running.devices[0]);
}

function showsTheRest() {
  assert.equal(running.state, "ready");
  assert.ok(running.calm, running.text);
  for (const part of [/1 proved, 0 failed/, /CPU proving allowed/, /porep-2k\s+ready\s+hot, .* [MG]iB, in use/, /msm_h/]) {
    assert.match(running.text, part);
  }
}

// Nobody reloads the page.
async function followsTheJobs() {
  await daemon.call("CancelProof", {job_id: next.request_id});
  await lookUntil((seen) => /cancelled, took|completed, took/.test(seen.jobs[next.request_id].text), 60);
  const result = await daemon.call("AwaitProof", {job_id: porep.request_id});
  assert.equal(result.status, "COMPLETED", result.error_message);
  const seen = await lookUntil((seen) => isAt(seen, porep.request_id, "done"), 10);
  assert.match(seen.jobs[porep.request_id].text, /1\/1 · completed, took /);
}

try {
  for (const kind of ["winning", "porep"]) await check(`${kind}: key`, () => daemon.makeKey(kind));
  await daemon.start({statusPage: true});
  browser = new Browser(daemon.path("browser"));
  await check("the page opens", async () => {
    await browser.open(daemon.pageUrl, 1200, 800);
    await lookUntil((seen) => seen.state === "ready", 60);
  });
  await check("a finished job", showsAFinishedJob);
  await check("a running job with its partitions", showsARunningJob);
  await check("the device that proves it", showsTheDevice);
  await check("state, circuits and stages", showsTheRest);
  await check("the jobs' ends, without a reload", followsTheJobs);
  await check("no complaint of the browser", () => assert.deepEqual(browser.complaints, []));
} finally {
  await browser?.close();
  await finish(daemon);
}
