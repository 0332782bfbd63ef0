/**
 * Two firms, their jobs, and what a manager does about the jobs that fail.
 *
 *     npm run example:practice
 *     npm run example:practice -- --serve
 */
import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { openMillrace, type Millrace } from "millrace";
import { serveAdminApi } from "./admin-api.ts";
import { PRESET } from "./categories.ts";
import { ValidationError, type QueueRow } from "./job-queue.ts";
import { JOBS } from "./jobs.ts";
import { openPractice, type Practice } from "./practice.ts";
import { requestJob } from "./requests.ts";
import { addFirm, addMessage, addUser, CONNECTION } from "./sample-firm.ts";

const FIRM = 123;
const OTHER_FIRM = 124;
/** Nothing here takes nearly as long: the tour ends in any case. */
const PATIENCE = { timeout: "60s" } as const;

const { values: options, positionals } = parseArgs({
  options: { serve: { type: "boolean", default: false } },
  allowPositionals: true,
});
const FOLDER = resolve(positionals[0] ?? join(".millrace", "practice-management"));

await main();

async function main(): Promise<void> {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  using practice = openPractice(FOLDER);
  const url = `sqlite:${join(FOLDER, "jobs.db")}`;
  await using mill = await openMillrace(url, { preset: PRESET });
  addFirm(practice, FIRM, "Lovelace & Partners");
  addFirm(practice, OTHER_FIRM, "Hopper LLP");
  await using api = await serveAdminApi({ mill, practice }, Number(process.env["PORT"] ?? 0));
  const token = await addUser(mill, practice, {
    firm: FIRM,
    name: "grace",
    isStaff: true,
    role: "manager",
  });
  await tour(mill, practice, `${api.url}/api/jobs/admin`, token);
  if (!options.serve) return;
  say("admin API", `${api.url}/api/jobs/admin/dlq/ until Ctrl-C`);
  say("token", token);
  await new Promise<void>((stop) => process.once("SIGINT", stop));
}

async function tour(mill: Millrace, practice: Practice, api: string, token: string) {
  await refuse(mill);
  const jobs = await requestEach(mill, FIRM);
  jobs.push(...(await requestEach(mill, OTHER_FIRM)));
  // No firm has this connection, so that a manager has something to review.
  const lost = await requestJob(mill, FIRM, {
    type: "email_ingestion_fetch",
    key: "email_fetch_conn_999_msg_1",
    refs: { connection_id: 999, external_message_id: "msg_1" },
  });
  // Closing the mill stops the worker.
  mill.work({ jobs: JOBS, deps: practice });
  for (const { job_id: id, job_type: type } of [...jobs, lost]) {
    await mill.wait({ id, type }, PATIENCE);
  }
  say("jobs", `${jobs.length} requests of two firms are done, and one has failed`);

  const ask = (path: string, init: RequestInit = {}): Promise<any> => call(api, token, path, init);
  const { dlq_items: items, total_count: count } = await ask("/dlq/");
  say("dlq", `${count} item: ${items[0].error_message}, ${items[0].status}`);
  addMessage(practice, FIRM, "msg_1", 999);
  const body = JSON.stringify({ notes: "the connection is there now" });
  const again = await ask(`/dlq/${items[0].dlq_id}/reprocess/`, { method: "POST", body });
  say("reprocess", `${again.message}: ${again.new_idempotency_key}`);
  const end = await mill.wait({ id: again.new_job_id, type: lost.job_type }, PATIENCE);
  say("new job", end.state);
  const { id } = await mill.jobs.get(lost.job_id);
  const entries = await mill.audit.list({ subject: { kind: "job", name: id } });
  for (const { name, actor, reason } of entries.toReversed()) {
    say("audit", `${name} by ${actor}: ${reason}`);
  }
  say("queue", JSON.stringify((await ask("/queue/statistics/")).by_category));
  say("anonymous", `status ${(await fetch(`${api}/dlq/`)).status}`);
  say("kept in", FOLDER);
}

/** The rules find a secret before the job is stored. */
async function refuse(mill: Millrace): Promise<void> {
  const refs = { connection_id: CONNECTION, password: "hunter2" };
  const job = { type: "calendar_sync_pull", key: "with_a_secret", refs };
  try {
    await requestJob(mill, FIRM, job);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    say("refused", error.message);
  }
}

/** One job of each type, except that which removes the firm. */
async function requestEach(mill: Millrace, firm: number): Promise<QueueRow[]> {
  const own = firm * 10 + 1;
  const requests = [
    ["email_ingestion_fetch", { connection_id: CONNECTION, external_message_id: "msg_789" }],
    ["calendar_sync_pull", { connection_id: CONNECTION }],
    ["calendar_sync_push", { connection_id: CONNECTION, appointment_id: "hearing" }],
    ["recurrence_period_generate", { recurrence_id: own }],
    ["orchestration_step_execute", { execution_id: 1, step: "welcome" }],
    ["document_scan", { document_id: own }],
    ["document_classify", { document_id: own }],
    ["notification_email_send", { notification_id: own }],
    ["notification_inapp_create", { notification_id: own }],
    ["session_expire", { before: "2026-01-01T00:00:00Z" }],
    ["data_archival", { before: "2020-01-01T00:00:00Z" }],
    ["firm_export", { export_id: 1 }],
  ] as const;
  const rows: QueueRow[] = [];
  for (const [type, refs] of requests) {
    rows.push(await requestJob(mill, firm, { type, key: `${type}_1`, refs }));
  }
  return rows;
}

async function call(api: string, token: string, path: string, init: RequestInit): Promise<any> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${api}${path}`, { ...init, headers });
  return JSON.parse(await response.text());
}

function say(subject: string, sentence: string): void {
  process.stdout.write(`${subject.padEnd(12)} ${sentence}\n`);
}
