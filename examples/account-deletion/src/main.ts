/**
 * Two accounts are deleted: one whose recordings are there, and one whose bucket is missing, so
 * that its deletion is stuck and says so.
 *
 *     npm run example:accounts
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openMillrace } from "millrace";
import type { Client } from "pg";
import { addAccount } from "./accounts.ts";
import { startDatabase } from "./database-server.ts";
import { deletionReport, type DeletionReport } from "./deletion-report.ts";
import { startFilesService } from "./files-service.ts";
import { install, urlAs } from "./install.ts";
import { startMailServer } from "./mail-server.ts";
import { column, connect, value } from "./queries.ts";
import { startSmsService } from "./sms-service.ts";
import { jobsOf } from "./worker.ts";

/** Nothing here takes nearly as long: the tour ends in any case. */
const PATIENCE_MS = 60_000;

const SHOW_ACCOUNT = `SELECT to_jsonb(account) - 'created_at' FROM accounts.account
                      WHERE account_id = $1`;

const HAS_TASKS = `SELECT EXISTS (
  SELECT FROM queues.task WHERE task_id NOT IN (SELECT task_id FROM queues.task_completed))`;

await main();

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "account-deletion-objects-"));
  try {
    await using database = await startDatabase();
    await using mail = await startMailServer();
    await using sms = await startSmsService();
    await using files = await startFilesService(folder);
    await install(database.url, { firstDelay: "200 milliseconds", maxAttempts: 3 });
    await using mill = await openMillrace(urlAs("engine_service_user", database.url));
    // Closing the mill stops the worker.
    mill.work({ jobs: jobsOf({ smtp: mail.url, sms: sms.url, files: files.url }) });
    const client = await connect(database.url);
    try {
      await tour(client, folder);
      await untilIdle(client);
    } finally {
      await client.end();
    }
    say("e-mail", `${mail.received.size} over SMTP`);
    say("sms", `${sms.sent.length} over HTTP`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tour(client: Client, folder: string): Promise<void> {
  const unknown = await value(client, "SELECT api.request_account_deletion(99)");
  say("refused", unknown);
  const ada = await addAccount(client, {
    name: "Ada",
    email: "ada@example.com",
    phone: "+4912345",
    folder,
    recordings: ["hello.wav", "goodbye.wav"],
  });
  shown("Ada", await deleted(client, ada));
  say("account", JSON.stringify(await value(client, SHOW_ACCOUNT, ada)));

  const bob = await addAccount(client, {
    name: "Bob",
    email: "bob@example.com",
    phone: "+4967890",
    folder,
    recordings: ["lost.wav"],
  });
  rmSync(join(folder, "recordings"), { recursive: true });
  shown("Bob", await deleted(client, bob));
  const errors = await column(
    client,
    "SELECT error_message FROM files.file_deletion_task_failed ORDER BY file_deletion_attempt_id",
  );
  for (const each of errors) say("file error", each);
  const counts = await column(
    client,
    `SELECT task_type || ': ' || count(*) FROM queues.task_lease JOIN queues.task USING (task_id)
     GROUP BY task_type ORDER BY task_type`,
  );
  say("leases", counts.join(", "));
}

/** Asks for a deletion, and waits for its end. */
async function deleted(client: Client, account: number): Promise<DeletionReport> {
  const refusal = await value(client, "SELECT api.request_account_deletion($1)", account);
  if (refusal !== null) throw new Error(refusal);
  const ends = Date.now() + PATIENCE_MS;
  for (;;) {
    const report = await deletionReport(client, account);
    if (report.outcome !== "running") return report;
    if (Date.now() > ends) throw new Error(`no end in ${PATIENCE_MS} ms`);
    await sleep(100);
  }
}

/** The messages have supervisors of their own, which may outlive a deletion that is stuck. */
async function untilIdle(client: Client): Promise<void> {
  while (await value(client, HAS_TASKS)) await sleep(100);
}

function shown(name: string, { flags, files, outcome, error }: DeletionReport): void {
  const gone = files.filter(({ deleted: isDeleted }) => isDeleted).length;
  say(name, `${outcome}${error === null ? "" : `: ${error}`}`);
  say("flags", flags.join(", "));
  say("files", `${gone} of ${files.length} deleted`);
}

function say(what: string, text: string): void {
  console.log(`${what.padEnd(11)} ${text}`);
}
