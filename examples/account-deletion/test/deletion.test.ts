/** The checklist of the specification, with the worker of Millrace. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { openMillrace } from "millrace";
import { describe, expect, test } from "vitest";
import { urlAs } from "../src/install.ts";
import { jobsOf } from "../src/worker.ts";
import { useServer } from "./server.ts";
import type { World } from "./world.ts";

const createWorld = useServer();
/** The warnings are about tasks that end with another status: they are what is tested. */
const silent = { debug() {}, info() {}, warn() {}, error() {} };

async function startWorker(world: World): Promise<AsyncDisposable> {
  const url = urlAs("engine_service_user", world.url);
  const mill = await openMillrace(url, { logger: silent });
  mill.work({ jobs: jobsOf(world.services) });
  return mill;
}

describe("the deletion of an account", () => {
  test("deletes each file, anonymizes the account and succeeds (002-35, 002-28)", async () => {
    await using world = await createWorld();
    const account = await world.addAccount(["one.wav", "two.wav"]);
    const before = world.objects();
    await world.request(account);
    const requested = await world.report(account);

    await using _ = await startWorker(world);
    const ended = await world.untilEnded(account);

    expect(before).toEqual(["one.wav", "two.wav"]);
    expect(requested).toMatchObject({ flags: ["deleted"], outcome: "running" });
    expect(ended).toEqual({
      flags: ["deleted", "anonymized"],
      files: [
        { file_id: 1, deleted: true },
        { file_id: 2, deleted: true },
      ],
      outcome: "succeeded",
      error: null,
    });
    expect(world.objects()).toEqual([]);
    expect(await world.value(COUNTS)).toEqual({
      deletions: 1,
      file_tasks: 2,
      file_successes: 2,
      anonymizations: 1,
    });
    expect(
      await world.value("SELECT to_jsonb(a) - 'created_at' FROM accounts.account AS a"),
    ).toEqual({ account_id: account, display_name: null, email: null, phone: null });
  });

  test("sends a mail over SMTP and a text message, each once (002-26)", async () => {
    await using world = await createWorld();
    const account = await world.addAccount([]);
    await world.request(account);

    await using _ = await startWorker(world);
    await world.untilEnded(account);

    const [mail = ""] = world.mail.received.values();
    expect(world.mail.received.size).toBe(1);
    expect(mail).toMatch(/^To: ada@example\.com\r$/m);
    expect(mail).toMatch(/^Subject: Your account\r$/m);
    expect(mail).toContain("Your account is being deleted.");
    expect(world.sms.sent).toHaveLength(1);
    expect(world.sms.sent).toMatchObject([
      { to: "+4912345", text: "Your account is being deleted." },
    ]);
    for (const table of ["send_email", "send_sms"]) {
      const text = `SELECT count(*)::integer FROM comms.${table}_attempt_succeeded`;
      expect(await world.value(text)).toBe(1);
    }
  });

  test("sends a message again that was refused once (002-26)", async () => {
    await using world = await createWorld();
    const account = await world.addAccount([]);
    world.mail.refuse(1);
    world.sms.refuse(1);
    await world.request(account);

    await using _ = await startWorker(world);
    await world.untilEnded(account);

    expect(world.mail.received.size).toBe(1);
    expect(world.sms.sent).toHaveLength(1);
    expect(await messageFacts(world, "email")).toEqual({
      succeeded: [2],
      failed: [{ attempt: 1, error: expect.stringContaining("try again later") }],
      given_up: 0,
    });
    expect(await messageFacts(world, "sms")).toEqual({
      succeeded: [2],
      failed: [{ attempt: 1, error: "the provider answered 503" }],
      given_up: 0,
    });
  });

  test("has a fact per attempt, and one per task for its final word (002-38, C-38)", async () => {
    await using world = await createWorld();
    const account = await world.addAccount([]);
    world.mail.refuse(Infinity);
    world.sms.refuse(Infinity);
    await world.request(account);

    await using _ = await startWorker(world);
    const ended = await world.untilEnded(account);

    for (const [kind, error] of [
      ["email", "try again later"],
      ["sms", "the provider answered 503"],
    ] as const) {
      expect(await messageFacts(world, kind)).toEqual({
        succeeded: null,
        failed: [1, 2, 3].map((attempt) => ({ attempt, error: expect.stringContaining(error) })),
        given_up: 1,
      });
    }
    // The deletion goes on without its messages.
    expect(ended).toMatchObject({ outcome: "succeeded" });
    expect(world.mail.received.size).toBe(0);
  });

  test("fails with a message when a file is stuck, and stops (002-36)", async () => {
    await using world = await createWorld();
    const account = await world.addAccount(["one.wav"]);
    rmSync(join(world.folder, "recordings"), { recursive: true });
    await world.request(account);

    await using _ = await startWorker(world);
    const ended = await world.untilEnded(account);

    expect(ended).toEqual({
      flags: ["deleted"],
      files: [{ file_id: 1, deleted: false }],
      outcome: "failed",
      error: "the deletion of file 1 is stuck",
    });
    expect(await world.value("SELECT files.is_file_deletion_stuck(1)")).toBe(true);
    expect(await world.column("SELECT error_message FROM files.file_deletion_task_failed")).toEqual(
      Array.from({ length: 3 }, () => expect.stringContaining("403")),
    );
    expect(await world.openTasks()).toEqual([]);
    expect(
      await world.value("SELECT count(*)::integer FROM accounts.account_anonymization_task"),
    ).toBe(0);
  });

  test("fails when the anonymization is stuck, and stops (002-37, 002-39)", async () => {
    await using world = await createWorld();
    const account = await world.addAccount(["one.wav"]);
    await world.client
      .query(`CREATE OR REPLACE FUNCTION accounts.anonymize_account(_account_id bigint)
      RETURNS void LANGUAGE plpgsql AS $$ BEGIN
        UPDATE accounts.account SET email = NULL;
        RAISE EXCEPTION 'the ledger is locked';
      END $$`);
    await world.request(account);

    await using _ = await startWorker(world);
    const ended = await world.untilEnded(account);

    expect(ended).toEqual({
      flags: ["deleted"],
      files: [{ file_id: 1, deleted: true }],
      outcome: "failed",
      error: "the anonymization of the account is stuck",
    });
    expect(await world.value("SELECT accounts.is_account_anonymization_stuck($1)", account)).toBe(
      true,
    );
    expect(
      await world.column("SELECT error_message FROM accounts.account_anonymization_task_failed"),
    ).toEqual(Array.from({ length: 3 }, () => "the ledger is locked"));
    expect(await world.value("SELECT email FROM accounts.account")).toBe("ada@example.com");
    expect(await world.openTasks()).toEqual([]);
  });

  test("keeps the metadata of a file beside the mark (002-40)", async () => {
    await using world = await createWorld();
    const account = await world.addAccount(["one.wav"]);
    await world.client.query(`INSERT INTO files.file_metadata VALUES (1, '{"seconds": 3}')`);
    await world.request(account);

    await using _ = await startWorker(world);
    await world.untilEnded(account);

    expect(await world.value("SELECT metadata FROM files.file_metadata")).toEqual({
      seconds: 3,
      deleted: true,
    });
    expect(await world.value("SELECT count(*)::integer FROM learning.profile_cue_recording")).toBe(
      1,
    );
  });

  test("runs each check of each supervisor as one task", async () => {
    await using world = await createWorld();
    const account = await world.addAccount(["one.wav", "two.wav"]);
    await world.request(account);

    await using _ = await startWorker(world);
    await world.untilEnded(account);

    expect(await world.disagreements()).toEqual([]);
    expect(await world.column("SELECT error_message FROM queues.error")).toEqual([]);
  });
});

const COUNTS = `SELECT jsonb_build_object(
  'deletions', (SELECT count(*) FROM accounts.account_deletion_task),
  'file_tasks', (SELECT count(*) FROM files.file_deletion_task),
  'file_successes', (SELECT count(*) FROM files.file_deletion_task_succeeded),
  'anonymizations', (SELECT count(*) FROM accounts.account_anonymization_task_succeeded))`;

/** What handlers have noted of the attempts to send a message. */
function messageFacts(world: World, kind: "email" | "sms"): Promise<unknown> {
  return world.value(`SELECT jsonb_build_object(
    'succeeded', (SELECT jsonb_agg(send_${kind}_attempt_id)
                  FROM comms.send_${kind}_attempt_succeeded),
    'failed', (SELECT jsonb_agg(jsonb_build_object(
                   'attempt', send_${kind}_attempt_id, 'error', error_message)
                   ORDER BY send_${kind}_attempt_id)
               FROM comms.send_${kind}_attempt_failed),
    'given_up', (SELECT count(*) FROM comms.send_${kind}_task_failed))`);
}
