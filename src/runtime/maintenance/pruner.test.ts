import { describe, expect, test } from "vitest";
import { dutyWorld } from "../../../test/support/duties.ts";
import { defaults } from "../../core/presets.ts";
import { pruners } from "./pruner.ts";
import { retentionOf } from "./retention-settings.ts";

describe("a pruner", () => {
  test.each([
    ["as often as the shortest retention passes", 5_000, 5_000],
    ["once a minute at least", 86_400_000, 60_000],
    ["once a second at most", 0, 1_000],
  ])("looks %s", async (_, keptMs, everyMs) => {
    await using world = await dutyWorld();
    const { store, clock } = world;
    const looks: number[] = [];
    const prune = store.prune.bind(store);
    Reflect.set(store, "prune", (...args: Parameters<typeof prune>) => {
      looks.push(clock.monotonic());
      return prune(...args);
    });
    const retention = retentionOf({}, { ...defaults.retention, eventMs: keptMs });
    const [duty] = pruners({ ...world.parts, retention, isStopping: () => false });

    duty?.wake();
    for (let look = 0; look < 2; look += 1) {
      await world.stillness();
      await clock.advance(everyMs);
    }
    await world.stillness();
    await duty?.stop();

    const [first = 0, second, third] = looks;
    expect([second, third]).toEqual([first + everyMs, first + 2 * everyMs]);
  });

  test("looks again soon, when others have removed a full batch", async () => {
    await using world = await dutyWorld();
    const { store, clock } = world;
    const looks: number[] = [];
    const prune = store.prune.bind(store);
    Reflect.set(store, "prune", async (...args: Parameters<typeof prune>) => {
      looks.push(clock.monotonic());
      return { ...(await prune(...args)), more: looks.length === 1 };
    });
    const retention = retentionOf({}, { ...defaults.retention, eventMs: 86_400_000 });
    const [duty] = pruners({ ...world.parts, retention, isStopping: () => false });

    duty?.wake();
    for (const ms of [999, 1, 59_999, 1]) {
      await world.stillness();
      await clock.advance(ms);
    }
    await world.stillness();
    await duty?.stop();

    const [first = 0] = looks;
    expect(looks).toEqual([first, first + 1_000, first + 61_000]);
  });
});
