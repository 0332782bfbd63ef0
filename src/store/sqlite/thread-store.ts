/**
 * The store of the heartbeat thread on the same file: it connects, and has the verbs of the thread
 * alone. It neither creates nor migrates the file, because the store of the worker is open.
 */
import { MillraceError } from "../../core/errors.ts";
import { systemClock, systemDice } from "../../lib/system.ts";
import { OperatorWarnings } from "../shared/operator-warnings.ts";
import type { ThreadStore } from "../store.ts";
import { closedError } from "./batching/writer.ts";
import { connect } from "./database/connection.ts";
import { identity } from "./database/file-identity.ts";
import { OpenFile } from "./database/open-file.ts";
import { overdue } from "./runs/overdue.ts";
import { settle, settleParts } from "./runs/settle.ts";
import { renew, reportCode } from "./runs/workers.ts";

/** The address by which the thread imports this module. */
export const THREAD_MODULE: string = import.meta.url;

/** @public by its name: the thread imports this module by its address. */
export function makeThreadStore({ path }: { readonly path: string }): ThreadStore {
  let opened: OpenFile | null = null;
  const file = (): OpenFile => {
    if (opened === null) throw closedError();
    return opened;
  };
  return {
    async open() {
      if (identity(path) === null) {
        throw new MillraceError("STORE_FAILED", `there is no file ${path}`, { details: { path } });
      }
      const database = await connect(path, systemClock, async () => {});
      const options = { path, watchesLog: false, clock: systemClock, dice: systemDice };
      opened = new OpenFile(database, options, new OperatorWarnings());
    },
    renew: async (...args) => file().write((session) => renew(session, ...args)),
    overdue: async (...args) => file().read((session) => overdue(session, ...args)),
    reportCode: async (...args) => file().write((session) => reportCode(session, ...args)),
    settle: async (items) => file().writeBatch(items, settle, settleParts),
  };
}
