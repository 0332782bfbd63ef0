/** createToken, tokenOf, markTokensUsed, tokens, token and revokeToken: API tokens. */
import { idBytes, idFromBytes, idHex } from "../../../core/ids.ts";
import { tokenKindCodec } from "../../shared/codes.ts";
import { isAuditedToken, tokenCreated, tokenRevoked } from "../../shared/audit/drafts.ts";
import { bounded } from "../../shared/limits.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import {
  requireMarked,
  requireToken,
  tokenColumns,
  tokenConflict,
  tokenRecord,
} from "../../shared/tokens.ts";
import type {
  TokenToStore,
  TokenQuery,
  TokenId,
  TokenPage,
  TokenRecord,
} from "../../types/tokens.ts";
import type { TokenRow } from "../database/queries.gen.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";

const PAGE_MAX = 1_000;
/** After every id: the first page begins here. */
const LAST_ID: Uint8Array = new Uint8Array(16).fill(0xff);

export function createToken(
  session: Session,
  given: TokenToStore,
  reason: string | null = null,
): "created" | "parent_ended" {
  requireToken(given);
  const { sql, clock } = session;
  const [id, now, { hash }] = [idBytes(given.id), clock.now(), given];
  if (sql.get("find_same_token", { id, hash }) !== undefined) return "created";
  const parent = given.parentId === null ? null : idBytes(given.parentId);
  const made = parent === null ? null : sql.get("find_parent_token", { id: parent, now });
  if (made === undefined) return "parent_ended";
  const { changes } = sql.run("insert_token", {
    ...tokenColumns(given, made?.expires_at ?? null),
    id,
    hash,
    job_id: given.jobId === null ? null : idBytes(given.jobId),
    parent,
    now,
  });
  if (changes === 0) throw tokenConflict(given.id);
  if (isAuditedToken(given.kind)) writeAudits(session, [tokenCreated(given, reason)]);
  return "created";
}

export function tokenOf({ sql, clock }: Session, hash: Uint8Array): TokenRecord | null {
  const row = sql.get("find_usable_token", { hash, now: clock.now() });
  return row === undefined ? null : recordOf(row);
}

export function markTokensUsed({ sql, clock }: Session, ids: readonly TokenId[]): void {
  requireMarked(ids);
  sql.run("mark_tokens_used", { ids: JSON.stringify(ids.map(idHex)), now: clock.now() });
}

export function tokens(
  { sql, clock }: Session,
  { kinds, tenant, includeEnded = false }: TokenQuery,
  { after, limit }: TokenPage,
): TokenRecord[] {
  const codes = kinds?.map((kind) => tokenKindCodec.code[kind]);
  return sql
    .all("list_tokens", {
      before: after === undefined ? LAST_ID : idBytes(after),
      kinds: codes === undefined ? null : JSON.stringify(codes),
      tenant: tenant ?? null,
      with_ended: includeEnded ? 1 : 0,
      now: clock.now(),
      limit: bounded(limit, PAGE_MAX),
    })
    .map(recordOf);
}

export function token({ sql }: Session, id: TokenId): TokenRecord | null {
  const row = sql.get("find_token", { id: idBytes(id) });
  return row === undefined ? null : recordOf(row);
}

export function revokeToken(session: Session, id: TokenId, act: Act = NO_ACT): boolean {
  const { sql, clock } = session;
  const now = clock.now();
  if (sql.run("revoke_token", { id: idBytes(id), now }).changes === 0) return false;
  // Each turn revokes what was made from the tokens of the turn before.
  for (let parents = [idHex(id)]; parents.length > 0;) {
    const made = sql.all("revoke_children", { parents: JSON.stringify(parents), now });
    parents = made.map((child) => idHex(idFromBytes(child.id)));
  }
  const revoked = token(session, id);
  if (revoked !== null && isAuditedToken(revoked.kind)) {
    writeAudits(session, [tokenRevoked(revoked, act)]);
  }
  return true;
}

function recordOf(row: TokenRow): TokenRecord {
  return tokenRecord({
    ...row,
    id: idFromBytes(row.id),
    job_id: row.job_id === null ? null : idFromBytes(row.job_id),
    parent: row.parent === null ? null : idFromBytes(row.parent),
  });
}
