/** Links that sign a browser in once, for the person who started the server. */
import type { Clock, Dice } from "../../core/clock.ts";
import type { Identity } from "./identity.ts";

const LINK_MS_MAX = 900_000;
const CODE_BYTES = 32;
const LINKS_MAX = 100;

interface Link {
  readonly identity: Identity;
  readonly until: number;
}

export class OneTimeLinks {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #dice: Pick<Dice, "bytes">;
  readonly #links = new Map<string, Link>();

  constructor(clock: Pick<Clock, "monotonic">, dice: Pick<Dice, "bytes">) {
    this.#clock = clock;
    this.#dice = dice;
  }

  /** A code that `redeem` takes once, within 15 minutes. */
  make(identity: Identity): string {
    const code = Buffer.from(this.#dice.bytes(CODE_BYTES)).toString("base64url");
    this.#links.set(code, { identity, until: this.#clock.monotonic() + LINK_MS_MAX });
    for (const oldest of this.#links.keys()) {
      if (this.#links.size <= LINKS_MAX) break;
      this.#links.delete(oldest);
    }
    return code;
  }

  /** Who the link signs in; null: the code is unknown, used or expired. */
  redeem(code: string): Identity | null {
    const link = this.#links.get(code);
    this.#links.delete(code);
    return link !== undefined && this.#clock.monotonic() < link.until ? link.identity : null;
  }
}
