/** Reads that callers want at the same moment: one read answers all of them. */
import { soon } from "./system.ts";

export class SharedReads<Answer> {
  /** The reads that begin in the next turn of the event loop. */
  readonly #next = new Map<string, Promise<Answer>>();

  /** The answer of a read that begins after this call. Calls with the same key may share it. */
  read(key: string, load: () => Promise<Answer>): Promise<Answer> {
    const known = this.#next.get(key);
    if (known !== undefined) return known;
    const answer = nextTurn().then(() => {
      this.#next.delete(key);
      return load();
    });
    this.#next.set(key, answer);
    return answer;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => soon(resolve));
}
