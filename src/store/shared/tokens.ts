/** What both stores need for API tokens: checks, codes and decoding. No error names a hash. */
import type { PersonRole } from "../types/tokens.ts";
import { MillraceError } from "../../core/errors.ts";
import type { JobId } from "../../core/job.ts";
import { MARKED_TOKENS_MAX } from "../roles/identity.ts";
import type { TokenToStore, TokenId, TokenKind, TokenRecord } from "../types/tokens.ts";
import { roleBits, rolesOfBits, tokenKindCodec } from "./codes.ts";

const HASH_BYTES = 32;
const TEXT_MAX = 200;
const TYPES_MAX = 100;
/** No token expires later. JavaScript and both databases read this instant exactly. */
const EXPIRY_MAX = 9_000_000_000_000;

const HAVE_ROLES: readonly TokenKind[] = ["person", "session"];
const HAVE_TYPES: readonly TokenKind[] = ["producer", "worker"];
const HAVE_PARENT: readonly TokenKind[] = ["session", "stream"];

/**
 * Throws OPTION_INVALID for a token that the tables would refuse. PostgreSQL names the values of a
 * refused row in its error, and the hash is among them.
 */
export function requireToken(token: TokenToStore): void {
  const { kind } = token;
  const rules: Readonly<Record<string, boolean>> = {
    "hash must have 32 bytes": token.hash.length === HASH_BYTES,
    "ttlMs must be a length of at least 1 ms": token.ttlMs >= 1 && token.ttlMs <= EXPIRY_MAX,
    "kind is unknown": Object.hasOwn(tokenKindCodec.code, kind),
    "name must have 1 to 200 letters": isText(token.name),
    "actor must have 1 to 200 letters": isText(token.actor),
    "createdBy must have 1 to 200 letters": isText(token.createdBy),
    "tenant must have 1 to 200 letters": token.tenant === null || isText(token.tenant),
    "types must be at most 100 names": token.types === null || areTypes(token.types),
    [`a ${kind} has no roles`]: token.roles.length === 0 || HAVE_ROLES.includes(kind),
    [`a ${kind} has no types`]: token.types === null || HAVE_TYPES.includes(kind),
    [`a ${kind} has no parentId`]: token.parentId === null || HAVE_PARENT.includes(kind),
    "a stream, and no other kind, has a jobId": (token.jobId !== null) === (kind === "stream"),
  };
  for (const rule in rules) {
    if (rules[rule] === true) continue;
    throw new MillraceError("OPTION_INVALID", `token ${token.id}: ${rule}`);
  }
}

export function requireMarked({ length }: readonly TokenId[]): void {
  if (length <= MARKED_TOKENS_MAX) return;
  const limit = `at most ${MARKED_TOKENS_MAX} tokens can be marked in one call`;
  throw new MillraceError("OPTION_INVALID", `${limit}, not ${length}`);
}

export function tokenConflict(id: TokenId): MillraceError {
  const message = `token ${id} exists with another secret, or another token has its secret`;
  return new MillraceError("ID_CONFLICT", message, { details: { id } });
}

/** The columns of a new token that are the same in both databases. */
interface TokenColumns {
  readonly kind: number;
  readonly name: string;
  readonly actor: string;
  readonly roles: number;
  readonly tenant: string | null;
  readonly types: string | null;
  readonly created_by: string;
  readonly ttl_ms: number;
  readonly until: number;
}

/** A token with a parent expires with its parent at the latest. */
export function tokenColumns(token: TokenToStore, parentExpiresAt: number | null): TokenColumns {
  return {
    kind: tokenKindCodec.code[token.kind],
    name: token.name,
    actor: token.actor,
    roles: roleBits(token.roles),
    tenant: token.tenant,
    types: token.types === null ? null : JSON.stringify(token.types),
    created_by: token.createdBy,
    ttl_ms: Math.round(token.ttlMs),
    until: parentExpiresAt ?? EXPIRY_MAX,
  };
}

/** The columns of a stored token, with ids as text. */
interface StoredToken extends Omit<TokenColumns, "ttl_ms" | "until"> {
  readonly id: TokenId;
  readonly job_id: JobId | null;
  readonly parent: TokenId | null;
  readonly created_at: number;
  readonly expires_at: number;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
}

export function tokenRecord(row: StoredToken): TokenRecord {
  const roles: readonly PersonRole[] = rolesOfBits(row.roles);
  return {
    id: row.id,
    kind: tokenKindCodec.word(row.kind),
    name: row.name,
    actor: row.actor,
    roles,
    tenant: row.tenant,
    types: row.types === null ? null : typesOf(row.types),
    jobId: row.job_id,
    parentId: row.parent,
    createdBy: row.created_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}

/** A list that was damaged in the file allows no type. */
function typesOf(json: string): readonly string[] {
  try {
    const types: unknown = JSON.parse(json);
    return Array.isArray(types) ? types.map(String) : [];
  } catch {
    return [];
  }
}

function areTypes(types: readonly string[]): boolean {
  return types.length <= TYPES_MAX && types.every(isText);
}

/** PostgreSQL refuses U+0000 and lone surrogates. */
function isText(text: string): boolean {
  const isShort = text.length > 0 && text.length <= TEXT_MAX;
  return isShort && text.isWellFormed() && !text.includes("\0");
}
