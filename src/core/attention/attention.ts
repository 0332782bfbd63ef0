/** The rules, and what they find among the facts. */
import type { FactName, Facts } from "./facts.ts";
import { inOrder, type AttentionRule, type AttentionFinding } from "./finding.ts";
import { oldIntakes, oldPauses, stuckOperations } from "./rules/controls.ts";
import { errorRates, newCauses, oldLetters } from "./rules/failures.ts";
import { badSchedules } from "./rules/schedules.ts";
import { openBreakers } from "./rules/services.ts";
import { lateLanes, noWorker, silentWorkers, untakenJobs } from "./rules/waiting.ts";

/** The findings of one rule that are told. */
const FINDINGS_MAX = 20;

/** What became of the check of one rule. */
export interface AttentionCheck {
  readonly rule: AttentionRule;
  /** What was checked, for people: "error rates". */
  readonly about: string;
  /** `unread`: the store did not answer in time, so that this could not be checked. */
  readonly status: "well" | "found" | "unread";
  /** How many there are; at most 20 of them are told. */
  readonly findings: number;
  /** Not all facts were read, because there are too many: there may be more findings. */
  readonly isPartial: boolean;
}

interface Rule {
  readonly rule: AttentionRule;
  readonly about: string;
  /** A rule whose facts could not be read finds nothing, and says so. */
  readonly needs: readonly FactName[];
  /** The facts of a tenant tell what concerns the tenant. */
  readonly isForTenants: boolean;
  readonly find: (facts: Facts, now: number) => readonly AttentionFinding[];
}

/** In the order in which checks are told. */
const RULES: readonly Rule[] = [
  {
    rule: "no_worker",
    about: "that a worker is running",
    needs: ["workers", "groups"],
    isForTenants: false,
    find: noWorker,
  },
  {
    rule: "worker_silent",
    about: "heartbeats of workers",
    needs: ["workers"],
    isForTenants: false,
    find: silentWorkers,
  },
  {
    rule: "not_taken",
    about: "that workers take the waiting jobs",
    needs: ["workers", "groups"],
    isForTenants: false,
    find: untakenJobs,
  },
  {
    rule: "waiting",
    about: "waits by lane",
    needs: ["groups"],
    isForTenants: true,
    find: lateLanes,
  },
  {
    rule: "breaker",
    about: "breakers of services",
    needs: ["breakers"],
    isForTenants: false,
    find: openBreakers,
  },
  {
    rule: "error_rate",
    about: "error rates",
    needs: ["runs"],
    isForTenants: false,
    find: errorRates,
  },
  {
    rule: "failure_cause",
    about: "causes of failures",
    needs: ["causes"],
    isForTenants: true,
    find: newCauses,
  },
  {
    rule: "dead_letters",
    about: "dead letters without a review",
    needs: ["letters"],
    isForTenants: true,
    find: oldLetters,
  },
  {
    rule: "schedule",
    about: "schedules",
    needs: ["schedules"],
    isForTenants: true,
    find: badSchedules,
  },
  { rule: "pause", about: "old pauses", needs: ["pauses"], isForTenants: true, find: oldPauses },
  {
    rule: "intake",
    about: "closed intakes",
    needs: ["intakes"],
    isForTenants: true,
    find: oldIntakes,
  },
  {
    rule: "operation",
    about: "bulk operations",
    needs: ["operations"],
    isForTenants: true,
    find: stuckOperations,
  },
];

/** What is known about the facts. */
export interface FactReport {
  readonly now: number;
  /** The facts are those of one tenant: rules about the installation are left out. */
  readonly isOneTenant: boolean;
  readonly unread: ReadonlySet<FactName>;
  readonly partial: ReadonlySet<FactName>;
}

export function attentionOf(
  facts: Facts,
  { now, isOneTenant, unread, partial }: FactReport,
): { readonly findings: readonly AttentionFinding[]; readonly checked: readonly AttentionCheck[] } {
  const findings: AttentionFinding[] = [];
  const checked = RULES.filter(({ isForTenants }) => isForTenants || !isOneTenant).map(
    ({ rule, about, needs, find }): AttentionCheck => {
      const isPartial = needs.some((name) => partial.has(name));
      if (needs.some((name) => unread.has(name))) {
        return { rule, about, status: "unread", findings: 0, isPartial };
      }
      const found = inOrder(find(facts, now));
      findings.push(...found.slice(0, FINDINGS_MAX));
      const status = found.length === 0 ? "well" : "found";
      return { rule, about, status, findings: found.length, isPartial };
    },
  );
  return { findings: inOrder(findings), checked };
}

/** The facts that the rules need. */
export function neededFacts({
  isOneTenant,
}: {
  readonly isOneTenant: boolean;
}): readonly FactName[] {
  const rules = RULES.filter(({ isForTenants }) => isForTenants || !isOneTenant);
  return [...new Set(rules.flatMap(({ needs }) => needs))];
}
