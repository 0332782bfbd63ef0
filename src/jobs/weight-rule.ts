/** The weights of the tenants in a fair lane, as code and operators state them. */
import { aName } from "../api/rules.ts";
import { WEIGHT_MAX } from "../core/control/fairness.ts";
import { WEIGHTS_MAX } from "../store/types/fairness.ts";

/** What is wrong about weights; null: nothing. */
export function weightProblem(weights: unknown): string | null {
  if (typeof weights !== "object" || weights === null) return "weights must be an object";
  const entries = Object.entries(weights);
  if (entries.length > WEIGHTS_MAX) return `there must be at most ${WEIGHTS_MAX} weights`;
  for (const [tenant, weight] of entries) {
    const mismatch = aName(tenant, "tenant");
    if (mismatch !== null) return `the name of a tenant ${mismatch.problem}`;
    if (Number.isSafeInteger(weight) && weight >= 1 && weight <= WEIGHT_MAX) continue;
    return `the weight of "${tenant}" must be a whole number from 1 to ${WEIGHT_MAX}`;
  }
  return null;
}
