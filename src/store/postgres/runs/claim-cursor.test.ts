import { describe, expect, test } from "vitest";
import { LowWaterMarks, type Position, type ClaimRange } from "./claim-cursor.ts";

const LANE = 3;

/** A scan that answers these places, one list a time, and notes where it was told to begin. */
function scripted(...answers: readonly Position[][]): {
  seen: (readonly ClaimRange[] | null)[];
  take: (ranges: readonly ClaimRange[] | null) => Promise<{ places: readonly Position[] }>;
} {
  const seen: (readonly ClaimRange[] | null)[] = [];
  return {
    seen,
    async take(ranges) {
      seen.push(ranges);
      return { places: answers[seen.length - 1] ?? [] };
    },
  };
}

function place(priority: number, rank: number, key: number): Position {
  return { lane: LANE, priority, rank, key };
}

/** ClaimCursor with a clock that stands still until it is moved. */
function marksAt(start = 1_000): {
  cursor: ReturnType<LowWaterMarks["of"]>;
  lowWater: LowWaterMarks;
  move: (ms: number) => void;
} {
  let now = start;
  const lowWater = new LowWaterMarks(() => now);
  return { lowWater, cursor: lowWater.of("all"), move: (ms) => void (now += ms) };
}

describe("low-water cursor", () => {
  test("begin the next scan where the last one ended, priority by priority", async () => {
    const { cursor } = marksAt();
    const { seen, take } = scripted([place(5, 70, 1), place(9, 40, 2), place(9, 40, 3)], []);

    await cursor.scan(3, take);
    await cursor.scan(3, take);

    expect(seen[0]).toBeNull();
    expect(seen[1]).toEqual([
      { lane: LANE, priority: 0, rank: 0, key: 0, end: 5 },
      { lane: LANE, priority: 5, rank: 70, key: 1, end: 9 },
      { lane: LANE, priority: 9, rank: 40, key: 3, end: 2_147_483_647 },
    ]);
  });

  test("are passed by at once when a scan from them finds nothing", async () => {
    const { cursor } = marksAt();
    const { seen, take } = scripted([place(9, 40, 2)], [], [place(9, 10, 1)]);
    await cursor.scan(1, take);

    const batch = await cursor.scan(1, take);

    expect(seen[2]).toBeNull();
    expect(batch.places).toEqual([place(9, 10, 1)]);
  });

  test.each(["work", "ready", "events"] as const)(
    "are doubted after a wakeUp of work: %s",
    async (wakeUp) => {
      const { cursor, lowWater } = marksAt();
      const { seen, take } = scripted([place(9, 40, 2)], [place(9, 41, 3)]);
      await cursor.scan(1, take);

      lowWater.onWakeUp(wakeUp);
      await cursor.scan(1, take);

      expect(seen[1] === null).toBe(wakeUp !== "events");
    },
  );

  test("are doubted after a short answer, and after a while", async () => {
    const { cursor, move } = marksAt();
    const { seen, take } = scripted(
      [place(9, 40, 2), place(9, 40, 3)],
      [place(9, 41, 4)],
      [place(9, 42, 5), place(9, 42, 6)],
      [place(9, 43, 7), place(9, 43, 8)],
    );

    await cursor.scan(2, take);
    await cursor.scan(2, take);
    await cursor.scan(2, take);
    move(1_000);
    await cursor.scan(2, take);

    expect(seen.map((ranges) => ranges === null)).toEqual([true, false, true, true]);
  });

  test("are trusted while scans from the beginning have taken more than their share", async () => {
    const { cursor, move } = marksAt();
    const { seen, take } = scripted([place(9, 40, 2)], [], []);
    const slow: typeof take = async (ranges) => {
      if (ranges === null) move(5_000);
      return take(ranges);
    };
    await cursor.scan(1, slow);

    const batch = await cursor.scan(1, slow);

    expect(seen).toHaveLength(2);
    expect(seen[1]).not.toBeNull();
    expect(batch.places).toEqual([]);
  });

  test("are doubted once a second where nothing is found, however long scans take", async () => {
    const { cursor, move } = marksAt();
    const late = place(9, 30, 1);
    const { seen, take } = scripted([place(9, 40, 2)], [], [late]);
    const slow: typeof take = async (ranges) => {
      if (ranges === null) move(60_000);
      return take(ranges);
    };
    await cursor.scan(1, slow);
    move(1_000);

    const batch = await cursor.scan(1, slow);

    expect(seen.map((ranges) => ranges === null)).toEqual([true, false, true]);
    expect(batch.places).toEqual([late]);
  });

  test("of claims that look for something else are their own", async () => {
    const { cursor, lowWater } = marksAt();
    await cursor.scan(1, scripted([place(9, 40, 2)]).take);
    const other = scripted([]);

    await lowWater.of("prefetch").scan(1, other.take);

    expect(other.seen).toEqual([null]);
  });
});
