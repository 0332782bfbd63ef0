/**
 * The slots of a cron expression: the instants at which it is due. `croner` finds the local times
 * that an expression names; this file turns them into instants, so that the rule for the days on
 * which the clocks change is ours:
 *
 * - **Fixed hours** (`30 2 * * *`): every local time is due once. A local time that the clocks skip
 *   is due at the first instant after the gap. A local time that comes twice is due the first time.
 * - **An hour with `*`** (every hour, every 15 minutes): elapsed time counts. A local time that the
 *   clocks skip is left out, and one that comes twice is due both times.
 */
import { Cron } from "croner";
import { HOUR, readCron } from "./cron.ts";
import { timeZone, type TimeZone } from "./time-zone.ts";

export interface CronSpec {
  readonly cron: string;
  /** An IANA name. */
  readonly timeZone: string;
}

export interface Slots {
  /** The first slot after an instant; null: there is none before the year 10,000. */
  next(after: number): number | null;
  /** All slots after `from` and up to `to`, at most `max`. */
  between(from: number, to: number, max: number): readonly number[];
  /** The newest slots of that range, oldest first, at most `max`. */
  latest(from: number, to: number, max: number): readonly number[];
}

/** The specs that are kept ready for their next tick: to read one takes longer than a tick. */
const KEPT_MAX = 1_000;
const kept = new Map<string, Slots>();

/** Throws for an expression or a time zone that cannot be read. */
export function slotsOf(spec: CronSpec): Slots {
  const name = `${spec.timeZone} ${spec.cron}`;
  const known = kept.get(name);
  if (known !== undefined) return known;
  const slots = read(spec);
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(name, slots);
  return slots;
}

function read(spec: CronSpec): Slots {
  const fields = readCron(spec.cron);
  if (typeof fields === "string") throw new RangeError(`cron ${spec.cron}: ${fields}`);
  const zone = timeZone(spec.timeZone);
  const local = new Cron(pattern(fields), { utcOffset: 0 });
  const nextLocal = (after: number): number | null =>
    local.nextRun(new Date(after))?.getTime() ?? null;
  const isElapsed = fields.texts[HOUR]!.includes("*");
  const find = isElapsed ? nextElapsed : nextFixed;
  const next = (after: number): number | null => find(zone, nextLocal, after);
  const between = (from: number, to: number, max: number): readonly number[] => {
    const found: number[] = [];
    for (let slot = next(from); slot !== null && slot <= to && found.length < max;) {
      found.push(slot);
      slot = next(slot);
    }
    return found;
  };
  return { next, between, latest: (from, to, max) => latest(between, from, to, max) };
}

/** The values as lists of numbers, so that no other dialect of cron has a say. */
function pattern({ texts, values }: Exclude<ReturnType<typeof readCron>, string>): string {
  return values.map((list, index) => (texts[index] === "*" ? "*" : list.join(","))).join(" ");
}

type NextLocal = (after: number) => number | null;

function nextFixed(zone: TimeZone, nextLocal: NextLocal, after: number): number | null {
  let local = nextLocal(after + zone.offsetAt(after));
  while (local !== null) {
    const slot = zone.instantsOf(local)[0] ?? zone.instantAfterGap(local);
    if (slot > after) return slot;
    // `after` is in the repeated hour, and this local time was due before.
    local = nextLocal(local);
  }
  return null;
}

function nextElapsed(zone: TimeZone, nextLocal: NextLocal, after: number): number | null {
  const first = nextUnrepeated(zone, nextLocal, after);
  const change = zone.changeAfter(after);
  if (first === null || change === null) return first;
  // When the clocks go back soon, local times before that of `after` come again.
  const [before, offset] = [zone.offsetAt(change - 1), zone.offsetAt(change)];
  // There is one: a slot comes after this local time.
  const again = nextLocal(change + offset - 1)!;
  return again < change + before ? Math.min(first, again - offset) : first;
}

/** The next slot whose local time is later than the local time now. */
function nextUnrepeated(zone: TimeZone, nextLocal: NextLocal, after: number): number | null {
  let local = nextLocal(after + zone.offsetAt(after));
  while (local !== null) {
    const slot = zone.instantsOf(local).find((instant) => instant > after);
    if (slot !== undefined) return slot;
    local = nextLocal(local);
  }
  return null;
}

/** Finds the last instant after which there are still `max` slots. */
function latest(
  between: Slots["between"],
  from: number,
  to: number,
  max: number,
): readonly number[] {
  const all = between(from, to, max + 1);
  if (all.length <= max || max === 0) return all.slice(0, max);
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (between(middle, to, max).length === max) low = middle;
    else high = middle;
  }
  return between(low, to, max);
}
