/** Actions with services and limits, drawn with other dice: other plans stay as they were. */
import { seededDice } from "../../support/seeded-dice.ts";
import type { Action } from "./plan.ts";

export const SERVICE_KINDS = ["callServices", "openBreaker", "resetBreaker"] as const;
export const LIMIT_KINDS = ["enqueueNarrow", "setLimit", "setRate", "removeLimit"] as const;

const SERVICES_SHARE = 0.2;
const LIMITS_SHARE = 0.2;
const DICE_PER_ACTION = 24;
const CALLS = 4;
const CALLS_PER_OUTAGE = 3;
const SOON_MS = 900;
const OUTAGES = 3;
const NARROW = 6;
const LIMIT_CHANGES = 9;

type Act = (kind: Action["kind"], from?: number, to?: number) => Action;

/** Null: the plan has no services. */
export function servicesOf(seed: number, lengthMs: number): readonly Action[] | null {
  const { random, act } = drawing(seed * 59 + 103, lengthMs);
  if (random() >= SERVICES_SHARE) return null;
  const times = (count: number, make: () => Action): Action[] =>
    Array.from({ length: count }, make);
  const outages = times(OUTAGES, () => act("serviceDown", 0, 0.6));
  return [
    ...outages,
    // Some calls meet the outage, and others come at any time.
    ...outages.flatMap(({ atMs }) =>
      times(CALLS_PER_OUTAGE, () => ({
        ...act("callServices"),
        atMs: Math.min(lengthMs - 1, atMs + Math.floor(random() * SOON_MS)),
      })),
    ),
    ...times(CALLS, () => act("callServices")),
    ...(random() < 0.4 ? [act("openBreaker", 0, 0.8)] : []),
    ...(random() < 0.5 ? [act("resetBreaker", 0.2, 1)] : []),
  ];
}

/** Null: the plan has no limits. */
export function limitsOf(seed: number, lengthMs: number): readonly Action[] | null {
  const { random, act } = drawing(seed * 73 + 170, lengthMs);
  if (random() >= LIMITS_SHARE) return null;
  const kinds = ["setLimit", "setLimit", "setLimit", "setRate", "setRate", "removeLimit"] as const;
  return [
    ...Array.from({ length: NARROW }, () => act("enqueueNarrow")),
    ...Array.from({ length: LIMIT_CHANGES }, () =>
      act(kinds[Math.floor(random() * kinds.length)] ?? "setLimit"),
    ),
  ];
}

function drawing(seed: number, lengthMs: number): { random: () => number; act: Act } {
  const source = seededDice(seed);
  const random = (): number => source.random();
  const act: Act = (kind, from = 0, to = 1) => ({
    atMs: Math.floor((from + random() * (to - from)) * lengthMs),
    kind,
    dice: Array.from({ length: DICE_PER_ACTION }, () => Math.floor(random() * 1_000) / 1_000),
  });
  return { random, act };
}
