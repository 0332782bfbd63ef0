import { describe, expect, test } from "vitest";
import { dutyWorld } from "../../../test/support/duties.ts";
import { completed, newJob } from "../../../test/support/factories.ts";
import { runOne } from "../../../test/support/steps.ts";
import { minuteFolder } from "./minute-folder.ts";

describe("the folder of minutes", () => {
  test("folds every 5 s while runs end, and looks every 30 s otherwise", async () => {
    await using world = await dutyWorld();
    const { store, clock, parts } = world;
    const folds: number[] = [];
    const foldMinutes = store.foldMinutes.bind(store);
    Reflect.set(store, "foldMinutes", async (limit: number) => {
      const folded = await foldMinutes(limit);
      folds.push(folded);
      return folded;
    });
    const duty = minuteFolder(parts);
    const pass = async (ms: number): Promise<void> => {
      await clock.advance(ms);
      await world.stillness();
    };
    const end = async (): Promise<void> => {
      await store.enqueue([newJob()]);
      await runOne(store, completed());
    };

    await end();
    duty.wake();
    await world.stillness();
    await pass(0);
    expect(folds).toEqual([1]);
    await end();
    await pass(5_000);
    expect(folds).toEqual([1, 1]);
    await pass(5_000);
    expect(folds).toEqual([1, 1, 0]);
    await pass(29_000);
    expect(folds).toEqual([1, 1, 0]);
    await pass(1_000);
    expect(folds).toEqual([1, 1, 0, 0]);
    await duty.stop();
  });
});
