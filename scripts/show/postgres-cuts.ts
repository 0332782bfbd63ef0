/**
 * Connections to PostgreSQL are cut right before, or right after, the commit of an enqueue, a claim
 * or a settlement reaches the server. Nothing is lost and nothing is doubled.
 *
 *     node --conditions=source scripts/show/postgres-cuts.ts [--cuts 100]
 *
 * Before: the request that commits never reaches the server. After: the server has answered, and
 * the client does not hear it. So often for each kind of commit and each side.
 */
import { startPostgres } from "../../test/support/postgres.ts";
import { COMMITS, playCuts } from "./lib/fleet/cuts.ts";
import { numbersFrom } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";
import { linesOf } from "./lib/check/verdict.ts";

const options = numbersFrom("postgres-cuts.ts", { cuts: 100, seed: 1 });

await onStage(async () => {
  await using server = await startPostgres();
  const figures = await playCuts(server, options);
  for (const commit of COMMITS) {
    const { before, after } = figures.cuts[commit];
    console.log(`${commit}: ${before} cuts before the commit, ${after} after it`);
  }
  for (const line of linesOf(figures)) console.log(line);
  const isComplete = COMMITS.every((commit) => {
    const { before, after } = figures.cuts[commit];
    return Math.min(before, after) >= options.cuts;
  });
  const { findings, refused, successions } = figures;
  for (const refusal of refused.slice(0, 10)) console.log(refusal);
  const wrongs = findings.length + refused.length + successions.length;
  return { sound: isComplete && wrongs === 0 };
});
