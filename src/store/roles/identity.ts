/** What a server does: it checks tokens, and stores those that people create and revoke. */
import type { Act } from "../types/audit.ts";
import type { TokenToStore, TokenQuery, TokenId, TokenPage, TokenRecord } from "../types/tokens.ts";

export interface IdentityStore {
  /**
   * Stores a token. A token with a parent expires no later than its parent. `parent_ended`: the
   * parent is unknown, revoked or expired, and nothing was stored. Safe to repeat with the same id
   * and hash; a known id with another hash, or the reverse, is rejected with ID_CONFLICT. Sessions
   * and streams, which a server makes itself, have no audit entry.
   */
  createToken(token: TokenToStore, reason?: string | null): Promise<"created" | "parent_ended">;
  /**
   * The token with this hash. Null: there is none, it is revoked or expired, or its parent is. The
   * store's clock decides.
   */
  tokenOf(hash: Uint8Array): Promise<TokenRecord | null>;
  /**
   * Notes that tokens were used now. Unknown and revoked tokens stay as they are. The commit need
   * not wait for the disk. At most {@link MARKED_TOKENS_MAX} ids, else OPTION_INVALID.
   */
  markTokensUsed(ids: readonly TokenId[]): Promise<void>;
  /** One page of tokens, newest first by id. Tokens that have ended only with `includeEnded`. */
  tokens(filter: TokenQuery, page: TokenPage): Promise<readonly TokenRecord[]>;
  /** One token, also if it has ended; null if there is none. */
  token(id: TokenId): Promise<TokenRecord | null>;
  /**
   * Revokes a token and all tokens made from it, in one transaction. False: the token is unknown or
   * was revoked before.
   */
  revokeToken(id: TokenId, act?: Act): Promise<boolean>;
}

/** The maximum of tokens in one `markTokensUsed`. */
export const MARKED_TOKENS_MAX = 1_000;
