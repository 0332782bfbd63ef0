/**
 * Limits how often wake-ups are passed on, both to other processes and from them.
 *
 * The first wake-up is passed on at once, and a pause follows. Wake-ups in the pause are merged,
 * and one is passed on at the end of the pause: the last one is never lost. After a pause in which
 * wake-ups came less than {@link TRICKLE_MS} apart, the next pause is twice as long, up to
 * {@link PAUSE_MS_MAX}: a flood is passed on at most 20 times in its first second. Any other pause
 * ends the flood, so that a trickle which follows a flood is not delayed.
 *
 * Three kinds of wake-up do not delay each other: new work, final jobs, and other events.
 */
import type { Clock } from "../../../core/clock.ts";
import { mergeWakeUps } from "../../types/wake-ups.ts";
import type { WakeUp } from "../../store.ts";

const PAUSE_MS_MIN = 10;
const PAUSE_MS_MAX = 60;
/** Wake-ups that come further apart are a trickle. */
const TRICKLE_MS = 20;

type Group = "work" | "final" | "events";

/** Passes a wake-up on. Never throws. The pause begins when the promise resolves. */
export type PassOn = (wakeUp: WakeUp) => Promise<void> | void;

export class WakeUpThrottle {
  readonly #groups: Readonly<Record<Group, GroupThrottle>>;

  constructor(clock: Pick<Clock, "after">, passOn: PassOn) {
    this.#groups = {
      work: new GroupThrottle(clock, passOn),
      final: new GroupThrottle(clock, passOn),
      events: new GroupThrottle(clock, passOn),
    };
  }

  add(wakeUp: WakeUp): void {
    this.#groups[groupOf(wakeUp)].add(wakeUp);
  }

  /** True: the caller passes the wake-up on, and the pause begins. False during a pause. */
  takeTurn(wakeUp: WakeUp): boolean {
    return this.#groups[groupOf(wakeUp)].takeTurn();
  }

  /** Passes on what waits, without a pause. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.#groups).map((group) => group.close()));
  }
}

function groupOf(wakeUp: WakeUp): Group {
  return wakeUp === "final" || wakeUp === "events" ? wakeUp : "work";
}

class GroupThrottle {
  readonly #clock: Pick<Clock, "after">;
  readonly #passOn: PassOn;
  #waiting: WakeUp | null = null;
  /** Wake-ups since the pause began. */
  #arrivals = 0;
  #pauseMs = PAUSE_MS_MIN;
  #running: Promise<void> | null = null;
  #endPause = (): void => {};
  #isClosed = false;

  constructor(clock: Pick<Clock, "after">, passOn: PassOn) {
    this.#clock = clock;
    this.#passOn = passOn;
  }

  add(wakeUp: WakeUp): void {
    this.#arrivals += 1;
    this.#waiting = this.#waiting === null ? wakeUp : mergeWakeUps(this.#waiting, wakeUp);
    this.#running ??= this.#run();
  }

  takeTurn(): boolean {
    if (this.#running !== null) return false;
    this.#running = this.#pause().then(() => this.#run());
    return true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endPause();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting !== null) {
      const wakeUp = this.#waiting;
      this.#waiting = null;
      await this.#passOn(wakeUp);
      await this.#pause();
    }
    this.#running = null;
  }

  async #pause(): Promise<void> {
    if (this.#isClosed) return;
    this.#arrivals = 0;
    await new Promise<void>((resolve) => {
      const stop = this.#clock.after(this.#pauseMs, resolve);
      this.#endPause = () => {
        stop();
        resolve();
      };
    });
    const isFlood = this.#arrivals * TRICKLE_MS > this.#pauseMs;
    this.#pauseMs = isFlood ? Math.min(2 * this.#pauseMs, PAUSE_MS_MAX) : PAUSE_MS_MIN;
  }
}
