// A foreign client, of another language and gRPC implementation, proves what Curio would have proved, with
// Curio's request shapes, and the answers verify. Usage: node prove.mjs CUZK KIND...
import assert from "node:assert/strict";
import {performance} from "node:perf_hooks";

import grpc from "@grpc/grpc-js";

import {check, finish} from "./checks.mjs";
import {Daemon} from "./daemon.mjs";
import {goldenBytes} from "./golden.mjs";
import {circuitIds, kinds, labels, metaFile, requests} from "./requests.mjs";

const [program, ...wanted] = process.argv.slice(2);
assert.ok(program && wanted.length > 0, "usage: node prove.mjs CUZK KIND...");

const daemon = new Daemon(program);

function flipBit(bytes, bit) {
  const copy = Buffer.from(bytes);
  copy[bit >> 3] ^= 1 << (bit & 7);
  return copy;
}

// Curio calls only Prove and looks at status, proof and error_message.
async function proves(kind) {
  const request = requests[kind]();
  const {result} = await daemon.call("Prove", {submit: request});
  assert.equal(result.status, "COMPLETED", result.error_message);
  assert.equal(result.job_id, request.request_id);
  assert.equal(result.error_message, "");
  assert.equal(result.proof.length, 192);
  assert.ok(result.total_ms > 0 && result.total_ms >= result.queue_wait_ms, JSON.stringify(result));
  assert.ok(result.gpu_compute_ms > 0);
  assert.equal(result.backend, "cpu");
  const meta = goldenBytes(metaFile);
  assert.ok(daemon.verifies(kinds[kind], result.proof, meta), "the proof verifies");
  assert.ok(!daemon.verifies(kinds[kind], flipBit(result.proof, 8 * 100 + 5), meta), "a changed one does not");
  return result.proof;
}

// The same id and payload again: the same proof, at once, not a second one.
async function replays(kind, proof) {
  const begin = performance.now();
  const {result} = await daemon.call("Prove", {submit: requests[kind]()});
  assert.equal(result.status, "COMPLETED");
  assert.ok(result.proof.equals(proof), "the same proof");
  assert.ok(performance.now() - begin < 5000);
}

// What cannot be proved is refused with a code that a program can read, before anything is proved.
async function refuses(kind) {
  const request = requests[kind]();
  if (kind === "porep") request.sector_number = 2;
  else request.vanilla_proofs[0] = flipBit(request.vanilla_proofs[0], 8 * 200);
  await assert.rejects(daemon.call("Prove", {submit: request}), (error) => {
    assert.equal(error.code, grpc.status.INVALID_ARGUMENT, error.message);
    assert.match(error.details, /^BAD-(INPUT|VANILLA): /);
    assert.match(error.metadata.get("cuzk-code")[0], /^BAD-(INPUT|VANILLA)$/);
    assert.equal(error.metadata.get("cuzk-retryable")[0], "false");
    return true;
  });
}

async function statusTellsIt() {
  const status = await daemon.call("GetStatus", {}, 5);
  assert.deepEqual(status.queues.map((queue) => queue.proof_kind).sort(), Object.values(labels).sort());
  // Curio's capacity check: nothing is left over.
  assert.equal(status.queues.reduce((sum, queue) => sum + queue.pending + queue.in_progress, 0), 0);
  assert.equal(status.total_proofs_completed, wanted.length);
  assert.equal(status.total_proofs_failed, 0);
  const loaded = status.loaded_srs.map((srs) => srs.circuit_id);
  for (const kind of wanted) assert.ok(loaded.includes(circuitIds[kind]), `${circuitIds[kind]} in ${loaded}`);
  for (const srs of status.loaded_srs) assert.ok(srs.size_bytes > 0);
  const {prometheus_text: metrics} = await daemon.call("GetMetrics", {}, 5);
  assert.match(metrics, new RegExp(`^cuzk_proofs_completed_total ${wanted.length}$`, "m"));
}

async function evictsAndPreloads() {
  const id = circuitIds[wanted[0]];
  const unknown = daemon.call("PreloadSRS", {circuit_id: "porep-3k"});
  await assert.rejects(unknown, (error) => error.code === grpc.status.NOT_FOUND);
  const evicted = await daemon.call("EvictSRS", {circuit_id: id});
  assert.ok(evicted.was_loaded && evicted.freed_bytes > 0, JSON.stringify(evicted));
  assert.equal((await daemon.call("PreloadSRS", {circuit_id: id})).already_loaded, false);
  assert.equal((await daemon.call("PreloadSRS", {circuit_id: id})).already_loaded, true);
}

try {
  for (const kind of wanted) await check(`${kind}: key`, () => daemon.makeKey(kind));
  await daemon.start();
  const proofs = {};
  for (const kind of wanted) {
    await check(`${kind}: refused when damaged`, () => refuses(kind));
    await check(`${kind}: proved`, async () => { proofs[kind] = await proves(kind); });
    await check(`${kind}: replayed`, () => replays(kind, proofs[kind]));
  }
  await check("status and metrics", statusTellsIt);
  await check("evict and preload", evictsAndPreloads);
} finally {
  await finish(daemon);
}
