/** `mill.payloadRules`. */
import type { Logger } from "../../api/context.ts";
import type {
  PayloadRules,
  PayloadRuleTarget,
  RuleActor,
} from "../../api/control/payload-rules.ts";
import { aName, anObject, isObject } from "../../api/rules.ts";
import { MillraceError } from "../../core/errors.ts";
import type { RuleTarget } from "../../core/payload-rules/rule.ts";
import { anyRemark, aText, insistOn } from "../../jobs/check-text.ts";
import { PayloadGate } from "../../jobs/payloads/payload-gate.ts";
import { aPayloadRule } from "../../jobs/payloads/payload-rule-rules.ts";
import type { JobStore } from "../../store/store.ts";
import type { OperatorRemark } from "../../store/types/payload-rules.ts";

const ACTOR = anObject(
  { required: { actor: aText(2_000) }, optional: { reason: anyRemark } },
  'an object such as { actor: "ada", reason: "an audit" }',
);

/** The name of the installation among targets. */
const INSTALLATION = "all";

export function makePayloadRules(store: JobStore, logger: Logger): PayloadRules {
  return {
    async set(target, rule, by) {
      const of = targetOf("payloadRules.set", target);
      const why = remarkOf("payloadRules.set", by);
      insistOn("payloadRules.set", aPayloadRule, rule, "rule");
      await store.setPayloadRule(of, structuredClone(rule), why);
      PayloadGate.rulesChanged();
      logger.info("a payload rule was set", { ...of, ...why });
    },
    async remove(target, by) {
      const of = targetOf("payloadRules.remove", target);
      const why = remarkOf("payloadRules.remove", by);
      const wasSet = await store.removePayloadRule(of, why);
      PayloadGate.rulesChanged();
      if (wasSet) logger.info("a payload rule was removed", { ...of, ...why });
      return wasSet;
    },
    async list() {
      const rules = await store.payloadRules();
      return rules.map(({ scope, name, rule, owner, by, reason, setAt }) => {
        return { scope, name, rule, owner, setBy: by, reason, setAt: new Date(setAt) };
      });
    },
  };
}

function targetOf(verb: string, target: PayloadRuleTarget): RuleTarget {
  const given: Readonly<Record<string, unknown>> = isObject(target) ? target : {};
  const [key, ...more] = Object.keys(given);
  if (more.length === 0 && key === "installation" && given[key] === true) {
    return { scope: "installation", name: INSTALLATION };
  }
  if (more.length > 0 || (key !== "category" && key !== "type")) {
    const form = '{ type: "email" }, { category: "sync" } or { installation: true }';
    throw new MillraceError("OPTION_INVALID", `${verb}: the target must be ${form}`);
  }
  insistOn(verb, aName, given[key], key);
  return { scope: key, name: String(given[key]) };
}

function remarkOf(verb: string, by: RuleActor | undefined): OperatorRemark {
  if (by !== undefined) insistOn(verb, ACTOR, by, "");
  return { by: by?.actor ?? null, reason: by?.reason || null };
}
