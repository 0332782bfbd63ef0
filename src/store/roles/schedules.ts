/** Schedules: workers declare and tick them, and people change them. */
import type {
  DecideTicks,
  DueSchedules,
  FirstSlot,
  RunScheduleAnswer,
  SaveAnswer,
  ScheduleChange,
  ScheduleRecord,
  ScheduleSpec,
  TickRecord,
} from "../types/schedules.ts";
import type { Act } from "../types/audit.ts";
import type { NewJob } from "../types/jobs-and-runs.ts";

export interface ScheduleStore {
  /**
   * Stores what code declares. A schedule that an operator has made under the same name becomes
   * one of code. A pause stays. The next slot changes only with the times of the schedule, and is
   * never before a slot that was due. A schedule that an operator has made for another tenant is
   * removed with its pause and its ticks; answers the names of these.
   */
  declareSchedules(
    schedules: readonly ScheduleSpec[],
    firstSlot: FirstSlot,
  ): Promise<readonly string[]>;
  /**
   * Notes that a living worker still declares these schedules. Answers the names of those that are
   * not stored as schedules of code.
   */
  confirmSchedules(names: readonly string[]): Promise<readonly string[]>;
  /**
   * The schedules with a due slot: those of operators, and those of code that are in `declared`. A
   * paused schedule is not due. A schedule that was ticked or changed in the future counts as due:
   * the clock went back, and `tickSchedule` corrects its next slot.
   */
  dueSchedules(declared: readonly string[], limit: number): Promise<DueSchedules>;
  /**
   * Makes the jobs of due slots, in one transaction. `decide` gets the schedule, which no other
   * call changes meanwhile, and the store's time. A slot makes a job once: a slot with a tick makes
   * none. The next slot moves back only after the clock did. Answers the new ticks, none if no slot
   * is due.
   */
  tickSchedule(name: string, decide: DecideTicks): Promise<readonly TickRecord[]>;
  /** One page of schedules, by name. */
  schedules(
    filter: { readonly tenant?: string },
    page: { readonly after?: string; readonly limit: number },
  ): Promise<readonly ScheduleRecord[]>;
  /** One schedule; null if there is none. */
  schedule(name: string): Promise<ScheduleRecord | null>;
  /** The newest ticks of a schedule, newest first; with `before`, the ticks of earlier slots. */
  scheduleTicks(
    name: string,
    page: { readonly before?: number; readonly limit: number },
  ): Promise<readonly TickRecord[]>;
  /** Stores a schedule of an operator. One that code owns stays as it is. */
  saveSchedule(
    schedule: ScheduleSpec,
    change: ScheduleChange,
    firstSlot: FirstSlot,
  ): Promise<SaveAnswer>;
  /** From now on, no slot makes a job. Answers whether the schedule is known. */
  pauseSchedule(
    name: string,
    why: { readonly reason: string; readonly by: string | null },
  ): Promise<boolean>;
  /** Ends a pause. Slots that were due during the pause are left out. */
  resumeSchedule(
    name: string,
    firstSlot: FirstSlot,
    act?: Act,
  ): Promise<"resumed" | "not_paused" | "unknown">;
  /** Makes a job now, outside the slots. Safe to repeat with the same id. */
  runSchedule(
    name: string,
    make: (schedule: ScheduleRecord) => NewJob,
    act?: Act,
  ): Promise<RunScheduleAnswer>;
  /**
   * Removes a schedule with its ticks. One that code owns is removed only if no living worker has
   * declared it for {@link DECLARED_MS}.
   */
  removeSchedule(name: string, act?: Act): Promise<"removed" | "unknown" | "owned_by_code">;
}

/** A schedule of code counts as declared for this long after a worker has declared it. */
export const DECLARED_MS = 300_000;
/** The ticks that are kept of each schedule: of slots up to now, and of slots after now. */
export const TICKS_KEPT = 100;
/** The maximum of schedules that operators make, and of those that one tenant makes. */
export const SCHEDULES_MAX = 1_000;
export const TENANT_SCHEDULES_MAX = 100;
/** The maximum of schedules of one worker. */
export const DECLARED_MAX = 1_000;
