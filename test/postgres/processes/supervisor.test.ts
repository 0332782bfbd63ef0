/** What the migration of `millrace process new` does: a process from its kick-off to its end. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../support/postgres.ts";
import { Installations, type Installation } from "./installation.ts";

const SUPERVISE = "SELECT comms.send_email_supervisor($1)";

let installations: Installations;
beforeAll(async () => {
  installations = await Installations.start();
});
afterAll(() => installations[Symbol.asyncDispose]());

/** An installation with the process comms.send_email, whose channel is e-mail. */
async function withEmail(words: { maxAttempts?: string } = {}): Promise<Installation> {
  const made = await installations.open();
  await made.add("comms.send_email", words);
  return made;
}

async function kickOff(made: Installation): Promise<void> {
  expect(await made.value("SELECT comms.kickoff_send_email(7)")).toBeNull();
}

const supervisors = (made: Installation): Promise<any[]> => made.tasks("db_function");

/** Runs the newest check, as a worker does that is told to run it so many times. */
async function check(made: Installation, times = 1): Promise<any> {
  const payload = (await supervisors(made)).at(-1);
  let answer: unknown;
  for (let n = 0; n < times; n += 1) answer = await made.value(SUPERVISE, payload);
  return answer;
}

/** Runs a statement from several sessions at once. */
async function fromSessions(made: Installation, text: string, values: unknown[] = []) {
  const run = async (): Promise<void> => {
    const session = await connect(made.url);
    try {
      await session.query(text, values);
    } finally {
      await session.end();
    }
  };
  await Promise.all([run(), run(), run(), run()]);
}

/** Lets the newest attempt fail, as the error handler does. */
async function failAttempt(made: Installation, error = "no route"): Promise<void> {
  const original_payload = (await made.tasks("email")).at(-1);
  const answer = await made.value("SELECT comms.record_send_email_failure($1)", {
    original_payload,
    error,
  });
  expect(answer).toEqual({ status: "succeeded" });
}

async function succeedAttempt(made: Installation): Promise<void> {
  const original_payload = (await made.tasks("email")).at(-1);
  const answer = await made.value("SELECT comms.record_send_email_success($1)", {
    original_payload,
    worker_payload: {},
  });
  expect(answer).toEqual({ status: "succeeded" });
}

describe("the kick-off", () => {
  test("makes the root row and a supervisor task, once (002-25, 002-27, 002-33)", async () => {
    await using made = await withEmail();

    await kickOff(made);
    await kickOff(made);

    expect(await made.column("SELECT subject_id::integer FROM comms.send_email_task")).toEqual([7]);
    expect(await supervisors(made)).toEqual([
      {
        task_type: "db_function",
        db_function: "comms.send_email_supervisor",
        send_email_task_id: 1,
        check: 0,
      },
    ]);
  });

  test("is safe from several sessions at once", async () => {
    await using made = await withEmail();
    await fromSessions(made, "SELECT comms.kickoff_send_email(7)");

    expect(await supervisors(made)).toHaveLength(1);
  });

  test("returns a message instead of raising an error (002-25)", async () => {
    await using made = await installations.open();
    await made.sql.query("CREATE SCHEMA mail");
    await made.sql.query("CREATE TABLE mail.message (id uuid PRIMARY KEY)");
    const words = { root: "message:uuid", references: "mail.message.id" };
    await made.add("mail.deliver", words);
    const id = "019a94e0-5b1c-7d3e-8f21-0c5d6a7b8e9f";
    const kickoff = "SELECT mail.kickoff_deliver($1, $2)";

    expect(await made.value(kickoff, null, null)).toBe("message is required");
    expect(await made.value(kickoff, id, null)).toBe(`message ${id} does not exist`);
    expect(await made.value(kickoff, id, "infinity")).toBe("scheduled_at is no instant");
    await made.sql.query("INSERT INTO mail.message VALUES ($1)", [id]);
    expect(await made.value(kickoff, id, null)).toBeNull();
    expect(await supervisors(made)).toHaveLength(1);
  });
});

describe("the supervisor", () => {
  test("makes an attempt, its channel task and its own successor (002-24, 002-27)", async () => {
    await using made = await withEmail();
    await kickOff(made);

    const answer = await check(made);

    expect(answer).toEqual({ status: "succeeded", payload: { next_check: 1, failures: 0 } });
    expect(await made.tasks("email")).toEqual([
      {
        task_type: "email",
        send_email_attempt_id: 1,
        before_handler: "comms.get_send_email_payload",
        success_handler: "comms.record_send_email_success",
        error_handler: "comms.record_send_email_failure",
      },
    ]);
    expect((await supervisors(made)).map((each) => each.check)).toEqual([0, 1]);
  });

  test("waits while an attempt is under way, and longer after each failure (002-24)", async () => {
    await using made = await withEmail();
    await kickOff(made);
    await check(made);
    await check(made);
    const open = (await made.tasks("email")).length;
    await failAttempt(made);
    await check(made);
    await failAttempt(made);
    await check(made);

    const delays = await made.column(`
      SELECT round(extract(epoch FROM scheduled_at - enqueued_at))::integer
      FROM millrace.task WHERE task_type = 'db_function' ORDER BY task_id`);

    expect(open).toBe(1);
    expect(await made.tasks("email")).toHaveLength(3);
    expect(delays).toEqual([0, 30, 30, 60, 120]);
  });

  test("ends with a success, and enqueues nothing more (002-24, 002-34)", async () => {
    await using made = await withEmail();
    await kickOff(made);
    await check(made);
    await succeedAttempt(made);

    const answer = await check(made);

    expect(answer).toEqual({ status: "succeeded" });
    expect(await supervisors(made)).toHaveLength(2);
    expect(await made.value("SELECT comms.is_send_email_stuck(7)")).toBe(false);
  });

  test("is stuck after its attempts, with a final word, and stops (002-23, 002-34)", async () => {
    await using made = await withEmail({ maxAttempts: "2" });
    await kickOff(made);
    await check(made);
    await failAttempt(made, "first");
    const early = await made.value("SELECT comms.is_send_email_stuck(7)");
    await check(made);
    await failAttempt(made, "second");

    const answers = [await check(made), await check(made)];

    const reached = { status: "max_attempts_reached" };
    expect(answers).toEqual([reached, reached]);
    expect([early, await made.value("SELECT comms.is_send_email_stuck(7)")]).toEqual([false, true]);
    expect(await made.column("SELECT error_message FROM comms.send_email_task_failed")).toEqual([
      "2 attempts failed; the last: second",
    ]);
    expect(await made.tasks("email")).toHaveLength(2);
    expect(await supervisors(made)).toHaveLength(3);
  });

  test("has one successor when every check is delivered again", async () => {
    await using made = await withEmail({ maxAttempts: "3" });
    await kickOff(made);
    for (let n = 0; n < 3; n += 1) {
      await check(made, 3);
      await failAttempt(made);
    }
    const stale = (await supervisors(made))[0];

    await made.value(SUPERVISE, stale);
    await check(made, 3);

    expect((await supervisors(made)).map((each) => each.check)).toEqual([0, 1, 2, 3]);
    expect(await made.tasks("email")).toHaveLength(3);
  });

  test("has one successor and one attempt when two workers run a check at once", async () => {
    await using made = await withEmail();
    await kickOff(made);
    const [payload] = await supervisors(made);
    await fromSessions(made, SUPERVISE, [payload]);

    expect((await supervisors(made)).map((each) => each.check)).toEqual([0, 1]);
    expect(await made.tasks("email")).toHaveLength(1);
  });

  test("counts an attempt without an outcome as failed after its bound", async () => {
    await using made = await withEmail();
    await kickOff(made);
    await check(made);
    const age = "UPDATE comms.send_email_attempt SET created_at = created_at - $1::interval";
    await made.sql.query(age, ["14 minutes"]);
    await check(made);
    const before = (await made.tasks("email")).length;
    await made.sql.query(age, ["2 minutes"]);

    await check(made, 2);

    expect(before).toBe(1);
    expect(await made.tasks("email")).toHaveLength(2);
    expect(await made.column("SELECT error_message FROM comms.send_email_attempt_failed")).toEqual([
      "no outcome within 00:15:00",
    ]);
  });

  test("decides from the rows alone, wherever they come from (002-21)", async () => {
    await using made = await withEmail({ maxAttempts: "2" });
    await kickOff(made);
    await made.sql.query(`
      INSERT INTO comms.send_email_attempt (send_email_task_id) VALUES (1), (1);
      INSERT INTO comms.send_email_attempt_failed VALUES (1, 'by hand'), (2, 'by hand')`);

    const stuck = await check(made);
    await made.sql.query("INSERT INTO comms.send_email_attempt_succeeded VALUES (2)");

    expect(stuck).toEqual({ status: "max_attempts_reached" });
    expect(await check(made)).toEqual({ status: "succeeded" });
    expect(await made.tasks("email")).toEqual([]);
  });

  test("counts a success that arrives after the failure was noted", async () => {
    await using made = await withEmail();
    await kickOff(made);
    await check(made);
    await failAttempt(made, "no outcome");
    await succeedAttempt(made);

    expect(await check(made)).toEqual({ status: "succeeded" });
  });

  test.each([
    [null, "missing_send_email_task_id"],
    [[], "missing_send_email_task_id"],
    [{}, "missing_send_email_task_id"],
    [{ send_email_task_id: "x" }, "missing_send_email_task_id"],
    [{ send_email_task_id: -1 }, "missing_send_email_task_id"],
    [{ send_email_task_id: 1.5 }, "missing_send_email_task_id"],
    [{ send_email_task_id: "9".repeat(40) }, "missing_send_email_task_id"],
    [{ send_email_task_id: { a: 1 } }, "missing_send_email_task_id"],
    [{ send_email_task_id: 99 }, "send_email_task_not_found"],
    [{ send_email_task_id: 99, check: "x" }, "send_email_task_not_found"],
  ])("answers a status for the payload %j", async (payload, status) => {
    await using made = await withEmail();

    expect(await made.value(SUPERVISE, JSON.stringify(payload))).toEqual({ status });
  });
});

describe("the handlers", () => {
  test("may run again for one attempt (002-19, 002-20)", async () => {
    await using made = await withEmail();
    await kickOff(made);
    await check(made);
    await failAttempt(made, "first");
    await failAttempt(made, "again");
    await succeedAttempt(made);
    await succeedAttempt(made);

    expect(await made.column("SELECT error_message FROM comms.send_email_attempt_failed")).toEqual([
      "first",
    ]);
    expect(
      await made.value("SELECT count(*)::integer FROM comms.send_email_attempt_succeeded"),
    ).toBe(1);
  });

  test("answer a status where the attempt is missing or unknown (002-20)", async () => {
    await using made = await withEmail();
    const status = async (handler: string, payload: unknown): Promise<string> =>
      (await made.value(`SELECT comms.${handler}($1)`, JSON.stringify(payload))).status;

    for (const handler of ["record_send_email_success", "record_send_email_failure"]) {
      const unknown = { original_payload: { send_email_attempt_id: 99 } };
      expect(await status(handler, null)).toBe("missing_attempt_id");
      expect(await status(handler, { original_payload: "x" })).toBe("missing_attempt_id");
      expect(await status(handler, unknown)).toBe("attempt_not_found");
    }
    expect(await status("get_send_email_payload", {})).toBe("missing_attempt_id");
    expect(await status("get_send_email_payload", { send_email_attempt_id: 99 })).toBe(
      "attempt_not_found",
    );
  });

  test("say what to fill in", async () => {
    await using made = await withEmail();
    await kickOff(made);
    await check(made);
    const [payload] = await made.tasks("email");

    const answer = await made.value("SELECT comms.get_send_email_payload($1)", payload);

    expect(answer.status).toBe("not_implemented");
    expect(answer.validation_failure_message).toContain("return the message for subject_id 7");
  });
});

describe("a process in SQL alone (002-29)", () => {
  const perform = (body: string): string => `
    CREATE OR REPLACE FUNCTION billing.perform_close(_payload jsonb) RETURNS jsonb
      LANGUAGE plpgsql AS $$ BEGIN ${body} END $$`;

  async function withClose(body: string): Promise<Installation> {
    const made = await installations.open();
    await made.add("billing.close", { channel: "db_function" });
    await made.sql.query("CREATE TABLE billing.closed (id bigint)");
    await made.sql.query(perform(body));
    await made.sql.query("SELECT billing.kickoff_close(7)");
    return made;
  }

  async function closeCheck(made: Installation): Promise<any> {
    const payload = (await supervisors(made)).at(-1);
    return made.value("SELECT billing.close_supervisor($1)", payload);
  }

  test("writes what the function changed and its success in one transaction", async () => {
    await using made = await withClose(
      `INSERT INTO billing.closed VALUES (7); RETURN '{"status": "succeeded"}';`,
    );

    expect(await closeCheck(made)).toEqual({ status: "succeeded" });
    expect(await made.value("SELECT count(*)::integer FROM billing.closed")).toBe(1);
    expect(await supervisors(made)).toHaveLength(1);
  });

  test("writes an exception as a failure, without what the function changed", async () => {
    await using made = await withClose(
      "INSERT INTO billing.closed VALUES (7); RAISE EXCEPTION 'the month is open';",
    );

    await closeCheck(made);

    expect(await made.column("SELECT error_message FROM billing.close_attempt_failed")).toEqual([
      "the month is open",
    ]);
    expect(await made.value("SELECT count(*)::integer FROM billing.closed")).toBe(0);
    expect(await supervisors(made)).toHaveLength(2);
  });

  test("takes any other answer as a failure", async () => {
    await using made = await withClose(`RETURN '{"status": "too_early"}';`);
    await closeCheck(made);
    await made.sql.query(perform("RETURN NULL;"));
    await closeCheck(made);

    expect(
      await made.column(
        "SELECT error_message FROM billing.close_attempt_failed ORDER BY close_attempt_id",
      ),
    ).toEqual(["too_early", "no answer"]);
  });
});
