// The golden data, which are kept compressed where they are large.
import {execFileSync} from "node:child_process";
import {existsSync, readFileSync} from "node:fs";
import {join} from "node:path";
import {fileURLToPath} from "node:url";

const folder = process.env.CUZK_GOLDEN || fileURLToPath(new URL("../../golden", import.meta.url));

export function goldenBytes(name) {
  const path = join(folder, name);
  if (existsSync(path)) return readFileSync(path);
  return execFileSync("zstd", ["-dcq", `${path}.zst`], {maxBuffer: 1 << 30});
}

export function goldenJson(name) {
  return JSON.parse(goldenBytes(name));
}

// Vanilla proofs as the files have them, base64 in a JSON array.
export function goldenVanilla(name) {
  return goldenJson(name).map((text) => Buffer.from(text, "base64"));
}
