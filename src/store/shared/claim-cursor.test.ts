import { describe, expect, test } from "vitest";
import { RANK_START } from "../../core/control/fairness.ts";
import { LowWaterMarks, type Position, type ClaimRange } from "./claim-cursor.ts";

const LANE = 3;

type Take = ReturnType<typeof scripted>["take"];

/** Answers these positions, one list per scan, and records the ranges of each scan. */
function scripted(...answers: readonly Position[][]): {
  seen: (readonly ClaimRange[] | null)[];
  take: (ranges: readonly ClaimRange[] | null) => Promise<{ count: number; positions: Position[] }>;
} {
  const seen: (readonly ClaimRange[] | null)[] = [];
  return {
    seen,
    async take(ranges) {
      seen.push(ranges);
      const positions = answers[seen.length - 1] ?? [];
      return { count: positions.length, positions };
    },
  };
}

function position(priority: number, rank: number, key: number): Position {
  return { lane: LANE, priority, rank, key };
}

/** A cursor with a manual clock. */
function cursorAt(start = 1_000): {
  cursor: ReturnType<LowWaterMarks["of"]>;
  lowWater: LowWaterMarks;
  move: (ms: number) => void;
  /** The wake-ups that were asked for. */
  wakeUps: readonly number[];
} {
  let now = start;
  const wakeUps: number[] = [];
  const lowWater = new LowWaterMarks(
    () => now,
    (ms) => wakeUps.push(ms),
  );
  return { lowWater, cursor: lowWater.of("all"), move: (ms) => void (now += ms), wakeUps };
}

/** Scans from the beginning take `ms`. */
function slowed(take: Take, move: (ms: number) => void, ms: number): Take {
  return async (ranges) => {
    if (ranges === null) move(ms);
    return take(ranges);
  };
}

describe("ClaimCursor", () => {
  test("begins the next scan where the last one ended, for each priority", async () => {
    const { cursor } = cursorAt();
    const { seen, take } = scripted(
      [position(5, 70, 1), position(9, 40, 2), position(9, 40, 3)],
      [],
    );

    await cursor.scan(3, take);
    await cursor.scan(3, take);

    expect(seen[0]).toBeNull();
    expect(seen[1]).toEqual([
      { lane: LANE, priority: 0, rank: RANK_START, key: 0, end: 5 },
      { lane: LANE, priority: 5, rank: 70, key: 1, end: 9 },
      { lane: LANE, priority: 9, rank: 40, key: 3, end: 2_147_483_647 },
    ]);
  });

  test("sets no mark beyond a job with a turn, because new turns may be below it", async () => {
    const { cursor } = cursorAt();
    const { seen, take } = scripted(
      [position(5, 70, 1), position(9, -40, 2), position(9, 40, 3)],
      [],
    );

    await cursor.scan(3, take);
    await cursor.scan(3, take);

    expect(seen[1]?.slice(1)).toEqual([
      { lane: LANE, priority: 5, rank: 70, key: 1, end: 9 },
      { lane: LANE, priority: 9, rank: RANK_START, key: 0, end: 2_147_483_647 },
    ]);
  });

  test("rescans at once when a scan from the marks finds nothing", async () => {
    const { cursor } = cursorAt();
    const { seen, take } = scripted([position(9, 40, 2)], [], [position(9, 10, 1)]);
    await cursor.scan(1, take);

    const batch = await cursor.scan(1, take);

    expect(seen[2]).toBeNull();
    expect(batch.positions).toEqual([position(9, 10, 1)]);
  });

  test.each(["work", "ready", "final", "events"] as const)(
    "rescans after a wake-up for work: %s",
    async (wakeUp) => {
      const { cursor, lowWater } = cursorAt();
      const { seen, take } = scripted([position(9, 40, 2)], [position(9, 41, 3)]);
      await cursor.scan(1, take);

      lowWater.onWakeUp(wakeUp);
      await cursor.scan(1, take);

      expect(seen[1] === null).toBe(wakeUp === "work" || wakeUp === "ready");
    },
  );

  test("rescans after a short answer, and after a while", async () => {
    const { cursor, move } = cursorAt();
    const { seen, take } = scripted(
      [position(9, 40, 2), position(9, 40, 3)],
      [position(9, 41, 4)],
      [position(9, 42, 5), position(9, 42, 6)],
      [position(9, 43, 7), position(9, 43, 8)],
    );

    await cursor.scan(2, take);
    await cursor.scan(2, take);
    await cursor.scan(2, take);
    move(1_000);
    await cursor.scan(2, take);

    expect(seen.map((ranges) => ranges === null)).toEqual([true, false, true, true]);
  });

  test("asks once whether there is more after a rescan with a short answer", async () => {
    const { cursor } = cursorAt();
    const { seen, take } = scripted([position(9, 40, 2)]);

    await cursor.scan(2, take);
    await cursor.scan(2, take);

    expect(seen).toEqual([null, null]);
  });

  test("does not rescan while rescans have used up their budget", async () => {
    const { cursor, move } = cursorAt();
    const { seen, take } = scripted([position(9, 40, 2)], [], []);
    const slow = slowed(take, move, 5_000);
    await cursor.scan(1, slow);

    const batch = await cursor.scan(1, slow);

    expect(seen).toHaveLength(2);
    expect(seen[1]).not.toBeNull();
    expect(batch.positions).toEqual([]);
  });

  test("a busy worker leaves most of the budget to claims that find nothing", async () => {
    const { cursor, lowWater, move } = cursorAt();
    const { seen, take } = scripted(
      [position(9, 40, 2)],
      [position(9, 41, 3)],
      [],
      [position(9, 30, 1)],
    );
    await cursor.scan(1, slowed(take, move, 30));

    lowWater.onWakeUp("work");
    await cursor.scan(1, take);
    const batch = await cursor.scan(1, take);

    expect(seen.map((ranges) => ranges === null)).toEqual([true, false, false, true]);
    expect(batch.positions).toEqual([position(9, 30, 1)]);
  });

  test("rescans once a second while nothing is found, however long rescans take", async () => {
    const { cursor, move } = cursorAt();
    const late = position(9, 30, 1);
    const { seen, take } = scripted([position(9, 40, 2)], [], [late]);
    const slow = slowed(take, move, 60_000);
    await cursor.scan(1, slow);
    move(1_000);

    const batch = await cursor.scan(1, slow);

    expect(seen.map((ranges) => ranges === null)).toEqual([true, false, true]);
    expect(batch.positions).toEqual([late]);
  });

  test.each([
    { rescanMs: 125, wakeInMs: 501 },
    { rescanMs: 5_000, wakeInMs: 1_000 },
  ])("asks for a wake-up when it may rescan, after $rescanMs ms", async (slow) => {
    const { cursor, move, wakeUps } = cursorAt();
    const { seen, take } = scripted([position(9, 40, 2)]);
    await cursor.scan(1, slowed(take, move, slow.rescanMs));

    await cursor.scan(1, take);
    expect(seen.at(-1)).not.toBeNull();
    expect(wakeUps).toEqual([slow.wakeInMs]);
    move(slow.wakeInMs);
    await cursor.scan(1, take);

    expect(seen.at(-1)).toBeNull();
    expect(wakeUps).toHaveLength(1);
  });

  test("spends the time of the scan, not of the commit and the answer", async () => {
    const { cursor, lowWater, move } = cursorAt();
    const { seen, take } = scripted([position(9, 40, 2)], [position(9, 50, 3)]);
    const measured: Take = async (ranges) => {
      move(5_000);
      return { ...(await take(ranges)), scanMs: 1 };
    };
    await cursor.scan(2, measured);

    lowWater.onWakeUp("ready");
    await cursor.scan(2, measured);

    expect(seen).toEqual([null, null]);
  });

  test("rescans after the return of a job, although no budget is left", async () => {
    const { cursor, lowWater, move, wakeUps } = cursorAt();
    const returned = position(9, 30, 1);
    const { seen, take } = scripted([position(9, 40, 2)], [], [returned], []);
    const slow = slowed(take, move, 5_000);
    await cursor.scan(1, slow);

    lowWater.jobsReturned();
    const batch = await cursor.scan(1, slow);
    await cursor.scan(1, slow);

    expect(seen.map((ranges) => ranges === null)).toEqual([true, false, true, false]);
    expect(batch.positions).toEqual([returned]);
    expect(wakeUps).toHaveLength(1);
  });

  test("looks for a job from the marks first", async () => {
    const { cursor } = cursorAt();
    await cursor.scan(1, scripted([position(9, 40, 2)]).take);
    const seen: (readonly ClaimRange[] | null)[] = [];

    const isFound = cursor.finds((ranges) => {
      seen.push(ranges);
      return { ...position(9, 50, 3), crashes: 0 };
    });

    expect(isFound).toBe(true);
    expect(seen).toHaveLength(1);
    expect(seen[0]).not.toBeNull();
  });

  test.each([
    // From the mark in front of the job, or from the beginning.
    { crashes: 0, slowMs: 90, from: { rank: 30, key: 4 } },
    { crashes: 0, slowMs: 60_000, from: { rank: 30, key: 4 } },
    { crashes: 1, slowMs: 60_000, from: null },
  ])("claims a job that only a rescan of $slowMs ms has found, $crashes crashes", async (found) => {
    const { cursor, move } = cursorAt();
    const late = position(9, 30, 5);
    const { seen, take } = scripted([position(9, 40, 2)], [late]);
    await cursor.scan(1, take);
    move(1_000);
    const isFound = cursor.finds((ranges) => {
      if (ranges === null) move(found.slowMs);
      return ranges === null ? { ...late, crashes: found.crashes } : null;
    });

    const batch = await cursor.scan(1, take);

    expect(isFound).toBe(true);
    expect(batch.positions).toEqual([late]);
    const { rank, key } = seen[1]?.at(-1) ?? { rank: null, key: null };
    expect(rank === null ? null : { rank, key }).toEqual(found.from);
  });

  test("keeps separate marks for claims with another filter", async () => {
    const { cursor, lowWater } = cursorAt();
    await cursor.scan(1, scripted([position(9, 40, 2)]).take);
    const other = scripted([]);

    await lowWater.of("prefetch").scan(1, other.take);

    expect(other.seen).toEqual([null]);
  });
});
