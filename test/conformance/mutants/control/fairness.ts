/** What can go wrong with fair lanes. */
import type { Faults } from "../all.ts";

export const SQLITE_FAIRNESS_FAULTS: Faults = {
  setFairness: {
    put_fair_lane: [
      ["the weights are not replaced", "SET weights = excluded.weights", "SET weights = weights"],
    ],
    "queue/fairness.ts": [
      ["the person is forgotten", "owner: OPERATOR, by }", "owner: OPERATOR, by: null }"],
    ],
  },
  fairLanes: {
    "queue/fairness.ts": [["lanes come in the order of their numbers", ".toSorted(byLane)", ""]],
  },
  removeFairness: {
    "queue/fairness.ts": [
      [
        "the fairness of the code is removed",
        "if (row?.owner !== OPERATOR) return false;",
        "if (row === undefined) return false;",
      ],
    ],
  },
  declareFairness: {
    "queue/fairness.ts": [
      [
        "what an operator has set is replaced",
        "if (row?.owner === OPERATOR) sql",
        "if (row?.owner === 9) sql",
      ],
    ],
  },
  giveTurns: {
    "queue/fairness.ts": [
      [
        "the last turns are not stored",
        'sql.run("put_fair_turns", { lane, turns: lists.last });',
        "",
      ],
      ["no more jobs are said to wait", "answers.some(({ more }) => more)", "false"],
      ["the newest jobs are not looked at", "[...newest, ...later]", "later"],
      ["jobs in between are not looked at", "[...newest, ...later]", "newest"],
      ["a look begins with the oldest jobs again", "walks.stop(walk, next);", ""],
    ],
    jobs_without_turn: [
      [
        "jobs that have crashed get turns",
        "AND ready.crashes = 0\n      AND ready.priority = class.priority\n      AND ready.rank",
        "AND ready.priority = class.priority AND ready.rank",
      ],
    ],
    later_without_turn: [
      ["jobs of other tenants are not found", "WHERE tenant NOT IN (", "WHERE tenant IN ("],
      ["the last look is never over", "LIMIT 1 OFFSET :limit - 1", "LIMIT 1 OFFSET 0 * :limit"],
      ["a look ends with the first job", "LIMIT 1 OFFSET :limit - 1", "LIMIT 0 * :limit"],
    ],
    first_turns: [
      ["the clock is the last turn", "SELECT min(ready.rank)", "SELECT max(ready.rank)"],
    ],
  },
  "giveTurns, in the queue of a limit": {
    claim_limited: [
      ["claims do not see the turns", "ORDER BY priority, turn_or_rank, key", "ORDER BY key"],
    ],
    rehome_limited: [["a turn stays behind a pause", "SET turn = NULL, gate = (", "SET gate = ("]],
    newest_queued: [["the newest jobs are not looked at", "LIMIT :limit;", "LIMIT 0 * :limit;"]],
    later_queued: [
      ["jobs in between are not looked at", "WHERE place = :limit\n   OR", "WHERE 0 AND"],
    ],
    first_queue_turns: [
      [
        "a queue has no clock",
        "CROSS JOIN json_each(:queues) AS own",
        "JOIN json_each(:queues) AS own ON 0",
      ],
    ],
    lanes_without_turns: [
      [
        "queues are not looked at",
        "FROM millrace_lane_without_turns",
        "FROM millrace_fair_lane WHERE lane IN (SELECT lane FROM millrace_ready)",
      ],
    ],
  },
  "a job with a turn": {
    take_ready: [["the turn stays", "coalesce(due * 1000, rank) AS rank", "max(rank, 0) AS rank"]],
    count_due: [
      ["turns are due times", "min(coalesce(due * 1000, rank)) AS rank", "min(rank) AS rank"],
    ],
  },
  "claim, with olderThanMs": {
    longest_due_classes: [
      ["turns are not looked at", "SELECT min(turn.due)", "SELECT max(NULL)"],
      ["turns in queues are not looked at", "SELECT min(turn.rank)", "SELECT max(NULL)"],
      ["the age does not matter", "> :older", "> 0 * :older"],
      ["only one class is tried", "LIMIT :classes", "LIMIT min(1, :classes)"],
      [
        "queues are not looked at",
        "FROM queued\n    WHERE queued.priority IS NOT NULL\n)",
        "FROM queued WHERE 0\n)",
      ],
    ],
    claim_limited: [
      [
        "more urgent jobs of the queue are taken",
        "priority BETWEEN :first_priority AND :last_priority",
        "priority BETWEEN 0 * :first_priority AND :last_priority",
      ],
    ],
  },
};

export const POSTGRES_FAIRNESS_FAULTS: Faults = {
  setFairness: {
    put_fair_lane: [
      [
        "the weights are not replaced",
        "SET weights = excluded.weights",
        "SET weights = fair_lane.weights",
      ],
    ],
  },
  fairLanes: {
    "queue/fairness.ts": [["lanes come in the order of their numbers", ".toSorted(byLane)", ""]],
  },
  removeFairness: {
    "queue/fairness.ts": [
      [
        "the fairness of the code is removed",
        "if (row?.owner !== OPERATOR) return false;",
        "if (row === undefined) return false;",
      ],
    ],
  },
  declareFairness: {
    "queue/fairness.ts": [
      [
        "what an operator has set is replaced",
        "{ lane, code_weights: weights });\n      return;",
        "{ lane, code_weights: weights });",
      ],
    ],
  },
  giveTurns: {
    "queue/fairness.ts": [
      [
        "the last turns are not stored",
        'await transaction.run("put_fair_turns", { lane, turns: lists.last });',
        "",
      ],
      ["no more jobs are said to wait", "more ||= answer.more;", ""],
      ["the newest jobs are not looked at", "[...newest, ...later]", "later"],
      ["jobs in between are not looked at", "[...newest, ...later]", "newest"],
      ["a look begins with the oldest jobs again", "walks.stop(walk, next);", ""],
    ],
    first_turns: [
      ["the clock is the last turn", "SELECT min(ready.rank)", "SELECT max(ready.rank)"],
    ],
  },
  "giveTurns, in the queue of a limit": {
    "functions/limits.sql": [
      [
        "claims do not see the turns",
        "ORDER BY priority, turn_or_rank, key",
        "ORDER BY priority, key",
      ],
    ],
    rehome_limited: [["a turn stays behind a pause", ", turn = NULL", ""]],
    "functions/fairness.sql": [["queues get no turns", "AND own.turn IS NULL", "AND false"]],
    first_queue_turns: [["a queue has no clock", "WHERE blocked.gate = own.queue", "WHERE false"]],
    newest_queued: [
      ["the newest jobs are not looked at", "LIMIT :limit::integer;", "LIMIT 0 * :limit::integer;"],
    ],
    later_queued: [
      [
        "jobs in between are not looked at",
        "WHERE place = :limit::integer\n   OR",
        "WHERE false AND",
      ],
    ],
  },
  "a job with a turn": {
    count_due: [
      ["turns are due times", "min(coalesce(due * 1000, rank)) AS rank", "min(rank) AS rank"],
    ],
  },
  "claim, with olderThanMs": {
    longest_due_classes: [
      ["turns are not looked at", "SELECT min(turn.due)", "SELECT max(NULL::bigint)"],
      ["turns in queues are not looked at", "SELECT min(turn.rank)", "SELECT max(NULL::bigint)"],
      ["the age does not matter", "> :older::bigint", "> 0 * :older::bigint"],
      ["only one class is tried", "LIMIT :classes::integer", "LIMIT least(1, :classes::integer)"],
      [
        "queues are not looked at",
        "AS queued\n    WHERE queued.priority IS NOT NULL",
        "AS queued WHERE false",
      ],
    ],
    "functions/limits.sql": [
      [
        "more urgent jobs of the queue are taken",
        "priority BETWEEN coalesce(only_priority, 0)",
        "priority BETWEEN 0",
      ],
    ],
  },
};
