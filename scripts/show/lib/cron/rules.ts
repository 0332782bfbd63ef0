/** The zones and the expressions of the show: which local times make which jobs. */
import type { LocalMinute, Rule, Stretch } from "./reference.ts";

export const ZONES: readonly string[] = [
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Africa/Cairo",
  "Asia/Beirut",
  "America/Santiago",
  "Antarctica/Troll",
  "Africa/Casablanca",
  "Asia/Kolkata",
  "UTC",
  "Pacific/Chatham",
  "America/St_Johns",
  "Europe/London",
  "Asia/Tokyo",
  "Pacific/Auckland",
  "America/Sao_Paulo",
  "Asia/Jerusalem",
  "America/Havana",
  "Europe/Dublin",
  "Asia/Kathmandu",
];

/** By its name: how many missed slots a policy makes up for. */
export const POLICIES = { all: 1_000, once: 1, skip: 0 } as const;
export type Policy = keyof typeof POLICIES;

export interface ShownRule extends Rule {
  readonly policies: readonly Policy[];
}

const [HOUR, DAY] = [3_600_000, 86_400_000];
const EACH: readonly Policy[] = ["all", "once", "skip"];
const ON_THE_MINUTE = [0];
const HALF_MINUTES = [0, 30];

type Fits = (local: LocalMinute) => boolean;

const at =
  (hour: number, minute: number): Fits =>
  (local) =>
    local.hour === hour && local.minute === minute;
const both =
  (one: Fits, other: Fits): Fits =>
  (local) =>
    one(local) && other(local);

/** Hours without `*`: each local time makes one job. */
const FIXED: readonly (readonly [cron: string, fits: Fits, seconds?: readonly number[]])[] = [
  ["30 2 * * *", at(2, 30)],
  ["30 1,2 * * *", (local) => at(1, 30)(local) || at(2, 30)(local)],
  ["@daily", at(0, 0)],
  ["15 3 * * sun", both(at(3, 15), ({ weekday }) => weekday === 0)],
  ["45 0 * * mon-fri", both(at(0, 45), ({ weekday }) => weekday >= 1 && weekday <= 5)],
  ["0 12 1 * *", both(at(12, 0), ({ day }) => day === 1)],
  ["59 23 31 * *", both(at(23, 59), ({ day }) => day === 31)],
  ["0 0 29 2 *", both(at(0, 0), ({ day, month }) => day === 29 && month === 2)],
  // Either of the days.
  ["30 4 13 * fri", both(at(4, 30), ({ day, weekday }) => day === 13 || weekday === 5)],
  ["15,45 30 2 * * *", at(2, 30), [15, 45]],
];

/** All rules of a zone. Those of many slots stand around the days on which its clocks change. */
export function rulesOf(stretches: readonly Stretch[]): readonly ShownRule[] {
  const fixed = FIXED.map(([cron, fits, seconds = ON_THE_MINUTE]) => {
    return { cron, fits, seconds, isElapsed: false, policies: EACH };
  });
  const everyFourHours: ShownRule = {
    cron: "0 */4 * * *",
    fits: ({ hour, minute }) => hour % 4 === 0 && minute === 0,
    seconds: ON_THE_MINUTE,
    isElapsed: true,
    policies: ["once"],
  };
  const changes = stretches.slice(1).map(({ from }) => from);
  return [...fixed, everyFourHours, ...changes.flatMap(aroundChange)];
}

function aroundChange(change: number): readonly ShownRule[] {
  const common = { isElapsed: true, policies: EACH };
  return [
    {
      ...common,
      cron: "*/20 * * * *",
      fits: ({ minute }) => minute % 20 === 0,
      seconds: ON_THE_MINUTE,
      window: { startsAt: change - DAY, endsAt: change + DAY },
    },
    {
      ...common,
      cron: "*/30 * * * * *",
      fits: () => true,
      seconds: HALF_MINUTES,
      window: { startsAt: change - HOUR / 4, endsAt: change + HOUR / 4 },
    },
  ];
}
