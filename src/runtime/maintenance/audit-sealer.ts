/**
 * Seals audit entries. Every worker does, and on PostgreSQL one of them at a time. A worker that
 * finds nothing rests longer.
 */
import type { Ticker } from "../ticker.ts";
import { jittered, makeDuty, type DutyParts } from "./duty.ts";

/** Entries that one call seals. */
const SEAL_BATCH = 500;
const SEAL_MS = 2_000;
const REST_MS = 10_000;

export function auditSealer(
  parts: Pick<DutyParts, "store" | "clock" | "random" | "logger">,
): Ticker {
  const { store, random } = parts;
  return makeDuty(parts, SEAL_MS, async () => {
    const sealed = await store.sealAudit(SEAL_BATCH);
    if (sealed === SEAL_BATCH) return 0;
    return jittered(sealed === 0 ? REST_MS : SEAL_MS, random());
  });
}
