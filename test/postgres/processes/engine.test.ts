/** Business processes in SQL whose worker runs under the role of the engine. */
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from "vitest";
import { dbFunction, emailChannel } from "../../../src/channels/index.ts";
import { openMillrace, type AnyJob, type Millrace } from "../../../src/index.ts";
import { openRawSmtp } from "../../support/channels/raw-smtp.ts";
import { migrationOf } from "./installation.ts";
import { makeEngine, openSurface, type Scene, type Surface } from "../surface/support.ts";

let surface: Surface;
let scene: Scene;
let mill: Millrace;
beforeAll(async () => {
  surface = await openSurface();
});
afterAll(() => surface[Symbol.asyncDispose]());
beforeEach(async () => {
  scene = await surface.open();
  mill = await openMillrace(await makeEngine(scene));
});
afterEach(async () => {
  await mill.close();
  await scene[Symbol.asyncDispose]();
});

/** The file of `millrace process new`, which the owner runs, and then what the owner fills in. */
async function addProcess(name: string, channel: string, filledIn: string): Promise<void> {
  await scene.owner.query("SET ROLE millrace_owner");
  await scene.owner.query(migrationOf(name, { channel }));
  await scene.owner.query(filledIn);
  await scene.owner.query("RESET ROLE");
}

async function workUntil(jobs: readonly AnyJob[], isSuccess: string): Promise<void> {
  const worker = mill.work({ jobs, signals: false });
  const found = async (): Promise<boolean> => (await scene.rows(isSuccess))[0].found;
  await expect.poll(found, { timeout: 20_000 }).toBe(true);
  await worker.stop();
}

test("a process with a channel sends its message and notes its success", async () => {
  await using smtp = await openRawSmtp();
  await addProcess(
    "comms.send_email",
    "email",
    `CREATE OR REPLACE FUNCTION comms.get_send_email_payload(_payload jsonb) RETURNS jsonb
     LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
       SELECT '{"status": "succeeded", "payload":
         {"to": "ada@example.com", "subject": "Hello", "text": "Good morning"}}'::jsonb $$`,
  );
  await scene.owner.query("SELECT comms.kickoff_send_email(7)");

  const email = emailChannel({ smtp: smtp.url, from: "Mill <no-reply@example.com>" });
  await workUntil(
    [dbFunction(), email],
    "SELECT comms.has_send_email_succeeded_attempt(1) AS found",
  );

  expect(smtp.accepted).toBe(1);
  expect((await mill.jobs.list({ state: "failed" })).jobs).toEqual([]);
});

test("a process in SQL alone runs to its success", async () => {
  await addProcess(
    "billing.close",
    "db_function",
    `CREATE OR REPLACE FUNCTION billing.perform_close(_payload jsonb) RETURNS jsonb
     LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
       SELECT '{"status": "succeeded"}'::jsonb $$`,
  );
  await scene.owner.query("SELECT billing.kickoff_close(7)");

  await workUntil([dbFunction()], "SELECT billing.has_close_succeeded_attempt(1) AS found");

  expect((await mill.jobs.list({ state: "failed" })).jobs).toEqual([]);
});
