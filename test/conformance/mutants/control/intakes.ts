/** What can go wrong with intakes: who is refused, who passes, and what a refusal leaves behind. */
import type { Faults } from "../all.ts";

/** Faults of statements that are the same on both stores. */
const CLOSED = [
  ["a repeated close moves the time", "SET reason", "SET closed_at = excluded.closed_at, reason"],
  ["a repeated close keeps the reason", "SET reason = excluded.reason, by", "SET by"],
] as const;

export const SQLITE_INTAKE_FAULTS: Faults = {
  intakes: {
    close_intake: CLOSED,
  },
  openIntake: {
    open_intake: [["all intakes open", "WHERE name = :name", "WHERE :name IS NOT NULL"]],
    "jobs/intakes.ts": [
      [
        "an open intake was closed",
        "if (name === undefined || before === undefined) return false;",
        "if (name === undefined) return false;",
      ],
    ],
  },
  closeIntake: {
    admission: [["no intake is closed", "EXISTS (SELECT 1 FROM millrace_intake)", "0"]],
    "jobs/enqueue.ts": [
      [
        "bisection forgets the intakes",
        "enqueueBisecting(session, jobs, admission(session, jobs))",
        "enqueueBisecting(session, jobs, ADMITTED)",
      ],
      [
        "a refused job replaces the holder of its key",
        'if ("status" in dependencies) return dependencies;\n    const reason',
        "const reason",
      ],
    ],
  },
  "a closed intake": {
    "jobs/enqueue.ts": [
      [
        "the children of a run are refused",
        "intakeRefusal(job, nameIds, call.closed)",
        "intakeRefusal({ ...job, parentId: null }, nameIds, call.closed)",
      ],
      [
        "the successors of an operator are refused",
        "intakeRefusal(job, nameIds, call.closed)",
        "intakeRefusal({ ...job, retryOf: null }, nameIds, call.closed)",
      ],
      [
        "the repeat of a job is refused",
        'job.after.length === 0 && !("status" in dependencies)',
        "job.after.length === 0",
      ],
    ],
  },
  "the tick of a schedule behind a closed intake": {
    "jobs/enqueue.ts": [
      [
        "a tick replaces the job before all the same",
        "if (refused !== null) return jobs.map(() => refused);",
        "",
      ],
    ],
    "schedules/ticks.ts": [
      [
        "a run by hand makes its job all the same",
        "enqueueScheduled(session, [job], () => {})",
        "enqueueScheduled(session, [{ ...job, retryOf: job.id }], () => {})",
      ],
    ],
  },
};

export const POSTGRES_INTAKE_FAULTS: Faults = {
  intakes: {
    close_intake: CLOSED,
  },
  openIntake: {
    open_intake: [
      ["all intakes open", "WHERE name = :name::integer", "WHERE :name::integer IS NOT NULL"],
    ],
    "jobs/intakes.ts": [["an open intake was closed", ") === 0) return;", ") < 0) return;"]],
  },
  closeIntake: {
    "functions/enqueue.sql": [
      [
        "jobs that are alike pass",
        "OR EXISTS (SELECT 1 FROM millrace.intake) AND EXISTS (",
        "OR false AND EXISTS (",
      ],
      [
        "the intake of the lane",
        "intake.name IN (type, tenant, lane, -2)",
        "intake.name IN (type, tenant, -2)",
      ],
      [
        "the intake of the installation",
        "intake.name IN (type, tenant, lane, -2)",
        "intake.name IN (type, tenant, lane)",
      ],
      [
        "a batch of several kinds passes",
        "IF EXISTS (SELECT 1 FROM millrace.intake) AND EXISTS (",
        "IF false AND EXISTS (",
      ],
      [
        "the lane of a batch",
        "(kind.type, kind.tenant, kind.lane, -2)",
        "(kind.type, kind.tenant, -2)",
      ],
    ],
    draw_keys: [["keyed jobs pass", "(SELECT EXISTS (SELECT 1 FROM millrace.intake))", "false"]],
    "jobs/enqueue.ts": [
      [
        "bisection forgets the intakes",
        "insertBisecting({ ...transaction, isProducer: true, overQuota }, jobs, NONE)",
        "insertBisecting(transaction, jobs, NONE)",
      ],
    ],
    "jobs/enqueue-keyed.ts": [
      [
        "a refused job replaces the holder of its key",
        "({ seeker }) => admissionRefusal(seeker, admission) !== null",
        "({ seeker }) => dependencyRefusal(seeker, admission.dependencies) !== null",
      ],
      ["a refused job keeps its keys", "await releaseKeys(transaction, numbered, answers);", ""],
    ],
  },
  "a closed intake": {
    "jobs/enqueue.ts": [
      [
        "the children of a run are refused",
        "intakeRefusal(interned.job, interned, closed)",
        "intakeRefusal({ ...interned.job, parentId: null }, interned, closed)",
      ],
      [
        "the repeat of a job is refused",
        "if (body !== undefined) refused.set",
        "if (body === null) refused.set",
      ],
    ],
    "jobs/enqueue-keyed.ts": [
      [
        "the successors of an operator are refused",
        "intakeRefusal(job, interned, closed)",
        "intakeRefusal({ ...job, retryOf: null }, interned, closed)",
      ],
    ],
  },
  "the tick of a schedule behind a closed intake": {
    "schedules/ticks.ts": [
      [
        "a tick makes its job all the same",
        "if (refused !== null) return jobs.map(() => refused);",
        "",
      ],
      [
        "a run by hand makes its job all the same",
        "const closed = isRepeat ? null :",
        "const closed = 1 ? null :",
      ],
    ],
  },
  enqueueInTransaction: {
    "transactions/enqueue.ts": [
      ["a closed intake refuses no job", "if (answer !== null) refused.set(interned, answer);", ""],
    ],
  },
};
