/**
 * Planted bugs. Each is a small change of one source file; a simulation that does not notice it is
 * blind. `breaks` names the promise that the bug takes away.
 *
 * A change of a `.sql` file is made in the queries that are generated from it.
 */
import { crowdMutants } from "./crowds.ts";
import { flowMutants } from "./flows.ts";
import { limitMutants } from "./limits.ts";
import { markMutants } from "./marks.ts";
import { outageMutants } from "./outages.ts";
import { scheduleMutants } from "./schedules.ts";
import { serviceMutants } from "./services.ts";

export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly now: string;
  readonly planted: string;
  readonly breaks: string;
}

const QUERIES = "sql/sqlite/queries";
const STORE = "src/store/sqlite";

export const mutants: readonly Mutant[] = [
  {
    name: "any newer lease will do",
    file: `${QUERIES}/lease.sql`,
    now: "WHERE number = :number\n  AND secret = :secret;",
    planted:
      "WHERE number = (SELECT max(number) FROM millrace_lease WHERE number >= :number)\n" +
      "  AND :secret IS NOT NULL;",
    breaks: "I3, I4",
  },
  {
    name: "a job is due a second early",
    file: `${QUERIES}/places.sql`,
    now: "WHERE run_at <= :now\nORDER BY run_at, key",
    planted: "WHERE run_at <= :now + 1000\nORDER BY run_at, key",
    breaks: "I8",
  },
  {
    name: "crashes are not counted",
    file: "src/core/settle.ts",
    now: "const crashes = facts.crashes + 1;",
    planted: "const { crashes } = facts;",
    breaks: "I7",
  },
  {
    name: "a claim leaves what has crashed before in its place",
    file: `${QUERIES}/claim.sql`,
    now: "DELETE FROM millrace_ready\nWHERE key IN (SELECT value FROM json_each(:keys));",
    planted:
      "DELETE FROM millrace_ready\n" +
      "WHERE crashes = 0 AND key IN (SELECT value FROM json_each(:keys));",
    breaks: "I3",
  },
  {
    name: "answers before the commit",
    file: `${STORE}/batching/writer.ts`,
    now: "if (this.#runPiece(piece)) group.push(piece);",
    planted: "if (this.#runPiece(piece)) group.push(piece), piece.settle();",
    breaks: "I1",
  },
  {
    name: "a rescue asks for no silence",
    file: `${QUERIES}/worker.sql`,
    now: "WHERE id = :id\n  AND beats = :beats\n  AND until <= :now;",
    planted: "WHERE id = :id\n  AND :beats >= 0\n  AND :now > 0;",
    breaks: "I5",
  },
  {
    name: "a rescue does not look at the heartbeats",
    file: `${QUERIES}/worker.sql`,
    now: "  AND beats = :beats\n",
    planted: "  AND :beats >= 0\n",
    breaks: "I5",
  },
  {
    name: "prune forgets the retention",
    file: `${STORE}/retention/expired.ts`,
    now: "return { ...each, purpose, before: now - each.ms };",
    planted: 'return { ...each, purpose, before: purpose === "prune" ? now : now - each.ms };',
    breaks: "I1",
  },
  {
    name: "names outlive the rollback that undid them",
    file: `${STORE}/database/open-file.ts`,
    now: "        names.forget();\n        state.claimCursors",
    planted: "        state.claimCursors",
    breaks: "I2, I19",
  },
  {
    name: "a run that was asked to be cancelled waits again",
    file: "src/store/shared/run-end.ts",
    now: "if (request !== undefined) return {",
    planted: 'if (typeof request === "string") return {',
    breaks: "I8",
  },
  {
    name: "a type that is paused is claimed",
    file: `${QUERIES}/claim.sql`,
    now:
      "  AND (:prefetch = 0 OR concurrency IS NULL)\n" +
      "  AND lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)\n" +
      "  AND type NOT IN (SELECT target FROM millrace_barrier WHERE until IS NULL OR until > :now)",
    planted:
      "  AND (:prefetch = 0 OR concurrency IS NULL)\n" +
      "  AND lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)\n" +
      "  AND type NOT IN (SELECT target FROM millrace_barrier WHERE until > :now)",
    breaks: "I8",
  },
  {
    name: "a retry frees the dedup key",
    file: `${STORE}/runs/attempts.ts`,
    now: "const final = ends.filter(({ state }) => state !== null).map(({ key }) => key);",
    planted: "const final = ends.map(({ key }) => key);",
    breaks: "I9",
  },
  {
    name: "urgent jobs wait in line",
    file: `${QUERIES}/claim.sql`,
    now:
      "              OR key IN (SELECT value FROM json_each(:first))\n          )\n" +
      "          AND (\n              :awaited IS NULL\n" +
      "              OR concurrency <> :awaited\n" +
      "              OR tenant <> :awaited_tenant\n" +
      "              OR priority < :awaited_priority\n          )\n      )\n  )\n" +
      "ORDER BY priority, rank, key\n",
    planted:
      "              OR key IN (SELECT value FROM json_each(:first))\n          )\n" +
      "          AND (\n              :awaited IS NULL\n" +
      "              OR concurrency <> :awaited\n" +
      "              OR tenant <> :awaited_tenant\n" +
      "              OR priority < :awaited_priority\n          )\n      )\n  )\n" +
      "ORDER BY rank, key\n",
    breaks: "I11",
  },
  {
    name: "what a failed commit had to tell is told later",
    file: `${STORE}/batching/writer.ts`,
    now: "    outbox.finish();\n    this.#options.rolledBack();",
    planted: "    this.#options.rolledBack();",
    breaks: "I13",
  },
  {
    name: "one relaxed write relaxes the whole commit",
    file: `${STORE}/batching/writer.ts`,
    now: "this.#queue.every(({ isRelaxed }) => isRelaxed)",
    planted: "this.#queue.some(({ isRelaxed }) => isRelaxed)",
    breaks: "I1, I18",
  },
  {
    name: "a prefetch that goes back has lost its order",
    file: `${STORE}/runs/lease.ts`,
    now: "first + (ranks?.[index] ?? 0)",
    planted: "first",
    breaks: "I11, I19",
  },
  {
    name: "a settlement is tried only once",
    file: "src/runtime/run/settler.ts",
    now: "        await within(clock, Math.min(retryMs, RETRY_MS_MAX), this.#closed.promise);",
    planted: "        return null;",
    breaks: "I21",
  },
  {
    name: "a worker that was given up does not join again",
    file: "src/runtime/lease/registration.ts",
    now: "    const refusal = await this.#registerOnce().then(",
    planted: "    const refusal = await Promise.resolve().then(",
    breaks: "I21",
  },
  {
    name: "a worker leaves although it holds jobs",
    file: `${STORE}/runs/workers.ts`,
    now: "if (holdsNothing) deleteWorker(",
    planted: "if (holdsNothing || !holdsNothing) deleteWorker(",
    breaks: "I21, I24",
  },
  {
    name: "a wake-up during a tick is lost and so is the timer",
    file: "src/runtime/ticker.ts",
    now: "      this.#parts.failed(error);\n      return this.#parts.retryMs;",
    planted: "      this.#parts.failed(error);\n      return Infinity;",
    breaks: "I21",
  },
  {
    name: "the result of a retried settlement is dropped",
    file: "src/store/shared/run-end.ts",
    now: "return { ...end, state, result, fault };",
    planted: "return { ...end, state, result: settlement.tries > 1 ? null : result, fault };",
    breaks: "I17",
  },
  {
    name: "a prefetch starts without telling the store",
    file: "src/runtime/lanes/prefetched-jobs.ts",
    now: "next.filter(({ key }) => mayRun.has(key))",
    planted: "next.filter(({ key }) => mayRun.has(key) || true)",
    breaks: "I7, I8",
  },
  {
    name: "an idempotency key goes with its job",
    file: `${QUERIES}/prune.sql`,
    now: "    WHERE expires_at <= :now\n",
    planted: "    WHERE expires_at > :now\n",
    breaks: "I9",
  },
  {
    name: "a heartbeat never shortens a lease",
    file: `${QUERIES}/worker.sql`,
    now: "UPDATE millrace_worker\nSET until = :until,\n    beats",
    planted: "UPDATE millrace_worker\nSET until = max(until, :until),\n    beats",
    breaks: "I21",
  },
  {
    name: "the first pause stays",
    file: `${QUERIES}/gate.sql`,
    now: "    until = :until, reason = :reason, by = :by;",
    planted: "    until = until, reason = reason, by = by;",
    breaks: "I8",
  },
  {
    name: "the run number is taken for charged attempts",
    file: `${QUERIES}/lease.sql`,
    now: "coalesce(last.tries, 0) AS tries,",
    planted: "coalesce(last.n, 0) AS tries,",
    breaks: "I7",
  },
  {
    name: "a lease is rewritten as it was found",
    file: `${STORE}/runs/prefetch.ts`,
    now: 'const now = session.sql.get("lease_by_number", { number: lease.number }) ?? lease;',
    planted: "const now = lease;",
    breaks: "I21, I7",
  },
  {
    name: "a repeat does not know its own id",
    file: `${STORE}/jobs/enqueue.ts`,
    now: 'if (session.sql.get("find_body", { id: idBytes(job.id) }) !== undefined) {',
    planted:
      "if (job.idempotency &&\n" +
      'session.sql.get("find_body", { id: idBytes(job.id) }) !== undefined) {',
    breaks: "I1, I9",
  },
  {
    name: "the standing of a worker is not checked under the lock",
    file: `${STORE}/runs/claim.ts`,
    now:
      "  const refusal = refusalOf(session, request);\n" +
      "  if (refusal !== null) return refusal;\n" +
      "  const limits = limitsOf(session, request);\n" +
      "  limits?.want(session);",
    planted: "  const limits = limitsOf(session, request);\n  limits?.want(session);",
    breaks: "I21, I3",
  },
  {
    name: "a stop does not wait for the claim under way",
    file: "src/runtime/lanes/claim-loop.ts",
    now: "await Promise.all([...this.#pumps, this.#marker].map((ticker) => ticker.stop()));",
    planted: "for (const ticker of [...this.#pumps, this.#marker]) void ticker.stop();",
    breaks: "I24",
  },
  {
    name: "a run counts as open again",
    file: `${STORE}/runs/lease.ts`,
    now: "return runs.filter(({ key, n }) => (ended.get(key) ?? 0) < n);",
    planted: "return runs.filter(({ key, n }) => ended.get(key) !== n);",
    breaks: "I21, I24, I4",
  },
  {
    name: "the first rank of a lease is doubled",
    file: `${STORE}/runs/lease.ts`,
    now: "const rank = index === 0 ? first : first + (ranks?.[index] ?? 0);",
    planted: "const rank = first + (ranks?.[index] ?? 0);",
    breaks: "I11, I23, I21",
  },
  {
    name: "a doubt is asked about once",
    file: "src/runtime/lease/registration.ts",
    now: 'if (renewal.status === "lost" || !this.#isRegistered) this.checkLease();',
    planted: 'if (renewal.status === "lost") this.checkLease();',
    breaks: "I21",
  },
  {
    name: "a marked job is lost when its worker stops",
    file: "src/runtime/lanes/marked-jobs.ts",
    now: "for (const { lease, job } of marked) {",
    planted: "for (const { lease, job } of marked.slice(1)) {",
    breaks: "I21, I24",
  },
  {
    name: "what was asked to start is run",
    file: "src/runtime/lanes/prefetched-jobs.ts",
    now: "const mayRun = new Set(begun);",
    planted: "const mayRun = new Set(keys);",
    breaks: "I8, I5",
  },
  {
    name: "the promoter sleeps until the next due instant",
    file: "src/runtime/maintenance/promoter.ts",
    now: "return Math.min(nextDueMs ?? restMs, probeMs, restMs);",
    planted: "return nextDueMs ?? restMs;",
    breaks: "I21",
  },
  {
    name: "a cancelled job that is given back waits again",
    file: "src/store/shared/run-end.ts",
    now: "if (request !== undefined) return { ...end,",
    planted: "if (request !== undefined && delayMs > 0) return { ...end,",
    breaks: "I8",
  },
  {
    name: "a claim that was not heard is forgotten",
    file: `${STORE}/runs/claim.ts`,
    now: "    if (recovered !== null) return recovered;\n",
    planted: "",
    breaks: "I21, I22",
  },
  {
    name: "the lease of a run stays when an operator has ended the run",
    file: `${STORE}/jobs/intervene.ts`,
    now: "  closeIfDone(session, lease);",
    planted: "  void closeIfDone;",
    breaks: "I22",
  },
  ...flowMutants,
  ...crowdMutants,
  ...markMutants,
  ...outageMutants,
  ...scheduleMutants,
  ...serviceMutants,
  ...limitMutants,
];
