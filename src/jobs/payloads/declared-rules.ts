/** The payload rules that presets bring along, and which of them the store lacks. */
import type { PresetRules } from "../../core/payload-rules/practice.ts";
import type { PayloadRule, RuleTarget } from "../../core/payload-rules/rule.ts";
import type { DeclaredRule, PayloadRuleRecord } from "../../store/types/payload-rules.ts";

/** The rules of a preset, one per target. */
export function declaredRules(preset: PresetRules): readonly DeclaredRule[] {
  const { installation, categories = {}, types = {} } = preset;
  const all = installation === undefined ? {} : { all: installation };
  return [
    ...inScope("installation", all),
    ...inScope("category", categories),
    ...inScope("type", types),
  ];
}

function inScope(
  scope: RuleTarget["scope"],
  rules: Readonly<Record<string, PayloadRule>>,
): readonly DeclaredRule[] {
  return Object.entries(rules).map(([name, rule]) => ({ scope, name, rule }));
}

/** Later rules replace earlier ones of the same target. */
export function joined(
  known: readonly DeclaredRule[],
  more: readonly DeclaredRule[],
): readonly DeclaredRule[] {
  return [...known.filter((rule) => recordOf(more, rule) === undefined), ...more];
}

/** Rules whose target has no row: neither code nor an operator has decided about it. */
export function rulesWithoutRow(
  declared: readonly DeclaredRule[],
  stored: readonly PayloadRuleRecord[],
): readonly DeclaredRule[] {
  return declared.filter((rule) => recordOf(stored, rule) === undefined);
}

/** Rules that other code has declared differently before. */
export function changedRules(
  declared: readonly DeclaredRule[],
  stored: readonly PayloadRuleRecord[],
): readonly DeclaredRule[] {
  return declared.filter((rule) => {
    const record = recordOf(stored, rule);
    return record?.owner === "code" && JSON.stringify(record.rule) !== JSON.stringify(rule.rule);
  });
}

function recordOf<Rule extends RuleTarget>(
  rules: readonly Rule[],
  { scope, name }: RuleTarget,
): Rule | undefined {
  return rules.find((each) => each.scope === scope && each.name === name);
}
