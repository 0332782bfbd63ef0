import { describe, expect, test } from "vitest";
import { SharedReads } from "./shared-reads.ts";

describe("SharedReads", () => {
  test("answers calls of the same moment with one read", async () => {
    const { reads, begun, load } = fixture();

    const answers = await Promise.all([reads.read("a", load), reads.read("a", load)]);

    expect(answers).toEqual([1, 1]);
    expect(begun()).toBe(1);
  });

  test("begins another read for a call that comes after the first has begun", async () => {
    const { reads, load } = fixture();
    const first = reads.read("a", load);
    await first;

    expect(await reads.read("a", load)).toBe(2);
  });

  test("shares no read between different keys", async () => {
    const { reads, load } = fixture();

    const answers = await Promise.all([reads.read("a", load), reads.read("b", load)]);

    expect(answers).toEqual([1, 2]);
  });

  test("reads again after a read that failed", async () => {
    const { reads, load } = fixture();
    const failing = (): Promise<number> => Promise.reject(new Error("no connection"));

    await expect(reads.read("a", failing)).rejects.toThrow("no connection");

    expect(await reads.read("a", load)).toBe(1);
  });
});

function fixture() {
  let count = 0;
  const load = (): Promise<number> => Promise.resolve((count += 1));
  return { reads: new SharedReads<number>(), load, begun: () => count };
}
