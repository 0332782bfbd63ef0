/** What both stores do with payload rules. */
import { MillraceError } from "../../../core/errors.ts";
import type { PayloadRule, RuleTarget } from "../../../core/payload-rules/rule.ts";
import { PAYLOAD_RULES_MAX, type PayloadRuleRecord } from "../../types/payload-rules.ts";

/** A row of the table. */
export interface PayloadRuleRow {
  readonly scope: string;
  readonly name: string;
  readonly rule: string;
  readonly owner: string;
  readonly by: string | null;
  readonly reason: string | null;
  readonly set_at: number;
}

export function payloadRuleRecord(row: PayloadRuleRow): PayloadRuleRecord {
  const { name, rule, by, reason, set_at: setAt } = row;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The table checks the words.
  const scope = row.scope as RuleTarget["scope"];
  const owner = row.owner === "code" ? "code" : "operator";
  return { scope, name, rule: JSON.parse(rule), owner, by, reason, setAt };
}

/** The rule of a target; null: there is no row. */
export function ruleIn(
  rows: readonly PayloadRuleRow[],
  { scope, name }: RuleTarget,
): PayloadRule | null {
  const row = rows.find((each) => each.scope === scope && each.name === name);
  return row === undefined ? null : JSON.parse(row.rule);
}

/** Refuses one rule too many. A rule that replaces another one always has room. */
export function insistOnRoom(rows: readonly PayloadRuleRow[], { scope, name }: RuleTarget): void {
  const isKnown = rows.some((row) => row.scope === scope && row.name === name);
  if (isKnown || rows.length < PAYLOAD_RULES_MAX) return;
  const message = `an installation can have at most ${PAYLOAD_RULES_MAX} payload rules`;
  throw new MillraceError("OPTION_INVALID", message);
}
