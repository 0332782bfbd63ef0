/** `mill.tokens`: credentials for people and programs that reach the mill over HTTP. */
import type { ActedBy } from "./control/audit.ts";
import type { Duration } from "../core/duration.ts";
import type { PersonRole } from "../store/types/tokens.ts";

export type { PersonRole } from "../store/types/tokens.ts";

export interface Tokens {
  /**
   * Makes a token. The secret is in the answer and nowhere else: the store keeps only its hash.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * const { tokens } = test.mill;
   * const { secret, token } = await tokens.create({
   *   kind: "producer",
   *   name: "web shop",
   *   types: ["email"],
   *   tenant: "acme",
   * });
   * assert.match(secret, /^mr_producer_/);
   * assert.equal((await tokens.verify(secret))?.tenant, "acme");
   * await tokens.revoke(token.id);
   * assert.equal(await tokens.verify(secret), null);
   * ```
   */
  create(token: NewToken, by?: ActedBy): Promise<CreatedToken>;
  /** Lists tokens, newest first; without those that have ended, unless `ended` is true. */
  list(filter?: TokenFilter): Promise<readonly TokenView[]>;
  /** Ends a token, and every session and stream token that was made with it. */
  revoke(id: string, by?: ActedBy): Promise<void>;
  /** Whose secret this is; `null` if it is unknown, revoked or expired. */
  verify(secret: string): Promise<TokenView | null>;
}

export type NewToken =
  | (TokenName & { readonly kind: "person"; readonly roles: readonly PersonRole[] })
  | (TokenName & {
      readonly kind: "producer" | "worker";
      /** The job types that the token may enqueue or run. Default: all. */
      readonly types?: readonly string[];
    })
  /** Reads one job, for at most ten minutes. The only kind that a URL may contain. */
  | (TokenName & { readonly kind: "stream"; readonly jobId: string; readonly parentId?: string })
  /** The session of a browser, made from the token of a person. */
  | (TokenName & {
      readonly kind: "session";
      readonly roles: readonly PersonRole[];
      readonly parentId?: string;
    });

interface TokenName {
  /** What people call the token, such as "ci" or "Ada's laptop". */
  readonly name: string;
  /** Who acts with the token, for the records. Default: the name. */
  readonly actor?: string;
  /** The only tenant that the token reaches. Default: all tenants. */
  readonly tenant?: string;
  /** How long the token is valid. Default: 90 days; sessions 12 hours, streams ten minutes. */
  readonly ttl?: Duration;
}

export interface CreatedToken {
  readonly token: TokenView;
  /** 256 random bits behind a prefix that names the kind, such as `mr_person_`. */
  readonly secret: string;
}

export interface TokenFilter {
  kind?: TokenView["kind"];
  tenant?: string;
  /** Also tokens that were revoked or have expired. */
  ended?: boolean;
  /** The id of the last token of the previous page. */
  after?: string;
  /** The maximum number of tokens. Default 50, at most 1,000. */
  limit?: number;
}

/** A token without its secret. */
export interface TokenView {
  readonly id: string;
  readonly kind: "person" | "producer" | "worker" | "stream" | "session";
  readonly name: string;
  readonly actor: string;
  readonly roles: readonly PersonRole[];
  /** `null` means all tenants. */
  readonly tenant: string | null;
  /** The job types of a producer or worker; `null` means all. */
  readonly types: readonly string[] | null;
  /** The job that a stream token may read. */
  readonly jobId: string | null;
  readonly parentId: string | null;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}
