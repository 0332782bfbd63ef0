/** Hours in a SQLite file, made in virtual time: a minute of the demo takes about a second. */
import { setImmediate as turn } from "node:timers/promises";
import { defaults } from "../../../../src/core/presets.ts";
import { runDemo } from "../../../../src/demo/run.ts";
import { makeSqliteStore } from "../../../../src/store/sqlite/create.ts";
import { MortalMill } from "../../../../src/testing/mortal-mill.ts";
import { Traffic } from "../../../../src/testing/mortal-store.ts";
import { makeTestClock } from "../../../../src/testing/test-clock.ts";
import { seededDice } from "../../../../test/support/seeded-dice.ts";

const MINUTE_MS = 60_000;
const STILL_TURNS = 3;

/** Each version of the application and how many minutes it ran, the oldest first. */
export type Releases = readonly (readonly [version: string, minutes: number])[];

/** The history ends now. */
export async function writeHistory(path: string, releases: Releases, seed: number): Promise<void> {
  const minutes = releases.reduce((total, [, length]) => total + length, 0);
  const begin = Date.now() - minutes * MINUTE_MS;
  await writePast(path, { begin, seed }, async (mill, { clock, dice, pass }) => {
    for (const [appVersion, length] of releases) {
      const demo = runDemo(mill, {
        after: (ms, wake) => clock.after(ms, wake),
        random: () => dice.random(),
        failed: (error) => console.error(error),
        appVersion,
      });
      await pass(length * MINUTE_MS);
      const stopped = demo.stop();
      await pass(5_000);
      await stopped;
    }
  });
}

/** The clock and the dice of a past, and the passing of its time. */
export interface Past {
  readonly clock: ReturnType<typeof makeTestClock>;
  readonly dice: ReturnType<typeof seededDice>;
  readonly pass: (ms: number) => Promise<void>;
}

/** Opens a SQLite file in virtual time from `begin` on, and closes it when `live` has ended. */
export async function writePast(
  path: string,
  { begin, seed }: { readonly begin: number; readonly seed: number },
  live: (mill: MortalMill, past: Past) => Promise<void>,
): Promise<void> {
  const clock = makeTestClock(begin);
  const dice = seededDice(seed);
  const traffic = new Traffic();
  const store = traffic.through(makeSqliteStore({ path }, { clock, dice }));
  await store.open();
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const mill = new MortalMill({ store, clock, dice, logger, tenant: "default", preset: defaults });
  const pass = (ms: number): Promise<void> => clock.move(ms, () => untilStill(traffic));
  await live(mill, { clock, dice, pass });
  const closed = mill.close(0);
  await pass(1_000);
  await closed;
}

async function untilStill(traffic: Traffic): Promise<void> {
  for (let still = 0; still < STILL_TURNS;) {
    const { calls } = traffic;
    await turn();
    still = traffic.open === 0 && traffic.calls === calls ? still + 1 : 0;
  }
}
