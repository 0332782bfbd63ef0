/** What can go wrong with commits that must wait for the disk, in the store on PostgreSQL. */
import type { Faults } from "./all.ts";

const ALIKE = `        SELECT nextval('millrace.job_key_seq') FROM generate_subscripts(ids, 1)
    );
    durable text := `;

export const POSTGRES_COMMIT_FAULTS: Faults = {
  "a commit where synchronous_commit is off": {
    "functions/claim.sql": [["a claim does not wait", "millrace.sync_commit()", "NULL"]],
    "functions/settle.sql": [["a settle does not wait", "millrace.sync_commit()", "NULL"]],
    "functions/enqueue.sql": [
      ["a job does not wait", `${ALIKE}millrace.sync_commit()`, `${ALIKE}NULL`],
      [
        "different jobs do not wait",
        "later  uuid[];\n    durable text := millrace.sync_commit()",
        "later  uuid[];\n    durable text := NULL",
      ],
    ],
    "functions/start.sql": [["a start does not wait", "millrace.sync_commit()", "NULL"]],
    "database/session.ts": [
      [
        "a transaction does not wait",
        "COMMITTED; ${IDLE_LIMIT}; ${SYNC_COMMIT}`",
        "COMMITTED; ${IDLE_LIMIT}`",
      ],
      ["a single statement does not wait", "(waitsForDisk || SYNCS.has(name))", "true"],
    ],
    "database/connection-settings.ts": [
      ["a setting outlives the transaction", "'on', true)", "'on', false)"],
    ],
  },
  "the commit of a caller's transaction": {
    home: [["jobs with keys do not wait", "'on', true)", "'off', true)"]],
    "migrations/0001_tables.sql": [
      [
        "a stricter setting is lowered",
        "CASE WHEN current_setting('synchronous_commit') = 'off'",
        "CASE WHEN true",
      ],
    ],
  },
};
