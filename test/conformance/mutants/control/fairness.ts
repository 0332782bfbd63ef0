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
      ["the newest jobs are not looked at", "rows: [...newest, ...later]", "rows: later"],
      ["jobs in between are not looked at", "rows: [...newest, ...later]", "rows: newest"],
      ["a look begins with the oldest jobs again", "state.fairLooks.set(lane, next)", ""],
    ],
    jobs_without_turn: [
      [
        "jobs that have crashed get turns",
        "AND ready.crashes = 0\n  AND ready.priority = class",
        "AND ready.priority = class",
      ],
    ],
    first_turns: [
      ["the clock is the last turn", "SELECT min(ready.rank)", "SELECT max(ready.rank)"],
    ],
  },
  "a job with a turn": {
    take_ready: [["the turn stays", "coalesce(due * 1000, rank) AS rank", "max(rank, 0) AS rank"]],
    count_due: [["turns are due times", "coalesce(due * 1000, rank) AS rank", "rank"]],
    "runs/claim-candidates.ts": [
      ["queues of limits come after turns", "rank: job.rank - QUEUE_OFFSET", "rank: job.rank"],
    ],
  },
  "claim, with olderThanMs": {
    longest_due_class: [["turns are not looked at", "SELECT min(turn.due)", "SELECT max(NULL)"]],
    "runs/claim.ts": [["the age does not matter", "found.ms <= olderThanMs", "found.ms < 0"]],
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
      ["the newest jobs are not looked at", "rows: [...newest, ...later]", "rows: later"],
      ["jobs in between are not looked at", "rows: [...newest, ...later]", "rows: newest"],
      ["a look begins with the oldest jobs again", "state.fairLooks.set(lane, next)", ""],
    ],
    first_turns: [
      ["the clock is the last turn", "SELECT min(ready.rank)", "SELECT max(ready.rank)"],
    ],
  },
  "a job with a turn": {
    "functions/fairness.sql": [
      ["queues of limits come after turns", "named.rank - 9000000000000000", "named.rank"],
    ],
    count_due: [["turns are due times", "coalesce(due * 1000, rank) AS rank", "rank"]],
  },
  "claim, with olderThanMs": {
    longest_due_class: [
      ["turns are not looked at", "SELECT min(turn.due)", "SELECT max(NULL::bigint)"],
    ],
    "runs/claim.ts": [["the age does not matter", "found.ms <= olderThanMs", "found.ms < 0"]],
  },
};
