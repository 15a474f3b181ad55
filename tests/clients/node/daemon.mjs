// A daemon of the program under test, in a folder of its own, and a client of it.
import {spawn, execFileSync} from "node:child_process";
import {mkdtempSync, readdirSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {fileURLToPath} from "node:url";
import {setTimeout as sleep} from "node:timers/promises";

import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";

import {goldenBytes} from "./golden.mjs";
import {circuits} from "./requests.mjs";

const protoFolder = fileURLToPath(new URL("../../../proto", import.meta.url));
const definition = protoLoader.loadSync("cuzk/v1/proving.proto", {
  includeDirs: [protoFolder], keepCase: true, longs: Number, enums: String, defaults: true,
});
const {cuzk} = grpc.loadPackageDefinition(definition);

const maxMessage = 256 << 20;  // both ways, as Curio's client

export class Daemon {
  constructor(program) {
    this.program = program;
    this.folder = mkdtempSync(join(tmpdir(), "cuzk-client-"));
    this.log = "";
  }

  path(name) {
    return join(this.folder, name);
  }

  run(...args) {
    return execFileSync(this.program, args, {encoding: "utf8", stdio: ["ignore", "pipe", "pipe"]});
  }

  // The reference's own 2 KiB keys, from their public seed.
  makeKey(kind) {
    const list = goldenBytes("keys/SHA256SUMS").toString();
    const families = {porep: /v28-stacked-\S*\.params/, snap: /v28-empty-sector-update-\S*\.params/,
      window: /v28-proof-of-spacetime-\S*0170db1f\S*\.params/, winning: /v28-proof-of-spacetime-\S*3ea05428\S*\.params/};
    const trapdoor = list.match(families[kind])[0].replace(/\.params$/, ".trapdoor.json");
    writeFileSync(this.path("trapdoor.json"), goldenBytes(`keys/${trapdoor}`));
    this.run("setup", "--circuit", circuits[kind], "--sector-size", "2KiB", "--params-dir", this.folder,
      "--trapdoor", this.path("trapdoor.json"));
  }

  // With `statusPage` also serves that, at pageUrl.
  async start({statusPage = false} = {}) {
    writeFileSync(this.path("cuzk.toml"), `
[daemon]
listen = "unix://${this.path("cuzk.sock")}"
state_dir = "${this.folder}"
${statusPage ? 'status_listen = "127.0.0.1:0"' : ""}
[srs]
param_cache = "${this.folder}"
[gpus]
allow_cpu = true
`);
    this.process = spawn(this.program, ["daemon", "--config", this.path("cuzk.toml")],
      {stdio: ["ignore", "pipe", "pipe"], env: {...process.env, CUDA_VISIBLE_DEVICES: ""}});  // the CPU proves
    for (const stream of [this.process.stdout, this.process.stderr]) stream.on("data", (text) => { this.log += text; });
    this.exited = new Promise((resolve) => this.process.on("exit", (code, signal) => resolve(code ?? signal)));
    this.client = new cuzk.v1.ProvingEngine(`unix://${this.path("cuzk.sock")}`, grpc.credentials.createInsecure(),
      {"grpc.max_receive_message_length": maxMessage, "grpc.max_send_message_length": maxMessage});
    // Before it is ready it checks each point of the keys: a minute or two for the large ones.
    for (const end = Date.now() + 1000 * 900; Date.now() < end;) {
      const ended = await Promise.race([this.exited, sleep(100)]);
      if (ended !== undefined) throw new Error(`the daemon ended with ${ended}:\n${this.log}`);
      if (readdirSync(this.folder).includes("cuzk.sock") && (await this.call("GetStatus", {})).ready) {
        if (statusPage) [, this.pageUrl] = this.log.match(/status page on (http:\S+\/)/);
        return;
      }
    }
    throw new Error(`the daemon is not ready:\n${this.log}`);
  }

  // Resolves to the answer; rejects with grpc-js's error, which has code, details and metadata.
  call(method, request, seconds = 600) {
    return new Promise((resolve, reject) => {
      this.client[method](request, {deadline: Date.now() + 1000 * seconds},
        (error, answer) => (error ? reject(error) : resolve(answer)));
    });
  }

  // Exit status of `cuzk verify`, which shares no state with the daemon.
  verifies(kind, proof, metaBytes) {
    writeFileSync(this.path("proof"), proof);
    writeFileSync(this.path("meta.json"), metaBytes);
    try {
      this.run("verify", kind, "--proof", this.path("proof"), "--meta", this.path("meta.json"), "--params-dir", this.folder);
      return true;
    } catch (error) {
      if (error.status !== 1) throw error;
      return false;
    }
  }

  // Gives it the time to drain (daemon.drain_timeout) before it is killed.
  async stop() {
    this.client?.close();
    if (this.process && this.process.exitCode === null) {
      this.process.kill("SIGTERM");
      await Promise.race([this.exited, sleep(150000, undefined, {ref: false}).then(() => this.process.kill("SIGKILL"))]);
    }
    rmSync(this.folder, {recursive: true, force: true});
    return this.exited;
  }
}
