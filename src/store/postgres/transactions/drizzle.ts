/** Drizzle builds queries with its tag `sql`, so a transaction is wrapped together with it. */
import { MillraceError } from "../../../core/errors.ts";
import type { Statement } from "./statements.ts";

/** Sends a statement and returns the answer of the library. */
export type SendStatement = (statement: Statement) => Promise<unknown>;

/** A wrapped transaction, for `{ tx }`. */
export interface DrizzleTransaction {
  readonly "~transaction": true;
}

/** Key of the wrapped function. `Symbol.for`, so that another copy of this package reads it. */
const SEND = Symbol.for("millrace.transaction");
/** Key of the transaction itself, which may be wrapped anew for each call. */
const WRAPPED = Symbol.for("millrace.wrapped");

/**
 * Wraps a transaction of Drizzle for `mill.enqueue(job, payload, { tx })`. `sql` is the tag that
 * `drizzle-orm` exports.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { fromDrizzle } from "millrace/postgres";
 *
 * // In a program, `sql` comes from "drizzle-orm" and `tx` from `db.transaction(async (tx) => …)`.
 * const sql = (strings: TemplateStringsArray, ...values: unknown[]) => ({ strings, values });
 * const tx = { execute: async () => ({ rows: [] }), rollback: () => {} };
 * assert.equal(fromDrizzle(tx, sql)["~transaction"], true);
 * ```
 */
export function fromDrizzle(tx: { execute(query: any): any }, sql: unknown): DrizzleTransaction {
  if (typeof tx?.execute !== "function" || !("rollback" in tx)) {
    const why = "the first argument must be the transaction of db.transaction";
    throw new MillraceError("TX_INVALID", `fromDrizzle(tx, sql): ${why}`);
  }
  if (typeof sql !== "function") {
    const why = 'the second argument must be the tag `sql` of "drizzle-orm"';
    throw new MillraceError("TX_INVALID", `fromDrizzle(tx, sql): ${why}`);
  }
  const send: SendStatement = async ({ pieces, values }) => {
    const strings = Object.assign([...pieces], { raw: pieces });
    return tx.execute(sql(strings, ...values));
  };
  return Object.freeze({ "~transaction": true, [SEND]: send, [WRAPPED]: tx });
}

/** The function of a wrapped transaction. Null: `tx` is not wrapped. */
export function readDrizzle(tx: object): SendStatement | null {
  const send: any = Reflect.get(tx, SEND);
  return typeof send === "function" ? send : null;
}

/** The object that stands for a transaction in all calls. */
export function identityOf(tx: object): object {
  const wrapped: any = Reflect.get(tx, WRAPPED);
  return wrapped ?? tx;
}
