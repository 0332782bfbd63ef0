/** What can go wrong with the notes of runs in the store on SQLite. */
import type { Faults } from "./all.ts";

export const SQLITE_NOTE_FAULTS: Faults = {
  ends: {
    ends_of_jobs: [
      ["an earlier run counts", "max(n)", "min(n)"],
      ["the id of a child that gave way is unknown", "millrace_job_name", "millrace_job"],
    ],
  },
  record: {
    "runs/lease-proof.ts": [
      ["the number of the run is not looked at", "held?.n === n", "held !== undefined"],
      ["a job that has not begun speaks", "run.startedAt !== null", "run.startedAt !== 0"],
    ],
    find_lease: [["the secret is not looked at", "secret = :secret", "1"]],
    "runs/lease.ts": [["a run that has ended speaks", "?? 0) < n", "?? 0) <= n"]],
    "runs/record.ts": [
      ["nothing is forgotten", "if (clearCheckpoints === true)", "if (false)"],
      ["a phase is told of twice", "if (changes === 0) return;", ""],
      [
        "no event of progress is written",
        "[key], details: [progressDetail(progress)]",
        "[], details: []",
      ],
      ["children do not come", "note.children ?? []", "[]"],
    ],
    "runs/settle.ts": [
      ["an end keeps no note", "if (note !== undefined && run !== null)", "if (false)"],
    ],
    "batching/fallback.ts": [
      ["a refused note is not undone", 'sql.run("undo_part", {});', ""],
      ["a bad note takes its neighbours with it", "items.length === 1 ? items", "true ? items"],
    ],
    forget_phases: [["phases of all jobs are forgotten", "key = :key", "1"]],
    forget_units: [["units of all jobs are forgotten", "key = :key", "1"]],
    move_unit: [
      ["the first move counts", "state = :state, result", "state = state, result"],
      ["the same name in another phase moves, too", "AND phase = :phase", ""],
      ["a unit ends twice", "AND NOT (n = :n AND", "AND NOT (0 AND n = :n AND"],
      ["a unit ends once for all runs", "AND NOT (n = :n AND", "AND NOT ("],
    ],
    insert_phase: [
      ["the last result of a phase stands", "DO NOTHING", "DO UPDATE SET result = :result"],
    ],
    append_event: [["details are lost", ":ids, :details)", ":ids, NULL)"]],
  },
  bound: {
    "runs/record.ts": [["a phase may have any number of units", "count > UNITS_MAX", "false"]],
  },
  checkpoints: {
    phases_of_job: [["phases of others are taken", "phase.key = :key", "1"]],
    ended_units: [
      ["units in progress have ended", "state > 1", "state > 0"],
      ["units of completed phases are told", "AND phase NOT IN", "AND 0 NOT IN"],
    ],
    checkpoints_of_job: [
      ["all failures are counted", "AND unit.state = 3", ""],
      ["what was charged with it counts", "newest.n - 1", "newest.n"],
      ["units leave no trace", "UNION ALL", "EXCEPT"],
      ["what was taken over is from now", "THEN -1", "THEN 0"],
    ],
    take_over_phases: [
      ["another payload will do", "AND old.payload IS job.payload", ""],
      ["a phase with failed units does not run again", "failed.name = phase.name", "0"],
      ["what was built on it does not run again", "first.key < later.key", "0"],
      ["what came before it runs again", "first.key < later.key", "1"],
    ],
    take_over_units: [
      ["another payload will do", "AND old.payload IS job.payload", ""],
      ["units in progress are taken over", "unit.state = 2", "unit.state < 3"],
      ["failed units are taken over", "unit.state = 2", "unit.state > 1"],
      [
        "those of phases that run again stay behind",
        "unit.state = 2",
        "unit.state = 2 AND unit.phase IN (SELECT name FROM millrace_phase WHERE key = :key)",
      ],
    ],
    "jobs/enqueue.ts": [
      ["nothing is taken over", "takeOverCheckpoints(session, key);\n  for", "0;\n  for"],
    ],
  },
  progress: {
    put_progress: [
      ["the first that was told stays", "percent = :percent,", ""],
      ["it is told for ever when it was", "at = :at", "at = at"],
    ],
    phases_of_job: [["a phase has the start of any run", "attempt.n = phase.n", "attempt.n > 0"]],
    progress_of_job: [
      ["the end of any run is told", "told.n = run.n", "told.n > 0"],
      ["the first run's end is told", "ORDER BY attempt.n DESC", "ORDER BY attempt.n"],
    ],
    unit_counts: [
      ["phases are not told apart", "GROUP BY unit.phase", "GROUP BY unit.key"],
      ["units outlive their run", "state = 1 AND unit.n > ended.n", "state = 1"],
      ["units of ended runs are lost", " OR (state = 1 AND unit.n <= ended.n)", ""],
    ],
    job_by_id: [["the phase is lost", "run.phase,", "NULL AS phase,"]],
    match_jobs: [["lists know no progress", "run.overall", "NULL AS overall"]],
    delete_phases: [["phases outlive their job", "WHERE", "WHERE 0 AND"]],
    delete_units: [
      ["units outlive their job", "LIMIT :limit", "LIMIT 0"],
      [
        "the units of all jobs go",
        "JOIN millrace_unit AS unit ON unit.key = gone.value",
        "JOIN millrace_unit AS unit",
      ],
    ],
    "retention/prune.ts": [
      [
        "a job goes before its units",
        "if (deleteParts(session, jobs)) return",
        "if (false) return",
      ],
    ],
  },
  units: {
    units_of_job: [
      ["pages repeat", "(phase, turn, unit) > (:after_phase, :after_turn, :after_unit)", "1"],
      ["the phase is not looked at", "phase <= :last_phase", "(:last_phase IS NULL OR 1)"],
      ["the state is not looked at", "OR :state = CASE", "OR 1 OR :state = CASE"],
      ["the filter knows no ended runs", "THEN 0 ELSE state END\n", "THEN 1 ELSE state END\n"],
      ["units outlive their run", "THEN 0 ELSE state END AS", "THEN 1 ELSE state END AS"],
      ["the limit is dropped", "LIMIT :limit", ""],
      ["they come by name alone", "ORDER BY phase, turn, unit", "ORDER BY unit, phase"],
      ["the order given is forgotten", "ORDER BY phase, turn, unit", "ORDER BY phase, unit"],
    ],
  },
  histories: {
    attempts_of_job: [["runs come in any order", "ORDER BY attempt.n;", "ORDER BY -attempt.n;"]],
    newest_log: [["the oldest lines count", "ORDER BY line DESC", "ORDER BY line"]],
  },
  unitHolders: {
    holders_of_unit: [
      ["any unit will do", "unit.unit = :unit", "1"],
      ["ended units are held", "AND unit.state = 1", ""],
      ["runs that have ended hold on", "AND NOT EXISTS (", "AND 1 OR NOT EXISTS ("],
      ["any run of the job counts", "AND ended.n = unit.n", "AND ended.n > unit.n"],
      ["youngest first", "ORDER BY unit.at,", "ORDER BY unit.at DESC,"],
      ["the limit is dropped", "LIMIT :limit", ""],
    ],
  },
};
