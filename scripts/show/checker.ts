/**
 * Judges a history of jobs after the fact: was anything lost, finished twice, or run twice at once?
 *
 *     node --conditions=source scripts/show/checker.ts --acks FILE --ledger FILE
 *         [--db URL] [--lease 30000] [-o json]
 *
 * Lengths are in milliseconds. `--acks` holds one acknowledged job per line: its id, or JSON with
 * it. `--ledger` holds what handlers wrote, one line each:
 * `{"job","fence","pid","attempt","what":"start"|"end"|"fail"|"quit","at"}`. With `--db` the
 * own ledger is heard as a witness. Exits with 1 when something is wrong.
 */
import { parseArgs } from "node:util";
import { check } from "./lib/check/check.ts";
import type { StoredJob } from "./lib/fleet/history.ts";
import { readAcks, readLedger } from "./lib/fleet/ledger.ts";
import { countsOf, linesOf } from "./lib/check/verdict.ts";

const USAGE = "checker.ts --acks FILE --ledger FILE [--db URL] [--lease 30000] [-o json]";

const { values } = parseArgs({
  options: {
    acks: { type: "string" },
    ledger: { type: "string" },
    db: { type: "string" },
    lease: { type: "string", default: "30000" },
    output: { type: "string", short: "o", default: "text" },
    help: { type: "boolean" },
  },
});

if (values.help === true) {
  console.log(USAGE);
  process.exit(0);
}
if (values.acks === undefined || values.ledger === undefined) {
  console.error(USAGE);
  process.exit(2);
}

const verdict = check({
  acks: readAcks(values.acks),
  ledger: readLedger(values.ledger),
  leaseMs: Number(values.lease),
  ...(values.db !== undefined && { store: await openAndRead(values.db) }),
});
const json = { ...countsOf(verdict), findings: verdict.findings };
console.log(values.output === "json" ? JSON.stringify(json) : linesOf(verdict).join("\n"));
if (verdict.findings.length > 0) process.exitCode = 1;

/** Loads the library only when there is a store to ask: the checker stands on its own. */
async function openAndRead(url: string): Promise<ReadonlyMap<string, StoredJob>> {
  const { openMillrace } = await import("millrace");
  const { readStore } = await import("./lib/fleet/stored.ts");
  await using mill = await openMillrace(url);
  return await readStore(mill);
}
