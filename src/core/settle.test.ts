import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mayMove } from "./job.ts";
import type { ErrorClass } from "./job.ts";
import type { Fault, Outcome, RunFacts } from "./outcome.ts";
import { defaults, jobqueue, lipas, practice } from "./presets.ts";
import { settle } from "./settle.ts";
import type { SettleContext } from "./settle.ts";

const DAY_MS = 86_400_000;

/** In the middle of every swing. */
const context: SettleContext = { policy: defaults.retry, random: 0.5 };

function facts(some: Partial<RunFacts> = {}): RunFacts {
  return { tries: 0, crashes: 0, maxAttempts: 5, onOrphan: "retry", retryOwner: "queue", ...some };
}

function fault(errorClass: ErrorClass): Fault {
  return { class: errorClass, name: "Error", message: "boom" };
}

function failed(errorClass: ErrorClass): Outcome {
  return { type: "failed", fault: fault(errorClass) };
}

/** All waits of a job that fails until it may no more. */
function waits(maxAttempts: number): readonly number[] {
  return [0, 1, 2, 3, 4, 5]
    .map((tries) => settle(facts({ tries, maxAttempts }), failed("transient"), context))
    .flatMap((next) => (next.to === "scheduled" ? [next.delayMs] : []));
}

describe("a job that succeeds", () => {
  test("is completed and charged", () => {
    const outcome: Outcome = { type: "succeeded", result: '{"n":1}', failedUnits: 0 };

    expect(settle(facts({ tries: 2, crashes: 1 }), outcome, context)).toEqual({
      outcome: "succeeded",
      to: "completed",
      tries: 3,
      crashes: 1,
      result: '{"n":1}',
      failedUnits: 0,
      fault: null,
    });
  });

  test("is completed with errors when some of its units failed (000-42)", () => {
    const outcome: Outcome = { type: "succeeded", result: null, failedUnits: 2 };

    expect(settle(facts(), outcome, context)).toMatchObject({
      to: "completed_with_errors",
      failedUnits: 2,
    });
  });
});

describe("a job that is not to blame", () => {
  test("waits as long as it asked to snooze, uncharged", () => {
    expect(settle(facts({ tries: 1 }), { type: "snoozed", delayMs: 700 }, context)).toEqual({
      outcome: "snoozed",
      to: "scheduled",
      delayMs: 700,
      tries: 1,
      crashes: 0,
      fault: null,
    });
  });

  test("is due at once when it snoozes for no time", () => {
    expect(settle(facts(), { type: "snoozed", delayMs: 0 }, context).to).toBe("queued");
  });

  test("goes back to the queue, uncharged, when a stop interrupts it", () => {
    expect(settle(facts({ tries: 4, crashes: 2 }), { type: "interrupted" }, context)).toEqual({
      outcome: "interrupted",
      to: "queued",
      delayMs: 0,
      tries: 4,
      crashes: 2,
      fault: null,
    });
  });

  test("is cancelled with the reason, uncharged", () => {
    expect(settle(facts(), { type: "cancelled", reason: "asked" }, context)).toEqual({
      outcome: "cancelled",
      to: "cancelled",
      tries: 0,
      crashes: 0,
      reason: "asked",
    });
  });
});

describe("a job that fails", () => {
  test("runs again after its backoff while attempts remain (001-24, 001-28)", () => {
    expect(settle(facts({ tries: 2 }), failed("transient"), context)).toEqual({
      outcome: "failed",
      to: "scheduled",
      delayMs: 8_000,
      tries: 3,
      crashes: 0,
      fault: fault("transient"),
    });
  });

  test.each([
    ["transient", [2, 4, 8, 16]],
    ["retryable", [2, 4, 8, 16]],
    ["rate_limited", [60, 120, 240, 480]],
  ] as const)("waits as its class %s demands (003-17, 003-19, C-10)", (errorClass, seconds) => {
    const delays = seconds.map((_, tries) => settle(facts({ tries }), failed(errorClass), context));

    expect(delays).toMatchObject(seconds.map((s) => ({ to: "scheduled", delayMs: s * 1_000 })));
  });

  test("fails for good at its last attempt; the first one counts (001-25, 003-20, C-07)", () => {
    expect(settle(facts({ tries: 3 }), failed("retryable"), context).to).toBe("scheduled");
    expect(settle(facts({ tries: 4 }), failed("retryable"), context)).toEqual({
      outcome: "failed",
      to: "failed",
      tries: 5,
      crashes: 0,
      fault: fault("retryable"),
    });
    expect(settle(facts({ maxAttempts: 1 }), failed("retryable"), context).to).toBe("failed");
  });

  test("waits four times in five attempts, and a fifth time only if there are six (C-35)", () => {
    expect(waits(5)).toEqual([2_000, 4_000, 8_000, 16_000]);
    expect(waits(6)).toEqual([2_000, 4_000, 8_000, 16_000, 32_000]);
  });

  test("fails at once when no further try can help (003-18)", () => {
    expect(settle(facts(), failed("non_retryable"), context)).toMatchObject({
      to: "failed",
      tries: 1,
    });
  });

  test("waits as long as it was told instead of its backoff (C-10)", () => {
    const told: Outcome = { type: "failed", fault: fault("rate_limited"), retryAfterMs: 30_000 };
    const now: Outcome = { type: "failed", fault: fault("rate_limited"), retryAfterMs: 0 };

    expect(settle(facts(), told, context)).toMatchObject({ to: "scheduled", delayMs: 30_000 });
    expect(settle(facts(), now, context)).toMatchObject({ to: "queued", delayMs: 0 });
    expect(settle(facts({ tries: 4 }), told, context).to).toBe("failed");
  });

  test("waits a day at most, whatever it was told", () => {
    const fail = { type: "failed", fault: fault("rate_limited") } as const;
    const ends = [DAY_MS, DAY_MS + 1, 9_999 * DAY_MS].map((retryAfterMs) =>
      settle(facts(), { ...fail, retryAfterMs }, context),
    );

    expect(ends).toMatchObject([{ delayMs: DAY_MS }, { delayMs: DAY_MS }, { delayMs: DAY_MS }]);
  });

  test("follows the policy and the dice it is given (004-22)", () => {
    const policy = lipas.retry;

    const waited = [0, 0.5].map((random) =>
      settle(facts(), failed("retryable"), { policy, random }),
    );

    expect(waited).toMatchObject([{ delayMs: 900 }, { delayMs: 1_000 }]);
  });

  test("is tried again by its supervisor alone, who finds the fault (C-06)", () => {
    const supervised = facts({ retryOwner: "supervisor" });

    expect(settle(supervised, failed("transient"), context)).toEqual({
      outcome: "failed",
      to: "completed",
      tries: 1,
      crashes: 0,
      result: null,
      failedUnits: 0,
      fault: fault("transient"),
    });
    expect(settle(supervised, { type: "timed_out", limitMs: 5 }, context)).toMatchObject({
      outcome: "timed_out",
      to: "completed",
      fault: { name: "TimeoutError" },
    });
  });
});

describe("a job that runs too long", () => {
  test("counts as a retryable failure that names the limit", () => {
    expect(settle(facts(), { type: "timed_out", limitMs: 120_000 }, context)).toEqual({
      outcome: "timed_out",
      to: "scheduled",
      delayMs: 2_000,
      tries: 1,
      crashes: 0,
      fault: {
        class: "retryable",
        name: "TimeoutError",
        message: "The run exceeded its timeout of 2 min.",
      },
    });
  });

  test("fails for good at its last attempt", () => {
    expect(settle(facts({ tries: 4 }), { type: "timed_out", limitMs: 5 }, context).to).toBe(
      "failed",
    );
  });
});

describe("a job whose worker crashes", () => {
  const alone: Outcome = { type: "crashed", isAlone: true };
  const amongOthers: Outcome = { type: "crashed", isAlone: false };

  test("is charged if it was alone, and waits by the number of its crashes (C-05)", () => {
    expect(settle(facts({ tries: 3, crashes: 1 }), alone, context)).toEqual({
      outcome: "crashed",
      to: "scheduled",
      delayMs: 4_000,
      tries: 4,
      crashes: 2,
      fault: { class: "retryable", name: "CrashError", message: "The worker died during the run." },
    });
  });

  test("is counted and not charged if it was not alone, and waits for the first step", () => {
    expect(settle(facts({ tries: 1, crashes: 1 }), amongOthers, context)).toEqual({
      outcome: "crashed",
      to: "scheduled",
      delayMs: 2_000,
      tries: 1,
      crashes: 2,
      fault: {
        class: "retryable",
        name: "CrashError",
        message: "The worker died during this run and others.",
      },
    });
  });

  test("fails if it was alone and had reached the cap, and counts against its type", () => {
    const poison = facts({ tries: 0, crashes: 3, maxAttempts: 100 });
    const single = { ...context, policy: { ...defaults.retry, crashCap: 1 } };

    expect(settle(poison, alone, context)).toEqual({
      outcome: "crashed",
      to: "failed",
      tries: 1,
      crashes: 4,
      hasDiedAlone: true,
      fault: {
        class: "retryable",
        name: "CrashError",
        message: "The job crashed its worker 4 times, at last alone.",
      },
    });
    expect(settle(facts({ crashes: 1 }), alone, single)).toMatchObject({
      to: "failed",
      hasDiedAlone: true,
      fault: { message: "The job crashed its worker 2 times, at last alone." },
    });
    expect(settle(facts({ crashes: 2, maxAttempts: 100 }), alone, context).to).toBe("scheduled");
  });

  test("goes on beyond the crash cap if it was not alone", () => {
    const often = facts({ crashes: 9, maxAttempts: 2 });

    expect(settle(often, amongOthers, context)).toMatchObject({
      to: "scheduled",
      tries: 0,
      crashes: 10,
    });
  });

  test("fails at its last attempt, alone or not, and does not count against its type", () => {
    const last = facts({ tries: 4 });

    for (const outcome of [alone, amongOthers]) {
      const next = settle(last, outcome, context);
      expect(next).toMatchObject({
        to: "failed",
        tries: 5,
        crashes: 1,
        fault: { message: "The worker died during the last run." },
      });
      expect(next).not.toHaveProperty("hasDiedAlone");
    }
    expect(settle(facts({ maxAttempts: 1 }), amongOthers, context).to).toBe("failed");
  });

  test("counts against its type if the crash cap and the last attempt are one", () => {
    expect(settle(facts({ tries: 4, crashes: 3 }), alone, context)).toMatchObject({
      to: "failed",
      hasDiedAlone: true,
    });
  });

  test("fails at once where a crash is final, alone or not (001-06, C-05)", () => {
    const orphan = facts({ onOrphan: jobqueue.onOrphan });

    for (const outcome of [alone, amongOthers]) {
      expect(settle(orphan, outcome, context)).toMatchObject({
        to: "failed",
        tries: 1,
        crashes: 1,
        fault: { message: "The worker died during the run, and onOrphan is fail." },
      });
    }
  });

  test("is run again under a supervisor too (C-06)", () => {
    const supervised = facts({ retryOwner: "supervisor" });

    expect(settle(supervised, alone, context).to).toBe("scheduled");
    expect(settle(supervised, amongOthers, context).to).toBe("scheduled");
  });
});

describe("a settlement", () => {
  const anyFacts: fc.Arbitrary<RunFacts> = fc.record({
    tries: fc.nat(20),
    crashes: fc.nat(5),
    maxAttempts: fc.integer({ min: 1, max: 20 }),
    onOrphan: fc.constantFrom("retry", "fail"),
    retryOwner: fc.constantFrom("queue", "supervisor"),
  });
  const anyClass = fc.constantFrom<ErrorClass>(
    "transient",
    "retryable",
    "non_retryable",
    "rate_limited",
  );
  const anyOutcome: fc.Arbitrary<Outcome> = fc.oneof(
    fc.record({
      type: fc.constant("succeeded" as const),
      result: fc.constantFrom(null, "1"),
      failedUnits: fc.nat(3),
    }),
    anyClass.map(failed),
    fc.record({ type: fc.constant("timed_out" as const), limitMs: fc.nat() }),
    fc.boolean().map((isAlone): Outcome => ({ type: "crashed", isAlone })),
    fc.constant<Outcome>({ type: "cancelled", reason: null }),
    fc.constant<Outcome>({ type: "interrupted" }),
    fc.record({ type: fc.constant("snoozed" as const), delayMs: fc.nat() }),
  );
  const policies = fc.constantFrom(defaults.retry, practice.retry, lipas.retry);
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  test("names the outcome, moves only where a job may, and charges at most one attempt", () => {
    fc.assert(
      fc.property(anyFacts, anyOutcome, policies, chance, (job, outcome, policy, random) => {
        const next = settle(job, outcome, { policy, random });

        expect(next.outcome).toBe(outcome.type);
        expect(mayMove("running", next.to)).toBe(true);
        expect([0, 1]).toContain(next.tries - job.tries);
        expect(next.crashes - job.crashes).toBe(outcome.type === "crashed" ? 1 : 0);
      }),
    );
  });

  test("never runs a job again that has used up its attempts by failing", () => {
    fc.assert(
      fc.property(anyFacts, anyOutcome, policies, chance, (job, outcome, policy, random) => {
        const next = settle(job, outcome, { policy, random });
        const isWaiting = next.to === "scheduled" || next.to === "queued";
        const isCharged = next.tries > job.tries;

        expect(isWaiting && isCharged && next.tries >= job.maxAttempts).toBe(false);
      }),
    );
  });

  test("ends no job that crashed among others, unless it may not run again anyway", () => {
    fc.assert(
      fc.property(anyFacts, policies, chance, (job, policy, random) => {
        const next = settle(job, { type: "crashed", isAlone: false }, { policy, random });
        const isOver = job.onOrphan === "fail" || job.tries + 1 >= job.maxAttempts;

        expect(next.to === "failed").toBe(isOver);
        expect(next.tries - job.tries).toBe(Number(isOver));
      }),
    );
  });

  test("is scheduled exactly when it has to wait", () => {
    fc.assert(
      fc.property(anyFacts, anyOutcome, policies, chance, (job, outcome, policy, random) => {
        const next = settle(job, outcome, { policy, random });
        const delayMs = "delayMs" in next ? next.delayMs : 0;

        expect(next.to === "scheduled").toBe(delayMs > 0);
      }),
    );
  });
});
