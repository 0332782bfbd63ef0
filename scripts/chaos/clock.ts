/** Clocks of processes that can be made to jump by whole hours, and the way back to true time. */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { History } from "../show/lib/fleet/history.ts";

const HOUR_MS = 3_600_000;

/** For Node: loads the clock before anything else, in every thread. */
export const CLOCK_OPTIONS: readonly string[] = [
  "--import",
  new URL("jumping-clock.ts", import.meta.url).href,
];

/** A clock that some processes share. */
export class JumpingClock {
  readonly env: Readonly<Record<string, string>>;
  readonly #file: string;
  #offsetMs = 0;

  constructor(folder: string, name: string) {
    this.#file = join(folder, `clock-${name}`);
    this.env = { MILLRACE_CHAOS_CLOCK: this.#file };
    this.#write();
  }

  /** Jumps by so many hours from where it is. */
  jump(hours: number): void {
    this.#offsetMs += hours * HOUR_MS;
    this.#write();
  }

  /** Whole, or not at all: another process may be reading. */
  #write(): void {
    writeFileSync(`${this.#file}.new`, String(this.#offsetMs));
    renameSync(`${this.#file}.new`, this.#file);
  }
}

/**
 * The history in true time. Clocks jump by whole hours and a fleet lives for minutes, so that what
 * remains of an instant after whole hours were taken off is when it really was.
 */
export function inTrueTime(seen: History, around: number): History {
  const real = (at: number): number => {
    const apart = at - around + HOUR_MS / 2;
    return around + (apart - Math.floor(apart / HOUR_MS) * HOUR_MS) - HOUR_MS / 2;
  };
  const inTime = <Line extends { readonly at?: number }>(line: Line): Line =>
    line.at === undefined ? line : { ...line, at: real(line.at) };
  const store = [...(seen.store ?? [])].map(([id, job]) => {
    const attempts = job.attempts.map((each) => ({ ...each, finishedAt: real(each.finishedAt) }));
    return [id, { ...job, attempts }] as const;
  });
  return {
    ...seen,
    acks: seen.acks
      .map(inTime)
      .map((ack) => (ack.dueAt === undefined ? ack : { ...ack, dueAt: real(ack.dueAt) })),
    ledger: seen.ledger.map(inTime),
    store: new Map(store),
    ...(seen.cancels !== undefined && { cancels: seen.cancels.map(inTime) }),
  };
}
