/** The schedules of the simulation: those that workers declare, and those that operators make. */
import { schedule, type Schedule, type Timing } from "millrace";
import { contracts, type Payload } from "./jobs.ts";

/** A schedule is due at each multiple of its period, which divides a minute. */
export const PERIODS: readonly number[] = [1, 2, 3, 5];
/** The only schedule that operators leave alone: it wakes the schedulers. */
const PULSE = "pulse";
export const CODE_NAMES: readonly string[] = ["eager", "lazy", "swap"];
export const OPERATOR_NAMES: readonly string[] = ["op1", "op2"];

const QUICK: Payload = { token: 1, runs: ["ok"], ms: 5 };
/** Longer than most periods, so that slots overlap. */
const LONG: Payload = { token: 1, runs: ["slow"], ms: 2_500 };

/** What the code of a process declares. Each second release has another period. */
export function declared(release: number): readonly Schedule[] {
  const lazy = everySeconds(release % 2 === 0 ? 1 : 2);
  return [
    schedule(PULSE, { cron: everySeconds(3) }, contracts[0], QUICK),
    schedule("eager", { cron: everySeconds(2), missed: { all: 5 } }, contracts[0], QUICK),
    schedule("lazy", { cron: lazy, missed: "skip", overlap: "skip" }, contracts[0], LONG),
    schedule("swap", { cron: everySeconds(2), overlap: "replace" }, contracts[0], LONG),
  ];
}

export function operated(name: string, when: Timing): Schedule {
  const isLong = when.overlap === "skip" || when.overlap === "replace";
  return schedule(name, when, contracts[0], isLong ? LONG : QUICK);
}

export function everySeconds(period: number): string {
  return period === 1 ? "* * * * * *" : `*/${period} * * * * *`;
}

/** The reverse. */
export function periodMsOf(cron: string): number {
  const [, period = "1"] = /^\*\/(\d+) /.exec(cron) ?? [];
  return Number(period) * 1_000;
}
