/**
 * Combines overlapping calls into batches of one statement. Calls that arrive while a batch is in
 * flight wait for the next batch. A second batch is sent at the same time only when many items
 * wait.
 */
import { isValue } from "../../../lib/maybe-promise.ts";
import { soon } from "../../../lib/system.ts";

interface Call<Item, Answer> {
  readonly items: readonly Item[];
  readonly resolve: (answers: readonly Answer[]) => void;
  readonly reject: (error: unknown) => void;
}

interface BatcherOptions<Item, Answer> {
  /**
   * Sends one batch. Answers have the order of the items. An answer that takes longer than the
   * batch is a promise, which delays only its own call.
   */
  readonly flush: (items: readonly Item[]) => Promise<readonly (Answer | Promise<Answer>)[]>;
  /** Batches in flight at the same time. */
  readonly concurrencyMax: number;
  /** Waiting items that justify a batch beside one in flight. */
  readonly overlapItemsMin: number;
  /** A full batch, by items and by weight. A call is never split. */
  readonly itemsMax: number;
  readonly weightMax: number;
  readonly weigh: (item: Item) => number;
}

export class Batcher<Item, Answer> {
  readonly #options: BatcherOptions<Item, Answer>;
  #queue: Call<Item, Answer>[] = [];
  #inFlight = 0;
  #scheduled = false;

  constructor(options: BatcherOptions<Item, Answer>) {
    this.#options = options;
  }

  add(items: readonly Item[]): Promise<readonly Answer[]> {
    if (items.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      this.#queue.push({ items, resolve, reject });
      if (this.#scheduled) return;
      this.#scheduled = true;
      // One event loop turn later, so that calls of the same turn share a batch.
      soon(() => {
        this.#scheduled = false;
        this.#sendBatches();
      });
    });
  }

  #sendBatches(): void {
    while (this.#queue.length > 0 && this.#maySend()) {
      this.#inFlight += 1;
      void this.#send(this.#takeBatch());
    }
  }

  #maySend(): boolean {
    if (this.#inFlight === 0) return true;
    const { concurrencyMax: flightsMax, overlapItemsMin: crowd } = this.#options;
    if (this.#inFlight >= flightsMax) return false;
    return this.#queue.reduce((sum, { items }) => sum + items.length, 0) >= crowd;
  }

  /** Removes the oldest calls that fit into one batch, at least one, from the queue. */
  #takeBatch(): Call<Item, Answer>[] {
    const { itemsMax, weightMax, weigh } = this.#options;
    let [count, weight] = [0, 0];
    const end = this.#queue.findIndex(({ items }, index) => {
      count += items.length;
      weight += items.reduce((sum, item) => sum + weigh(item), 0);
      return index > 0 && (count > itemsMax || weight > weightMax);
    });
    return this.#queue.splice(0, end === -1 ? this.#queue.length : end);
  }

  async #send(calls: readonly Call<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.#options.flush(calls.flatMap(({ items }) => items));
      let from = 0;
      for (const { items, resolve, reject } of calls) {
        const own = answers.slice(from, from + items.length);
        if (own.every(isValue)) resolve(own);
        else Promise.all(own).then(resolve, reject);
        from += items.length;
      }
    } catch (error) {
      for (const { reject } of calls) reject(error);
    } finally {
      this.#inFlight -= 1;
      this.#sendBatches();
    }
  }
}
