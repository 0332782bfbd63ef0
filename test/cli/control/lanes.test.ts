import { defineJob } from "millrace";
import { describe, expect, test } from "vitest";
import { TestStore } from "../command-line.ts";

describe("millrace lanes", () => {
  test("shows slots, jobs and pauses of each lane", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const empty = await store.type("lanes");
    await mill.enqueue(defineJob({ type: "email", lane: "fast" }));
    await mill.pause({ lane: "slow" }, "the disk is full");

    const listed = await store.type("lanes");
    const [fast] = await store.json("lanes");

    expect(empty).toMatchObject({ code: 0, err: "No lane has slots or jobs.\n" });
    expect(listed.out).toMatch(/fast +0 +0 +1 +0 +[\d.]+ m?s +2 min +0\n/);
    expect(listed.out).toMatch(/slow +0 +0 +0 +0 +5 min +0 +paused: the disk is full\n/);
    expect(fast).toMatchObject({ lane: "fast", waiting: { count: 1, atLeast: false } });
  });
});
