import { describe, expect, test } from "vitest";
import { virtualClock } from "../../../test/support/virtual-clock.ts";
import type { Logger } from "../../api/context.ts";
import type { Renewal } from "../../store/types/jobs-and-runs.ts";
import { BeatTimes } from "./beat-times.ts";
import { beatOnce, SkewWatch } from "./clock-skew.ts";

const MINUTE_MS = 60_000;
const BEAT = { worker: "worker", leaseMs: 30_000, times: new BeatTimes(), vitals: null };

describe("a heartbeat", () => {
  test("takes the store's clock to have been read in the middle of the round trip", async () => {
    const { skew } = await beatOf({ aheadMs: 10 * MINUTE_MS, roundTripMs: 400 });
    expect(skew).toEqual({ offsetMs: 10 * MINUTE_MS, errorMs: 200 });
  });

  test("measures nothing when the lease is lost", async () => {
    const clock = virtualClock();
    const store = { renew: () => Promise.resolve({ status: "lost" } as const) };
    const { skew } = await beatOnce(store, clock, BEAT);
    expect(skew).toBeNull();
  });
});

describe("a watch over the clock", () => {
  test("warns once, with a code and the next step, when a process is a second off", () => {
    const { watch, logged } = openWatch();
    watch.check({ offsetMs: -1_500, errorMs: 10 });
    watch.check({ offsetMs: -1_600, errorMs: 10 });
    expect(logged).toEqual([
      [
        "warn",
        expect.stringContaining("1.5 s behind"),
        { code: "CLOCK_SKEWED", offset_ms: -1_500, hint: expect.stringContaining("NTP") },
      ],
    ]);
  });

  test("says nothing while the clocks may be together for all that is known", () => {
    const { watch, logged } = openWatch();
    watch.check({ offsetMs: 900, errorMs: 0 });
    watch.check({ offsetMs: 5_000, errorMs: 4_500 });
    expect(logged).toEqual([]);
  });

  test("warns again when the offset has changed by much, and says when it is gone", () => {
    const { watch, logged } = openWatch();
    for (const offsetMs of [2_000, 2_900, 10 * MINUTE_MS, 11 * MINUTE_MS, 700, 100, 100]) {
      watch.check({ offsetMs, errorMs: 0 });
    }
    expect(logged.map(([level, , { offset_ms: offset }]) => [level, offset])).toEqual([
      ["warn", 2_000],
      ["warn", 10 * MINUTE_MS],
      ["info", 100],
    ]);
  });
});

/** A beat of a process that is so much ahead of its store. */
async function beatOf({ aheadMs, roundTripMs }: { aheadMs: number; roundTripMs: number }) {
  const clock = virtualClock();
  const store = {
    async renew(): Promise<Renewal> {
      await clock.advance(roundTripMs / 2);
      const now = clock.now() - aheadMs;
      await clock.advance(roundTripMs / 2);
      return {
        status: "renewed",
        now,
        cancel: [],
        busy: false,
        quiet: false,
        stop: false,
        outdated: false,
        ended: [],
      };
    },
  };
  return beatOnce(store, clock, BEAT);
}

type Logged = readonly [level: string, message: unknown, fields: Record<string, unknown>];

function openWatch() {
  const logged: Logged[] = [];
  const at =
    (level: string) =>
    (message: string, fields: object = {}): void =>
      void logged.push([level, message, { ...fields }]);
  const logger: Logger = {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  };
  return { watch: new SkewWatch(logger), logged };
}
