"use strict";

const kPollMs = 1500;
const kStallSecs = 30;

// ---- small helpers -------------------------------------------------------------------------------

function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") node.className = value;
    else if (name === "style") Object.assign(node.style, value);
    else node.setAttribute(name, value);
  }
  // Text is never markup: ids come from clients.
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
}

function fill(id, ...children) {
  document.getElementById(id).replaceChildren(...children);
}

function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) {
    count /= 1024;
    ++unit;
  }
  return `${count.toFixed(unit === 0 || count >= 100 ? 0 : 1)} ${units[unit]}`;
}

function span(secs) {
  if (secs < 10) return `${secs.toFixed(1)} s`;
  if (secs < 120) return `${Math.round(secs)} s`;
  if (secs < 7200) return `${Math.round(secs / 60)} min`;
  if (secs < 172800) return `${Math.round(secs / 3600)} h`;
  return `${Math.round(secs / 86400)} d`;
}

function milliseconds(ms) {
  return ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`;
}

function meter(share) {
  const percent = Math.min(100, Math.max(0, share * 100));
  const level = percent > 85 ? "full" : percent > 60 ? "high" : "";
  return element("div", {class: "meter", role: "meter", "aria-valuenow": Math.round(percent), "aria-valuemin": 0, "aria-valuemax": 100},
    element("span", {class: level, style: {width: `${percent}%`}}));
}

// A table from rows of cells; a cell that is a number stands to the right.
function table(heads, rows) {
  const numeric = heads.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === "number"));
  const cell = (tag, value, i) => element(tag, numeric[i] ? {class: "number"} : {}, value instanceof Node ? value : String(value));
  return element("table", {},
    element("thead", {}, element("tr", {}, ...heads.map((head, i) => cell("th", head, i)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((value, i) => cell("td", value, i))))));
}

function none(text) {
  return element("div", {class: "quiet"}, text);
}

// ---- sections ------------------------------------------------------------------------------------

function isFinal(job) {
  return ["completed", "failed", "cancelled"].includes(job.state);
}

function troubles(status) {
  const list = [];
  if (status.draining) list.push("The daemon is draining: it takes no new jobs and will stop.");
  else if (!status.ready) list.push(`The daemon is not ready yet: ${status.not_ready_because}. Jobs are taken and wait where they must.`);
  if (status.devices.length === 0) list.push("There is no device to prove on.");
  for (const device of status.devices) {
    if (device.quarantined) list.push(`Device ${device.name} is out of service: ${device.quarantine_reason}`);
  }
  for (const circuit of status.circuits) {
    if (circuit.readiness === "corrupt") list.push(`Circuit ${circuit.circuit_id}: ${circuit.detail}`);
  }
  for (const job of status.pipelines) {
    if (job.state === "running" && job.last_progress_secs_ago > kStallSecs) {
      list.push(`Job ${job.job_id} has made no progress for ${span(job.last_progress_secs_ago)}. ${job.waiting_for}`);
    }
  }
  if (status.counters.self_check_failures > 0) {
    list.push(`${status.counters.self_check_failures} partition proofs did not verify; they were dropped and made again. Check the device's health.`);
  }
  return list;
}

function showAttention(list) {
  const section = document.getElementById("attention");
  section.hidden = list.length === 0;
  section.querySelector("ul").replaceChildren(...list.map((text) => element("li", {}, text)));
}

function gauge(title, value, share, note) {
  return element("div", {class: "card"}, element("div", {class: "quiet"}, title), element("div", {class: "value"}, value),
    share === null ? null : meter(share), note ? element("div", {class: "quiet"}, note) : null);
}

function budget(title, memory) {
  const waiting = memory.waiting > 0 ? `, ${memory.waiting} waiting` : "";
  return gauge(title, `${bytes(memory.used_bytes)} of ${bytes(memory.total_bytes)}`,
    memory.total_bytes > 0 ? memory.used_bytes / memory.total_bytes : 0, memory.source ? `limit from ${memory.source}${waiting}` : "");
}

function showGauges(status) {
  const cards = [budget("Host memory reserved", status.memory)];
  if (status.memory.pinned.total_bytes > 0) cards.push(budget("Pinned memory", status.memory.pinned));
  const slots = status.synthesis;
  cards.push(gauge("Witnesses", `${slots.active} of ${slots.max_concurrent}`, slots.max_concurrent > 0 ? slots.active / slots.max_concurrent : 0, ""));
  cards.push(gauge("Partitions waiting", String(status.counters.queue_depth), null, ""));
  fill("gauges", ...cards);
}

function partitionCell(partition) {
  const times = [["witness", partition.synth_ms], ["device", partition.gpu_ms]].filter(([, ms]) => ms !== null)
    .map(([name, ms]) => `${name} ${milliseconds(ms)}`);
  const tries = partition.attempts > 1 ? [`attempt ${partition.attempts}`] : [];
  const title = [`partition ${partition.index}: ${partition.stage}`, partition.device, ...times, ...tries].filter(Boolean).join(", ");
  return element("span", {class: `cell ${partition.stage}`, title}, String(partition.index));
}

function jobCard(job) {
  const facts = isFinal(job) ? `${job.state}, took ${milliseconds(job.timings.total_ms)}` : `${job.state}, accepted ${span(job.started_secs_ago)} ago`;
  return element("div", {class: "card job", "data-job": job.job_id},
    element("div", {class: "row"}, element("span", {class: "name"}, job.job_id), element("span", {class: "quiet"}, `${job.proof_kind} · ${job.circuit_id} · ${job.priority}`),
      element("span", {class: "end"}, `${job.partitions_done}/${job.total_partitions} · ${facts}`)),
    job.waiting_for && !isFinal(job) ? element("div", {class: "quiet"}, `waits for ${job.waiting_for}`) : null,
    job.error ? element("div", {class: "error"}, job.error) : null,
    element("div", {class: "cells"}, ...job.partitions.map(partitionCell)));
}

function showJobs(status) {
  fill("jobs", ...(status.pipelines.length > 0 ? status.pipelines.map(jobCard) : [none("No jobs.")]));
}

function deviceCard(device, workers) {
  const used = device.memory_total_bytes - device.memory_free_bytes;
  return element("div", {class: "card"},
    element("div", {class: "row"}, element("span", {class: "name"}, device.name), element("span", {class: "quiet"}, [device.product, device.uuid].filter(Boolean).join(" · ")),
      element("span", {class: "end"}, `${device.proofs} proofs, ${device.bad_proofs} bad, ${device.faults} faults`)),
    device.quarantined ? element("div", {class: "error"}, `out of service: ${device.quarantine_reason}`) : null,
    ...workers.map((worker) => element("div", {class: "quiet"}, worker.state === "idle" ? `worker ${worker.worker_id}: idle`
      : `worker ${worker.worker_id}: ${worker.current_job}, partition ${worker.current_partition}, ${span(worker.busy_secs)}`)),
    device.memory_total_bytes > 0 ? element("div", {class: "quiet"}, `memory ${bytes(used)} of ${bytes(device.memory_total_bytes)}`) : null,
    device.memory_total_bytes > 0 ? meter(used / device.memory_total_bytes) : null);
}

function showDevices(status) {
  fill("devices", ...(status.devices.length > 0
    ? status.devices.map((device) => deviceCard(device, status.gpu_workers.filter((worker) => worker.device === device.name)))
    : [none("No devices.")]));
}

function showKinds(status) {
  const rows = Object.entries(status.counters.jobs_by_kind).map(([kind, now]) => {
    const total = (status.stages[kind] || {}).total;
    return [kind, now.pending, now.in_progress, status.counters.completed_by_kind[kind], status.counters.failed_by_kind[kind],
      total ? milliseconds(total.mean_ms) : "–", total ? `≤ ${milliseconds(total.p95_ms_at_most)}` : "–"];
  });
  fill("kinds", table(["kind", "pending", "in progress", "completed", "failed", "mean", "95 %"], rows));
}

function showStages(status) {
  const groups = Object.entries(status.stages).map(([kind, stages]) => {
    const entries = Object.entries(stages).filter(([name]) => name !== "total");
    const longest = Math.max(...entries.map(([, stage]) => stage.mean_ms), 1e-9);
    return element("div", {class: "card"}, element("div", {class: "name"}, kind),
      ...entries.map(([name, stage]) => element("div", {class: "bar", title: `${stage.count} times`}, element("span", {}, name),
        element("div", {class: "meter"}, element("span", {style: {width: `${100 * stage.mean_ms / longest}%`}})), element("span", {}, milliseconds(stage.mean_ms)))));
  });
  fill("stages", ...(groups.length > 0 ? groups : [none("Nothing proved yet.")]));
}

// Those without files are many where a miner has one sector size; they are folded away.
function showCircuits(status) {
  const keys = new Map(status.allocations.srs.map((key) => [key.circuit_id, key]));
  const row = (circuit) => {
    const key = keys.get(circuit.circuit_id);
    const loaded = circuit.loading ? "loading" : key ? `${key.tier}, ${bytes(key.bytes)}${key.evictable ? "" : ", in use"}` : "";
    return [circuit.circuit_id, circuit.readiness, loaded, circuit.detail];
  };
  const heads = ["circuit", "parameters", "key", "what to do"];
  const missing = status.circuits.filter((circuit) => circuit.readiness === "missing");
  const others = status.circuits.filter((circuit) => circuit.readiness !== "missing");
  const open = document.querySelector("#circuits details")?.open;
  fill("circuits", others.length > 0 ? table(heads, others.map(row)) : none("None is ready."),
    missing.length === 0 ? "" : element("details", open ? {open: ""} : {},
      element("summary", {}, `${missing.length} without parameter files: ${missing.map((circuit) => circuit.circuit_id).join(", ")}`),
      table(heads, missing.map(row))));
}

function showRefusals(status) {
  const rows = status.refusals.map((refusal) => [refusal.code, refusal.proof_kind, refusal.accepted ? "failed job" : "refused request", refusal.count]);
  fill("refusals", rows.length > 0 ? table(["code", "kind", "", "count"], rows) : none("None."));
}

function show(status) {
  const badge = document.getElementById("state");
  const list = troubles(status);
  badge.textContent = status.draining ? "draining" : status.ready ? "ready" : "not ready";
  badge.className = `badge ${status.ready && !status.draining ? "good" : "bad"}`;
  document.getElementById("summary").textContent = `${status.version} · up ${span(status.uptime_secs)} · `
    + `${status.counters.total_completed} proved, ${status.counters.total_failed} failed${status.cpu_proving ? " · CPU proving allowed" : ""}`;
  showAttention(list);
  for (const section of [showGauges, showJobs, showDevices, showKinds, showStages, showCircuits, showRefusals]) section(status);
  document.title = `${list.length > 0 ? "! " : ""}cuzk: ${status.pipelines.filter((job) => !isFinal(job)).length} jobs`;
}

// ---- polling -------------------------------------------------------------------------------------

let lastAnswer = null;

async function poll() {
  try {
    const response = await fetch("status", {cache: "no-store", signal: AbortSignal.timeout(5000)});
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    show(await response.json());
    lastAnswer = new Date();
    document.body.dataset.polled = "yes";
  } catch (error) {
    const badge = document.getElementById("state");
    badge.textContent = "no answer";
    badge.className = "badge bad";
    showAttention([`The daemon does not answer (${error.message}). ${lastAnswer ? `What is shown is from ${lastAnswer.toLocaleTimeString()}.` : ""}`]);
  }
  setTimeout(poll, kPollMs);
}

poll();
