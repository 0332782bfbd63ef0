/** sealAudit, and the part of prune that removes the first days of the chains. */
import {
  byTenant,
  firstKeptDay,
  lastOfChains,
  SEALED_MAX,
  sealLines,
} from "../../shared/audit/rows.ts";
import { bounded } from "../../shared/limits.ts";
import type { Session } from "../database/session.ts";
import { newestSealed } from "./audits.ts";

export function sealAudit(session: Session, wanted: number): number {
  const { sql, clock } = session;
  const limit = bounded(wanted, SEALED_MAX);
  const rows = sql.all("entries_to_seal", { since: newestSealed(session, {}).id ?? 0, limit });
  if (rows.length === 0) return 0;
  const now = clock.now();
  const seals = [...byTenant(rows)].flatMap(([tenant, own]) =>
    sealLines(sql.get("chain_head", { tenant }), own, now),
  );
  sql.run("insert_seals", { seals: JSON.stringify(seals) });
  return rows.length;
}

/** Checks without the write lock whether all entries have a seal. */
export function sealsNothing(session: Session): boolean {
  const since = newestSealed(session, {}).id ?? 0;
  return session.sql.get("entries_to_seal", { since, limit: 1 }) === undefined;
}

/** Answers how many entries were removed. */
export function pruneAudits(session: Session, auditMs: number, limit: number): number {
  const { sql, clock } = session;
  const day = firstKeptDay(clock.now(), auditMs);
  const seals = sql.all("expired_seals", { day, limit: bounded(limit, SEALED_MAX) });
  if (seals.length === 0) return 0;
  for (const { tenant, day: last, position, hash } of lastOfChains(seals)) {
    sql.run("put_chain_start", { tenant, day: last, position, hash });
  }
  const ids = JSON.stringify(seals.map(({ audit_id }) => audit_id));
  sql.run("delete_audits", { ids });
  sql.run("delete_seals", { ids });
  return seals.length;
}
