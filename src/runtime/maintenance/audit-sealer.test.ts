import { describe, expect, test } from "vitest";
import { dutyWorld } from "../../../test/support/duties.ts";
import { auditSealer } from "./audit-sealer.ts";

describe("the sealer of the audit", () => {
  test("seals every 2 s while operators act, and looks every 10 s otherwise", async () => {
    await using world = await dutyWorld();
    const { store, clock, parts } = world;
    const sweeps: number[] = [];
    const sealAudit = store.sealAudit.bind(store);
    Reflect.set(store, "sealAudit", async (limit: number) => {
      const sealed = await sealAudit(limit);
      sweeps.push(sealed);
      return sealed;
    });
    const duty = auditSealer(parts);
    const pass = async (ms: number): Promise<void> => {
      await clock.advance(ms);
      await world.stillness();
    };
    const act = (): Promise<void> =>
      store.pause({ kind: "lane", name: "fast" }, { by: "ada", reason: "r" });

    await act();
    duty.wake();
    await world.stillness();
    await pass(0);
    expect(sweeps).toEqual([1]);
    await act();
    await pass(2_000);
    expect(sweeps).toEqual([1, 1]);
    await pass(2_000);
    expect(sweeps).toEqual([1, 1, 0]);
    await pass(9_000);
    expect(sweeps).toEqual([1, 1, 0]);
    await pass(1_000);
    expect(sweeps).toEqual([1, 1, 0, 0]);
    await duty.stop();
  });
});
