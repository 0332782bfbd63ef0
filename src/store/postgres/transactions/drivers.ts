/**
 * Runs statements in a caller's transaction of any supported library. Libraries are recognised by
 * their documented shape. An object that is not an open transaction, such as a pool, is refused:
 * the job would stay when the caller rolls back.
 */
import { MillraceError } from "../../../core/errors.ts";
import { shown } from "../../../core/text.ts";
import { readDrizzle, type SendStatement } from "./drizzle.ts";
import type { RunStatement, Statement } from "./statements.ts";

type Shape = Readonly<Record<string, any>>;

/** A function that runs statements in the transaction. Throws when `tx` is none. */
export async function runnerOf(tx: unknown): Promise<RunStatement> {
  if (!isShape(tx)) throw unknownShape(tx);
  const send = await senderOf(tx);
  return async (statement) => rowsOf(await send(statement));
}

async function senderOf(tx: Shape): Promise<SendStatement> {
  const drizzle = readDrizzle(tx);
  if (drizzle !== null) return drizzle;
  if (has(tx, "$queryRawUnsafe")) return throughPrisma(tx);
  if (has(tx, "unsafe")) return throughPostgresJs(tx);
  if (has(tx, "executeQuery")) return throughKysely(tx);
  if (has(tx, "raw")) return throughKnex(tx);
  if (has(tx, "query")) return throughQuery(tx);
  if (has(tx, "prepare")) throw invalid("it is one of SQLite, and the jobs are in PostgreSQL");
  if (has(tx, "execute")) throw invalid("wrap a transaction of Drizzle: fromDrizzle(tx, sql)");
  throw unknownShape(tx);
}

function throughPrisma(tx: Shape): SendStatement {
  if (has(tx, "$connect")) throw notOpen("the Prisma client itself", "prisma.$transaction");
  return async (statement) => tx["$queryRawUnsafe"](numbered(statement), ...statement.values);
}

async function throughPostgresJs(tx: Shape): Promise<SendStatement> {
  if (has(tx, "begin")) throw notOpen("the sql of postgres.js itself", "sql.begin");
  const ask = async (text: string): Promise<unknown> => tx["unsafe"](text);
  if (has(tx, "release") && !(await isOpen(ask))) throw notOpen("a reserved connection", "BEGIN");
  return async (statement) => tx["unsafe"](numbered(statement), [...statement.values]);
}

function throughKysely(tx: Shape): SendStatement {
  if (tx["isTransaction"] === false) throw notOpen("Kysely itself", "db.transaction().execute");
  return async (statement) => {
    // The object that `CompiledQuery.raw` returns, which would have to be imported.
    const [sql, parameters] = [numbered(statement), statement.values];
    const query = { kind: "RawNode", sqlFragments: [sql], parameters: [] };
    return tx["executeQuery"]({ sql, parameters, query, queryId: { queryId: "millrace" } });
  };
}

function throughKnex(tx: Shape): SendStatement {
  if (tx["isTransaction"] !== true) throw notOpen("Knex itself", "knex.transaction");
  return async ({ pieces, values }) => {
    const text = pieces.map((piece) => piece.replaceAll("?", String.raw`\?`)).join("?");
    return tx["raw"](text, [...values]);
  };
}

/** A client of `pg`, or an entity manager or query runner of TypeORM. */
async function throughQuery(tx: Shape): Promise<SendStatement> {
  if (typeof tx["totalCount"] === "number") throw notOpen("a pool", "pool.connect, then BEGIN");
  if (has(tx, "createQueryRunner")) throw notOpen("the data source itself", "its .transaction");
  const isRunner = "isTransactionActive" in tx;
  const isTypeOrm = isRunner || has(tx, "getRepository");
  const runner: unknown = isRunner ? tx : tx["queryRunner"];
  if (isTypeOrm && !(isShape(runner) && runner["isTransactionActive"] === true)) {
    throw notOpen("an entity manager or query runner without one", "dataSource.transaction");
  }
  if (!isTypeOrm && (await isIdle(tx))) {
    throw notOpen("a client without one", 'client.query("BEGIN")');
  }
  return async (statement) => tx["query"](numbered(statement), [...statement.values]);
}

/** Whether a client of `pg` has no open transaction. Older releases have no status. */
async function isIdle(tx: Shape): Promise<boolean> {
  const ask = async (text: string): Promise<unknown> => tx["query"](text);
  if (!has(tx, "getTransactionStatus")) return !(await isOpen(ask));
  const looksIdle = (): boolean => tx["getTransactionStatus"]() === "I";
  if (!looksIdle()) return false;
  // A BEGIN that the caller has not awaited may still be in flight.
  await tx["query"]("SELECT 1");
  return looksIdle();
}

/** A transaction-local setting is lost at the next statement unless a transaction is open. */
async function isOpen(ask: (text: string) => Promise<unknown>): Promise<boolean> {
  try {
    await ask("SELECT set_config('millrace.probe', 'on', true)");
    const [row] = rowsOf(await ask("SELECT current_setting('millrace.probe', true) AS probe"));
    return !isShape(row) || row["probe"] === "on";
  } catch {
    // The next statement fails as well, and its error says why.
    return true;
  }
}

function numbered({ pieces }: Statement): string {
  return pieces.reduce((text, piece, index) => `${text}$${index}${piece}`);
}

function rowsOf(received: unknown): readonly object[] {
  const rows: unknown = isShape(received) && "rows" in received ? received["rows"] : received;
  return Array.isArray(rows) ? rows : [];
}

function isShape(value: unknown): value is Shape {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function has(tx: Shape, method: string): boolean {
  return typeof tx[method] === "function";
}

function unknownShape(tx: unknown): MillraceError {
  const known = "pg, postgres.js, Kysely, Knex, Prisma and TypeORM, and fromDrizzle(tx, sql)";
  return invalid(`it is ${shown(tx)}; supported are transactions of ${known}`);
}

function notOpen(what: string, how: string): MillraceError {
  return invalid(`it is ${what}, which cannot be rolled back; open one with ${how}`);
}

function invalid(why: string): MillraceError {
  return new MillraceError("TX_INVALID", `tx is not a usable transaction: ${why}`);
}
