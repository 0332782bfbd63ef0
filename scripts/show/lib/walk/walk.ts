/** Starts the process that measures the walks of one tree on one store. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startPostgres } from "../../../../test/support/postgres.ts";
import type { StoreKind } from "../options.ts";
import type { EnteredFunction } from "./coverage.ts";

/** What the measuring process is told. */
export interface WalkOrder {
  /** The absolute path of the checkout. */
  readonly tree: string;
  /** The database, as `openMillrace` takes it. */
  readonly url: string;
  readonly warmUp: number;
  readonly walks: number;
}

/** One job from `enqueue` to the end of `wait`. */
export interface Walk {
  readonly functions: readonly EnteredFunction[];
  /** Statements that read or write. */
  readonly statements: number;
  /** Statements that begin, end or divide a transaction. */
  readonly brackets: number;
  readonly proxyCalls: number;
}

const PROGRAM = fileURLToPath(new URL("walk.child.ts", import.meta.url));
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;
const run = promisify(execFile);

/** Measures on a new, empty database. */
export async function measureWalks(
  store: StoreKind,
  order: Omit<WalkOrder, "url">,
): Promise<Walk[]> {
  if (store === "sqlite") return onSqlite(order);
  await using server = await startPostgres();
  return await measure({ ...order, url: server.url });
}

async function onSqlite(order: Omit<WalkOrder, "url">): Promise<Walk[]> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-walk-"));
  try {
    return await measure({ ...order, url: `sqlite:${join(folder, "walk.db")}` });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(order: WalkOrder): Promise<Walk[]> {
  const { stdout, stderr } = await run(process.execPath, [PROGRAM, JSON.stringify(order)], {
    cwd: order.tree,
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  process.stderr.write(stderr);
  return JSON.parse(stdout);
}
