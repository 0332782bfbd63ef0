/** A database with the example, and the services that it uses, for one test. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "pg";
import { vi } from "vitest";
import { addAccount } from "../src/accounts.ts";
import { deletionReport, type DeletionReport } from "../src/deletion-report.ts";
import { startFilesService, type FilesService } from "../src/files-service.ts";
import { install } from "../src/install.ts";
import { startMailServer, type MailServer } from "../src/mail-server.ts";
import { column, connect, value } from "../src/queries.ts";
import { startSmsService, type SmsService } from "../src/sms-service.ts";
import type { Services } from "../src/worker.ts";

/** Failed attempts until a process is stuck. */
export const MAX_ATTEMPTS = 3;

const PATIENCE = { timeout: 40_000, interval: 50 } as const;

export class World implements AsyncDisposable {
  readonly url: string;
  readonly client: Client;
  readonly folder: string;
  readonly mail: MailServer;
  readonly sms: SmsService;
  readonly files: FilesService;

  private constructor(parts: Pick<World, "url" | "client" | "folder" | "mail" | "sms" | "files">) {
    this.url = parts.url;
    this.client = parts.client;
    this.folder = parts.folder;
    this.mail = parts.mail;
    this.sms = parts.sms;
    this.files = parts.files;
  }

  /** Makes a database on the server, with short delays. */
  static async create(server: string, name: string): Promise<World> {
    const admin = await connect(server);
    await admin.query(`CREATE DATABASE ${name}`);
    await admin.end();
    const url = server.replace(/postgres$/, name);
    await install(url, { firstDelay: "30 milliseconds", maxAttempts: MAX_ATTEMPTS });
    const folder = mkdtempSync(join(tmpdir(), "account-deletion-test-"));
    return new World({
      url,
      client: await connect(url),
      folder,
      mail: await startMailServer(),
      sms: await startSmsService(),
      files: await startFilesService(folder),
    });
  }

  get services(): Services {
    return { smtp: this.mail.url, sms: this.sms.url, files: this.files.url };
  }

  /** An account with these recordings. */
  addAccount(recordings: readonly string[]): Promise<number> {
    const { client, folder } = this;
    const who = { name: "Ada", email: "ada@example.com", phone: "+4912345" };
    return addAccount(client, { ...who, folder, recordings });
  }

  /** The objects of the bucket. */
  objects(): string[] {
    return readdirSync(join(this.folder, "recordings")).toSorted();
  }

  value(text: string, ...values: readonly unknown[]): Promise<any> {
    return value(this.client, text, ...values);
  }

  column(text: string, ...values: readonly unknown[]): Promise<any[]> {
    return column(this.client, text, ...values);
  }

  async request(account: number): Promise<void> {
    const refusal = await this.value("SELECT api.request_account_deletion($1)", account);
    if (refusal !== null) throw new Error(refusal);
  }

  report(account: number): Promise<DeletionReport> {
    return deletionReport(this.client, account);
  }

  /** Waits until the deletion of an account has ended, and no task is left. */
  async untilEnded(account: number): Promise<DeletionReport> {
    await vi.waitUntil(async () => (await this.openTasks()).length === 0, PATIENCE);
    return this.report(account);
  }

  /** The payloads of the tasks that are not completed. */
  openTasks(): Promise<any[]> {
    return this.column(`SELECT payload FROM queues.task
      WHERE task_id NOT IN (SELECT task_id FROM queues.task_completed) ORDER BY task_id`);
  }

  /**
   * What no crash may make of the facts: two tasks for one check of a supervisor, an attempt
   * without an outcome or with two, and a task that failed.
   */
  disagreements(): Promise<string[]> {
    return this.column(DISAGREEMENTS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.end();
    await this.mail[Symbol.asyncDispose]();
    await this.sms[Symbol.asyncDispose]();
    await this.files[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const DISAGREEMENTS = `
  SELECT 'two tasks: ' || payload::text FROM queues.task
  WHERE task_type = 'db_function' GROUP BY payload HAVING count(*) > 1
  UNION ALL
  SELECT 'e-mail attempt ' || attempt.send_email_attempt_id || ' has '
      || num_nonnulls(done.created_at, failed.created_at) || ' outcomes'
  FROM comms.send_email_attempt AS attempt
  LEFT JOIN comms.send_email_attempt_succeeded AS done USING (send_email_attempt_id)
  LEFT JOIN comms.send_email_attempt_failed AS failed USING (send_email_attempt_id)
  WHERE num_nonnulls(done.created_at, failed.created_at) <> 1
  UNION ALL
  SELECT 'sms attempt ' || attempt.send_sms_attempt_id || ' has '
      || num_nonnulls(done.created_at, failed.created_at) || ' outcomes'
  FROM comms.send_sms_attempt AS attempt
  LEFT JOIN comms.send_sms_attempt_succeeded AS done USING (send_sms_attempt_id)
  LEFT JOIN comms.send_sms_attempt_failed AS failed USING (send_sms_attempt_id)
  WHERE num_nonnulls(done.created_at, failed.created_at) <> 1
  UNION ALL
  SELECT 'file attempt ' || attempt.file_deletion_attempt_id || ' has no outcome'
  FROM files.file_deletion_attempt AS attempt
  LEFT JOIN files.file_deletion_task_succeeded AS done USING (file_deletion_task_id)
  LEFT JOIN files.file_deletion_task_failed AS failed USING (file_deletion_attempt_id)
  WHERE done.created_at IS NULL AND failed.created_at IS NULL
  UNION ALL
  SELECT 'task ' || task_id || ' is ' || outcome FROM millrace.task_completed
  WHERE outcome <> 'completed'`;
