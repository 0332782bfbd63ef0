/**
 * When the last heartbeat was sent, and when the last one that succeeded was sent and answered. The
 * memory is shared with the thread of the heartbeat: an event loop that was blocked reads the
 * newest times before it receives the messages of the thread. The event loop tells its delay when
 * it hears of a heartbeat, and the next heartbeat takes the delay along.
 */
import type { AnsweredRenewal } from "./steadiness.ts";

const RENEWED = 0;
const SENT = 1;
const ANSWERED = 2;
const LAG = 3;
const TOLD = 4;
const CELLS = 5;
const NEVER = -1n;

/** Times of the monotonic clock, in milliseconds. All threads of a process share this clock. */
export class BeatTimes {
  readonly buffer: SharedArrayBuffer;
  readonly #cells: BigInt64Array;

  /** Without a buffer: new memory, in which no heartbeat has been sent. */
  constructor(buffer?: SharedArrayBuffer) {
    this.buffer = buffer ?? new SharedArrayBuffer(CELLS * BigInt64Array.BYTES_PER_ELEMENT);
    this.#cells = new BigInt64Array(this.buffer);
    if (buffer === undefined) this.#cells.fill(NEVER);
  }

  /** When the last heartbeat was sent. Null: none was sent. */
  get sentAt(): number | null {
    return this.#read(SENT);
  }

  /** When the last heartbeat that succeeded was sent. Null: none has succeeded. */
  get renewedAt(): number | null {
    return this.#read(RENEWED);
  }

  /** When the last heartbeat that succeeded was answered. Null: none has succeeded. */
  get answeredAt(): number | null {
    return this.#read(ANSWERED);
  }

  sending(at: number): void {
    this.#raise(SENT, at);
  }

  /** A heartbeat has succeeded. */
  renewed({ sentAt, answeredAt }: AnsweredRenewal): void {
    this.#raise(RENEWED, sentAt);
    this.#raise(ANSWERED, answeredAt);
  }

  /**
   * The event loop had this delay since it told one before. A loop that was blocked hears of
   * several heartbeats at once: the largest delay stays until it is taken.
   */
  tellLag(lagMs: number, at: number): void {
    const micros = microsOf(lagMs);
    let before = NEVER;
    let seen = Atomics.compareExchange(this.#cells, LAG, before, micros);
    while (seen !== before && seen < micros) {
      before = seen;
      seen = Atomics.compareExchange(this.#cells, LAG, before, micros);
    }
    Atomics.store(this.#cells, TOLD, microsOf(at));
  }

  /** Whether the event loop has told its delay since a heartbeat was posted to it. */
  isHeard(postedAt: number): boolean {
    return Atomics.load(this.#cells, TOLD) >= microsOf(postedAt);
  }

  /**
   * The delay of the event loop since the last call, in whole milliseconds. `postedAt` is when the
   * first heartbeat was posted that the loop may not have heard of; a loop that has not is blocked
   * since then. Null: no delay is known.
   */
  takeLag(now: number, postedAt: number | null): number | null {
    const told = Atomics.exchange(this.#cells, LAG, NEVER);
    const isBlocked = postedAt !== null && !this.isHeard(postedAt);
    if (told === NEVER && !isBlocked) return null;
    return Math.round(Math.max(Number(told) / 1_000, isBlocked ? now - postedAt : 0));
  }

  #read(cell: number): number | null {
    const micros = Atomics.load(this.#cells, cell);
    return micros === NEVER ? null : Number(micros) / 1_000;
  }

  /** Rounds down, so that a lease never seems longer than it is. */
  #raise(cell: number, at: number): void {
    const micros = microsOf(at);
    if (micros > Atomics.load(this.#cells, cell)) Atomics.store(this.#cells, cell, micros);
  }
}

function microsOf(ms: number): bigint {
  return BigInt(Math.floor(ms * 1_000));
}
