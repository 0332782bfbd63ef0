/** `mill.attention`: what an operator should look at. */
import type { AttentionCheck } from "../../core/attention/attention.ts";
import type { AttentionFinding } from "../../core/attention/finding.ts";

/** What needs attention, and what was checked. */
export interface Attention {
  readonly checkedAt: Date;
  /** Broken ones first, then the oldest. A rule tells at most 20. */
  readonly findings: readonly AttentionFinding[];
  /** One entry for each rule, also if it found nothing or could not be checked. */
  readonly checked: readonly AttentionCheck[];
}
