/** setPayloadRule, declarePayloadRules, removePayloadRule and payloadRules. */
import type { PayloadRule, RuleTarget } from "../../../core/payload-rules/rule.ts";
import { payloadRuleChanged } from "../../shared/audit/governance-drafts.ts";
import { insistOnRoom, payloadRuleRecord, ruleIn } from "../../shared/control/payload-rules.ts";
import type { DeclaredRule, OperatorRemark, PayloadRuleRecord } from "../../types/payload-rules.ts";
import { writeAudits } from "../audit/write.ts";
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";

/** Two operators who set the last rule at the same moment may exceed the maximum by one. */
export async function setPayloadRule(
  session: Session,
  { scope, name }: RuleTarget,
  rule: PayloadRule,
  { by, reason }: OperatorRemark,
): Promise<void> {
  const target = { scope, name };
  const text = JSON.stringify(rule);
  await repeating(session.dice, (isRepeat) =>
    session.transaction(async (own) => {
      const rows = await own.all("payload_rules", {});
      insistOnRoom(rows, target);
      await own.run("put_payload_rule", { scope, name, rule: text, by, reason });
      const rules = { before: ruleIn(rows, target), after: rule };
      await writeAudits(own, [payloadRuleChanged(target, { by, reason }, rules)], isRepeat);
    }),
  );
}

/** In the order of their targets, so that two processes do not wait for each other. */
export async function declarePayloadRules(
  session: Session,
  declared: readonly DeclaredRule[],
): Promise<void> {
  const sorted = declared.toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
  await repeating(session.dice, () =>
    session.transaction(async (own) => {
      for (const { scope, name, rule } of sorted) {
        insistOnRoom(await own.all("payload_rules", {}), { scope, name });
        await own.run("declare_payload_rule", { scope, name, rule: JSON.stringify(rule) });
      }
    }),
  );
}

function isSame(row: { readonly scope: string; readonly name: string }, of: RuleTarget): boolean {
  return row.scope === of.scope && row.name === of.name;
}

function keyOf({ scope, name }: RuleTarget): string {
  return `${scope} ${name}`;
}

/** The rules are read first: a repeated removal would remove the row that stands for the first. */
export async function removePayloadRule(
  session: Session,
  { scope, name }: RuleTarget,
  { by, reason }: OperatorRemark,
): Promise<boolean> {
  const target = { scope, name };
  const rows = await session.read.all("payload_rules", {});
  const before = ruleIn(rows, target);
  if (before === null) return false;
  const isOfCode = rows.some((row) => isSame(row, target) && row.owner === "code");
  await repeating(session.dice, () =>
    session.transaction(async (own) => {
      const count = isOfCode
        ? await own.run("empty_payload_rule", { scope, name, by, reason })
        : await own.run("delete_payload_rule", { scope, name });
      if (count === 0) return;
      const rules = { before, after: null };
      await writeAudits(own, [payloadRuleChanged(target, { by, reason }, rules)]);
    }),
  );
  return true;
}

export async function payloadRules({ read }: Session): Promise<readonly PayloadRuleRecord[]> {
  return (await read.all("payload_rules", {})).map(payloadRuleRecord);
}
