/** A run that a closed service has refused ends when the service may be open again. */
import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import { completed, fault, retryIn } from "../../support/factories.ts";
import { add, at, settleItem, stateOf, take } from "../../support/steps.ts";
import type { OpenStore, TestStore } from "../../support/stores.ts";
import { fail } from "./scene.ts";

const BANK = { kind: "service", name: "bank" } as const;
const WHY = { reason: "audit", by: "ada" };
const SENT_BACK = {
  ...retryIn(9_000),
  outcome: "snoozed",
  tries: 0,
  fault: fault({ service: "bank" }),
} as const;

export function sentBackSuite(open: OpenStore): void {
  describe("settle of a job that a service has sent back", () => {
    test("makes the job due if a reset came before the end of the run", async () => {
      await using db = await open();
      const state = await endOfRun(db, (store) => store.resetBreaker("bank", "ada"));
      expect(state).toBe("queued");
    });

    test("makes the job due beside a job that has succeeded", async () => {
      await using db = await open();
      const { store } = db;
      const [own, other] = await add(store, {}, {});
      const batch = await take(store);
      await store.settle(
        [SENT_BACK, completed()].map((each, index) =>
          settleItem(batch, at(batch.jobs, index), each),
        ),
      );
      expect(await stateOf(store, own)).toBe("queued");
      expect(await stateOf(store, other)).toBe("completed");
    });

    test("makes the job due also if the end of its run was sent twice", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await take(store);
      const item = settleItem(batch, at(batch.jobs, 0), SENT_BACK);
      expect(await store.settle([item, item])).toEqual(["settled", "stale"]);
      expect(await stateOf(store, id)).toBe("queued");
    });

    test.each<[string, (store: JobStore) => Promise<unknown>]>([
      ["its breaker is open", async () => {}],
      [
        "an operator has paused it",
        async (store) => {
          await store.resetBreaker("bank", null);
          await store.pause(BANK, { ...WHY });
        },
      ],
      [
        "it has asked for a pause for the tenant",
        async (store) => {
          await store.resetBreaker("bank", null);
          await fail(store, { park: { forMs: 9_000, tenant: "acme" }, tenant: "acme" });
        },
      ],
      [
        "it has asked for a pause for all tenants",
        async (store) => {
          await store.resetBreaker("bank", null);
          await fail(store, { park: { forMs: 9_000, tenant: null } });
        },
      ],
    ])("lets the job wait for the service while %s", async (_, change) => {
      await using db = await open();
      expect(await endOfRun(db, change)).toBe("scheduled");
    });

    test("makes the job due if the service has asked for a pause for others", async () => {
      await using db = await open();
      const state = await endOfRun(db, async (store) => {
        await store.resetBreaker("bank", null);
        await fail(store, { park: { forMs: 9_000, tenant: "other" }, tenant: "other" });
      });
      expect(state).toBe("queued");
    });

    test("lets a job wait that has snoozed of its own will, or has failed", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await add(store, {}, {});
      const batch = await take(store);
      const failed = { ...retryIn(9_000), fault: fault({ service: "bank" }) };
      await store.settle(
        [{ ...SENT_BACK, fault: null }, failed].map((each, index) =>
          settleItem(batch, at(batch.jobs, index), each),
        ),
      );
      for (const id of ids) expect(await stateOf(store, id)).toBe("scheduled");
    });
  });
}

/** The state of a job whose run was refused by the bank, and ends now. */
async function endOfRun(
  { store }: TestStore,
  change: (store: JobStore) => Promise<unknown>,
): Promise<string> {
  const [id] = await add(store, { tenant: "acme" });
  const batch = await take(store);
  await store.openBreaker("bank", WHY);
  await change(store);
  await store.settle([settleItem(batch, at(batch.jobs, 0), SENT_BACK)]);
  return stateOf(store, id);
}
