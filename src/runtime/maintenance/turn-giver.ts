/**
 * Gives turns to the jobs of fair lanes: `giveTurns`, at most every 25 ms, or every 100 ms while
 * the due times alone give a fair order, for as long as there are jobs to look at. Claims go on
 * meanwhile: jobs without a turn start in the order of their due times.
 *
 * A worker that knows of no fair lane sends nothing. The answer of `promote` says that jobs wait
 * for turns; for a minute after the last turn, each wake-up for claims is a reason to look as well.
 */
import { Ticker } from "../ticker.ts";
import { MOVE_BATCH, REST_MS, type DutyParts } from "./duty.ts";

/** The least time between two calls: after a call that has given turns, and after another. */
const TURNS_MS_MIN = 25;
const LOOK_MS_MIN = 100;
/** How long a worker looks for new jobs at every wake-up, after the last turn. */
const KNOWN_MS = 60_000;

export type TurnGiverParts = Pick<DutyParts, "store" | "clock" | "logger" | "pollMs">;

export class TurnGiver {
  readonly #parts: TurnGiverParts;
  readonly #ticker: Ticker;
  #nextAt = -Infinity;
  #knownUntil = -Infinity;

  constructor(parts: TurnGiverParts) {
    const { clock, logger, pollMs } = parts;
    this.#parts = parts;
    this.#ticker = new Ticker({
      clock,
      retryMs: pollMs,
      tick: () => this.#tick(),
      failed: (error) => logger.error("cannot give turns; trying again", { error }),
    });
  }

  /** Jobs wait for turns, or there is a fair lane. */
  wake(): void {
    this.#know();
    this.#ticker.wake();
  }

  /** A job may have become claimable. */
  hint(): void {
    if (this.isKnown) this.#ticker.wake();
  }

  /** The worker knows of a fair lane. */
  get isKnown(): boolean {
    return this.#parts.clock.monotonic() < this.#knownUntil;
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }

  #know(): void {
    this.#knownUntil = this.#parts.clock.monotonic() + KNOWN_MS;
  }

  async #tick(): Promise<number> {
    const { store, clock } = this.#parts;
    const now = clock.monotonic();
    // The timer of the ticker comes for nothing once no fair lane is known.
    if (!this.isKnown) return REST_MS;
    const restMs = this.#nextAt - now;
    if (restMs > 0) return restMs;
    this.#nextAt = now + TURNS_MS_MIN;
    const { given, more } = await store.giveTurns(MOVE_BATCH);
    if (given > 0) this.#know();
    else this.#nextAt = now + LOOK_MS_MIN;
    return more ? Math.max(1, this.#nextAt - clock.monotonic()) : REST_MS;
  }
}
