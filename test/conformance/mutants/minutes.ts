/** What can go wrong with the figures of minutes. */
import type { Faults } from "./all.ts";

export const SQLITE_MINUTE_FAULTS: Faults = {
  minutes: {
    minutes_between: [
      ["what is not folded is left out", "WHERE at >= :since", "WHERE 0 AND at >= :since"],
      ["the hour after the stretch counts", "start < :hours_to", "start <= :hours_to"],
    ],
    "runs/count-runs.ts": [
      ["waits begin in 1970", "startedAt - Math.floor(rank / 1_000)", "startedAt - rank * 0"],
      ["waits that were ended count", "|| startedAt === null", ""],
      ["every run has succeeded", "outcomeCodec.code[outcome]", "outcomeCodec.code.succeeded"],
    ],
    "runs/settle.ts": [["runs are not counted", "  countRuns(session, ends, now);\n", ""]],
  },
  foldMinutes: {
    take_minutes: [
      ["a fold has no limit", "LIMIT :limit", "LIMIT max(:limit, 1000)"],
      [
        "rows are folded again and again",
        "WHERE number IN (SELECT",
        "WHERE number < 0 AND number IN (SELECT",
      ],
    ],
    put_minutes: [["a fold replaces the sums", "SET count = excluded.count", "SET count = count"]],
    "inspect/minutes.ts": [
      ["a fold forgets what was folded", "fold.rows(stored)", "fold.rows([])"],
    ],
  },
  prune: {
    minutes_between: [["hours are not read", "WHERE span = 60", "WHERE span = 1"]],
    delete_minutes: [
      ["hours go with their first minute", ":before - 3600000", ":before - 60000"],
      ["minutes stay", "(span = 1 AND", "(0 AND"],
      ["all minutes go at once", "LIMIT :limit", "LIMIT max(:limit, 1000)"],
    ],
  },
  deploys: {
    insert_deploy: [
      ["each worker is a deploy", "NOT EXISTS", "1 OR NOT EXISTS"],
      [
        "the newest version is not looked at",
        "HAVING :app IS NOT (SELECT",
        "HAVING '' IS NOT (SELECT",
      ],
    ],
    list_deploys: [
      ["the last moment counts", "at < :until", "at <= :until"],
      ["the oldest comes first", "ORDER BY n DESC", "ORDER BY n"],
    ],
    delete_deploys: [
      ["the newest version is forgotten", "AND n < (SELECT max(n) FROM millrace_deploy)", ""],
      ["deploys stay", "WHERE at <= :now - :age", "WHERE :now < :age"],
    ],
  },
};

export const POSTGRES_MINUTE_FAULTS: Faults = {
  minutes: {
    minutes_between: [["what is not folded is left out", "WHERE at >=", "WHERE false AND at >="]],
    insert_attempts: [
      ["waits that were ended count", "WHERE ended.started_at IS NOT NULL", "WHERE true"],
      ["waits are counted in microseconds", "ended.rank / 1000", "ended.rank"],
      ["every run has succeeded", "job.lane, ended.outcome,\n", "job.lane, 1,\n"],
    ],
    "functions/settle.sql": [
      ["waits are counted in microseconds", "rank / 1000", "rank"],
      [
        "lanes are mixed",
        "SELECT moment, job.type, job.lane, 1,",
        "SELECT moment, job.type, 1, 1,",
      ],
    ],
  },
  foldMinutes: {
    lock_fold: [["two processes fold at once", "FOR UPDATE SKIP LOCKED", ""]],
    take_minutes: [
      ["a fold has no limit", "LIMIT :limit::integer", "LIMIT 1000 + :limit::integer"],
    ],
    "inspect/minutes.ts": [
      ["a fold forgets what was folded", "fold.rows(stored)", "fold.rows([])"],
    ],
  },
  prune: {
    minutes_between: [["hours are not read", "WHERE span = 60", "WHERE span = 1"]],
    prune_minutes: [
      ["hours go with their first minute", "kind.span * interval", "interval"],
      ["minutes stay", "(VALUES (1::smallint), (60", "(VALUES (60"],
    ],
  },
  deploys: {
    lock_deploys: [["two workers note a version at once", "FOR UPDATE", ""]],
    insert_deploy: [
      ["each worker is a deploy", "NOT EXISTS", "true OR NOT EXISTS"],
      [
        "the newest version is not looked at",
        "HAVING :app::text IS DISTINCT",
        "HAVING :app::text <> '' OR '' IS DISTINCT",
      ],
    ],
    list_deploys: [["the oldest comes first", "ORDER BY n DESC", "ORDER BY n"]],
    delete_deploys: [
      ["the newest version is forgotten", "AND n < (SELECT max(n) FROM millrace.deploy)", ""],
    ],
  },
};
