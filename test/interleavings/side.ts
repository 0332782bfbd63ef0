/** One of two callers: its store sends no statement before it is given its turn. */
import { Pool } from "pg";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import type { Sent } from "../../src/store/postgres/database/pool.ts";
import type { JobStore } from "../../src/store/store.ts";
import { seededDice } from "../support/seeded-dice.ts";
import { sturdy, type PostgresTestStore } from "../support/stores.ts";

/** Changes a statement on its way: a planted bug. */
export type Rewrite = (text: string) => string;

/** The setting that tells a trigger on whose behalf it runs. */
export const SIDE_SETTING = "millrace_test.side";

/** These change nothing that the other side sees: at which moment does not matter. */
const TOUCHES_NOTHING = /^\s*(BEGIN|SAVEPOINT|RELEASE|SELECT current_setting)\b/;

export class Side implements AsyncDisposable {
  readonly number: number;
  readonly store: JobStore;
  /** The statements it has sent since the last beginning. */
  log: string[] = [];
  readonly #pool: Pool;
  readonly #rewrite: Rewrite;
  readonly #atGate: (() => void)[] = [];
  readonly #running = new Set<number>();
  #isOpen = true;
  #isDone = true;

  private constructor(db: PostgresTestStore, url: string, number: number, rewrite: Rewrite) {
    this.number = number;
    this.#rewrite = rewrite;
    this.#pool = sturdy(
      new Pool({
        connectionString: url,
        max: 4,
        allowExitOnIdle: true,
        // A deadlock is to be found at once.
        options: `-c ${SIDE_SETTING}=${number} -c deadlock_timeout=50ms`,
      }),
    );
    this.#pool.on("connect", (client) => {
      const query = client.query.bind(client);
      const pid: unknown = Reflect.get(client, "processID");
      Object.assign(client, { query: (sent: Sent) => this.#pass(Number(pid), sent, query) });
    });
    const ports = { clock: db.clock, dice: seededDice(100 + number) };
    this.store = makePostgresStore({ pool: this.#pool, schema: db.schema }, ports);
  }

  static async open(
    db: PostgresTestStore,
    url: string,
    number: number,
    rewrite: Rewrite,
  ): Promise<Side> {
    const side = new Side(db, url, number, rewrite);
    await side.store.open();
    return side;
  }

  /** Begins a verb behind a closed gate. */
  begin<Answer>(verb: (store: JobStore) => Promise<Answer>): Promise<Answer> {
    this.log = [];
    this.#isOpen = false;
    this.#isDone = false;
    return verb(this.store).finally(() => this.#finish());
  }

  /** Lets the next statement out. */
  step(): void {
    this.#atGate.shift()?.();
  }

  /** `between`: it is about to send, or to be done, and will say so. */
  get status(): "done" | "gate" | "running" | "between" {
    if (this.#isDone) return "done";
    if (this.#running.size > 0) return "running";
    return this.#atGate.length > 0 ? "gate" : "between";
  }

  /** The backends that work on its statements. */
  get pids(): readonly number[] {
    return [...this.#running];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    await this.#pool.end();
  }

  /** What the store sends after its verb is not part of the test. */
  #finish(): void {
    this.#isDone = true;
    this.#isOpen = true;
    while (this.#atGate.length > 0) this.step();
  }

  async #pass<Answer>(
    pid: number,
    sent: Sent,
    query: (sent: Sent) => Promise<Answer>,
  ): Promise<Answer> {
    if (!this.#isOpen && !TOUCHES_NOTHING.test(sent.text))
      await new Promise<void>((go) => this.#atGate.push(go));
    const text = this.#rewrite(sent.text);
    this.log.push(text);
    this.#running.add(pid);
    try {
      return await query({ ...sent, text });
    } finally {
      this.#running.delete(pid);
    }
  }
}
