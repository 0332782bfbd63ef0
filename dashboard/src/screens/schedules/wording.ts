/** Schedules in words. Pure: the time and the zone are arguments. */
import type { Schedule, Tick } from "../../api/operations.gen.ts";
import type { StateName } from "../../parts/state.tsx";

export function missedText(missed: Schedule["missed"]): string {
  if (missed === "skip") return "skip missed";
  if (missed === "once") return "one for all missed";
  return `up to ${missed.all} missed`;
}

export function overlapText(overlap: Schedule["overlap"]): string {
  return { skip: "no overlap", queue: "queue behind the last", replace: "replace the last" }[
    overlap
  ];
}

/** The sentence of the API without its zone, which stands beside the expression. */
export function sentenceOf({ description, timeZone }: Pick<Schedule, "description" | "timeZone">) {
  const end = ` ${timeZone}`;
  const text = description.endsWith(end) ? description.slice(0, -end.length) : description;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export interface TickMark {
  readonly state: StateName;
  readonly word: string;
}

const MARKS: Readonly<Record<Tick["outcome"], TickMark>> = {
  made: { state: "completed", word: "Made a job" },
  run_now: { state: "running", word: "Run now by a person" },
  skipped: { state: "cancelled", word: "Skipped: the last job was not done" },
  replaced: { state: "retrying", word: "Replaced the last job" },
  missed: { state: "completed_with_errors", word: "Missed: no worker was up" },
  duplicate: { state: "held", word: "The job existed already" },
  refused: { state: "failed", word: "Refused" },
  intake_closed: { state: "failed", word: "Refused: the intake is closed" },
  over_quota: { state: "failed", word: "Refused: over the quota" },
};

export function tickMark(outcome: Tick["outcome"]): TickMark {
  return MARKS[outcome] ?? { state: "held", word: outcome };
}

export interface RunChip {
  readonly at: number;
  readonly text: string;
  /** The clocks change between the run before and this one. */
  readonly isShifted: boolean;
}

/**
 * The next runs, short: a later run on another day with the same time shows the day alone, one on
 * the same day the time alone.
 */
export function runChips(
  runs: readonly number[],
  timeZone: string,
  now: number,
): readonly RunChip[] {
  const zone = knownZone(timeZone);
  return runs.map((at, index) => {
    const before = runs[index - 1];
    const here = partsOf(at, zone);
    const last = partsOf(before ?? now, zone);
    const isSameDay = here.date === last.date;
    const isSameTime = before !== undefined && here.time === last.time;
    const day = at - now < 6 * DAY_MS ? here.weekday : here.date;
    const text = isSameDay ? here.time : isSameTime ? day : `${day} ${here.time}`;
    const isShifted = before !== undefined && here.offset !== last.offset;
    return { at, text: isSameDay && isSameTime ? `${day} ${here.time}` : text, isShifted };
  });
}

const DAY_MS = 86_400_000;

interface Parts {
  readonly weekday: string;
  readonly date: string;
  readonly time: string;
  readonly offset: string;
}

function partsOf(at: number, timeZone: string): Parts {
  const parts = new Map(
    new Intl.DateTimeFormat("en-GB", {
      timeZone,
      weekday: "short",
      day: "numeric",
      month: "short",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
      timeZoneName: "longOffset",
    })
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const of = (name: Intl.DateTimeFormatPartTypes): string => parts.get(name) ?? "";
  const seconds = of("second") === "00" ? "" : `:${of("second")}`;
  return {
    weekday: of("weekday"),
    date: `${of("day")} ${of("month")}`,
    time: `${of("hour")}:${of("minute")}${seconds}`,
    offset: of("timeZoneName"),
  };
}

/** A browser may not know a zone that the server knows. */
export function knownZone(timeZone: string): string {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone;
  } catch {
    return "UTC";
  }
}
