/** createToken, tokenOf, markTokensUsed, tokens, token and revokeToken: API tokens. */
import { writeAudits } from "../audit/write.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import { isAuditedToken, tokenCreated, tokenRevoked } from "../../shared/audit/drafts.ts";
import { tokenKindCodec } from "../../shared/codes.ts";
import { bounded } from "../../shared/limits.ts";
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
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { list, uuidOf, uuids } from "../database/values.ts";

const PAGE_MAX = 1_000;
/** After every id: the first page begins here. */
const LAST_ID = "f".repeat(32);

export async function createToken(
  session: Session,
  given: TokenToStore,
  reason: string | null = null,
): Promise<"created" | "parent_ended"> {
  requireToken(given);
  return repeating(session.dice, () =>
    session.transaction((transaction) => insertToken(transaction, given, reason)),
  );
}

async function insertToken(
  transaction: StoreTransaction,
  given: TokenToStore,
  reason: string | null,
): Promise<"created" | "parent_ended"> {
  const same = { id: uuidOf(given.id), hash: hexOf(given.hash) };
  if ((await transaction.get("find_same_token", same)) !== undefined) return "created";
  const parent = given.parentId === null ? null : uuidOf(given.parentId);
  const made = parent === null ? null : await transaction.get("find_parent_token", { id: parent });
  if (made === undefined) return "parent_ended";
  const inserted = await transaction.run("insert_token", {
    ...tokenColumns(given, made?.expires_at ?? null),
    ...same,
    job_id: given.jobId === null ? null : uuidOf(given.jobId),
    parent,
  });
  if (inserted > 0) {
    if (isAuditedToken(given.kind)) await writeAudits(transaction, [tokenCreated(given, reason)]);
    return "created";
  }
  // Another call may have stored the same token meanwhile.
  if ((await transaction.get("find_same_token", same)) !== undefined) return "created";
  throw tokenConflict(given.id);
}

export async function tokenOf({ read }: Session, hash: Uint8Array): Promise<TokenRecord | null> {
  const row = await read.get("find_usable_token", { hash: hexOf(hash) });
  return row === undefined ? null : tokenRecord(row);
}

export async function markTokensUsed(session: Session, ids: readonly TokenId[]): Promise<void> {
  requireMarked(ids);
  const { write, dice } = session;
  await repeating(dice, () => write.run("mark_tokens_used", { ids: uuids(ids) }));
}

export async function tokens(
  { read }: Session,
  { kinds, tenant, includeEnded = false }: TokenQuery,
  { after, limit }: TokenPage,
): Promise<readonly TokenRecord[]> {
  const codes = kinds?.map((kind) => tokenKindCodec.code[kind]);
  const rows = await read.all("list_tokens", {
    before: after === undefined ? LAST_ID : uuidOf(after),
    kinds: codes === undefined ? null : list(codes),
    tenant: tenant ?? null,
    with_ended: includeEnded,
    limit: bounded(limit, PAGE_MAX),
  });
  return rows.map(tokenRecord);
}

export async function token({ read }: Session, id: TokenId): Promise<TokenRecord | null> {
  const row = await read.get("find_token", { id: uuidOf(id) });
  return row === undefined ? null : tokenRecord(row);
}

export async function revokeToken(
  session: Session,
  id: TokenId,
  act: Act = NO_ACT,
): Promise<boolean> {
  return repeating(session.dice, async (isRepeat) => {
    const isRevoked = await session.transaction((transaction) => revokeTree(transaction, id, act));
    if (isRevoked || !isRepeat) return isRevoked;
    // After a lost answer, the token was revoked by the first try.
    return (await token(session, id)) !== null;
  });
}

async function revokeTree(transaction: StoreTransaction, id: TokenId, act: Act): Promise<boolean> {
  if ((await transaction.run("revoke_token", { id: uuidOf(id) })) === 0) return false;
  // Each statement sees what was stored before it locked the parents: a child that is made at the
  // same time is either found by the next turn, or finds its parent revoked.
  for (let parents: readonly TokenId[] = [id]; parents.length > 0;) {
    const made = await transaction.all("revoke_children", { parents: uuids(parents) });
    parents = made.map((child) => child.id);
  }
  const row = await transaction.get("find_token", { id: uuidOf(id) });
  const revoked = row === undefined ? null : tokenRecord(row);
  if (revoked !== null && isAuditedToken(revoked.kind)) {
    await writeAudits(transaction, [tokenRevoked(revoked, act)]);
  }
  return true;
}

function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString("hex");
}
