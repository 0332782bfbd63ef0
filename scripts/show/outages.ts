/**
 * The store accepts no writes for several leases, while workers with long runs live on: no run that
 * ignores its signal starts a second time, and every end is accepted once.
 *
 *     node --conditions=source scripts/show/outages.ts [--store sqlite|postgres] [--leases 1,3,10]
 *         [--workers 4] [--lease 2000]
 *
 * On SQLite a foreign process holds the write lock, and the disk is full where a small disk can be
 * mounted; PostgreSQL is stopped. One more worker is killed during each outage: its runs must start
 * again on a worker that lives. A run that obeys its signal ends uncharged and starts again too.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPostgres } from "../../test/support/postgres.ts";
import { openSmallDisk } from "../chaos/small-disk.ts";
import { table } from "../lib/table.ts";
import { playOutage, type OutageFigures, type OutageOptions } from "./lib/fleet/outages.ts";
import { onStage } from "./lib/run-stages.ts";

const { values } = parseArgs({
  options: {
    store: { type: "string" },
    leases: { type: "string", default: "1,3,10" },
    workers: { type: "string", default: "4" },
    lease: { type: "string", default: "2000" },
  },
});
const STORES = ["sqlite", "postgres"].filter((store) => (values.store ?? store) === store);
const LENGTHS = values.leases.split(",").map(Number);
const SIZES = { workers: Number(values.workers), leaseMs: Number(values.lease) };
const areNumbers = [...LENGTHS, ...Object.values(SIZES)].every((number) => number > 0);
if (STORES.length === 0 || !areNumbers) {
  console.error("see the head of scripts/show/outages.ts");
  process.exit(2);
}

const HEAD = [
  "fault",
  "leases",
  "jobs",
  "second starts",
  "restarts of obedient runs",
  "taken over from the dead",
  "ends accepted once",
  "interrupted",
  "crashes",
  "warnings",
];

await onStage(async () => {
  const rows: (readonly string[])[] = [];
  let sound = true;
  const play = async (options: Omit<OutageOptions, keyof typeof SIZES>): Promise<void> => {
    const figures = await playOutage({ ...SIZES, ...options });
    rows.push(rowOf(options, figures));
    for (const finding of figures.findings) console.log(finding);
    if (!isSound(options.leases, figures)) sound = false;
  };
  if (STORES.includes("sqlite")) await playSqlite(play);
  if (STORES.includes("postgres")) await playPostgres(play);
  for (const line of table(HEAD, rows)) console.log(line);
  return { sound };
});

type Play = (options: Omit<OutageOptions, keyof typeof SIZES>) => Promise<void>;

async function playSqlite(play: Play): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-outages-"));
  try {
    for (const leases of LENGTHS) {
      const place = { file: join(folder, `lock-${leases}.db`) };
      await play({ fault: "write lock", leases, place });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  for (const leases of LENGTHS) {
    using disk = openSmallDisk();
    if (disk === null) {
      console.log("full disk: left out, because this user cannot mount a small disk");
      return;
    }
    await play({ fault: "full disk", leases, place: { file: join(disk.path, "jobs.db") } });
  }
}

async function playPostgres(play: Play): Promise<void> {
  await using server = await startPostgres({ durable: false });
  for (const leases of LENGTHS) {
    const url = `${server.url}?schema=outage_${leases}`;
    await play({ fault: "stopped server", leases, place: { server, url } });
  }
}

/** An outage of one lease may end right before the lease: then no worker warns. */
function isSound(leases: number, figures: OutageFigures): boolean {
  const { jobs, endedOnce, secondStarts, crashes, warnings, findings } = figures;
  const warned = Object.values(warnings).reduce((sum, count) => sum + count, 0);
  const isTold = leases <= 1 || warned >= SIZES.workers;
  const isKept = secondStarts === 0 && crashes === 0 && endedOnce === jobs;
  return isKept && isTold && findings.length === 0;
}

function rowOf(
  { fault, leases }: Pick<OutageOptions, "fault" | "leases">,
  figures: OutageFigures,
): readonly string[] {
  const { jobs, secondStarts, restarts, takeovers, endedOnce, interrupted, crashes } = figures;
  const numbers = [leases, jobs, secondStarts, restarts, takeovers, endedOnce];
  const warnings = Object.entries(figures.warnings).map(([cause, count]) => `${count} ${cause}`);
  return [fault, ...[...numbers, interrupted, crashes].map(String), warnings.join(", ") || "none"];
}
