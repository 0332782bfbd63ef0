/** Schedules whose slots make no jobs, or whose last job has failed. */
import { shellWord } from "../../../lib/shell-word.ts";
import type { Facts, ScheduleFact } from "../facts.ts";
import type { FindingOf, ScheduleProblem } from "../finding.ts";
import { dateOf } from "../words.ts";

/** How much later than its time a slot may be ticked. */
const LATE_MS = 2 * 60_000;

/** Slots that a person decided about, or that code does not declare any more. */
const TO_LOOK_AT: ReadonlySet<ScheduleProblem> = new Set(["undeclared", "missed", "intake_closed"]);

export function badSchedules({ schedules }: Facts, now: number): readonly FindingOf<"schedule">[] {
  return schedules.flatMap((schedule) => {
    const found = problemOf(schedule, now);
    return found === null ? [] : [findingOf(schedule, found)];
  });
}

interface Problem {
  readonly problem: ScheduleProblem;
  readonly slot: number | null;
}

/** The worst problem of a schedule. A pause is the decision of a person. */
function problemOf(schedule: ScheduleFact, now: number): Problem | null {
  const { isPaused, isDeclared, nextSlot, lastTick, hasFailed } = schedule;
  if (isPaused) return null;
  if (nextSlot !== null && now - nextSlot > LATE_MS) {
    return { problem: isDeclared ? "late" : "undeclared", slot: nextSlot };
  }
  const { outcome, slot } = lastTick ?? { outcome: "well", slot: null };
  const ofTick = outcome === "well" ? null : { problem: outcome, slot };
  if (ofTick !== null && !TO_LOOK_AT.has(ofTick.problem)) return ofTick;
  return hasFailed ? { problem: "failed", slot } : ofTick;
}

function findingOf(
  { name, type, lastJobId }: ScheduleFact,
  { problem, slot }: Problem,
): FindingOf<"schedule"> {
  const slotAt = dateOf(slot);
  return {
    rule: "schedule",
    level: TO_LOOK_AT.has(problem) ? "look" : "broken",
    subject: { kind: "schedule", name },
    sentence: SENTENCES[problem](name, slotAt?.toISOString() ?? "an unknown time"),
    details: {
      schedule: name,
      type,
      problem,
      slotAt,
      jobId: problem === "failed" ? lastJobId : null,
    },
    since: slotAt,
    screen: "schedules",
    action: { operation: "runSchedule", command: `millrace schedules show ${shellWord(name)}` },
  };
}

const SENTENCES: Readonly<Record<ScheduleProblem, (name: string, slot: string) => string>> = {
  late: (name, slot) => `The schedule ${name} is late: its slot at ${slot} has made no job.`,
  undeclared: (name, slot) =>
    `No worker declares the schedule ${name}, and its slot at ${slot} has made no job.`,
  missed: (name, slot) => `The schedule ${name} has missed its slot at ${slot}.`,
  refused: (name, slot) => `The job of the schedule ${name} was refused for its slot at ${slot}.`,
  over_quota: (name, slot) =>
    `The slot of the schedule ${name} at ${slot} made no job: the quota of its tenant was used up.`,
  intake_closed: (name, slot) =>
    `The slot of the schedule ${name} at ${slot} made no job: its intake was closed.`,
  failed: (name) => `The last job of the schedule ${name} has failed.`,
};
