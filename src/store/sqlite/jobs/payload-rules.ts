/** setPayloadRule, declarePayloadRules, removePayloadRule and payloadRules. */
import type { PayloadRule, RuleTarget } from "../../../core/payload-rules/rule.ts";
import { payloadRuleChanged } from "../../shared/audit/governance-drafts.ts";
import { insistOnRoom, payloadRuleRecord, ruleIn } from "../../shared/control/payload-rules.ts";
import type { DeclaredRule, OperatorRemark, PayloadRuleRecord } from "../../types/payload-rules.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";

export function setPayloadRule(
  session: Session,
  target: RuleTarget,
  rule: PayloadRule,
  act: OperatorRemark,
): void {
  const { sql, clock } = session;
  const rows = sql.all("payload_rules", {});
  insistOnRoom(rows, target);
  const before = ruleIn(rows, target);
  const text = JSON.stringify(rule);
  sql.run("put_payload_rule", { ...target, rule: text, ...act, now: clock.now() });
  writeAudits(session, [payloadRuleChanged(target, act, { before, after: rule })]);
}

export function declarePayloadRules(
  { sql, clock }: Session,
  declared: readonly DeclaredRule[],
): void {
  const now = clock.now();
  for (const { scope, name, rule } of declared) {
    insistOnRoom(sql.all("payload_rules", {}), { scope, name });
    sql.run("declare_payload_rule", { scope, name, rule: JSON.stringify(rule), now });
  }
}

export function removePayloadRule(
  session: Session,
  { scope, name }: RuleTarget,
  act: OperatorRemark,
): boolean {
  const { sql, clock } = session;
  const before = ruleIn(sql.all("payload_rules", {}), { scope, name });
  if (before === null) return false;
  const emptied = sql.run("empty_payload_rule", { scope, name, ...act, now: clock.now() });
  if (emptied.changes === 0) sql.run("delete_payload_rule", { scope, name });
  writeAudits(session, [payloadRuleChanged({ scope, name }, act, { before, after: null })]);
  return true;
}

export function payloadRules({ sql }: Session): PayloadRuleRecord[] {
  return sql.all("payload_rules", {}).map(payloadRuleRecord);
}
