/** Ids that requests name: the newest ones, so that a long run needs no more memory. */
import type { Dice } from "../../../../src/core/clock.ts";

const IDS_MAX = 500;

export class Pool {
  readonly #ids: string[] = [];
  readonly #known = new Set<string>();
  #next = 0;

  add(id: string): void {
    if (this.#known.has(id)) return;
    const replaced = this.#ids[this.#next];
    if (replaced !== undefined) this.#known.delete(replaced);
    this.#ids[this.#next] = id;
    this.#known.add(id);
    this.#next = (this.#next + 1) % IDS_MAX;
  }

  has(id: string): boolean {
    return this.#known.has(id);
  }

  get first(): string {
    return this.#ids[0] ?? "";
  }

  any(dice: Pick<Dice, "random">): string | null {
    return this.#ids[Math.floor(dice.random() * this.#ids.length)] ?? null;
  }
}
