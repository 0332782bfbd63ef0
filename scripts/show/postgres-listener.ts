/**
 * A worker's listening connection is dead for a while, or half open: what it would hear is found by
 * polling within two seconds, and within 15 seconds all is as quick as before.
 *
 *     node --conditions=source scripts/show/postgres-listener.ts [--rounds 3]
 *
 * Dead: the connection is cut and for ten seconds no other is let through. Half open: nothing
 * passes on it, and neither side is told. A pick-up is the time from the answer to the producer
 * until the handler begins, in another process.
 */
import { startPostgres } from "../../test/support/postgres.ts";
import { Fleet } from "./lib/fleet/fleet.ts";
import { numbersFrom } from "./lib/options.ts";
import { pickUpsFor, pickUpsUntilQuick } from "./lib/fleet/pickups.ts";
import type { PickUp } from "./lib/fleet/pickups.ts";
import { openProxy } from "./lib/fleet/proxy.ts";
import { onStage } from "./lib/run-stages.ts";
import { linesOf } from "./lib/check/verdict.ts";

const options = numbersFrom("postgres-listener.ts", { rounds: 3 });
const LISTENER = "millrace listener";
const DEAD_MS = 10_000;
const SETTLE_MS = 3_000;
const PICKUP_MS_MAX = 2_000;
const QUICK = { inRow: 12, quickMs: 200, limitMs: 60_000 };
const NORMAL_MS_MAX = 15_000;

await onStage(async () => {
  await using server = await startPostgres();
  let isDead = false;
  await using proxy = await openProxy({
    url: server.url,
    admits: (application) => !(isDead && application === LISTENER),
  });
  await using fleet = await Fleet.open({
    name: "listener",
    url: server.url,
    workersUrl: proxy.url,
    workers: 1,
  });
  const listeners = () => [...proxy.links].filter(({ application }) => application === LISTENER);

  const calm = await pickUpsFor(fleet, SETTLE_MS);
  let isSound = report("listening", calm, null, QUICK.quickMs);
  for (let round = 0; round < options.rounds; round += 1) {
    isDead = true;
    for (const link of listeners()) link.cut();
    const meanwhile = await pickUpsFor(fleet, DEAD_MS);
    isDead = false;
    const allowedAt = performance.now();
    const later = await pickUpsUntilQuick(fleet, QUICK);
    isSound = report("dead", [...meanwhile, ...later], allowedAt, PICKUP_MS_MAX) && isSound;

    const frozenAt = performance.now();
    for (const link of listeners()) link.freeze();
    const frozen = await pickUpsUntilQuick(fleet, QUICK);
    isSound = report("half open", frozen, frozenAt, PICKUP_MS_MAX) && isSound;
  }
  await fleet.drain();
  const outcome = await fleet.finish();
  for (const line of linesOf(outcome)) console.log(line);
  return { sound: isSound && outcome.findings.length === 0 };
});

/** `since`: from when on all should become quick again; null: it never was otherwise. */
function report(
  what: string,
  pickUps: readonly PickUp[],
  since: number | null,
  limitMs: number,
): boolean {
  const slowest = Math.max(...pickUps.map(({ ms }) => ms));
  const lastSlow = pickUps.findLastIndex(({ ms }) => ms >= QUICK.quickMs);
  const normal = pickUps[lastSlow + 1];
  const normalMs = since === null ? 0 : Math.max(0, (normal?.at ?? Infinity) - since);
  const told = since === null ? "" : `, quick again after ${(normalMs / 1000).toFixed(1)} s`;
  console.log(`${what}: ${pickUps.length} pick-ups, slowest ${Math.round(slowest)} ms${told}`);
  return slowest <= limitMs && normalMs <= NORMAL_MS_MAX;
}
