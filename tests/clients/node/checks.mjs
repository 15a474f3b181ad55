// One line a check, and the exit status of all of them.
import {performance} from "node:perf_hooks";

let failures = 0;

export async function check(name, body) {
  const begin = performance.now();
  try {
    await body();
    console.log(`ok      ${name} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
  } catch (error) {
    ++failures;
    console.log(`FAILED  ${name}: ${error.stack}`);
  }
}

// Stops the daemon, which must end well, and sets the exit status. Its log is shown if anything failed.
export async function finish(daemon) {
  await check("the daemon stops", async () => {
    const ended = await daemon.stop();
    if (ended !== 0) throw new Error(`it ended with ${ended}`);
  });
  if (failures > 0) console.log(daemon.log);
  process.exitCode = failures === 0 ? 0 : 1;
}
