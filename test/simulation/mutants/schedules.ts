/** Planted bugs of schedules. */
import type { Mutant } from "./all.ts";

const SHARED = "src/store/shared/control/schedules.ts";
const PLAN = "src/core/cron/plan.ts";

export const scheduleMutants: readonly Mutant[] = [
  {
    name: "a schedule that another worker has just ticked is ticked again",
    file: SHARED,
    now: "return pausedAt === null && nextSlot !== null && nextSlot <= now;",
    planted: "return pausedAt === null && nextSlot !== null;",
    breaks: "I12",
  },
  {
    name: "a schedule that has just been paused is ticked",
    file: SHARED,
    now: "return pausedAt === null && nextSlot !== null && nextSlot <= now;",
    planted: "return nextSlot !== null && nextSlot <= now;",
    breaks: "I12",
  },
  {
    name: "missed slots are not recorded",
    file: SHARED,
    now: "  if (missed === null) return due;\n",
    planted: "  if (missed === null || missed !== null) return due;\n",
    breaks: "I12",
  },
  {
    name: "a slot is not skipped for an open job",
    file: SHARED,
    now: "const made = isLastOpen ? 0 : 1;",
    planted: "const made = isLastOpen ? 1 : 1;",
    breaks: "I12",
  },
  {
    name: "the job of the slot before is not replaced",
    file: SHARED,
    now: "const cancelsLast = isLastOpen && ticks.length > 0;",
    planted: "const cancelsLast = isLastOpen && ticks.length > 1;",
    breaks: "I12",
  },
  {
    name: "the oldest missed slots are made up for",
    file: PLAN,
    now: "slots: [...late.slice(dropped.length),",
    planted: "slots: [...late.slice(0, rules.missedMax),",
    breaks: "I12",
  },
  {
    name: "the last slot makes two jobs",
    file: PLAN,
    now: "...onTime],",
    planted: "...onTime, ...onTime.slice(-1)],",
    breaks: "I12",
  },
  {
    name: "a deploy ends the pause of a schedule that it changes",
    file: "sql/sqlite/queries/schedule.sql",
    now: "ends_at = :ends_at, job = :job, next_slot = :next_slot,\n",
    planted:
      "ends_at = :ends_at, job = :job, next_slot = :next_slot, paused_at = NULL,\n" +
      "    paused_by = NULL, pause_reason = NULL,\n",
    breaks: "I12",
  },
  {
    name: "a resumed schedule makes the slots of its pause",
    file: "src/store/sqlite/schedules/schedules.ts",
    now: "const next_slot = slotAfter(stored, stored, clock.now(), firstSlot);",
    planted: "const next_slot = stored.nextSlot; void slotAfter; void clock;",
    breaks: "I12",
  },
  {
    name: "a poll does not tell the scheduler of a due slot",
    file: "src/runtime/maintenance/promoter.ts",
    now: "if (isPoll && slotDue) tickSchedules();",
    planted: "void tickSchedules; void slotDue;",
    breaks: "I12",
  },
];
