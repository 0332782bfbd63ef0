import { describe, expect, test } from "vitest";
import { dutyWorld } from "../../../test/support/duties.ts";
import { newJob } from "../../../test/support/factories.ts";
import { stateOf } from "../../../test/support/steps.ts";
import { promoter } from "./promoter.ts";

describe("a promoter", () => {
  test("wakes at the due time of the next job, before its poll", async () => {
    await using world = await dutyWorld();
    const { store, clock, parts } = world;
    const job = newJob({ due: { delayMs: parts.pollMs / 2 } });
    await store.enqueue([job]);
    const duty = promoter(parts);

    duty.wake();
    await world.stillness();
    await clock.advance(parts.pollMs / 2 - 1);
    await world.stillness();
    expect(await stateOf(store, job.id)).toBe("scheduled");
    await clock.advance(1);
    await world.stillness();
    await duty.stop();

    expect(await stateOf(store, job.id)).toBe("queued");
  });
});
