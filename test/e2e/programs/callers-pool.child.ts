/**
 * A worker on a pool of the application. Its handler blocks the event loop for several leases.
 * Prints `began` when the handler begins and `ended` when the job has ended.
 */
import { writeSync } from "node:fs";
import { Pool } from "pg";
import { openMillrace } from "../../../src/open.ts";
import { postgresStore } from "../../../src/store/postgres/index.ts";
import { BLOCKED_MS, block, connectionOf, LEASE } from "../callers-pool.ts";
import { testLogger } from "../../support/logger.ts";

const [url = "", schema = "", id = ""] = process.argv.slice(2);
const pool = new Pool({ ...connectionOf(url), max: 2 });
const mill = await openMillrace(postgresStore({ pool, schema }), { logger: testLogger });
const job = block.run(() => {
  writeSync(1, "began\n");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED_MS);
});
const worker = mill.work({ jobs: [job], lease: LEASE });
await mill.wait({ id, type: "block" });
writeSync(1, "ended\n");
await worker.stop();
await mill.close();
await pool.end();
