/** What both stores do with the declarations of types. */
import { createHash } from "node:crypto";
import { flagsOf, policyOfFlags } from "../codes.ts";
import { ruleColumns } from "../control/limit-rows.ts";
import type { TypeDeclaration, TypeOverride, TypeRecord } from "../../types/services.ts";

/** The types in one answer of `types`. */
export const TYPES_MAX = 10_000;

/** Equal declarations have equal hashes, whatever the version of the application is. */
export function declarationHash(declaration: TypeDeclaration): string {
  const { type, lane, priority, maxAttempts, timeoutMs, payloadSchema, limit } = declaration;
  const shape = [declaration.category, declaration.payloadVersion, payloadSchema];
  const services = [...new Set(declaration.services)].toSorted();
  const rule = limit === null ? [] : [ruleColumns(limit)];
  const own = [type, lane, priority, maxAttempts, timeoutMs, flagsOf(declaration), services];
  const parts = [...own, ...shape, ...rule];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

interface StoredType {
  readonly lane: string;
  readonly priority: number;
  readonly max_attempts: number;
  readonly timeout_ms: number | null;
  readonly category: string | null;
  readonly payload_version: string | null;
  readonly payload_schema: string | null;
  readonly app_version: string | null;
  readonly flags: number;
  readonly declared_at: number;
  readonly services: string;
  readonly workers: number;
  readonly hashes: number;
  readonly own_lane: string | null;
  readonly own_priority: number | null;
  readonly own_attempts: number | null;
  readonly own_timeout_ms: number | null;
  readonly own_by: string | null;
  readonly own_set_at: number | null;
}

export function typeRecord(type: string, row: StoredType): TypeRecord {
  return {
    type,
    lane: row.lane,
    priority: row.priority,
    maxAttempts: row.max_attempts,
    timeoutMs: row.timeout_ms,
    services: JSON.parse(row.services),
    category: row.category,
    payloadVersion: row.payload_version,
    payloadSchema: row.payload_schema,
    appVersion: row.app_version,
    ...policyOfFlags(row.flags),
    declaredAt: row.declared_at,
    workers: row.workers,
    declarations: row.hashes,
    override: overrideOf(row),
  };
}

function overrideOf(row: StoredType): TypeRecord["override"] {
  if (row.own_set_at === null) return null;
  return {
    lane: row.own_lane,
    priority: row.own_priority,
    maxAttempts: row.own_attempts,
    timeoutMs: row.own_timeout_ms,
    by: row.own_by,
    setAt: row.own_set_at,
  };
}

/** The columns of an override. */
export function overrideColumns({ lane, priority, maxAttempts, timeoutMs }: TypeOverride): {
  readonly lane: string | null;
  readonly priority: number | null;
  readonly max_attempts: number | null;
  readonly timeout_ms: number | null;
} {
  return { lane, priority, max_attempts: maxAttempts, timeout_ms: timeoutMs };
}
