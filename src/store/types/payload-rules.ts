/** Rules for the payloads of new jobs. */
import type { PayloadRule, RuleTarget } from "../../core/payload-rules/rule.ts";

/** A rule that code brings along. */
export interface DeclaredRule extends RuleTarget {
  readonly rule: PayloadRule;
}

export interface PayloadRuleRecord extends DeclaredRule {
  /** An operator's rule without parts stands for a rule of code that was removed. */
  readonly owner: "code" | "operator";
  readonly by: string | null;
  readonly reason: string | null;
  readonly setAt: number;
}

/** Who changes a rule, and why. */
export interface OperatorRemark {
  readonly by: string | null;
  readonly reason: string | null;
}

/** The maximum of rules in an installation. */
export const PAYLOAD_RULES_MAX = 500;
