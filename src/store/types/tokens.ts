/** API tokens: who may call the service, and for what. */
import type { JobId } from "../../core/job.ts";

/** An id like that of a job. It names the token and is no secret. */
export type TokenId = JobId;

/** What a person may do. Roles add up; `admin` alone sees no payload and changes no job. */
export type PersonRole = "viewer" | "operator" | "manager" | "admin";

export type TokenKind = "person" | "producer" | "worker" | "stream" | "session";

/** What a token is for. The secret is not part of it. */
interface TokenSpec {
  readonly id: TokenId;
  readonly kind: TokenKind;
  /** What people call it: "ci", "Ada's laptop". */
  readonly name: string;
  /** Who acts with it, for records. */
  readonly actor: string;
  /** Roles of a person or a session; empty for other kinds. */
  readonly roles: readonly PersonRole[];
  /** Null: all tenants. */
  readonly tenant: string | null;
  /** The job types of a producer or a worker. Null: all types. */
  readonly types: readonly string[] | null;
  /** The one job that a stream may read; null for other kinds. */
  readonly jobId: JobId | null;
  /** The token that a session or a stream was made from. Null: there is none. */
  readonly parentId: TokenId | null;
  readonly createdBy: string;
}

/** A token as the store knows it, without the hash of its secret. */
export interface TokenRecord extends TokenSpec {
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

export interface TokenToStore extends TokenSpec {
  /** The SHA-256 of the secret: 32 bytes. */
  readonly hash: Uint8Array;
  /** How long the token is valid, in milliseconds from now. */
  readonly ttlMs: number;
}

export interface TokenQuery {
  readonly kinds?: readonly TokenKind[];
  /** Only tokens of this tenant. Tokens for all tenants are not among them. */
  readonly tenant?: string;
  /** Also tokens that have expired or were revoked. */
  readonly includeEnded?: boolean;
}

export interface TokenPage {
  /** The last token of the previous page. Pages are newest first, so older tokens follow. */
  readonly after?: TokenId;
  readonly limit: number;
}
