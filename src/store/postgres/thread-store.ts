/**
 * The store of the heartbeat thread: it connects, and has the verbs of the thread alone. It neither
 * migrates the schema nor listens, because the store of the worker is open.
 */
import { systemDice } from "../../lib/system.ts";
import { OperatorWarnings } from "../shared/operator-warnings.ts";
import type { ThreadStore } from "../store.ts";
import { closedError, storeError } from "./database/errors.ts";
import { placeOf } from "./database/place.ts";
import { Pool, type PoolOptions } from "./database/pool.ts";
import { Session } from "./database/session.ts";
import { accessOf } from "./database/statements.ts";
import { newState } from "./database/session-state.ts";
import { Notifier } from "./events/notifier.ts";
import { runDependencyTask } from "./queue/dependencies.ts";
import { overdue } from "./runs/overdue.ts";
import { settle } from "./runs/settle.ts";
import { renew, reportCode } from "./runs/workers.ts";

/** The address by which the thread imports this module. */
export const THREAD_MODULE: string = import.meta.url;

export interface ThreadOptions extends Omit<PoolOptions, "pool"> {
  readonly schema?: string | undefined;
}

/** @public by its name: the thread imports this module by its address. */
export function makeThreadStore({ schema = "millrace", ...address }: ThreadOptions): ThreadStore {
  let opened: Session | null = null;
  const run = async <Answer>(verb: (session: Session) => Promise<Answer>): Promise<Answer> => {
    if (opened === null) throw closedError();
    try {
      return await verb(opened);
    } catch (error) {
      throw storeError(error, placeOf(address));
    }
  };
  return {
    async open() {
      const pool = await Pool.make(address);
      try {
        // The connection stays in the pool for the first beat.
        const access = await pool.withConnection((client) => accessOf(client, schema));
        opened = sessionOn(pool, address, { schema, access });
      } catch (error) {
        await pool.end();
        throw storeError(error, placeOf(address));
      }
    },
    renew: (...args) => run((session) => renew(session, ...args)),
    overdue: (...args) => run((session) => overdue(session, ...args)),
    reportCode: (...args) => run((session) => reportCode(session, ...args)),
    settle: (items) => run((session) => settle(session, items)),
  };
}

/** Its notifier sends wake-ups; without a listener of its own, it opens no connection for them. */
function sessionOn(
  pool: Pool,
  address: PoolOptions,
  { schema, access }: Pick<Session, "schema" | "access">,
): Session {
  const warnings = new OperatorWarnings();
  const dice = systemDice;
  const warn = (warning: string): void => warnings.report(warning);
  const notifier = new Notifier({ pool, address, schema, dice, warn });
  const own = { schema, access, clock: null, dice, notifier, warnings };
  const parts = { pool, heartbeatConnection: null, runDependencyTask, newState };
  return new Session({ ...own, ...parts });
}
