/** Planted bugs of services: breakers, probes and pauses that services have asked for. */
import type { Mutant } from "./all.ts";

const BREAKER = "src/core/breaker.ts";
const RUN = "src/runtime/services/run-services.ts";
const STORE = "src/store/sqlite/services/breakers.ts";
const QUERIES = "sql/sqlite/queries";

export const serviceMutants: readonly Mutant[] = [
  {
    name: "a service has two probes at once",
    file: BREAKER,
    now: "return hasEnded;",
    planted: "return hasEnded || nowMs > 0;",
    breaks: "I28",
  },
  {
    name: "a service is probed before its time",
    file: BREAKER,
    now: "return (probeAt(breaker, nowMs) ?? Infinity) <= nowMs;",
    planted: "return probeAt(breaker, nowMs) !== null;",
    breaks: "I28",
  },
  {
    name: "the end of a probe without a verdict is forgotten",
    file: `${QUERIES}/breaker.sql`,
    now:
      "breaker.opened_at > :now)\n      OR EXISTS (\n          SELECT 1\n" +
      "          FROM millrace_attempt AS ended\n",
    planted:
      "breaker.opened_at > :now)\n      OR EXISTS (\n          SELECT 1\n" +
      "          FROM (SELECT key, n FROM millrace_attempt WHERE 0) AS ended\n",
    breaks: "I21, I28",
  },
  {
    name: "a claim takes jobs of a closed service",
    file: `${QUERIES}/claim.sql`,
    now:
      "  AND (:prefetch = 0 OR concurrency IS NULL)\n" +
      "  AND lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)\n" +
      "  AND type NOT IN (SELECT target FROM millrace_barrier WHERE until IS NULL OR until > :now)",
    planted:
      "  AND (:prefetch = 0 OR concurrency IS NULL)\n" +
      "  AND lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)\n" +
      "  AND type NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)",
    breaks: "I28",
  },
  {
    name: "a claim does not wait for a service that a tenant has used up",
    file: `${QUERIES}/claim.sql`,
    now:
      "  AND (tenant, type) NOT IN " +
      "(SELECT tenant, type FROM millrace_tenant_barrier WHERE until > :now)\n" +
      "  AND (:full IS NULL OR NOT (",
    planted: "  AND (:full IS NULL OR NOT (",
    breaks: "I28",
  },
  {
    name: "a handler starts although its service is closed",
    file: RUN,
    now: 'if (answer.status !== "refused") return [];',
    planted: 'if (answer.status !== "refused" || index >= 0) return [];',
    breaks: "I28",
  },
  {
    name: "the success of a job with two services is no verdict",
    file: RUN,
    now: 'const isSuccess = outcome.type === "succeeded";',
    planted: "const isSuccess = outcome === null;",
    breaks: "I28",
  },
  {
    name: "a success of the one service of a job is no more than a trial",
    file: RUN,
    now: "return calls.probeSucceeded(service, this.#run);",
    planted: "return calls.successImplied(service, this.#run);",
    breaks: "I28",
  },
  {
    name: "a failure that a breaker has not counted is charged",
    file: RUN,
    now: "else this.#uncounted = { waitMs };",
    planted: "else if (waitMs === -1) this.#uncounted = { waitMs };",
    breaks: "I28",
  },
  {
    name: "failures count while a breaker is open",
    file: BREAKER,
    now: 'if (breaker.state === "open") return { next: breaker, isCounted: false };',
    planted:
      'if (breaker.state === "open" && call.nowMs < 0) return { next: breaker, isCounted: false };',
    breaks: "I28",
  },
  {
    name: "jobs stay behind a breaker that has closed",
    file: STORE,
    now: 'if (next.state === "closed" && before.state !== "closed") openGate(session, service);',
    planted: 'if (next.state === "closed" && now < 0) openGate(session, service);',
    breaks: "I21",
  },
];
