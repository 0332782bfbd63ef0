/**
 * A caller's transaction, whichever library it comes from. Each is told by the shape that its
 * documentation names, and what is visibly no open transaction, such as a pool, is refused: the job
 * would stay when the caller rolls back.
 */
import { MillraceError } from "../../../core/errors.ts";
import { shown } from "../../../core/text.ts";
import { readDrizzle } from "./drizzle.ts";
import type { RunStatement, Statement } from "./statements.ts";

type Shape = Readonly<Record<string, any>>;

/** How to run statements in a transaction. Throws when this is none. */
export async function runnerOf(tx: unknown): Promise<RunStatement> {
  if (!isShape(tx)) throw unknownShape(tx);
  const send = await senderOf(tx);
  return async (statement) => rowsOf(await send(statement));
}

type Send = (statement: Statement) => Promise<unknown>;

async function senderOf(tx: Shape): Promise<Send> {
  const drizzle = readDrizzle(tx);
  if (drizzle !== null) return drizzle;
  if (has(tx, "$queryRawUnsafe")) return throughPrisma(tx);
  if (has(tx, "unsafe")) return throughPostgresJs(tx);
  if (has(tx, "executeQuery")) return throughKysely(tx);
  if (has(tx, "raw")) return throughKnex(tx);
  if (has(tx, "query")) return throughQuery(tx);
  if (has(tx, "prepare")) throw notOurs("it is one of SQLite, and the jobs are in PostgreSQL");
  if (has(tx, "execute")) throw notOurs("one of Drizzle is handed in as fromDrizzle(tx, sql)");
  throw unknownShape(tx);
}

function throughPrisma(tx: Shape): Send {
  if (has(tx, "$connect")) throw notOpen("the Prisma client itself", "prisma.$transaction");
  return async (statement) => tx["$queryRawUnsafe"](numbered(statement), ...statement.values);
}

async function throughPostgresJs(tx: Shape): Promise<Send> {
  if (has(tx, "begin")) throw notOpen("the sql of postgres.js itself", "sql.begin");
  const ask = async (text: string): Promise<unknown> => tx["unsafe"](text);
  if (has(tx, "release") && !(await isOpen(ask))) throw notOpen("a reserved connection", "BEGIN");
  return async (statement) => tx["unsafe"](numbered(statement), [...statement.values]);
}

function throughKysely(tx: Shape): Send {
  if (tx["isTransaction"] === false) throw notOpen("Kysely itself", "db.transaction().execute");
  return async (statement) => {
    // What `CompiledQuery.raw` makes, which would have to be imported.
    const [sql, parameters] = [numbered(statement), statement.values];
    const query = { kind: "RawNode", sqlFragments: [sql], parameters: [] };
    return tx["executeQuery"]({ sql, parameters, query, queryId: { queryId: "millrace" } });
  };
}

function throughKnex(tx: Shape): Send {
  if (tx["isTransaction"] !== true) throw notOpen("Knex itself", "knex.transaction");
  return async ({ pieces, values }) => {
    const text = pieces.map((piece) => piece.replaceAll("?", String.raw`\?`)).join("?");
    return tx["raw"](text, [...values]);
  };
}

/** A client of `pg`, or what TypeORM gives. */
async function throughQuery(tx: Shape): Promise<Send> {
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

/** Whether a client of `pg` has no transaction open. Its older releases cannot tell. */
async function isIdle(tx: Shape): Promise<boolean> {
  const ask = async (text: string): Promise<unknown> => tx["query"](text);
  if (!has(tx, "getTransactionStatus")) return !(await isOpen(ask));
  const looksIdle = (): boolean => tx["getTransactionStatus"]() === "I";
  if (!looksIdle()) return false;
  // A BEGIN that nobody has waited for may still be on its way.
  await tx["query"]("SELECT 1");
  return looksIdle();
}

/** A setting that holds for one transaction is gone in the next statement unless one is open. */
async function isOpen(ask: (text: string) => Promise<unknown>): Promise<boolean> {
  try {
    await ask("SELECT set_config('millrace.probe', 'on', true)");
    const [row] = rowsOf(await ask("SELECT current_setting('millrace.probe', true) AS probe"));
    return !isShape(row) || row["probe"] === "on";
  } catch {
    // The statement that follows will fail as well, and say why.
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
  return notOurs(`it is ${shown(tx)}, and known are those of ${known}`);
}

function notOpen(what: string, how: string): MillraceError {
  return notOurs(`it is ${what}, where nothing can be rolled back; open one with ${how}`);
}

function notOurs(why: string): MillraceError {
  return new MillraceError("TX_INVALID", `tx is not a transaction that can be used here: ${why}`);
}
