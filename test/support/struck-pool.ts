/** A pool whose statements a test changes on their way to the server. */
import { Client, Pool } from "pg";

/** One statement of the store. */
interface Statement {
  readonly text: string;
}

type Strike = (sent: Statement) => object;

/** The session cancels its own statement. */
export const CANCELLED = "SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(60)";

export interface StruckPool {
  readonly pool: Pool;
  /** Changes statements from now on. Null: no more. */
  readonly strike: (next: Strike | null) => void;
}

export function struckPool(url: string, max: number): StruckPool {
  let strike: Strike | null = null;
  class StruckClient extends Client {
    // The driver has many forms of this method; the store uses one of them.
    override query(...args: [any, ...any[]]): any {
      const [sent, ...rest] = args;
      const isStruck = strike !== null && typeof sent?.text === "string";
      return super.query(isStruck ? strike?.(sent) : sent, ...rest);
    }
  }
  const pool = new Pool({ connectionString: url, max, Client: StruckClient });
  // The server is stopped under idle connections.
  pool.on("error", () => {});
  return { pool, strike: (next) => void (strike = next) };
}
