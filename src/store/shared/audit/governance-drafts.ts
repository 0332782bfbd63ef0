/** The audit entries about payload rules, quotas and removals of tenants. */
import type { Quota } from "../../../core/control/quotas.ts";
import type { PayloadRule, RuleTarget } from "../../../core/payload-rules/rule.ts";
import type { Act } from "../../types/audit.ts";
import type { AuditDraft } from "./drafts.ts";

export function payloadRuleChanged(
  { scope, name }: RuleTarget,
  act: Act,
  rules: { readonly before: PayloadRule | null; readonly after: PayloadRule | null },
): AuditDraft {
  const { before, after } = rules;
  return {
    name: after === null ? "payload_rule_removed" : "payload_rule_set",
    tenant: null,
    subject: { kind: scope, name },
    act,
    before: before === null ? null : { rule: before },
    after: after === null ? null : { rule: after },
  };
}

/** `tenant` null: the quota of every tenant without one of its own. */
export function quotaChanged(
  tenant: string | null,
  act: Act,
  quotas: { readonly before: Quota | null; readonly after: Quota | null },
): AuditDraft {
  return {
    name: quotas.after === null ? "quota_removed" : "quota_set",
    tenant,
    subject:
      tenant === null ? { kind: "installation", name: "all" } : { kind: "tenant", name: tenant },
    act,
    before: quotaState(quotas.before),
    after: quotaState(quotas.after),
  };
}

function quotaState(quota: Quota | null): Readonly<Record<string, unknown>> | null {
  if (quota === null) return null;
  const { waiting, rate, payloadBytes } = quota;
  return { waiting, rate, payloadBytes };
}

export function removalRequested(tenant: string, act: Act): AuditDraft {
  const subject = { kind: "tenant", name: tenant } as const;
  return { name: "tenant_removal_requested", tenant, subject, act };
}
