/**
 * The slots of cron expressions by a second computation, which shares nothing with the library: it
 * walks over every minute and knows the local times from Intl alone.
 */

export interface Rule {
  readonly cron: string;
  /** The same as a predicate on a local minute. */
  readonly fits: (local: LocalMinute) => boolean;
  /** The seconds of such a minute. */
  readonly seconds: readonly number[];
  /** The hour has `*`: elapsed time counts. */
  readonly isElapsed: boolean;
  /** Slots after the one and up to the other. */
  readonly window?: { readonly startsAt: number; readonly endsAt: number };
}

export interface LocalMinute {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  /** 1 is January. */
  readonly month: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

/** From this instant on, local time minus UTC is `offset`, in milliseconds. */
export interface Stretch {
  readonly from: number;
  readonly offset: number;
}

const [SECOND, MINUTE, QUARTER, DAY] = [1_000, 60_000, 900_000, 86_400_000];

/**
 * The offsets of a zone, asked of Intl at both ends of every quarter hour. Where the ends differ,
 * Intl is asked at the first and last second of every minute. Throws if a clock changes within one.
 */
export function stretchesOf(timeZone: string, from: number, to: number): readonly Stretch[] {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  const offsetAt = (at: number): number =>
    Date.parse(`${format.format(at).replace(" ", "T")}Z`) - at;
  const stretches: Stretch[] = [{ from, offset: offsetAt(from) }];
  const note = (at: number, offset: number): void => {
    if (stretches.at(-1)?.offset !== offset) stretches.push({ from: at, offset });
  };
  for (let quarter = from; quarter < to; quarter += QUARTER) {
    if (offsetAt(quarter + QUARTER) === stretches.at(-1)?.offset) continue;
    for (let at = quarter + MINUTE; at <= quarter + QUARTER; at += MINUTE) {
      const [before, offset] = [offsetAt(at - SECOND), offsetAt(at)];
      if (before !== stretches.at(-1)?.offset) throw new Error(`${timeZone} changes in a minute`);
      note(at, offset);
    }
  }
  return stretches;
}

/** The slots of each rule after `from` and up to `to`. */
export function walk(
  stretches: readonly Stretch[],
  rules: readonly Rule[],
  from: number,
  to: number,
): readonly (readonly number[])[] {
  const slots = rules.map((): number[] => []);
  const local = new WalkedMinute();
  let [index, latest] = [0, from + stretches[0]!.offset];
  for (let at = from; at <= to; at += MINUTE) {
    if (stretches[index + 1]?.from === at) index += 1;
    const now = at + stretches[index]!.offset;
    rules.forEach((rule, which) => {
      const found = slots[which]!;
      if (rule.window !== undefined && !mayContain(rule.window, at)) return;
      if (!rule.isElapsed) {
        if (at > from && hasSkipped(rule, local, latest, now)) found.push(at);
        // This local time comes for the second time.
        if (at > from && now <= latest) return;
      }
      if (!rule.fits(local.set(now))) return;
      for (const second of rule.seconds) {
        const slot = at + second * SECOND;
        if (slot > from && slot <= to && found.at(-1) !== slot) found.push(slot);
      }
    });
    latest = Math.max(latest, now);
  }
  return slots.map((found, which) => {
    const { startsAt, endsAt } = rules[which]!.window ?? { startsAt: 0, endsAt: Infinity };
    return found.filter((slot) => slot >= startsAt && slot <= endsAt);
  });
}

function mayContain({ startsAt, endsAt }: NonNullable<Rule["window"]>, at: number): boolean {
  return at + MINUTE > startsAt && at <= endsAt;
}

/** Whether the clocks have just skipped a local minute that fits. */
function hasSkipped(rule: Rule, local: WalkedMinute, latest: number, now: number): boolean {
  for (let each = latest + MINUTE; each < now; each += MINUTE) {
    if (rule.fits(local.set(each))) return true;
  }
  return false;
}

/** One object for all minutes. The date is read only when the day has changed. */
class WalkedMinute implements LocalMinute {
  minute = 0;
  hour = 0;
  day = 0;
  month = 0;
  weekday = 0;
  #days = -1;

  set(local: number): this {
    const days = Math.floor(local / DAY);
    const minutes = Math.floor((local - days * DAY) / MINUTE);
    this.minute = minutes % 60;
    this.hour = Math.floor(minutes / 60);
    if (days !== this.#days) {
      const date = new Date(days * DAY);
      this.#days = days;
      this.day = date.getUTCDate();
      this.month = date.getUTCMonth() + 1;
      this.weekday = date.getUTCDay();
    }
    return this;
  }
}
