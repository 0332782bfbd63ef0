/** The review records of failed jobs, written in the transaction that fails them. */
import type { Fault } from "../../core/outcome.ts";
import { policyOfFlags } from "../codes.ts";
import type { JobKey } from "../store.ts";
import type { Transaction } from "./session.ts";
import { list } from "./values.ts";
import type { SpecRow } from "./work-rows.ts";

/** A run whose end failed its job. Its ledger row is written. */
export interface Death {
  readonly key: JobKey;
  readonly n: number;
  readonly attempts: number;
  readonly fault: Fault;
}

export async function insertDeadLetters(
  transaction: Transaction,
  deaths: readonly Death[],
): Promise<void> {
  if (deaths.length === 0) return;
  const keys = list(deaths.map(({ key }) => key));
  const specs = new Map((await transaction.all("specs_of", { keys })).map((row) => [row.key, row]));
  const letters = deaths.map(({ key, n, attempts, fault }) => {
    const row = specs.get(key);
    if (row === undefined) throw new Error(`job ${key} has failed but has no row`);
    const [error, spec] = [JSON.stringify(fault), JSON.stringify(specOf(row))];
    return { key, n, attempts, error, spec };
  });
  await transaction.run("insert_dead_letters", { letters: JSON.stringify(letters) });
}

/** What was asked for, in words: it must make sense when every other row of the job is gone. */
function specOf(row: SpecRow): object {
  const tags: Record<string, string> = row.tags === null ? {} : JSON.parse(row.tags);
  return {
    id: row.id,
    type: row.type,
    tenant: row.tenant,
    lane: row.lane,
    category: row.category,
    priority: row.priority,
    payload: row.payload,
    payloadVersion: row.payload_version,
    correlationId: row.correlation ?? row.id,
    parentId: row.parent,
    retryOf: row.retry_of,
    concurrencyKey: row.concurrency,
    idempotencyKey: row.idempotency,
    dedupKey: row.dedup,
    webhookUrl: row.webhook,
    ...policyOfFlags(row.flags),
    tags,
    createdBy: row.created_by,
    createdAt: row.created_at,
    scheduledAt: row.run_at,
    maxAttempts: row.max_attempts,
    timeoutMs: row.timeout_ms,
  };
}
