/**
 * PostgreSQL takes no writes for some seconds and then does again, as in a failover, round after
 * round and under load. Nothing is lost, no process ends, connections that met the server without
 * writes are given up, and work resumes within ten seconds.
 *
 *     node --conditions=source scripts/show/postgres-failover.ts [--rounds 5] [--seconds 6]
 */
import { startPostgres } from "../../test/support/postgres.ts";
import { playFailover } from "./lib/fleet/failover.ts";
import { numbersFrom } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";
import { linesOf } from "./lib/check/verdict.ts";

const RESUME_MS_MAX = 10_000;
const { rounds, seconds, seed } = numbersFrom("postgres-failover.ts", {
  rounds: 5,
  seconds: 6,
  seed: 1,
});

await onStage(async () => {
  await using server = await startPostgres();
  const figures = await playFailover(server, { rounds, readOnlyMs: seconds * 1000, seed });
  const { resumedMs, left, findings, refused } = figures;
  for (const line of linesOf(figures)) console.log(line);
  const shown = resumedMs.map((ms) => (ms / 1000).toFixed(2));
  console.log(`${rounds} times without writes, work resumed after ${shown.join(", ")} s`);
  console.log(`${left} connections were given up`);
  for (const refusal of refused.slice(0, 10)) console.log(refusal);
  const isWhole = findings.length + refused.length === 0;
  return { sound: isWhole && left > 0 && Math.max(...resumedMs) <= RESUME_MS_MAX };
});
