/** `mill.fairness`. */
import { actOf } from "../../jobs/acted-by.ts";
import type { Fairness, FairnessRule } from "../../api/control/fairness.ts";
import { aName, anObject, must } from "../../api/rules.ts";
import type { TenantWeights } from "../../core/control/fairness.ts";
import { MillraceError } from "../../core/errors.ts";
import { insistOn } from "../../jobs/check-text.ts";
import { weightProblem } from "../../jobs/weight-rule.ts";
import type { JobStore } from "../../store/store.ts";

const RULE = anObject(
  { required: {}, optional: { weights: must(isTable, "an object such as { acme: 3 }") } },
  "an object such as { weights: { acme: 3 } }",
);

export function makeFairness(store: JobStore): Fairness {
  return {
    async set(lane, rule = {}, by) {
      insistOn("fairness.set", aName, lane, "lane");
      const act = actOf("fairness.set", by);
      await store.setFairness(lane, weightsOf(rule), act.by, act.reason);
    },
    async remove(lane, by) {
      insistOn("fairness.remove", aName, lane, "lane");
      return store.removeFairness(lane, actOf("fairness.remove", by));
    },
    async list() {
      const lanes = await store.fairLanes();
      return lanes.map(({ lane, weights, owner, by, setAt }) => {
        return { lane, weights, owner, setBy: by, setAt: new Date(setAt) };
      });
    },
  };
}

function isTable(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && value !== null);
}

function weightsOf(rule: FairnessRule): TenantWeights {
  insistOn("fairness.set", RULE, rule, "");
  const { weights = {} } = rule;
  const problem = weightProblem(weights);
  if (problem === null) return { ...weights };
  throw new MillraceError("OPTION_INVALID", `fairness.set: ${problem}`);
}
