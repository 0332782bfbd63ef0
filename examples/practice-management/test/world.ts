/** Two firms in a folder of their own, on a virtual clock, with the admin API over real sockets. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "millrace";
import { createTestMill, type TestMill } from "millrace/testing";
import { serveAdminApi } from "../src/admin-api.ts";
import { PRESET } from "../src/categories.ts";
import type { FirmUser } from "../src/gates.ts";
import type { QueueRow } from "../src/job-queue.ts";
import { JOBS } from "../src/jobs.ts";
import { openPractice, type Practice } from "../src/practice.ts";
import { requestJob, type RequestOptions } from "../src/requests.ts";
import { addFirm, addUser, CONNECTION } from "../src/sample-firm.ts";

export const FIRM = 123;
export const OTHER_FIRM = 124;
export const CORRELATION = "550e8400-e29b-41d4-a716-446655440000";

export interface Answer {
  readonly status: number;
  readonly body: any;
  readonly headers: Headers;
}

export class World implements AsyncDisposable {
  readonly kit: TestMill;
  readonly practice: Practice;
  readonly #root: string;
  readonly #api: Awaited<ReturnType<typeof serveAdminApi>>;
  readonly #tokens = new Map<string, string>();

  static async open(): Promise<World> {
    const root = mkdtempSync(join(tmpdir(), "millrace-practice-"));
    const practice = openPractice(root);
    addFirm(practice, FIRM, "Lovelace & Partners");
    addFirm(practice, OTHER_FIRM, "Hopper LLP");
    const kit = await createTestMill({ preset: PRESET });
    const now = (): number => kit.clock.now();
    const api = await serveAdminApi({ mill: kit.mill, practice, now });
    const world = new World({ root, practice, kit, api });
    await world.addUser("grace", { role: "manager" });
    await world.addUser("eve", { role: "manager", firm: OTHER_FIRM });
    return world;
  }

  private constructor(parts: {
    readonly root: string;
    readonly practice: Practice;
    readonly kit: TestMill;
    readonly api: Awaited<ReturnType<typeof serveAdminApi>>;
  }) {
    this.#root = parts.root;
    this.practice = parts.practice;
    this.kit = parts.kit;
    this.#api = parts.api;
  }

  async addUser(name: string, user: Partial<FirmUser>): Promise<string> {
    const whole = { firm: FIRM, name, isStaff: true, role: "member" as const, ...user };
    const token = await addUser(this.kit.mill, this.practice, whole);
    this.#tokens.set(name, token);
    return token;
  }

  request(
    type: string,
    key: string,
    refs: Readonly<Record<string, Json>>,
    options: RequestOptions & { firm?: number } = {},
  ): Promise<QueueRow> {
    const { firm = FIRM, ...rest } = options;
    return requestJob(this.kit.mill, firm, { type, key, refs }, rest);
  }

  /** A message to fetch; by default one that is in the mailbox. */
  fetchMessage(
    key: string,
    refs: { connection_id?: number; external_message_id?: string } = {},
    options: RequestOptions & { firm?: number } = {},
  ): Promise<QueueRow> {
    const here = { connection_id: CONNECTION, external_message_id: "msg_789" };
    return this.request("email_ingestion_fetch", key, { ...here, ...refs }, options);
  }

  /** A job that has failed for good, and is the newest item of the DLQ. */
  async deadJob(key = "email_fetch_conn_999_msg_1", firm = FIRM): Promise<QueueRow> {
    const options = { correlation_id: CORRELATION, firm };
    const row = await this.fetchMessage(key, { connection_id: 999 }, options);
    await this.drain();
    return row;
  }

  async drain(options: { tenant?: string; lanes?: { general: number } } = {}): Promise<void> {
    await this.kit.drain(JOBS, { deps: this.practice, ...options });
  }

  /** Runs a job until it has used up its attempts. */
  async exhaust(): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await this.drain();
      await this.kit.advance("10m");
    }
  }

  /** The row as the admin API lists it. */
  async row(jobId: string): Promise<QueueRow> {
    const { body } = await this.get("/queue/");
    return body.jobs.find((row: QueueRow) => row.job_id === jobId);
  }

  get(path: string, as: string | null = "grace"): Promise<Answer> {
    return this.ask(path, {}, this.#tokens.get(as ?? "") ?? null);
  }

  post(path: string, body: unknown, as = "grace"): Promise<Answer> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return this.ask(path, { method: "POST", body: text }, this.#tokens.get(as) ?? null);
  }

  async ask(path: string, init: RequestInit, token: string | null): Promise<Answer> {
    const auth = token === null ? {} : { authorization: `Bearer ${token}` };
    const headers = { ...auth, "content-type": "application/json" };
    const url = `${this.#api.url}/api/jobs/admin${path}`;
    const response = await fetch(url, { ...init, headers });
    return { status: response.status, body: await response.json(), headers: response.headers };
  }

  /** The names of what people have done, oldest first. */
  async audited(): Promise<string[]> {
    const entries = await this.kit.mill.audit.list({ tenant: String(FIRM) });
    return entries
      .map(({ name }) => name)
      .filter((name) => name.startsWith("job_"))
      .toReversed();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#api[Symbol.asyncDispose]();
    await this.kit[Symbol.asyncDispose]();
    this.practice[Symbol.dispose]();
    rmSync(this.#root, { recursive: true, force: true });
  }
}
