/** With healthy workers and no pause, no slot is late. Then operators pause all schedules. */
import type { Fleet } from "../fleet/fleet.ts";
import type { World } from "../fleet/world.ts";
import type { Report } from "./invariants.ts";
import type { Watch } from "./watch.ts";

const PEACE_MS = 9_000;
/** The schedule that wakes the schedulers has a period of three seconds. */
const LATE_MS_MAX = 6_000;
const PAUSES_MS = 5_000;

interface PeaceParts {
  readonly world: World;
  readonly watch: Watch;
  readonly fleet: Fleet;
  readonly report: Report;
}

export async function tickInPeace(parts: PeaceParts, isBroken: () => boolean): Promise<void> {
  const { world, watch, fleet, report } = parts;
  const all = [...watch.committed.schedules.values()];
  const paused = all.filter((row) => row.paused_at !== null).map(({ name }) => name);
  ask(parts, "resumes schedules", paused, "resume");
  const since = world.elapsedMs;
  const isOver = (): boolean => {
    if (isBroken() || world.steps % 20 !== 0) return isBroken();
    const now = fleet.members.get("asker1")?.process.clock.now();
    if (now === undefined || world.elapsedMs < since + LATE_MS_MAX) return false;
    for (const { name, paused_at, next_slot } of watch.committed.schedules.values()) {
      if (paused_at !== null) report("I12", `${name} is still paused`);
      const isLate = next_slot !== null && next_slot < now - LATE_MS_MAX;
      if (isLate) report("I12", `slot ${next_slot} of ${name} is due and no worker has noticed`);
    }
    return isBroken();
  };
  await world.run(since + PEACE_MS, isOver);
  ask(parts, "pauses schedules", [...watch.committed.schedules.keys()], "pause");
  const isQuiet = (): boolean =>
    [...watch.committed.schedules.values()].every((row) => row.paused_at !== null);
  await world.run(world.elapsedMs + PAUSES_MS, () => isBroken() || isQuiet());
  if (!isBroken() && !isQuiet()) report("I12", "a healthy store does not pause its schedules");
}

function ask(
  { fleet, report }: PeaceParts,
  label: string,
  names: readonly string[],
  verb: "pause" | "resume",
): void {
  const asker = fleet.members.get("asker1");
  asker?.process.later(0, label, () => {
    for (const name of names) {
      const { schedules } = asker.client;
      const done = verb === "pause" ? schedules.pause(name, "the end") : schedules.resume(name);
      done.catch((error: unknown) => report("I12", `${label} fails: ${String(error)}`));
    }
  });
}
