/** What can go wrong with the notes of runs in the store on PostgreSQL. */
import type { Faults } from "./all.ts";

export const POSTGRES_NOTE_FAULTS: Faults = {
  ends: {
    "functions/find-ends.sql": [
      ["an earlier run counts", "ORDER BY attempt.n DESC", "ORDER BY attempt.n"],
      ["the id of a child that gave way is unknown", "millrace.job_name", "millrace.job"],
    ],
  },
  record: {
    "runs/lease-proof.ts": [
      ["the number of the run is not looked at", "held?.n === n", "held !== undefined"],
      ["a job that has not begun speaks", "&& held.started_at !== null", ""],
      ["the secret is not looked at", "return `${number} ${secret}`", "return `${number}`"],
    ],
    lock_leases: [
      ["the fence is dropped", "FOR KEY SHARE", ""],
      ["leases are locked in another order", "ORDER BY number", "ORDER BY number DESC"],
    ],
    runs_of_leases: [["a run that has ended speaks", "done.n = run.n", "false"]],
    forget_notes: [
      [
        "nothing is forgotten",
        "DELETE FROM millrace.unit AS old\nUSING anew\nWHERE",
        "DELETE FROM millrace.unit AS old\nUSING anew\nWHERE false AND",
      ],
      [
        "phases are kept",
        "DELETE FROM millrace.phase AS old\n    USING anew\n    WHERE",
        "DELETE FROM millrace.phase AS old\n    USING anew\n    WHERE false AND",
      ],
    ],
    put_units: [
      ["the first move counts", "state = excluded.state,", ""],
      ["a unit ends twice", "AND NOT (old.n = excluded.n", "AND NOT (false AND old.n = excluded.n"],
      ["a unit ends once for all runs", "AND NOT (old.n = excluded.n AND", "AND NOT ("],
    ],
    insert_phases: [["a phase is told of twice", "DO NOTHING", "DO UPDATE SET n = excluded.n"]],
    append_events: [["details are lost", "CASE WHEN told.details IS NOT NULL", "CASE WHEN false"]],
    number_events: [["details are lost on the way", "keys, ids, details\n", "keys, ids, NULL\n"]],
    "batching/fallback.ts": [
      ["a bad note takes its neighbours with it", "items.length === 1 ? items", "true ? items"],
    ],
    "runs/record.ts": [
      [
        "a later note overtakes",
        "const free = notes.filter((note) => !singleNotes.hasPending(note));",
        "const free = notes;",
      ],
      [
        "children do not come",
        "enqueueChildren(transaction, held)",
        "enqueueChildren(transaction, [])",
      ],
    ],
    "runs/record-notes.ts": [
      ["what is said before a new beginning stays", "conflicts && written.has(note.key)", "false"],
    ],
    "runs/settle.ts": [
      [
        "an end keeps no note",
        "await writeNotes(transaction, notes,",
        "await writeNotes(transaction, [],",
      ],
    ],
  },
  bound: {
    "runs/record-notes.ts": [
      ["a phase may have any number of units", "crowded !== undefined", "false"],
    ],
    put_units: [["new units are not counted", "WHERE fresh", "WHERE NOT fresh"]],
  },
  checkpoints: {
    phases_of_job: [["phases of others are taken", "phase.key = :key::bigint", ":key::bigint > 0"]],
    ended_units: [
      ["units in progress have ended", "state > 1", "state > 0"],
      ["units of completed phases are told", "AND phase NOT IN", "AND '' NOT IN"],
    ],
    checkpoints_of_job: [
      ["all failures are counted", "AND unit.state = 3", ""],
      ["what was charged with it counts", "newest.n - 1", "newest.n"],
      ["units leave no trace", "UNION ALL", "EXCEPT"],
      ["what was taken over is from now", "THEN -1", "THEN 0"],
    ],
    take_over: [
      [
        "another payload will do",
        "IS NOT DISTINCT FROM",
        "IS DISTINCT FROM NULL OR true OR old.payload::text =",
      ],
      [
        "a phase with failed units does not run again",
        "NOT IN (SELECT key, name FROM failed)",
        "IS NOT NULL",
      ],
      [
        "what was built on it does not run again",
        "NOT IN (SELECT key, name FROM later)",
        "IS NOT NULL",
      ],
      ["what came before it runs again", "first.turn < step.turn", "true"],
      ["units in progress are taken over", "unit.state = 2", "unit.state < 3"],
      ["failed units are taken over", "unit.state = 2", "unit.state > 1"],
      [
        "those of phases that run again stay behind",
        "unit.state = 2",
        "unit.state = 2 AND (heir.key, unit.phase) NOT IN (SELECT key, name FROM later)",
      ],
    ],
    "jobs/enqueue-keyed.ts": [["nothing is taken over", "if (heirs.length > 0)", "if (false)"]],
  },
  progress: {
    put_progress: [
      ["the first that was told stays", "percent = excluded.percent,", ""],
      ["it is told for ever when it was", "SET at = excluded.at,", "SET"],
    ],
    phases_of_job: [["a phase has the start of any run", "attempt.n = phase.n", "attempt.n > 0"]],
    progress_of_job: [
      ["the end of any run is told", "told.n = run.n", "told.n > 0"],
      ["the first run's end is told", "ORDER BY attempt.n DESC", "ORDER BY attempt.n"],
    ],
    unit_counts: [
      ["phases are not told apart", "count(*) FILTER (WHERE state = 2)", "sum(count(*)) OVER ()"],
      ["units outlive their run", "state = 1 AND unit.n > ended.n", "state = 1"],
      ["units of ended runs are lost", " OR (state = 1 AND unit.n <= ended.n)", ""],
    ],
    "migrations/0001_tables.sql": [["the phase is lost", "told.phase,", "NULL::text AS phase,"]],
    match_jobs: [["lists know no progress", "told.overall", "NULL::float8 AS overall"]],
    prune_jobs: [
      [
        "phases outlive their job",
        "DELETE FROM millrace.phase\n    WHERE",
        "DELETE FROM millrace.phase\n    WHERE false AND",
      ],
      [
        "units outlive their job",
        "DELETE FROM millrace.unit\n    WHERE",
        "DELETE FROM millrace.unit\n    WHERE false AND",
      ],
      [
        "the units of all jobs go",
        "DELETE FROM millrace.unit\n    WHERE",
        "DELETE FROM millrace.unit\n    WHERE true OR",
      ],
    ],
  },
  units: {
    "functions/list-units.sql": [
      ["pages repeat", "(phase, turn, unit) > (after_phase, after_turn, after_unit)", "true"],
      ["the phase is not looked at", "phase <= last_phase", "true"],
      ["the state is not looked at", "OR wanted = CASE", "OR true OR wanted = CASE"],
      ["the filter knows no ended runs", "THEN 0 ELSE state END\n", "THEN 1 ELSE state END\n"],
      ["units outlive their run", "THEN 0::smallint ELSE", "THEN 1::smallint ELSE"],
      ["the limit is dropped", "LIMIT page_size", "LIMIT page_size + 1000"],
      ["they come by name alone", "ORDER BY phase, turn, unit", "ORDER BY unit, phase"],
      [
        "the language of the server orders them",
        "ORDER BY phase, turn, unit",
        "ORDER BY lower(phase), turn, lower(unit)",
      ],
    ],
  },
  histories: {
    attempts_of_jobs: [["runs come in any order", "attempt.key, attempt.n;", "attempt.n DESC;"]],
    progress_of_jobs: [["the last outcome is the first", "attempt.n DESC", "attempt.n"]],
    phases_of_jobs: [["no phase is found", "phase.key = ANY", "phase.key <> ALL"]],
    unit_counts_of_jobs: [["units outlive their run", "unit.n <= ended.n", "false"]],
    first_units_of_jobs: [
      ["units outlive their run", "THEN 0::smallint ELSE", "THEN 1::smallint ELSE"],
      ["the limit is dropped", "LIMIT :limit::integer", "LIMIT :limit::integer + 1000"],
    ],
    newest_logs_of_jobs: [["the oldest lines count", "log.line DESC", "log.line"]],
  },
  unitHolders: {
    holders_of_unit: [
      ["any unit will do", "unit.unit = :unit::text", "unit.unit <> :unit::text || 'x'"],
      ["ended units are held", "AND unit.state = 1", ""],
      ["runs that have ended hold on", "AND NOT EXISTS (", "AND true OR NOT EXISTS ("],
      ["any run of the job counts", "AND ended.n = unit.n", "AND ended.n > unit.n"],
      ["youngest first", "ORDER BY unit.at,", "ORDER BY unit.at DESC,"],
      ["the limit is dropped", "LIMIT :limit::integer", "LIMIT :limit::integer + 1000"],
    ],
  },
};
