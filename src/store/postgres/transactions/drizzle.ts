/** Drizzle makes queries with a tag of its own, so its transactions have to bring that along. */
import { MillraceError } from "../../../core/errors.ts";
import type { Statement } from "./statements.ts";

type Send = (statement: Statement) => Promise<unknown>;

/** A transaction in Millrace's own wrapping, for `{ tx }`. */
export interface DrizzleTransaction {
  readonly "~transaction": true;
}

/** What is inside the wrapping, under a name that another copy of this package reads as well. */
const SEND = Symbol.for("millrace.transaction");

/**
 * Makes a transaction of Drizzle one that `mill.enqueue(job, payload, { tx })` takes: with `sql`,
 * the tag that `drizzle-orm` exports.
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
    const why = "its first argument is no transaction: take that of db.transaction";
    throw new MillraceError("TX_INVALID", `fromDrizzle(tx, sql): ${why}`);
  }
  if (typeof sql !== "function") {
    const why = 'its second argument is not the tag `sql` of "drizzle-orm"';
    throw new MillraceError("TX_INVALID", `fromDrizzle(tx, sql): ${why}`);
  }
  const send: Send = async ({ pieces, values }) => {
    const strings = Object.assign([...pieces], { raw: pieces });
    return tx.execute(sql(strings, ...values));
  };
  return Object.freeze({ "~transaction": true, [SEND]: send });
}

/** What runs statements in a wrapped transaction; null when it is none. */
export function readDrizzle(tx: object): Send | null {
  const send: any = Reflect.get(tx, SEND);
  return typeof send === "function" ? send : null;
}
