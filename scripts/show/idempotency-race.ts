/**
 * `--requests` concurrent POST /api/v1/jobs with one Idempotency-Key, half of them to each of two
 * servers on one store: one job, all answers name it, all but one say `idempotency-replayed`, and
 * another body under the key is refused with 422.
 *
 *     node --conditions=source scripts/show/idempotency-race.ts [--store postgres] [--rounds 100]
 */
import { Places } from "./lib/databases.ts";
import { idempotencyRace } from "./lib/http/race.ts";
import { numbersAndStores } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";

const { stores, ...options } = numbersAndStores("idempotency-race.ts", {
  rounds: 100,
  requests: 50,
});

await onStage(async () => {
  let sound = true;
  for (const kind of stores) {
    await using places = await Places.open(kind);
    const { rounds, requests, statuses, findings, ms } = await idempotencyRace(
      places.next(),
      options,
    );
    const seen = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
    const seconds = (ms / 1_000).toFixed(1);
    console.log(
      `${kind}: ${rounds} keys × ${requests} requests in ${seconds} s: ${seen.join(", ")}`,
    );
    for (const finding of findings.slice(0, 10)) console.log(`  ${finding}`);
    sound &&= findings.length === 0;
  }
  return { sound };
});
