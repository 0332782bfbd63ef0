/**
 * The default logger, without the warnings about the servers of the tests: these do not wait for
 * the disk, because what is tested is not the disk.
 */
import { stderrLogger, type PlainLogger } from "../../src/lib/stderr-logger.ts";
import { systemClock } from "../../src/lib/system.ts";
import { settingWarnings } from "../../src/store/postgres/doctor/server-settings.ts";

const EXPECTED = new Set(
  settingWarnings({ fsync: false, full_page_writes: false, synchronous_commit: "on" }),
);

const logger = stderrLogger("warn", () => systemClock.now());

export const testLogger: PlainLogger = {
  ...logger,
  warn(message, fields) {
    if (!EXPECTED.has(message)) logger.warn(message, fields);
  },
};
