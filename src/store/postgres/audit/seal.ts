/**
 * sealAudit, and the part of prune that removes the first days of the chains. One process at a time
 * does either, so that no writer of an entry waits for the chain.
 */
import { LATE_MS_MAX } from "../../../core/audit/verify.ts";
import {
  byTenant,
  firstKeptDay,
  lastOfChains,
  SEALED_MAX,
  sealLines,
} from "../../shared/audit/rows.ts";
import { bounded } from "../../shared/limits.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import type { Sql } from "../database/statements.ts";
import { list } from "../database/values.ts";
import { clockOf } from "../schedules/schedules.ts";
import { newestSealed } from "./audits.ts";

export async function sealAudit(session: Session, wanted: number): Promise<number> {
  const limit = bounded(wanted, SEALED_MAX);
  if ((await unsealed(session.read, 1)).length === 0) return 0;
  return repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      if ((await transaction.get("lock_sealer", {})) === undefined) return 0;
      return sealWithin(transaction, limit);
    }),
  );
}

async function sealWithin(transaction: StoreTransaction, limit: number): Promise<number> {
  const rows = await unsealed(transaction, limit);
  if (rows.length === 0) return 0;
  const now = await clockOf(transaction);
  const seals = [];
  for (const [tenant, own] of byTenant(rows)) {
    const head = await transaction.get("chain_head", { tenant });
    seals.push(...sealLines(head, own, now));
  }
  await transaction.run("insert_seals", { seals: JSON.stringify(seals) });
  return rows.length;
}

/** Entries from long before the newest sealed one stay without a seal. */
async function unsealed(sql: Sql, limit: number) {
  const { at } = await newestSealed({ read: sql }, {});
  const since = at === null ? 0 : at - LATE_MS_MAX;
  return sql.all("entries_to_seal", { since, limit });
}

/** Answers how many entries were removed. */
export async function pruneAudits(
  session: Session,
  auditMs: number,
  limit: number,
): Promise<number> {
  const day = firstKeptDay(await clockOf(session.read), auditMs);
  const page = { day, limit: bounded(limit, SEALED_MAX) };
  if ((await session.read.all("expired_seals", { ...page, limit: 1 })).length === 0) return 0;
  return repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      if ((await transaction.get("lock_sealer", {})) === undefined) return 0;
      const seals = await transaction.all("expired_seals", page);
      for (const { tenant, day: last, position, hash } of lastOfChains(seals)) {
        await transaction.run("put_chain_start", { tenant, day: last, position, hash });
      }
      const ids = list(seals.map(({ audit_id }) => audit_id));
      await transaction.run("delete_audits", { ids });
      await transaction.run("delete_seals", { ids });
      return seals.length;
    }),
  );
}
