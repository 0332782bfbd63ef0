/** declareTypes and types: what workers have declared about their types. */
import { writeAudits } from "../audit/write.ts";
import { typeOverridden } from "../../shared/audit/drafts.ts";
import { MillraceError } from "../../../core/errors.ts";
import { flagsOf, type NameKind } from "../../shared/codes.ts";
import {
  declarationHash,
  overrideColumns,
  typeRecord,
  TYPES_MAX,
} from "../../shared/services/declarations.ts";
import type { WorkerId } from "../../types/jobs-and-runs.ts";
import type { TypeDeclaration, TypeOverride, TypeRecord } from "../../types/services.ts";
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";
import { list, uuidOf } from "../database/values.ts";

export async function declareTypes(
  session: Session,
  worker: WorkerId,
  declarations: readonly TypeDeclaration[],
): Promise<void> {
  if (declarations.length === 0) return;
  await session.names.intern([
    ...declarations.map(({ type: text }) => ({ kind: "type", text }) as const),
    ...declarations.flatMap(({ services }) =>
      services.map((text) => ({ kind: "service", text }) as const),
    ),
  ]);
  const rows = declarations.map((declaration) => ({
    type: idOf(session, "type", declaration.type),
    lane: declaration.lane,
    priority: declaration.priority,
    max_attempts: declaration.maxAttempts,
    timeout_ms: declaration.timeoutMs,
    category: declaration.category,
    payload_version: declaration.payloadVersion,
    payload_schema: JSON.parse(declaration.payloadSchema ?? "null"),
    app_version: declaration.appVersion,
    flags: flagsOf(declaration),
    hash: declarationHash(declaration),
  }));
  const uses = declarations.flatMap(({ type, services }) =>
    services.map((service) => ({
      type: idOf(session, "type", type),
      service: idOf(session, "service", service),
    })),
  );
  await repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      const declared = JSON.stringify(rows);
      // The worker first: a rescuer that removes it locks its row before anything else.
      await transaction.run("put_worker_types", { worker: uuidOf(worker), types: declared });
      await transaction.run("put_type_settings", { types: declared });
      await transaction.run("delete_services_of", { types: list(rows.map(({ type }) => type)) });
      await transaction.run("insert_services_of", {
        services: list(uses.map(({ service }) => service)),
        types: list(uses.map(({ type }) => type)),
      });
    }),
  );
  // Gates and limits of services may hold back other types than before, whose jobs claims have
  // passed.
  session.wakeForReturned("work");
}

function idOf({ names }: Session, kind: NameKind, text: string): number {
  const id = names.known(kind, text);
  if (id !== undefined) return id;
  throw new MillraceError("STORE_REFUSED", `the database refused the name of a ${kind}`);
}

export async function overrideType(
  session: Session,
  text: string,
  settings: TypeOverride | null,
  by: string | null,
  reason: string | null = null,
): Promise<boolean> {
  const type = await session.names.id("type", text);
  if (type === undefined) return false;
  let isChanged = false;
  await repeating(session.dice, (isRepeat) =>
    session.transaction(async (transaction) => {
      const [row] = await transaction.all("list_types", { only: type, limit: 1 });
      const before = row === undefined ? null : typeRecord(text, row).override;
      const changed =
        settings === null
          ? await transaction.run("delete_type_override", { type })
          : await transaction.run("put_type_override", {
              type,
              ...overrideColumns(settings),
              by,
            });
      if (changed === 0) return;
      isChanged = true;
      const draft = typeOverridden(text, { by, reason }, { before, after: settings });
      await writeAudits(transaction, [draft], isRepeat);
    }),
  );
  return isChanged;
}

export async function types(session: Session, only?: string): Promise<readonly TypeRecord[]> {
  const { names, read } = session;
  const id = only === undefined ? null : await names.id("type", only);
  if (id === undefined) return [];
  const rows = await read.all("list_types", { only: id, limit: TYPES_MAX });
  await names.learn(rows.map(({ type }) => type));
  return rows.map((row) => typeRecord(names.text(row.type), row));
}
