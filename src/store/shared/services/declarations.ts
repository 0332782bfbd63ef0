/** What both stores do with the declarations of types. */
import { createHash } from "node:crypto";
import type { TypeDeclaration, TypeRecord } from "../../types/services.ts";

/** The types in one answer of `types`. */
export const TYPES_MAX = 10_000;

/** Equal declarations have equal hashes, whatever the version of the application is. */
export function declarationHash(declaration: TypeDeclaration): string {
  const { type, lane, priority, maxAttempts, timeoutMs, payloadSchema } = declaration;
  const services = [...new Set(declaration.services)].toSorted();
  const parts = [type, lane, priority, maxAttempts, timeoutMs, services, payloadSchema];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

interface StoredType {
  readonly lane: string;
  readonly priority: number;
  readonly max_attempts: number;
  readonly timeout_ms: number | null;
  readonly payload_schema: string | null;
  readonly app_version: string | null;
  readonly declared_at: number;
  readonly services: string;
  readonly workers: number;
  readonly hashes: number;
}

export function typeRecord(type: string, row: StoredType): TypeRecord {
  return {
    type,
    lane: row.lane,
    priority: row.priority,
    maxAttempts: row.max_attempts,
    timeoutMs: row.timeout_ms,
    services: JSON.parse(row.services),
    payloadSchema: row.payload_schema,
    appVersion: row.app_version,
    declaredAt: row.declared_at,
    workers: row.workers,
    declarations: row.hashes,
  };
}
