/** Samples of `npm run chaos`: real processes, real faults, judged by what was promised. */
import { describe, test } from "vitest";
import { isCampaign, sized } from "../../scripts/lib/campaign-size.ts";
import { playCampaign } from "../../scripts/chaos/campaign.ts";
import type { StoreKind } from "../../scripts/chaos/scene.ts";
import { mixOf } from "../../scripts/chaos/mix.ts";
import { tally } from "../../scripts/chaos/tally.ts";

/** Faults that every machine can have, and that heal soon. */
const SHORT: Readonly<Record<StoreKind, readonly string[]>> = {
  sqlite: ["kill", "producer-kill", "zombie", "lock", "clock"],
  postgres: ["kill", "cut", "terminate"],
};
const FAULTS: Readonly<Record<StoreKind, readonly string[]>> = sized({
  smoke: { sqlite: ["kill", "lock"], postgres: ["kill"] },
  short: SHORT,
  full: SHORT,
});
const CAMPAIGNS = (["sqlite", "postgres"] as const).map((store) => [store, FAULTS[store]] as const);

describe.concurrent.each(CAMPAIGNS)("three workers and two producers on %s", (store, faults) => {
  test(`keep every promise through ${faults.join(", ")}`, async ({ expect }) => {
    const words: string[] = [];
    const voyages = await playCampaign({
      store,
      faults,
      rounds: faults.length,
      seed: 1,
      tell: (line) => words.push(line),
    });

    const rows = tally(voyages);

    expect(voyages.flatMap(({ ending }) => ending.findings)).toEqual([]);
    // A campaign that struck nothing, or at nothing, proves nothing.
    expect(
      faults.filter((fault) => !rows.some((row) => row.fault === fault && row.struck > 0)),
    ).toEqual([]);
    expect(rows.at(-1)?.acked).toBeGreaterThan(10 * faults.length);
    expect(words).toHaveLength(faults.length);
    // A sample of one round need not have all of these.
    const { lockedRuns, lockedUnits, flows, logLines } = mixOf(voyages);
    const missing = [lockedRuns, lockedUnits, flows, logLines].filter((count) => count === 0);
    if (isCampaign()) expect(missing).toEqual([]);
  });
});
