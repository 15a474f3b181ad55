// Requests as Curio's client builds them: ids, priorities, which fields are set and which are left out.
import {goldenBytes, goldenJson, goldenVanilla} from "./golden.mjs";

const sector = "sectors/2KiB-v1_1";
export const meta = goldenJson(`${sector}/meta.json`);
export const metaFile = `${sector}/meta.json`;
const sectorSize = 2048;
const miner = meta.miner_id;

function hex(text) {
  return Buffer.from(text, "hex");
}

// The first bytes of the randomness, as Go prints them with %v and %x.
function listed(bytes) {
  return `[${[...bytes.subarray(0, 8)].join(" ")}]`;
}

export const requests = {
  porep: () => ({
    request_id: `porep-${miner}-1`,
    proof_kind: "POREP_SEAL_COMMIT",
    sector_size: sectorSize,
    registered_proof: 5,
    priority: "NORMAL",
    vanilla_proof: goldenBytes(`${sector}/c1.wrapper.json`),
    sector_number: 1,
    miner_id: miner,
  }),
  // The share market's request: no sector_size, the task's number in the id.
  snap: () => ({
    request_id: `ps-snap-${miner}-1-77`,
    proof_kind: "SNAP_DEALS_UPDATE",
    registered_proof: 0,
    priority: "NORMAL",
    vanilla_proofs: goldenVanilla(`${sector}/update.vanilla.json`),
    sector_number: 1,
    miner_id: miner,
    comm_r_old: hex(meta.update.comm_r_old),
    comm_r_new: hex(meta.update.comm_r_new),
    comm_d_new: hex(meta.update.comm_d_new),
  }),
  window: () => ({
    request_id: `wdpost-${miner}-0-${listed(hex(meta.window.randomness))}`,
    proof_kind: "WINDOW_POST_PARTITION",
    sector_size: sectorSize,
    registered_proof: 10,
    priority: "HIGH",
    vanilla_proofs: goldenVanilla(`${sector}/window.vanilla.json`),
    miner_id: miner,
    randomness: hex(meta.window.randomness),
    partition_index: 0,
  }),
  winning: () => ({
    request_id: `winpost-${miner}-${meta.winning.randomness.slice(0, 16)}`,
    proof_kind: "WINNING_POST",
    sector_size: sectorSize,
    registered_proof: 0,
    priority: "CRITICAL",
    vanilla_proofs: goldenVanilla(`${sector}/winning.vanilla.json`),
    miner_id: miner,
    randomness: hex(meta.winning.randomness),
  }),
};

// What `cuzk setup` and `cuzk verify` call each of them.
export const circuits = {porep: "porep", snap: "update", window: "window-post", winning: "winning-post"};
export const kinds = {porep: "porep", snap: "snap", window: "window-post", winning: "winning-post"};
export const circuitIds = {porep: "porep-2k", snap: "snap-2k", window: "wpost-2k", winning: "winning-2k"};
export const labels = {porep: "porep-c2", snap: "snap-update", window: "window-post", winning: "winning-post"};
