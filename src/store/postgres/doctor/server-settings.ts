/** Settings of the server that endanger stored jobs, for the doctor and for the log at opening. */
import type { ServerFinding } from "./examine.ts";

/** What the server says of its settings. */
export interface DiskSettings {
  readonly fsync: boolean;
  readonly full_page_writes: boolean;
  /** The setting of this role in this database. */
  readonly synchronous_commit: string;
}

export function settingFindings(settings: DiskSettings): readonly ServerFinding[] {
  const dangerous = DANGEROUS.filter(({ name }) => !settings[name]);
  return settings.synchronous_commit === "off" ? [...dangerous, COMMITS] : dangerous;
}

/** What is said when a store is opened. */
export function settingWarnings(settings: DiskSettings): readonly string[] {
  return DANGEROUS.filter(({ name }) => !settings[name]).map(
    ({ name, found, fix }) => `the PostgreSQL server has ${name} = off: ${found}. Run: ${fix}`,
  );
}

const DANGEROUS = [
  {
    name: "fsync",
    found:
      "when its host crashes or loses power, acknowledged jobs are lost and the database may be " +
      "damaged",
    fix: "ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf();",
  },
  {
    name: "full_page_writes",
    found: "when its host crashes or loses power, pages of the database may be damaged",
    fix: "ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf();",
  },
] as const;

/** For information: the store does not rely on the setting. */
const COMMITS: ServerFinding = {
  name: "synchronous_commit",
  found: "off for this role, database or server; commits of Millrace wait for the disk anyway",
  fix: null,
};
