/**
 * PostgreSQL crashes and comes back under load, round after round; then backends are ended at
 * random. Nothing is lost, no process ends, and work resumes within ten seconds.
 *
 *     node --conditions=source scripts/show/postgres-restarts.ts [--rounds 10] [--terminations 200]
 */
import { startPostgres } from "../../test/support/postgres.ts";
import { numbersFrom } from "./lib/options.ts";
import { playRestarts } from "./lib/fleet/restarts.ts";
import { onStage } from "./lib/run-stages.ts";
import { linesOf } from "./lib/check/verdict.ts";

const RESUME_MS_MAX = 10_000;
const options = numbersFrom("postgres-restarts.ts", { rounds: 10, terminations: 200, seed: 1 });

await onStage(async () => {
  await using server = await startPostgres();
  const figures = await playRestarts(server, options);
  const { resumedMs, terminated, terminatedResumedMs, findings } = figures;
  for (const line of linesOf(figures)) console.log(line);
  const seconds = resumedMs.map((ms) => (ms / 1000).toFixed(2));
  const slowest = Math.max(0, terminatedResumedMs, ...resumedMs);
  console.log(`${resumedMs.length} crashes, work resumed after ${seconds.join(", ")} s`);
  console.log(
    `${terminated} backends ended, work resumed after ${(terminatedResumedMs / 1000).toFixed(2)} s`,
  );
  console.log(`slowest ${(slowest / 1000).toFixed(2)} s`);
  return { sound: findings.length === 0 && slowest <= RESUME_MS_MAX };
});
