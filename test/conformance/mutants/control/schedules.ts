/** What can go wrong with schedules. */
import type { Faults } from "../all.ts";

/** The faults of the code that the files of both stores share word for word. */
const COMMON: Faults = {
  declareSchedules: {
    update_schedule: [["no change is counted", "revision = revision + 1", "revision = revision"]],
    "schedules/schedules.ts": [
      ["the pause of another tenant stays", "isOfAnotherTenant(stored, spec)", "false"],
    ],
  },
  dueSchedules: {
    list_due_schedules: [
      ["a paused schedule is due", "WHERE paused_at IS NULL\n", "WHERE true\n"],
      ["schedules of operators are not due", "owner = 2 OR", "false OR"],
      ["the first slot comes last", "ORDER BY next_slot, name", "ORDER BY next_slot DESC, name"],
    ],
    "schedules/schedules.ts": [
      ["a later slot is due", ") => slot <= now)", ") => slot <= now + 1e9)"],
      ["a slot is due too late", ") => slot <= now)", ") => slot < now)"],
    ],
  },
  tickSchedule: {
    "schedules/ticks.ts": [
      ["a slot makes a second job", "=> !known.has(slot)", "=> known.size >= 0"],
      ["a final job counts as open", "!isFinal(stateCodec.word(row.state))", "row.state > 0"],
      ["the job before stays", "if (cancelsLast &&", "if (!cancelsLast &&"],
      [
        "missed slots are not stored",
        "of records)",
        'of records.filter(({ outcome }) => outcome !== "missed"))',
      ],
      ["a clock that went back is not noticed", "if (isAhead(stored, now))", "if (false)"],
      ["the last job is lost", "last_job = job === null ?", "last_job = job !== undefined ?"],
    ],
  },
  scheduleTicks: {
    prune_ticks: [
      ["all ticks are kept", "      slot <= (", "      false AND slot <= ("],
      ["ticks ahead are all kept", "OR slot >= (", "OR false AND slot >= ("],
    ],
    list_ticks: [["the oldest come first", "DESC", "ASC"]],
  },
  saveSchedule: {
    "schedules/schedules.ts": [
      ["there is no maximum", "if (refused !== null) return refused;", ""],
      ["an old revision wins", 'if (stored.revision !== revision) return "outdated";', ""],
      ["code can be changed", '    if (stored.owner === "code") return "owned_by_code";\n', ""],
    ],
  },
  resumeSchedule: {
    "schedules/schedules.ts": [
      ["a pause is ended twice", 'if (stored.pausedAt === null) return "not_paused";', ""],
    ],
    resume_schedule: [["the pause stays", "paused_at = NULL, ", ""]],
  },
  runSchedule: {
    "schedules/ticks.ts": [
      ["a job takes a slot", "name, instantsBesideSlots(at))", "name, [at - (at % 1_000)])"],
    ],
  },
  removeSchedule: {
    delete_ticks: [["ticks stay", "WHERE", "WHERE false AND"]],
    "schedules/schedules.ts": [
      ["declared ones are removed", ')) return "owned_by_code";\n', ")) void 0;\n"],
    ],
  },
  pauseSchedule: {
    pause_schedule: [["a second pause has a new time", "coalesce(paused_at, ", "coalesce(NULL, "]],
  },
};

export const SQLITE_SCHEDULE_FAULTS: Faults = {
  ...COMMON,
  confirmSchedules: {
    confirm_schedules: [
      ["all are declared", "name IN (SELECT value FROM json_each(:names))", ":names IS NOT NULL"],
    ],
    list_missing_schedules: [["one of an operator will do", "AND schedule.owner = 1", ""]],
  },
  schedules: {
    list_schedules: [
      ["every page is the first", "name > :after", ":after IS NOT NULL"],
      ["any tenant will do", "AND (:tenant IS NULL OR tenant = :tenant)", "AND :tenant IS :tenant"],
    ],
  },
  schedule: {
    find_schedule: [["any schedule is found", "name = :name", ":name IS NOT NULL"]],
  },
};

export const POSTGRES_SCHEDULE_FAULTS: Faults = {
  ...COMMON,
  declareSchedules: {
    ...COMMON["declareSchedules"],
    insert_schedule: [["a repeated name is an error", "ON CONFLICT DO NOTHING", ""]],
  },
  tickSchedule: {
    ...COMMON["tickSchedule"],
    lock_schedule: [["two processes tick at once", "FOR UPDATE", ""]],
  },
  confirmSchedules: {
    confirm_schedules: [
      ["all are declared", "name = ANY (:names::text[])", ":names::text[] IS NOT NULL"],
    ],
    list_missing_schedules: [["one of an operator will do", "AND schedule.owner = 1", ""]],
  },
  schedules: {
    list_schedules: [
      ["every page is the first", "name > :after::text", ":after::text IS NOT NULL"],
      ["any tenant will do", "OR tenant = :tenant::text", "OR true"],
    ],
  },
  schedule: {
    find_schedule: [["any schedule is found", "name = :name::text", ":name::text IS NOT NULL"]],
  },
};
