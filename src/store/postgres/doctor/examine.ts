/**
 * examine: checks the health of tables and server settings, schema drift, misplaced jobs and the
 * invariants. Each finding names the statement that fixes it.
 */
import {
  EXAMINE_BOUNDS,
  extentOf,
  unknownExtent,
  WHOLE,
  type CutShort,
  type ExamineBounds,
  type Extent,
} from "../../doctor/bounds.ts";
import type { Repair } from "../../doctor/repairs.ts";
import type { BrokenInvariant } from "../../doctor/invariants.ts";
import { UnfinishedChecks, type UnfinishedCheck } from "../../doctor/unfinished.ts";
import { systemClock } from "../../../lib/system.ts";
import { isTimeout } from "../database/errors.ts";
import { brokenInvariants } from "./invariants.ts";
import { schemaDrift } from "./schema-drift.ts";
import type { TableHealth } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";
import { quoted } from "../database/statements.ts";
import { settingFindings } from "./server-settings.ts";
import { routineFindings } from "./routine-findings.ts";
import { misplacedJobs } from "./misplaced-jobs.ts";
import { HOLDERS_MAX, vacuumHolders, type HolderLimits } from "./vacuum-holders.ts";

/** Dead rows beyond this multiple of the autovacuum threshold mean that autovacuum lags. */
const BEHIND_FACTOR_MAX = 4;
/** Indexes larger than this multiple of their table are bloated. */
const INDEX_FACTOR_MAX = 4;

/** Roles that are named. */
const ROLES_MAX = 10;

/** Missing and excessive grants that are named. */
const GRANTS_MAX = 50;

/** Limits beyond which a finding is reported. */
export interface ExamineLimits extends HolderLimits {
  readonly deadRows: number;
  readonly indexBytes: number;
  /** Whether to check invariants that read whole tables: seconds for a million jobs. */
  readonly isDeep: boolean;
  /** The maximum that other checks examine, unless they are deep. */
  readonly bounds: ExamineBounds;
}

const LIMITS: ExamineLimits = {
  deadRows: 20_000,
  indexBytes: 64 * 1024 ** 2,
  transactionMs: 60_000,
  slotTransactions: 100_000,
  isDeep: false,
  bounds: EXAMINE_BOUNDS,
};

export interface ServerFinding {
  readonly name: string;
  readonly found: string;
  /** Null: information only. */
  readonly fix: string | null;
  /** What `millrace doctor --fix` does. Absent: the finding is left to a person. */
  readonly repair?: Repair;
}

export interface ServerExamination {
  readonly version: string;
  readonly bytes: number;
  readonly deadRows: number;
  readonly findings: readonly ServerFinding[];
  /** Checks that examined a part of their rows. */
  readonly cutShort: readonly CutShort[];
  /** Invariants that are broken. */
  readonly brokenInvariants: readonly BrokenInvariant[];
  /** Checks that a limit of time has cut. */
  readonly unfinished: readonly UnfinishedCheck[];
}

export async function examine(
  session: Session,
  limits: Partial<ExamineLimits> = {},
): Promise<ServerExamination> {
  const { read, schema } = session;
  const all = { ...LIMITS, ...limits };
  const checks = new UnfinishedChecks(() => systemClock.monotonic(), isTimeout);
  const tables = await checks.run("tables", [], () => read.all("table_health", { schema }));
  const holders = await checks.run("vacuum", [], () =>
    read.all("vacuum_holders", { limit: HOLDERS_MAX }),
  );
  const settings = await checks.run("settings", undefined, () => read.get("server_settings", {}));
  const second = await checks.run("second line", undefined, () =>
    read.get("second_line", { schema }),
  );
  const dumpers = await checks.run("dump roles", [], () =>
    read.all("dump_roles", { limit: ROLES_MAX }),
  );
  const roles = await checks.run("roles", [], () =>
    read.all("role_findings", { limit: GRANTS_MAX }),
  );
  const routines = await checks.run("routines", [], () => routineFindings(session));
  const drift = await checks.run("schema", [], () => schemaDrift(session));
  const extent = all.isDeep
    ? WHOLE
    : await checks.run("sizes of tables", unknownExtent(all.bounds), () =>
        extentIn(session, all.bounds),
      );
  const misplaced = await misplacedJobs(session, extent, checks);
  const broken = await brokenInvariants(session, {
    extent,
    isDeep: all.isDeep,
    isSound: misplaced.length === 0,
    checks,
  });
  return {
    version: settings?.version ?? "unknown",
    bytes: tables.reduce((sum, { bytes, index_bytes }) => sum + bytes + index_bytes, 0),
    deadRows: tables.reduce((sum, { dead }) => sum + dead, 0),
    findings: [
      ...vacuumHolders(holders, all),
      ...(settings?.autovacuum === false ? [NO_AUTOVACUUM] : []),
      ...(settings === undefined ? [] : settingFindings(settings)),
      ...(second?.active === false ? [NO_SECOND_LINE] : []),
      ...dumpers.map(cannotDump),
      ...roles.map(({ found, fix }) => ({ name: "roles", found, fix: `${fix};` })),
      ...routines,
      ...tables.flatMap((table) => [
        ...switchedOff(schema, table),
        ...deadRows(schema, table, all),
        ...bloat(schema, table, all),
      ]),
      ...drift,
      ...misplaced,
    ],
    cutShort: extent.cutShort,
    brokenInvariants: broken,
    unfinished: checks.all,
  };
}

async function extentIn({ read }: Session, bounds: ExamineBounds): Promise<Extent> {
  const sizes = await read.get("examined_tables", { max: bounds.rows + 1 });
  if (sizes === undefined) throw new Error("the sizes of the tables are missing");
  return extentOf(sizes, bounds);
}

/** For information: the filters of the statements are the first line. */
const NO_SECOND_LINE: ServerFinding = {
  name: "tenant_reads",
  found:
    "row level security does not limit reads for one tenant: the user may not take the role " +
    "millrace_tenant, or could not create it when the schema was installed",
  fix: null,
};

/** For information: the role may exist for other reads, which row level security does not limit. */
function cannotDump({ name }: { readonly name: string }): ServerFinding {
  const found =
    `pg_dump as the role ${name} fails, because the tables have row level security: ` +
    `ALTER ROLE ${quoted(name)} BYPASSRLS, or pg_dump --enable-row-security`;
  return { name: "backup role", found, fix: null };
}

const NO_AUTOVACUUM: ServerFinding = {
  name: "autovacuum",
  found: "it is switched off, so dead rows are never removed",
  fix: "ALTER SYSTEM SET autovacuum = on; SELECT pg_reload_conf();",
};

function switchedOff(schema: string, { name, enabled }: TableHealth): ServerFinding[] {
  if (enabled) return [];
  const found = `it is switched off for ${name}, whose dead rows are never removed`;
  const fix = `ALTER TABLE ${quoted(schema)}.${quoted(name)} RESET (autovacuum_enabled);`;
  return [{ name: "autovacuum", found, fix }];
}

function deadRows(schema: string, table: TableHealth, limits: ExamineLimits): ServerFinding[] {
  const { name, live, dead, vacuumed_ms: vacuumed, threshold } = table;
  const isBehind = dead > threshold * BEHIND_FACTOR_MAX;
  if (dead < limits.deadRows || (dead < live && !isBehind)) return [];
  const last = vacuumed === null ? "was never vacuumed" : `was vacuumed ${minutes(vacuumed)} ago`;
  const due = isBehind ? `; autovacuum is due at ${threshold} dead rows` : "";
  return [
    {
      name: isBehind ? "autovacuum lag" : "dead rows",
      found: `${name} has ${dead} dead and ${live} live rows, and ${last}${due}`,
      fix: `VACUUM (ANALYZE) ${quoted(schema)}.${quoted(name)};`,
    },
  ];
}

function minutes(ms: number): string {
  return `${Math.round(ms / 60_000)} minutes`;
}

function bloat(schema: string, table: TableHealth, limits: ExamineLimits): ServerFinding[] {
  const { name, bytes, index_bytes: indexBytes } = table;
  if (indexBytes < limits.indexBytes || indexBytes < bytes * INDEX_FACTOR_MAX) return [];
  const [indexMb, tableMb] = [indexBytes, bytes].map((each) => Math.round(each / 1024 ** 2));
  return [
    {
      name: "index size",
      found: `the indexes of ${name} take ${indexMb} MB, its rows ${tableMb} MB`,
      fix: `REINDEX TABLE CONCURRENTLY ${quoted(schema)}.${quoted(name)};`,
    },
  ];
}
