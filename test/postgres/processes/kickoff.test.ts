/** To whom a process belongs, and how it goes on when its supervisor or its channel is lost. */
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../support/postgres.ts";
import { Installations, type Installation } from "./installation.ts";

let installations: Installations;
beforeAll(async () => {
  installations = await Installations.start();
});
afterAll(() => installations[Symbol.asyncDispose]());

const KICK_OFF = "SELECT comms.kickoff_send_email(7)";
const SUPERVISE = "SELECT comms.send_email_supervisor($1)";
const LIVING = `SELECT payload FROM millrace.task LEFT JOIN millrace.task_completed AS over
  USING (task_id) WHERE over.task_id IS NULL AND task_type = 'db_function' ORDER BY task_id`;

async function withEmail(words: { maxAttempts?: string } = {}): Promise<Installation> {
  const made = await installations.open();
  await made.add("comms.send_email", words);
  return made;
}

/** Ends all tasks, as an operator or a worker that loses them does. */
async function endTasks(made: Installation): Promise<void> {
  await made.sql.query(`SELECT millrace.cancel(task_id) FROM millrace.task`);
}

/** Runs the newest check. */
async function check(made: Installation): Promise<any> {
  return made.value(SUPERVISE, (await made.tasks("db_function")).at(-1));
}

describe("the tenant of a process", () => {
  /** A session of a role that acts for the tenant acme, and may kick processes off. */
  async function asAcme(made: Installation): Promise<Client> {
    await made.sql.query(`
      DO $$ BEGIN CREATE ROLE acme_app LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
      SELECT millrace.limit_role_to_tenant('acme_app', 'acme');
      GRANT USAGE ON SCHEMA comms TO acme_app;
      GRANT EXECUTE ON FUNCTION comms.kickoff_send_email TO acme_app`);
    return connect(made.url.replace("postgres@", "acme_app@"));
  }
  const TENANTS = "SELECT DISTINCT tenant FROM millrace.task";

  test("is that of its kick-off, whichever session runs its supervisor", async () => {
    await using made = await withEmail();
    const acme = await asAcme(made);
    await acme.query(KICK_OFF);
    await check(made);
    await acme.query(KICK_OFF);
    await acme.end();

    expect(await made.column(TENANTS)).toEqual(["acme"]);
    expect(await made.tasks("email")).toHaveLength(1);
    expect(await made.tasks("db_function")).toHaveLength(2);
  });

  test("has one successor, when sessions of two tenants run a check", async () => {
    await using made = await withEmail();
    const acme = await asAcme(made);
    await acme.query(KICK_OFF);
    await made.sql.query("GRANT EXECUTE ON FUNCTION comms.send_email_supervisor TO acme_app");
    const [first] = await made.tasks("db_function");
    await acme.query(SUPERVISE, [first]);
    await made.sql.query(SUPERVISE, [first]);
    await acme.end();

    expect(await made.tasks("db_function")).toHaveLength(2);
    expect(await made.column(TENANTS)).toEqual(["acme"]);
  });

  test("may be given by a supervisor that starts another process", async () => {
    await using made = await withEmail();
    await made.sql.query("SELECT comms.kickoff_send_email(7, _tenant => 'other')");
    const acme = await asAcme(made);
    await check(made);
    await endTasks(made);
    await acme.query(KICK_OFF);
    const foreign = acme.query("SELECT comms.kickoff_send_email(8, _tenant => 'other')");
    await expect(foreign).rejects.toMatchObject({ code: "MR017" });
    await acme.end();

    expect(await made.column(TENANTS)).toEqual(["other"]);
    expect(await made.column(LIVING)).toEqual([]);
  });
});

describe("tables that are made again", () => {
  test("have processes with supervisors of their own", async () => {
    await using made = await withEmail();
    await made.sql.query(KICK_OFF);
    await check(made);
    await endTasks(made);
    await made.sql.query("DROP SCHEMA comms CASCADE");
    await made.add("comms.send_email");

    await made.sql.query("SELECT comms.kickoff_send_email(77)");
    await check(made);

    expect((await made.column(LIVING)).map((payload) => payload.check)).toEqual([0, 1]);
  });
});

describe("a process without a supervisor", () => {
  test("gets one by another kick-off, and goes on to its end", async () => {
    await using made = await withEmail({ maxAttempts: "1" });
    await made.sql.query(KICK_OFF);
    await check(made);
    await endTasks(made);

    expect(await made.value(KICK_OFF)).toBeNull();
    await made.sql.query(KICK_OFF);

    expect(await made.column(LIVING)).toHaveLength(1);
    await check(made);
    expect(await made.column(LIVING)).toHaveLength(2);
    await endTasks(made);
    await made.sql.query(KICK_OFF);
    await made.sql.query(
      "INSERT INTO comms.send_email_attempt_failed VALUES (1, 'by hand') ON CONFLICT DO NOTHING",
    );
    expect(await check(made)).toEqual({ status: "max_attempts_reached" });
  });

  test("gets none after its success or its final word", async () => {
    await using made = await withEmail({ maxAttempts: "1" });
    await made.sql.query(KICK_OFF);
    await check(made);
    await made.sql.query("INSERT INTO comms.send_email_attempt_succeeded VALUES (1)");
    await endTasks(made);
    await made.sql.query(KICK_OFF);
    expect(await made.column(LIVING)).toEqual([]);

    await made.sql.query("SELECT comms.kickoff_send_email(8)");
    await check(made);
    await made.sql.query("INSERT INTO comms.send_email_attempt_failed VALUES (2, 'no route')");
    await check(made);
    await endTasks(made);
    await made.sql.query("SELECT comms.kickoff_send_email(8)");
    expect(await made.column(LIVING)).toEqual([]);
  });

  test("gets one from several sessions at once", async () => {
    await using made = await withEmail();
    await made.sql.query(KICK_OFF);
    await endTasks(made);
    const sessions = await Promise.all([1, 2, 3, 4].map(() => connect(made.url)));
    await Promise.all(sessions.map((session) => session.query(KICK_OFF)));
    for (const session of sessions) await session.end();

    expect(await made.column(LIVING)).toHaveLength(1);
  });
});

describe("an attempt whose channel task waits too long", () => {
  test("sends nothing when another attempt has taken its place", async () => {
    await using made = await withEmail({ maxAttempts: "3" });
    await made.sql.query(KICK_OFF);
    for (let n = 0; n < 4; n += 1) {
      await check(made);
      await made.sql.query(
        "UPDATE comms.send_email_attempt SET created_at = created_at - interval '16 minutes'",
      );
    }
    expect(await made.value("SELECT comms.is_send_email_stuck(7)")).toBe(true);
    await made.sql.query("INSERT INTO comms.send_email_attempt (send_email_task_id) VALUES (1)");
    const late = await made.tasks("email");
    const prepare = "SELECT comms.get_send_email_payload($1)";

    expect(late).toHaveLength(3);
    for (const payload of late) {
      expect(await made.value(prepare, payload)).toMatchObject({
        status: "attempt_superseded",
        validation_failure_message: "attempt_superseded",
      });
    }
    expect(await made.value(prepare, { send_email_attempt_id: 4 })).toMatchObject({
      status: "not_implemented",
    });
  });
});
