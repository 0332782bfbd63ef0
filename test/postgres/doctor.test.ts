/** What `millrace doctor` finds on a server, and whether its cures cure. */
import assert from "node:assert/strict";
import { Client, Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { completed } from "../support/factories.ts";
import { type } from "../cli/command-line.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { add, settleAll, startAll, stateOf, take } from "../support/steps.ts";

let server: PostgresServer;
let pool: Pool;
beforeAll(async () => {
  server = await startPostgres({ settings: ["max_prepared_transactions=5"] });
  const options = { application_name: "other", allowExitOnIdle: true };
  pool = new Pool({ connectionString: server.url, ...options });
  // The server is stopped under it.
  pool.on("error", () => {});
});
afterAll(() => server[Symbol.asyncDispose]());

const VIEWS = ["job_now", "job_record", "job_shown"] as const;

interface Check {
  readonly name: string;
  readonly found: string;
  readonly fix: string | null;
}

describe("a sound installation on PostgreSQL", () => {
  test("has nothing to find, whatever its schema is called", async () => {
    await using patient = await openPatient('od"d name');
    await add(patient.store, {}, {}, { due: { delayMs: 60_000 } });
    await settleAll(patient.store, await take(patient.store, { limit: 1 }), completed());
    expect(await patient.findings()).toEqual([]);
  });

  test("is told apart from one that this user may not compare", async () => {
    await using patient = await openPatient("narrow");
    await pool.query(`CREATE ROLE narrow LOGIN; GRANT ALL ON SCHEMA narrow TO narrow;
      GRANT ALL ON ALL TABLES IN SCHEMA narrow TO narrow;
      GRANT ALL ON ALL SEQUENCES IN SCHEMA narrow TO narrow;
      GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA narrow TO narrow`);
    const { out } = await patient.doctor("narrow");
    expect(out).toContain("ok       schema: not compared: this user may not create a schema");
  });
});

describe("what another client has changed in the schema", () => {
  test("is found and cured", async () => {
    await using patient = await openPatient("drift");
    await patient.plant(`DROP INDEX ready_order;
      DROP INDEX scheduled_due;
      CREATE INDEX scheduled_due ON scheduled (run_at);
      CREATE OR REPLACE FUNCTION ms_of(moment timestamptz) RETURNS bigint
        LANGUAGE sql STABLE PARALLEL SAFE RETURN 7;
      DROP FUNCTION settle_done;
      ALTER TABLE job DROP webhook CASCADE;
      ALTER TABLE gate ALTER reason DROP NOT NULL;
      ALTER TABLE job DROP CONSTRAINT job_priority_check;
      ALTER TABLE lease DROP COLUMN low CASCADE;
      ALTER TABLE lease ALTER high DROP EXPRESSION;
      ALTER TABLE ready ADD COLUMN own text`);

    const findings = await patient.findings();
    const { code } = await patient.doctor();
    for (const { fix } of findings) await patient.cure(fix);

    expect(new Set(findings.map(({ found }) => found))).toEqual(
      new Set([
        "the column job.webhook is missing",
        "the column gate.reason is changed",
        "the column lease.low is missing",
        "the column lease.high is changed",
        "the constraint job.job_priority_check is missing",
        "the index ready_order is missing",
        "the index scheduled_due is changed",
        // Those that show all columns of a job went with one of them.
        ...VIEWS.map((view) => `the view ${view} is missing`),
        "the function find_job is missing",
        "the function ms_of is changed",
        "the function settle_done is missing",
      ]),
    );
    expect(code).toBe(1);
    expect(await patient.findings()).toEqual([]);
  });

  test("is found: an index that is of no use", async () => {
    await using patient = await openPatient("invalid");
    await patient.plant(
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'lease_worker'::regclass",
    );
    const [finding] = await patient.findings();
    await patient.cure(finding?.fix ?? null);
    expect(finding?.found).toBe("the index lease_worker is invalid");
    expect(await patient.findings()).toEqual([]);
  });
});

describe("jobs that are where no verb puts them", () => {
  test("are found and cured: one that lies nowhere", async () => {
    await using patient = await openPatient("lost");
    const [id] = await add(patient.store, {});
    await patient.plant("DELETE FROM ready");
    const [finding] = await patient.findings();
    await patient.cure(finding?.fix ?? null);
    expect(finding).toMatchObject({ name: "lost job", fix: `millrace jobs release ${id}` });
    expect(await stateOf(patient.store, id)).toBe("queued");
    expect(await patient.findings()).toEqual([]);
  });

  test("are found and cured: one in a lease whose worker is not known", async () => {
    await using patient = await openPatient("ownerless");
    const [id] = await add(patient.store, {});
    await take(patient.store);
    await patient.plant("DELETE FROM worker");
    const [finding] = await patient.findings();
    await patient.cure(finding?.fix ?? null);
    expect(finding).toMatchObject({ name: "lease without worker" });
    expect(finding?.found).toContain(id);
    expect(await patient.findings()).toEqual([]);
  });

  test("are found and cured: a place without a job", async () => {
    await using patient = await openPatient("jobless");
    await add(patient.store, {});
    await patient.plant("DELETE FROM job");
    const [finding] = await patient.findings();
    await patient.cure(finding?.fix ?? null);
    expect(finding).toMatchObject({ name: "place without job" });
    expect(await patient.findings()).toEqual([]);
  });

  test("are found and cured: a start whose run is in no lease", async () => {
    await using patient = await openPatient("stray");
    const { store, plant } = patient;
    await add(store, {}, {});
    const batch = await take(store, { prefetch: true });
    await startAll(store, batch);
    const [first] = batch.jobs;
    await plant(`INSERT INTO run_start (lease, key, at) VALUES (${batch.lease.number}, 999, now());
      INSERT INTO run_start (lease, key, at) VALUES (999, ${first?.key}, now())`);

    const findings = await patient.findings();
    for (const { fix } of findings) await patient.cure(fix);

    expect(findings).toMatchObject([
      { name: "start without lease", found: expect.stringContaining("2 starts") },
    ]);
    expect(await patient.findings()).toEqual([]);
    await settleAll(store, batch, completed());
  });

  test("are found and cured: a lease without worker and without open runs", async () => {
    await using patient = await openPatient("leftover");
    const { store, plant } = patient;
    await add(store, {});
    const batch = await take(store, { prefetch: true });
    await startAll(store, batch);
    await plant("CREATE TABLE kept AS SELECT * FROM run_start");
    await plant(
      "CREATE TABLE held AS SELECT number, claimed_at, secret, keys, ns, ranks FROM lease",
    );
    await settleAll(store, batch, completed());
    await plant(`INSERT INTO run_start SELECT * FROM kept;
      INSERT INTO lease (number, claimed_at, worker, secret, keys, ns, ranks)
      SELECT number, claimed_at, gen_random_uuid(), secret, keys, ns, ranks FROM held`);

    const [finding] = await patient.findings();
    await patient.cure(finding?.fix ?? null);

    expect(finding).toMatchObject({ name: "lease without worker" });
    expect(await patient.findings()).toEqual([]);
  });

  test.each([
    ["over", "although it is final", completed()],
    ["held", "although it is running", null],
  ])("are found and cured: one that waits and is %s", async (schema, words, settlement) => {
    await using patient = await openPatient(schema);
    await add(patient.store, {});
    await patient.plant("CREATE TABLE kept AS SELECT * FROM ready");
    const batch = await take(patient.store);
    if (settlement !== null) await settleAll(patient.store, batch, settlement);
    await patient.plant("INSERT INTO ready SELECT * FROM kept");
    const [finding] = await patient.findings();
    await patient.cure(finding?.fix ?? null);
    expect(finding?.found).toContain(words);
    expect(await patient.findings()).toEqual([]);
  });

  test("are found and cured: one that waits twice, and one under a wrong number", async () => {
    await using patient = await openPatient("twin");
    await add(patient.store, { due: { delayMs: 60_000 } }, { due: { delayMs: 60_000 } });
    await patient.plant(`
      INSERT INTO ready (key, rank, lane, priority, type, tenant, n, tries, crashes)
      SELECT key, 0, lane, priority, type, tenant, n, 0, 0 FROM scheduled ORDER BY key LIMIT 1;
      UPDATE scheduled SET n = 5 WHERE key = (SELECT max(key) FROM scheduled)`);
    const findings = await patient.findings();
    for (const { fix } of findings) await patient.cure(fix);
    expect(findings.map(({ found }) => found)).toEqual([
      expect.stringContaining("in another place as well"),
      expect.stringContaining("under a wrong run number"),
    ]);
    expect(await patient.findings()).toEqual([]);
  });
});

describe("an invariant that does not hold", () => {
  test("is found and cured; one that takes reading whole tables only when asked for", async () => {
    await using patient = await openPatient("broken");
    const [id] = await add(patient.store, {});
    await patient.plant(`INSERT INTO cancel_request (key, at) SELECT key, created_at FROM job;
      INSERT INTO tag (name, value, key) VALUES ('colour', 'red', 999999)`);

    const [shallow] = await patient.findings();
    const deep = await patient.findings("--deep");
    for (const { fix } of deep) await patient.cure(fix);

    expect(shallow).toMatchObject({ name: "stale cancel request", count: 1, jobs: [id] });
    expect(deep.map(({ name }) => name)).toEqual(["stale cancel request", "tag without job"]);
    expect(deep.at(-1)).toMatchObject({ invariant: "I19", count: 1, jobs: ["key 999999"] });
    expect(await patient.findings("--deep")).toEqual([]);
    expect((await patient.doctor()).out).toContain("invariants: 18 hold; 13 more with --deep");
  });
});

describe("what slows a server down", () => {
  test("is found and cured: dead rows that no vacuum clears", async () => {
    await using patient = await openPatient("bloated");
    await patient.plant(`ALTER TABLE ready SET (autovacuum_enabled = false);
      INSERT INTO ready (key, rank, lane, priority, type, tenant, n, tries, crashes)
      SELECT key, 0, 1, 1, 1, 1, 1, 0, 0 FROM generate_series(1, 30000) AS key;
      DELETE FROM ready;
      SELECT pg_stat_force_next_flush()`);

    const findings = await patient.findings();
    for (const { fix } of findings) await patient.cure(fix);
    await patient.plant("SELECT pg_stat_force_next_flush()");

    expect(findings).toEqual([
      expect.objectContaining({ name: "autovacuum", found: expect.stringContaining("ready") }),
      {
        name: "autovacuum lag",
        found: expect.stringContaining("ready has 30000 dead and 0 live rows"),
        fix: `VACUUM (ANALYZE) "bloated"."ready";`,
      },
    ]);
    expect(await patient.findings()).toEqual([]);
  });

  test("is found: indexes that weigh far more than their table", async () => {
    await using patient = await openPatient("heavy");
    await add(patient.store, {});
    const { findings } = await patient.store.examine({ indexBytes: 1 });
    expect(findings.map(({ fix }) => fix)).toContain(`REINDEX TABLE CONCURRENTLY "heavy"."job";`);
  });

  test("is found and cured: a server that clears nothing by itself", async () => {
    await using patient = await openPatient("unclean");
    await pool.query("ALTER SYSTEM SET autovacuum = off");
    await pool.query("SELECT pg_reload_conf()");
    const [finding] = await patient.findings();
    await pool.query("ALTER SYSTEM RESET autovacuum");
    await pool.query("SELECT pg_reload_conf()");
    expect(finding).toMatchObject({ name: "autovacuum" });
    expect(finding?.found).toContain("it is switched off, so");
  });
});

/** Every transaction is old. */
const AT_ONCE = { transactionMs: 0, slotTransactions: 0 } as const;
const SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1";

describe("what holds back vacuum", () => {
  test("is found: a transaction with a snapshot, and ended by its fix", async () => {
    await using patient = await openPatient("old");
    const client = new Client({ connectionString: server.url, application_name: "reports" });
    await client.connect();
    const ended = new Promise((resolve) => client.once("end", resolve));
    client.on("error", () => {});
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    const { rows } = await client.query("SELECT pg_backend_pid() AS pid, now() AS since");

    const { findings } = await patient.store.examine(AT_ONCE);
    await patient.cure(findings[0]?.fix ?? null);
    await ended;

    const day = rows[0].since.toISOString().slice(0, 10);
    expect(findings).toEqual([
      {
        name: "vacuum held back",
        found: expect.stringMatching(
          `^pid ${rows[0].pid} \\(reports, user postgres\\) is idle in transaction, ` +
            `in a transaction since ${day}T\\S+Z \\([\\w ]+\\): .* cannot be vacuumed$`,
        ),
        fix: `SELECT pg_terminate_backend(${rows[0].pid});`,
      },
    ]);
    expect((await patient.store.examine(AT_ONCE)).findings).toEqual([]);
  });

  test("is found: a transaction that has written", async () => {
    await using patient = await openPatient("writer");
    await using transaction = await beginElsewhere("BEGIN; SELECT pg_current_xact_id()");
    const { findings } = await patient.store.examine(AT_ONCE);
    expect(findings.map(({ fix }) => fix)).toEqual([endOf(transaction)]);
  });

  test("is not: a transaction without snapshot and writes, or a young one", async () => {
    await using patient = await openPatient("harmless");
    await using idle = await beginElsewhere("BEGIN; SELECT 1");
    const now = await patient.store.examine(AT_ONCE);
    await using young = await beginElsewhere(SNAPSHOT);
    const { findings } = await patient.store.examine();

    expect(now.findings.map(({ fix }) => fix)).not.toContain(endOf(idle));
    expect(findings.map(({ fix }) => fix)).not.toContain(endOf(young));
  });

  test("is found and cured: a prepared transaction", async () => {
    await using patient = await openPatient("prepared");
    const client = await pool.connect();
    await client.query("BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'it''s late'");
    client.release();

    const { findings } = await patient.store.examine(AT_ONCE);
    await patient.cure(findings[0]?.fix ?? null);

    expect(findings).toMatchObject([
      {
        name: "vacuum held back",
        found: expect.stringContaining("the prepared transaction 'it''s late' of user postgres"),
        fix: "ROLLBACK PREPARED 'it''s late';",
      },
    ]);
    expect((await patient.store.examine(AT_ONCE)).findings).toEqual([]);
  });

  test("is found and cured: a replication slot of a standby that is gone", async () => {
    await using patient = await openPatient("slot");
    await feedBack("standby_1");

    const { findings } = await patient.store.examine(AT_ONCE);
    const within = await patient.store.examine({ ...AT_ONCE, slotTransactions: 1_000 });
    await patient.cure(findings[0]?.fix ?? null);

    expect(findings).toMatchObject([
      {
        name: "vacuum held back",
        found: expect.stringMatching(/^the replication slot standby_1 \(inactive\) is \d+ trans/),
        fix: "SELECT pg_drop_replication_slot('standby_1');",
      },
    ]);
    expect(within.findings).toEqual([]);
    expect((await patient.store.examine(AT_ONCE)).findings).toEqual([]);
  });

  test("is told apart from sessions that this user may not see", async () => {
    await using patient = await openPatient("blind");
    await pool.query(`CREATE ROLE blind LOGIN; GRANT ALL ON SCHEMA blind TO blind;
      GRANT ALL ON ALL TABLES IN SCHEMA blind TO blind;
      GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA blind TO blind`);
    await using transaction = await beginElsewhere(SNAPSHOT);
    const { out } = await patient.doctor("blind");
    expect(out).not.toContain(endOf(transaction));
    expect(out).toMatch(/ok +vacuum held back: not checked for \d+ sessions .* pg_read_all_stats/);
  });
});

describe("settings that endanger jobs", () => {
  test("are found and cured: a server that does not wait for its disk", async () => {
    await using patient = await openPatient("unsynced");
    await switchOff("fsync", "full_page_writes");
    const findings = await patient.findings();
    for (const { fix } of findings) {
      // A block of several statements is a transaction, which ALTER SYSTEM refuses.
      for (const each of (fix ?? "").split(/(?<=;) /)) await pool.query(each);
    }
    expect(findings.map(({ name }) => name)).toEqual(["fsync", "full_page_writes"]);
    expect(await patient.findings()).toEqual([]);
  });

  test("are said when the store is opened, with cause and fix", async () => {
    await switchOff("fsync");
    await using patient = await openPatient("warned");
    const warnings: string[] = [];
    patient.store.onWarning((warning) => warnings.push(warning));
    await pool.query("ALTER SYSTEM RESET fsync");
    await pool.query("SELECT pg_reload_conf()");
    expect(warnings).toEqual([
      expect.stringMatching(/fsync = off: .* acknowledged jobs are lost .* ALTER SYSTEM SET fsync/),
    ]);
  });

  test("are mentioned: commits that do not wait for the disk, which does not count", async () => {
    await using patient = await openPatient("unawaited");
    await pool.query("ALTER DATABASE postgres SET synchronous_commit = off");
    const { out } = await patient.doctor();
    await pool.query("ALTER DATABASE postgres RESET synchronous_commit");
    expect(out).toMatch(/ok +synchronous_commit: off .* wait for the disk anyway/);
  });
});

describe("doctor --fix on PostgreSQL", () => {
  test("repairs what was changed by hand, and healthy jobs go on", async () => {
    await using patient = await openPatient("fixed");
    const { store, plant } = patient;
    const [one, gone, lost] = await add(store, {}, {}, {});
    const batch = await take(store);
    const [, missing] = batch.jobs;
    assert.ok(missing);
    expect(missing.id).toBe(gone);
    const [waiting] = await add(store, {});
    await plant(`DELETE FROM job WHERE key = ${missing.key};
      DELETE FROM ready;
      UPDATE lease SET ns[3] = NULL;
      INSERT INTO cancel_request (key, at) VALUES (99999, now());
      INSERT INTO lock (tenant, name, job, n) VALUES (1, 'ghost', 99999, 1);
      INSERT INTO dependency (job, depends_on, tolerant) VALUES (99999, 99998, 0);
      INSERT INTO ended_run (worker, key, n) VALUES (gen_random_uuid(), 99999, 1);
      INSERT INTO ready SELECT 99999, rank, lane, priority, type, tenant, n, tries, crashes,
        concurrency FROM (SELECT 1 AS rank, lane, priority, type, tenant, 1 AS n, 0 AS tries,
        0 AS crashes, concurrency FROM job LIMIT 1) AS row`);
    const before = (await patient.findings()).map(({ name }) => name);

    const { out } = await patient.doctor(undefined, "--fix");
    const after = await patient.findings();

    expect(new Set(before)).toEqual(
      new Set([
        "place without job",
        "lost job",
        "lease against ledger",
        "stale cancel request",
        "lock without run",
        "dependency without wait",
        "ended run without worker",
      ]),
    );
    for (const name of before) expect(out).toContain(`FIXED    ${name}: `);
    expect(after).toEqual([]);
    expect(await stateOf(store, lost)).toBe("queued");
    expect(await stateOf(store, waiting)).toBe("queued");
    expect(await stateOf(store, one)).toBe("running");
  });
});

/** A transaction of another application, rolled back in the end. */
async function beginElsewhere(text: string): Promise<AsyncDisposable & { pid: number }> {
  const client = await pool.connect();
  await client.query(text);
  const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
  return {
    pid: rows[0].pid,
    async [Symbol.asyncDispose]() {
      await client.query("ROLLBACK");
      client.release();
    },
  };
}

function endOf({ pid }: { readonly pid: number }): string {
  return `SELECT pg_terminate_backend(${pid});`;
}

/** Creates a slot with the snapshot of a standby, which then disconnects. */
async function feedBack(slot: string): Promise<void> {
  await pool.query("SELECT pg_create_physical_replication_slot($1, true)", [slot]);
  const { rows } = await pool.query(
    `SELECT restart_lsn::text AS lsn, pg_snapshot_xmin(pg_current_snapshot())::text AS xmin
     FROM pg_replication_slots WHERE slot_name = $1`,
    [slot],
  );
  const options = { connectionString: server.url, replication: "true" };
  const standby = new Client(options);
  await standby.connect();
  const { connection } = standby;
  // The stream is not read.
  connection.removeAllListeners("copyData");
  const started = new Promise((resolve) => connection.once("replicationStart", resolve));
  connection.query(`START_REPLICATION SLOT "${slot}" PHYSICAL ${rows[0].lsn}`);
  await started;
  // CopyData with the feedback of a standby: its clock, its xmin, and no xmin of catalogs.
  const message = Buffer.alloc(1 + 4 + 25);
  message.write("d", 0);
  message.writeUInt32BE(4 + 25, 1);
  message.write("h", 5);
  message.writeUInt32BE(Number(rows[0].xmin), 5 + 1 + 8);
  connection.stream.write(message);
  const text = "SELECT 1 FROM pg_replication_slots WHERE xmin IS NOT NULL AND active = $1";
  while ((await pool.query(text, [true])).rowCount === 0);
  await standby.end();
  while ((await pool.query(text, [false])).rowCount === 0);
}

/** Resolves when new connections have the settings. */
async function switchOff(...names: readonly string[]): Promise<void> {
  for (const name of names) await pool.query(`ALTER SYSTEM SET ${name} = off`);
  await pool.query("SELECT pg_reload_conf()");
  const text = "SELECT count(*)::integer AS left FROM pg_settings WHERE name = ANY ($1)";
  const isLeft = async (): Promise<boolean> =>
    (await pool.query(`${text} AND setting = 'on'`, [names])).rows[0].left > 0;
  while (await isLeft());
}

/** An installation that can be spoilt, examined and cured. */
async function openPatient(schema: string) {
  const url = (user = "postgres"): string => {
    const address = new URL(server.url);
    address.username = user;
    address.searchParams.set("schema", schema);
    return address.href;
  };
  const store = makePostgresStore({ url: server.url, schema });
  await store.open();
  const doctor = (user?: string, ...options: string[]) =>
    type("doctor", "--db", url(user), ...options);
  const plant = async (sql: string): Promise<void> => {
    const quoted = schema.replaceAll('"', '""');
    const client = await pool.connect();
    await client.query(`SET search_path = "${quoted}"`);
    await client.query(sql);
    await client.query("RESET search_path");
    client.release();
  };
  return {
    store,
    doctor,
    plant,
    /** What is wrong. A job without a worker is not, here. */
    async findings(...options: string[]): Promise<Check[]> {
      const { out } = await type("doctor", "-o", "json", "--db", url(), ...options);
      const checks: Check[] = JSON.parse(out);
      return checks.filter(({ name, fix }) => fix !== null && name !== "jobs");
    },
    /** Does what a finding says: a command, or SQL. */
    async cure(fix: string | null): Promise<void> {
      const [program, ...words] = (fix ?? "").split(" ");
      if (program === "millrace") {
        const { code, err } = await type(...words, "--db", url());
        assert.equal(code, 0, err);
        return;
      }
      for (const statement of statementsOf(fix ?? "")) await pool.query(statement);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await store.close();
      await pool.query(`DROP SCHEMA "${schema.replaceAll('"', '""')}" CASCADE`);
    },
  };
}

/** What works on an index beside others must be sent by itself. */
function statementsOf(fix: string): readonly string[] {
  return fix.includes("CONCURRENTLY") ? fix.split(/(?<=;) /) : [fix];
}
