/** Decides which slots of a schedule make a job now, and which are missed. */
import { slotsOf, type CronSpec } from "./slots.ts";

/** A slot that is made within this time after it was due is not missed. */
const GRACE_MS = 60_000;
/** The maximum of missed slots that are made up for. */
export const MISSED_MAX = 1_000;
/** The maximum of a schedule's jitter: a day. */
export const JITTER_MS_MAX = 86_400_000;
/** In the year 2255: the last instant that both databases and JavaScript read exactly. */
const SLOT_MAX = 9_000_000_000_000;
/** The slots within the grace: an expression has at most one per second. */
const ON_TIME_MAX = GRACE_MS / 1_000 + 1;

export interface SlotRules extends CronSpec {
  /** The newest missed slots that are made up for: 0 skips all, 1 makes the last one. */
  readonly missedMax: number;
  /** No slot before the one and after the other. */
  readonly startsAt: number | null;
  readonly endsAt: number | null;
}

export interface TickPlan {
  /** The slots that are due, oldest first. */
  readonly slots: readonly number[];
  /** Slots that were missed and are not made up for: the first and the last of them. */
  readonly missed: { readonly first: number; readonly last: number } | null;
  /** The first slot after now; null: there is none. */
  readonly nextSlot: number | null;
}

/** The first slot of a schedule after an instant. */
export function firstSlot(rules: SlotRules, after: number): number | null {
  const { startsAt, endsAt } = rules;
  const slot = slotsOf(rules).next(Math.max(after, (startsAt ?? 0) - 1));
  return slot === null || slot > (endsAt ?? SLOT_MAX) ? null : slot;
}

/** The next slots after an instant, at most `max`. */
export function nextSlots(rules: SlotRules, after: number, max: number): readonly number[] {
  const from = Math.max(after, (rules.startsAt ?? 0) - 1);
  return slotsOf(rules).between(from, rules.endsAt ?? SLOT_MAX, max);
}

/** A month with all its days, and the slots of it that are compared. */
const SAMPLE_FROM_MS = Date.UTC(2026, 0, 1) - 1;
const SAMPLE_MS = 32 * 86_400_000;
const SAMPLE_MAX = 200;

/** The shortest time between two slots of a sample; Infinity: slots are a month apart. */
export function shortestInterval(spec: CronSpec): number {
  const until = SAMPLE_FROM_MS + SAMPLE_MS;
  const slots = slotsOf(spec).between(SAMPLE_FROM_MS, until, SAMPLE_MAX);
  return Math.min(...slots.slice(1).map((slot, index) => slot - slots[index]!));
}

/**
 * What a schedule does now whose next slot is `nextSlot`. `ticked` are slots that have been made
 * already, because the clock was ahead: they are neither due nor missed, and the newest of the
 * other missed slots is made up for.
 */
export function planTicks(
  rules: SlotRules,
  nextSlot: number | null,
  now: number,
  ticked: readonly number[] = [],
): TickPlan {
  if (nextSlot === null || nextSlot > now) {
    return { slots: [], missed: null, nextSlot: slotNotAhead(rules, nextSlot, now, ticked) };
  }
  const slots = slotsOf(rules);
  const made = new Set(ticked);
  const isOpen = (slot: number): boolean => !made.has(slot);
  const until = Math.min(now, rules.endsAt ?? now);
  const [from, graceFrom] = [nextSlot - 1, now - GRACE_MS];
  const onTime = slots.between(Math.max(from, graceFrom), until, ON_TIME_MAX).filter(isOpen);
  const wanted = rules.missedMax + 1 + made.size;
  const late = slots.latest(from, Math.min(until, graceFrom), wanted).filter(isOpen);
  const dropped = late.slice(0, Math.max(0, late.length - rules.missedMax));
  const last = dropped.at(-1);
  const firstOpen = (to: number): number =>
    Math.min(...slots.between(from, to, made.size + 1).filter(isOpen));
  return {
    slots: [...late.slice(dropped.length), ...onTime],
    missed: last === undefined ? null : { first: firstOpen(last), last },
    nextSlot: firstSlot(rules, now),
  };
}

/**
 * The next slot of a schedule that has none due. A clock that was ahead and went back leaves a next
 * slot that is too late, or none: then the first slot after now that was not made is the next one.
 */
function slotNotAhead(
  rules: SlotRules,
  nextSlot: number | null,
  now: number,
  ticked: readonly number[],
): number | null {
  const made = new Set(ticked);
  let slot = firstSlot(rules, now);
  while (slot !== null && made.has(slot)) slot = firstSlot(rules, slot);
  return slot !== null && slot < (nextSlot ?? Infinity) ? slot : nextSlot;
}

/**
 * How much later than its slot a job is due: from 0 to `jitterMs`, drawn from the name and the
 * slot, so that every process has the same answer.
 */
export function slotDelay(name: string, slot: number, jitterMs: number): number {
  // FNV-1a, and the last steps of MurmurHash3, which spread neighbouring slots.
  let hash = 0x811c9dc5;
  for (const letter of `${name} ${slot}`) {
    hash = Math.imul(hash ^ letter.codePointAt(0)!, 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return Math.floor((((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32) * (jitterMs + 1));
}
