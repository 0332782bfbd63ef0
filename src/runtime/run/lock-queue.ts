/**
 * Which runs of one worker wait for an exclusive name, in the order in which they came.
 *
 * Where a run of the worker gives a name up, the first of them is called and asks the store at
 * once; it calls the next one when it is through. What others give up is found by asking again and
 * again, so a call is a hint: it may come for nothing, and whoever cannot use it passes it on.
 */
import type { OpenRun } from "../../store/types/notes.ts";

/** The same name of another tenant is another one. */
export interface LockName {
  readonly tenant: string;
  readonly name: string;
}

export interface Waiter {
  /** The name may be free. */
  call(name: string): void;
}

type RunName = Pick<OpenRun, "key" | "n">;

export class LockQueue {
  readonly #lines = new Map<string, Set<Waiter>>();
  /** What ended runs have until the store has heard of their end. */
  readonly #ends = new Map<string, readonly LockName[]>();

  /** Waits at the end of the line; whoever stands in it stays where it is. */
  join(name: LockName, waiter: Waiter): void {
    const line = this.#lines.get(textOf(name));
    if (line === undefined) this.#lines.set(textOf(name), new Set([waiter]));
    else line.add(waiter);
  }

  leave(name: LockName, waiter: Waiter): void {
    const line = this.#lines.get(textOf(name));
    if (line?.delete(waiter) === true && line.size === 0) this.#lines.delete(textOf(name));
  }

  isAwaited(name: LockName): boolean {
    return this.#lines.has(textOf(name));
  }

  /** The name was given up: the first in line leaves it, and asks. */
  call(name: LockName): void {
    const [first] = this.#lines.get(textOf(name)) ?? [];
    if (first === undefined) return;
    this.leave(name, first);
    first.call(name.name);
  }

  /** A run has ended, and gives these names up as soon as the store hears of that. */
  ending(run: RunName, names: readonly LockName[]): void {
    if (names.length > 0) this.#ends.set(runOf(run), names);
  }

  /** The store has heard of the end of a run. */
  ended(run: RunName): void {
    // Most have nothing, and there are very many.
    if (this.#ends.size === 0) return;
    const names = this.#ends.get(runOf(run)) ?? [];
    this.#ends.delete(runOf(run));
    for (const name of names) this.call(name);
  }
}

/** No tenant and no name contains U+0000. */
function textOf({ tenant, name }: LockName): string {
  return `${tenant}\0${name}`;
}

function runOf({ key, n }: RunName): string {
  return `${key}.${n}`;
}
