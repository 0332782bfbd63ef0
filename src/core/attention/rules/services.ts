/** Breakers of services that are not closed. */
import { shellWord } from "../../../lib/shell-word.ts";
import type { BreakerFact, Facts } from "../facts.ts";
import type { FindingOf } from "../finding.ts";
import { dateOf, jobsWait } from "../words.ts";

export function openBreakers({ breakers }: Facts): readonly FindingOf<"breaker">[] {
  return breakers.flatMap((breaker) => {
    const { state } = breaker;
    return state === "closed" ? [] : [findingOf(breaker, state)];
  });
}

function findingOf(breaker: BreakerFact, state: "open" | "half_open"): FindingOf<"breaker"> {
  const { service, failures, types, waiting, openedAt, probeAt, reason, by } = breaker;
  const isTrying = state === "half_open";
  return {
    rule: "breaker",
    // A job tries the service, or an operator wants it so.
    level: isTrying || by !== null ? "look" : "broken",
    subject: { kind: "service", name: service },
    sentence: `${stateText(breaker, isTrying)}; ${waitText(breaker)}.`,
    details: {
      service,
      state,
      failures,
      types,
      waiting,
      probeAt: dateOf(probeAt),
      reason,
      by,
    },
    since: dateOf(openedAt),
    screen: "breakers",
    action: { operation: "resetBreaker", command: `millrace breakers show ${shellWord(service)}` },
  };
}

function stateText({ service, probeAt }: BreakerFact, isTrying: boolean): string {
  const name = `The breaker of the service ${service} is`;
  if (isTrying) return `${name} half open: one job tries the service`;
  if (probeAt === null) return `${name} open until it is reset`;
  return `${name} open, and the next probe is due at ${new Date(probeAt).toISOString()}`;
}

function waitText({ waiting }: BreakerFact): string {
  const isNone = waiting.count === 0 && !waiting.atLeast;
  return isNone ? "no job waits for it" : `${jobsWait(waiting)} for it`;
}
