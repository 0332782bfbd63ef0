/** declareTypes and types: what workers have declared about their types. */
import { idBytes } from "../../../core/ids.ts";
import { flagsOf } from "../../shared/codes.ts";
import {
  declarationHash,
  overrideColumns,
  typeRecord,
  TYPES_MAX,
} from "../../shared/services/declarations.ts";
import { typeOverridden } from "../../shared/audit/drafts.ts";
import type { WorkerId } from "../../types/jobs-and-runs.ts";
import type { TypeDeclaration, TypeOverride, TypeRecord } from "../../types/services.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";
import { openOrKeepQueue } from "../queue/limits.ts";

export function declareTypes(
  session: Session,
  worker: WorkerId,
  declarations: readonly TypeDeclaration[],
): void {
  const { sql, names, clock, state, outbox } = session;
  const now = clock.now();
  for (const declaration of declarations) {
    const type = names.id("type", declaration.type);
    const hash = declarationHash(declaration);
    sql.run("put_type_setting", {
      type,
      lane: declaration.lane,
      priority: declaration.priority,
      max_attempts: declaration.maxAttempts,
      timeout_ms: declaration.timeoutMs,
      category: declaration.category,
      payload_version: declaration.payloadVersion,
      payload_schema: declaration.payloadSchema,
      app_version: declaration.appVersion,
      flags: flagsOf(declaration),
      hash,
      now,
    });
    sql.run("delete_service_uses", { type });
    for (const service of declaration.services) {
      sql.run("insert_service_use", { service: names.id("service", service), type });
    }
    sql.run("put_worker_type", { worker: idBytes(worker), type, hash });
    openOrKeepQueue(session, type);
  }
  const isHeld = sql.get("any_closed_gate", { now }) !== undefined;
  if (!isHeld && sql.get("any_limit", {}) === undefined) return;
  // Gates and limits of services may hold back other types than before, whose jobs claims have
  // passed.
  state.claimCursors.forget();
  outbox.wake();
}

export function overrideType(
  session: Session,
  text: string,
  settings: TypeOverride | null,
  by: string | null,
  reason: string | null = null,
): boolean {
  const { sql, names, clock } = session;
  const type = names.find("type", text);
  if (type === undefined) return false;
  const before = types(session, text)[0]?.override ?? null;
  const { changes } =
    settings === null
      ? sql.run("delete_type_override", { type })
      : sql.run("put_type_override", {
          type,
          ...overrideColumns(settings),
          by,
          now: clock.now(),
        });
  if (changes === 0) return false;
  writeAudits(session, [typeOverridden(text, { by, reason }, { before, after: settings })]);
  return true;
}

export function types({ sql, names, clock }: Session, only?: string): TypeRecord[] {
  const id = only === undefined ? null : names.find("type", only);
  if (id === undefined) return [];
  return sql
    .all("list_types", { now: clock.now(), only: id, limit: TYPES_MAX })
    .map((row) => typeRecord(names.text(row.type), row));
}
