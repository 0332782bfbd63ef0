/**
 * Handlers that block their event loop for three leases, with idle workers beside them: no worker
 * takes the job over, or the takeover is fenced. Never are two finishes accepted.
 *
 *     node --conditions=source scripts/show/busy-loop.ts [--jobs 10] [--lease 1000]
 */
import { Fleet } from "./lib/fleet/fleet.ts";
import { numbersFrom } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";
import { linesOf } from "./lib/check/verdict.ts";

const options = numbersFrom("busy-loop.ts", { jobs: 10, workers: 2, lease: 1000 });

await onStage(async () => {
  await using fleet = await Fleet.open({
    name: "busy-loop",
    workers: options.workers,
    work: { lanes: { general: 1 }, lease: options.lease, poll: 100 },
  });

  const spinMs = 3 * options.lease;
  for (let count = 0; count < options.jobs; count += 1) {
    // One at a time: there is always an idle worker that could take over.
    await fleet.place([{ act: { kind: "spin", ms: spinMs } }]);
    await fleet.drain();
  }
  const verdict = await fleet.finish();
  console.log(`${options.jobs} jobs that block for ${spinMs} ms, lease ${options.lease} ms`);
  for (const line of linesOf(verdict)) console.log(line);
  const sound = verdict.findings.length === 0 && verdict.gaveUp === 0;
  if (!sound) fleet.keep();
  return { sound };
});
