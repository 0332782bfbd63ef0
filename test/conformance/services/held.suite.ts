import { describe, expect, test } from "vitest";
import type { GateName } from "../../../src/store/types/records.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { JobId } from "../../../src/core/job.ts";
import { add, recordOf, take } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import { fail, OPEN_MS, outage, uses } from "./scene.ts";

const TYPE = { kind: "type", name: "email" } as const;
const BANK = { kind: "service", name: "bank" } as const;
const ALL = { kind: "installation", name: "all" } as const;
const WHY = { reason: "maintenance", by: null } as const;

/** What holds a due job back is shown before `hold` has moved the job. */
export function heldSuite(open: OpenStore): void {
  describe("a closed gate", () => {
    test.each<[GateName, object]>([
      [TYPE, { type: "email" }],
      [{ kind: "lane", name: "bulk" }, { lane: "bulk" }],
      [{ kind: "tenant", name: "acme" }, { tenant: "acme" }],
    ])("of a $kind is shown with its due jobs at once, in lists as well", async (gate, job) => {
      await using db = await open();
      const { store } = db;
      const [behind, free] = await add(store, { type: "sms", ...job }, { type: "sms" });
      await store.pause(gate, WHY);

      expect(await heldInList(store)).toEqual({ [behind]: gate, [free]: null });
      expect(await recordOf(store, behind)).toMatchObject({ state: "queued", heldBy: gate });

      await store.resume(gate);
      expect(await heldInList(store)).toEqual({ [behind]: null, [free]: null });
    });

    test("of the installation is shown with all due jobs, behind their own gates", async () => {
      await using db = await open();
      const { store } = db;
      const [mail, other] = await add(store, {}, { type: "sms" });
      await store.pause(ALL, WHY);
      await store.pause(TYPE, WHY);

      expect(await heldInList(store)).toEqual({ [mail]: TYPE, [other]: ALL });
    });

    test("that has opened by itself is not shown", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      await store.pause(TYPE, { ...WHY, forMs: 10 });
      await clock.advance(10);

      expect(await heldInList(store)).toEqual({ [id]: null });
    });

    test("is not shown with jobs that are not due, that run or that have ended", async () => {
      await using db = await open();
      const { store } = db;
      const [running] = await add(store, {});
      await take(store);
      const [ended, later] = await add(store, {}, { due: { delayMs: 1_000 } });
      await store.cancel(ended, null, null);
      await store.pause(TYPE, WHY);

      expect(await heldInList(store)).toEqual({ [running]: null, [ended]: null, [later]: null });
    });

    test("of a service is shown with the types that use the service", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"]);
      const [mail, other] = await add(store, {}, { type: "sms" });
      await outage(store);

      expect(await heldInList(store)).toMatchObject({ [mail]: BANK, [other]: null });
    });

    test("of a service that has parked one tenant is shown with this tenant alone", async () => {
      await using db = await open();
      const { store } = db;
      await uses(store, ["bank"]);
      const [parked, free] = await add(store, { tenant: "acme" }, {});
      await fail(store, { park: { forMs: OPEN_MS, tenant: "acme" }, tenant: "acme" });

      expect(await heldInList(store)).toMatchObject({ [parked]: BANK, [free]: null });
    });
  });
}

async function heldInList(store: JobStore): Promise<Readonly<Record<JobId, unknown>>> {
  const { jobs } = await store.list({}, { limit: 10 });
  return Object.fromEntries(jobs.map(({ id, heldBy }) => [id, heldBy]));
}
