import { describe, expect, test } from "vitest";
import { systemDice } from "../../../lib/system.ts";
import { Listener } from "./listen.ts";

/** A number that the pooler has made up. */
const NOT_OF_SERVER = -1;

/** A pooler in transaction mode: the next transaction gets the session that was used last. */
class TransactionPooler {
  /** The sessions that no client uses, the last one used at the end. */
  readonly free: number[];
  readonly listening: number[] = [];
  readonly #listener = Promise.withResolvers<void>();
  /** Resolves when a client listens. */
  readonly hasListener: Promise<void> = this.#listener.promise;

  constructor(...sessions: readonly number[]) {
    this.free = [...sessions];
  }

  async inTransaction<Answer>(
    work: (session: number) => Promise<Answer> | Answer,
  ): Promise<Answer> {
    const session = this.free.pop();
    if (session === undefined) throw new Error("no session is free");
    try {
      return await work(session);
    } finally {
      this.free.push(session);
    }
  }

  async query({ text }: { readonly text: string }): Promise<{ rows: object[]; rowCount: number }> {
    return this.inTransaction((session) => {
      if (text.startsWith("LISTEN")) {
        this.listening.push(session);
        this.#listener.resolve();
      }
      return { rows: [{ pid: session }], rowCount: 1 };
    });
  }
}

/** Listens behind the pooler. `ended` resolves when the listener has ended its first connection. */
function listenBehind(
  pooler: TransactionPooler,
  { processID, onQuery }: { readonly processID: number; readonly onQuery: () => void },
): { readonly listener: Listener; readonly ended: Promise<void> } {
  const ended = Promise.withResolvers<void>();
  class Client {
    readonly processID = processID;
    async connect(): Promise<void> {}
    async query(sent: { readonly text: string }): Promise<unknown> {
      const answer = await pooler.query(sent);
      onQuery();
      return answer;
    }
    async end(): Promise<void> {
      ended.resolve();
    }
    on(): void {}
  }
  const never = (): never => {
    throw new Error("the pool is not used");
  };
  const pool = { options: {}, Client, connect: never, end: never, on: never, off: never };
  const listener = new Listener({
    address: { pool },
    channel: "millrace:millrace",
    sender: "a",
    dice: systemDice,
    beat: async () => true,
    besideTransaction: (work) => pooler.inTransaction(work),
    onWakeUp: () => {},
    warn: () => {},
  });
  listener.open();
  return { listener, ended: ended.promise };
}

describe("a listener behind a pooler in transaction mode", () => {
  test("leaves no LISTEN, also if its first session was not the last one used", async () => {
    const pooler = new TransactionPooler(2);
    // Session 1 was busy during the first statement of the listener.
    const busy = [1];
    const onQuery = (): void => void pooler.free.push(...busy.splice(0));
    const { listener, ended } = listenBehind(pooler, { processID: NOT_OF_SERVER, onQuery });

    await Promise.race([ended, pooler.hasListener]);

    expect(pooler.listening).toEqual([]);
    listener.close();
  });

  test("leaves no LISTEN if its store closes while it looks", async () => {
    const pooler = new TransactionPooler(1);
    const onQuery = (): void => listener.close();
    const { listener, ended } = listenBehind(pooler, { processID: 1, onQuery });

    await Promise.race([ended, pooler.hasListener]);

    expect(pooler.listening).toEqual([]);
  });
});
