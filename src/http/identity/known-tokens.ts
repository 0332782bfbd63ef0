/**
 * Remembers for a moment whose tokens were valid, so that a busy caller does not cost a query per
 * request. A revoked token is refused everywhere after {@link REMEMBERED_MS} at the latest.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import type { Tokens, TokenView } from "../../api/tokens.ts";

const REMEMBERED_MS = 2_000;
const TOKENS_MAX = 1_000;

interface Verdict {
  readonly until: number;
  readonly token: Promise<TokenView | null>;
}

export class KnownTokens {
  readonly #tokens: Pick<Tokens, "verify">;
  readonly #clock: Pick<Clock, "monotonic">;
  /** By the hash of the secret, oldest first. */
  readonly #verdicts = new Map<string, Verdict>();

  constructor(tokens: Pick<Tokens, "verify">, clock: Pick<Clock, "monotonic">) {
    this.#tokens = tokens;
    this.#clock = clock;
  }

  /** Whose secret this is; null: it is no valid token. */
  async verify(secret: string): Promise<TokenView | null> {
    const key = createHash("sha256").update(secret).digest("base64");
    const now = this.#clock.monotonic();
    const known = this.#verdicts.get(key);
    if (known !== undefined && now < known.until) return known.token;
    const token = this.#tokens.verify(secret);
    this.#verdicts.delete(key);
    this.#verdicts.set(key, { until: now + REMEMBERED_MS, token });
    for (const oldest of this.#verdicts.keys()) {
      if (this.#verdicts.size <= TOKENS_MAX) break;
      this.#verdicts.delete(oldest);
    }
    try {
      return await token;
    } catch (error) {
      this.#verdicts.delete(key);
      throw error;
    }
  }

  /** A logout of this process counts at once. */
  forget(secret: string): void {
    this.#verdicts.delete(createHash("sha256").update(secret).digest("base64"));
  }
}
