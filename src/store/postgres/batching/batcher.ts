/**
 * Lets overlapping calls share one statement. What arrives while a batch is on its way waits and
 * goes together with the next one; only a crowd has a second flight for itself before that.
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
   * Sends one batch. The answers stand in the order of the items; one that comes later than the
   * others is a promise, and holds up only its own call.
   */
  readonly flush: (items: readonly Item[]) => Promise<readonly (Answer | Promise<Answer>)[]>;
  /** Batches on their way at the same time. */
  readonly flightsMax: number;
  /** So many items are worth a flight beside others. */
  readonly crowd: number;
  /** Items and weight at which a batch is full. One call is never split. */
  readonly itemsMax: number;
  readonly weightMax: number;
  readonly weigh: (item: Item) => number;
}

export class Batcher<Item, Answer> {
  readonly #options: BatcherOptions<Item, Answer>;
  #queue: Call<Item, Answer>[] = [];
  #flights = 0;
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
      // A turn later: calls of the same turn go together.
      soon(() => {
        this.#scheduled = false;
        this.#depart();
      });
    });
  }

  #depart(): void {
    while (this.#queue.length > 0 && this.#mayDepart()) {
      this.#flights += 1;
      void this.#fly(this.#board());
    }
  }

  #mayDepart(): boolean {
    if (this.#flights === 0) return true;
    const { flightsMax, crowd } = this.#options;
    if (this.#flights >= flightsMax) return false;
    return this.#queue.reduce((sum, { items }) => sum + items.length, 0) >= crowd;
  }

  /** The calls at the head of the queue that fit into one batch, at least one. */
  #board(): Call<Item, Answer>[] {
    const { itemsMax, weightMax, weigh } = this.#options;
    let [count, weight] = [0, 0];
    const end = this.#queue.findIndex(({ items }, index) => {
      count += items.length;
      weight += items.reduce((sum, item) => sum + weigh(item), 0);
      return index > 0 && (count > itemsMax || weight > weightMax);
    });
    return this.#queue.splice(0, end === -1 ? this.#queue.length : end);
  }

  async #fly(calls: readonly Call<Item, Answer>[]): Promise<void> {
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
      this.#flights -= 1;
      this.#depart();
    }
  }
}
