import { describe, expect, test } from "vitest";
import { PAYLOAD_RULES_MAX } from "../../../src/store/types/payload-rules.ts";
import { newSchedule } from "../../support/factories.ts";
import type { OpenStore } from "../../support/stores.ts";

const ALL = { scope: "installation", name: "all" } as const;
const SCAN = { scope: "type", name: "scan" } as const;
const SYNC = { scope: "category", name: "scan" } as const;
const OPERATOR = { owner: "operator" } as const;
const CODE = { owner: "code", by: null, reason: null } as const;
const WHY = { by: "ada", reason: "an audit" };
const NO_REMARK = { by: null, reason: null };
const RULE = {
  required: { "customer.id": "integer" },
  softBytes: 100,
  hardBytes: 5_000,
  forbidden: ["body"],
  sensitive: { tokens: "redact" },
  strict: true,
} as const;

export function payloadRuleSuite(open: OpenStore): void {
  describe("payloadRules", () => {
    test("are told by scope and name, with who has set them and why", async () => {
      const { store, clock } = await open();
      await store.setPayloadRule(SCAN, RULE, WHY);
      await store.setPayloadRule(ALL, { strict: true }, NO_REMARK);
      await store.setPayloadRule(SYNC, { hardBytes: 7 }, WHY);
      const setAt = clock.now();

      expect(await store.payloadRules()).toEqual([
        { ...SYNC, rule: { hardBytes: 7 }, ...OPERATOR, ...WHY, setAt },
        { ...ALL, rule: { strict: true }, ...OPERATOR, ...NO_REMARK, setAt },
        { ...SCAN, rule: RULE, ...OPERATOR, ...WHY, setAt },
      ]);
    });
  });

  describe("setPayloadRule", () => {
    test("replaces the rule of the same target, and no other", async () => {
      const { store, clock } = await open();
      await store.declarePayloadRules([{ ...SCAN, rule: RULE }]);
      await store.setPayloadRule(SYNC, RULE, WHY);
      await clock.advance(1_000);
      await store.setPayloadRule(SCAN, { hardBytes: 9 }, { by: "bob", reason: "less" });

      expect(await store.payloadRules()).toEqual([
        { ...SYNC, rule: RULE, ...OPERATOR, ...WHY, setAt: clock.now() - 1_000 },
        {
          ...SCAN,
          rule: { hardBytes: 9 },
          ...OPERATOR,
          by: "bob",
          reason: "less",
          setAt: clock.now(),
        },
      ]);
    });

    test(`refuses more than ${PAYLOAD_RULES_MAX} rules, and still replaces one`, async () => {
      const { store } = await open();
      for (let n = 0; n < PAYLOAD_RULES_MAX; n += 1) {
        await store.setPayloadRule({ scope: "type", name: `t${n}` }, { strict: true }, NO_REMARK);
      }
      await store.setPayloadRule({ scope: "type", name: "t3" }, { hardBytes: 1 }, NO_REMARK);

      await expect(store.setPayloadRule(ALL, RULE, NO_REMARK)).rejects.toMatchObject({
        code: "OPTION_INVALID",
      });
      expect(await store.payloadRules()).toHaveLength(PAYLOAD_RULES_MAX);
    });
  });

  describe("removePayloadRule", () => {
    test("removes the rule of the target alone, and answers whether there was one", async () => {
      const { store } = await open();
      await store.setPayloadRule(SCAN, RULE, WHY);
      await store.setPayloadRule(SYNC, RULE, WHY);

      expect(await store.removePayloadRule(SCAN, WHY)).toBe(true);
      expect(await store.removePayloadRule(SCAN, WHY)).toBe(false);
      expect(await store.payloadRules()).toMatchObject([SYNC]);
    });

    test("leaves a row without a rule in place of a rule of code, and then no row", async () => {
      const { store, clock } = await open();
      await store.declarePayloadRules([
        { ...SCAN, rule: RULE },
        { ...SYNC, rule: RULE },
      ]);
      await clock.advance(1_000);

      expect(await store.removePayloadRule(SCAN, WHY)).toBe(true);
      expect(await store.payloadRules()).toEqual([
        { ...SYNC, rule: RULE, ...CODE, setAt: clock.now() - 1_000 },
        { ...SCAN, rule: {}, ...OPERATOR, ...WHY, setAt: clock.now() },
      ]);
      await store.declarePayloadRules([{ ...SCAN, rule: RULE }]);
      expect(await store.payloadRules()).toMatchObject([SYNC, { ...SCAN, rule: {} }]);
      expect(await store.removePayloadRule(SCAN, WHY)).toBe(true);
      expect(await store.payloadRules()).toMatchObject([SYNC]);
    });
  });

  describe("declarePayloadRules", () => {
    test("stores rules of code, and replaces those that differ", async () => {
      const { store, clock } = await open();
      await store.declarePayloadRules([
        { ...SCAN, rule: RULE },
        { ...SYNC, rule: RULE },
      ]);
      await clock.advance(1_000);
      await store.declarePayloadRules([
        { ...SCAN, rule: { hardBytes: 9 } },
        { ...SYNC, rule: RULE },
      ]);

      expect(await store.payloadRules()).toEqual([
        { ...SYNC, rule: RULE, ...CODE, setAt: clock.now() - 1_000 },
        { ...SCAN, rule: { hardBytes: 9 }, ...CODE, setAt: clock.now() },
      ]);
    });

    test("leaves the rule of an operator, which replaces that of code", async () => {
      const { store } = await open();
      await store.declarePayloadRules([{ ...SCAN, rule: RULE }]);
      await store.setPayloadRule(SCAN, { hardBytes: 9 }, WHY);
      await store.declarePayloadRules([{ ...SCAN, rule: RULE }]);

      expect(await store.payloadRules()).toMatchObject([
        { ...SCAN, rule: { hardBytes: 9 }, ...OPERATOR, ...WHY },
      ]);
    });
  });

  describe("a tick that a payload rule refuses", () => {
    test("makes no job, and is recorded as refused", async () => {
      const { store, clock } = await open();
      const spec = newSchedule();
      const slot = clock.now();
      await store.declareSchedules([spec], () => slot);
      const records = await store.tickSchedule(spec.name, ({ job }) => ({
        ticks: [{ slot, job: { ...job, id: "0000000000000000000000000z", due: { at: slot } } }],
        missed: null,
        nextSlot: null,
        isRefused: true,
      }));

      expect(records).toMatchObject([{ slot, outcome: "refused", job: null }]);
      expect((await store.count({}, 10)).count).toBe(0);
    });
  });
}
