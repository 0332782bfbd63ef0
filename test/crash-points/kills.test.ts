/**
 * The embedded store at the moments of its script that hurt most. A sample: the show
 * `crash-points` goes through all of them.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { sized } from "../../scripts/lib/campaign-size.ts";
import { historyIn, readHistories, type Histories } from "./histories.ts";
import { obstacle, record } from "./recording.ts";
import type { Weakness } from "./recording.ts";
import { SCRIPTS, WRITING_VERBS } from "./script.ts";
import type { Script, Temper } from "./script.ts";
import { callPoints, pointsFor, strikeAll } from "./strikes.ts";
import type { Fault } from "./strikes.ts";

/** Each point costs a process. The full campaign runs the show as well. */
const SHORT = { kill: 30, error: 160 };
const EVERY = sized({ smoke: { kill: 240, error: 600 }, short: SHORT, full: SHORT });

const reason = obstacle();
let histories: Histories;

beforeAll(async () => {
  histories = await readHistories();
});

describe("the scripts", () => {
  test("have every verb that writes between them", () => {
    const used = new Set([...histories.values()].flatMap(({ verbs }) => [...verbs]));
    expect(WRITING_VERBS.filter((verb) => !used.has(verb))).toEqual([]);
  });
});

describe("the embedded store, struck at a write or a sync", () => {
  test.for(SCRIPTS)(
    "keeps what it acknowledged when it is killed in the script of %s (I18)",
    async (script, context) => {
      context.skip(reason !== null, reason ?? "");
      const { ends, violations } = await strikeEach(script, EVERY.kill, "SIGKILL");
      expect(violations).toEqual([]);
      expect(ends).toEqual(new Set(["killed"]));
    },
  );

  test.for(["EIO", "ENOSPC"] as const)(
    "keeps what it acknowledged when the call fails with %s (I18)",
    async (fault, context) => {
      context.skip(reason !== null, reason ?? "");
      const { ends, violations } = await strikeEach("keys", EVERY.error, fault);
      expect(violations).toEqual([]);
      expect(ends).toContain("refused");
    },
  );

  test.for(["EIO", "ENOSPC"] as const)(
    "goes on as if nothing had been when the call fails with %s and is asked again",
    async (fault, context) => {
      context.skip(reason !== null, reason ?? "");
      const { ends, violations } = await strikeEach("work", EVERY.error, fault, "stubborn");
      expect(violations).toEqual([]);
      expect(ends).toEqual(new Set(["survived"]));
    },
  );
});

describe("the checks of crash points", () => {
  test("find a store that acknowledges before it writes", async (context) => {
    context.skip(reason !== null, reason ?? "");
    expect(await findingsOf("early-ack")).toContainEqual(expect.stringContaining("the state of"));
  });

  test("find a store that commits one step in two parts", async (context) => {
    context.skip(reason !== null, reason ?? "");
    const halves = expect.stringContaining("a state that no step leaves behind");
    expect(await findingsOf("late-feed")).toContainEqual(halves);
  });
});

async function strikeEach(
  script: Script,
  every: number,
  fault: Fault,
  temper?: Temper,
): Promise<{ readonly ends: Set<string>; readonly violations: readonly string[] }> {
  const points = pointsFor(fault, callPoints(await record({ script })), every);
  const strikes = await strikeAll(points, fault, historyIn(histories, script), { temper });
  const violations = strikes.map(({ violation }) => violation).filter((each) => each !== null);
  return { ends: new Set(strikes.map(({ end }) => end)), violations };
}

/** What kills within one step tell about a store with a planted weakness. */
async function findingsOf(weakness: Weakness): Promise<readonly (string | null)[]> {
  const points = callPoints(await record({ weakness })).filter(({ acked }) => acked === 2);
  const third = pointsFor("SIGKILL", points, 3);
  const strikes = await strikeAll(third, "SIGKILL", historyIn(histories, "work"), { weakness });
  return strikes.map(({ violation }) => violation);
}
