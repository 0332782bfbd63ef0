/** `/api/v1/audit`: what operators have done. */
import { z } from "@hono/zod-openapi";
import type { AuditEntry, AuditFilter } from "../../api/control/audit.ts";
import { AUDIT_NAMES, AUDIT_SUBJECTS, type AuditName } from "../../core/audit/names.ts";
import {
  mayCall,
  READ_AUDIT,
  READ_INSTALLATION,
  SEE,
  type Identity,
} from "../identity/identity.ts";
import { jsonLines } from "../json-lines.ts";
import type { AppParts } from "../parts.ts";
import { RequestRefusal } from "../problem.ts";
import { Redactor } from "../redaction.ts";
import { route, type Route } from "../route.ts";
import {
  ANYTHING,
  COUNT,
  LIMIT,
  MOMENT,
  NAME,
  REMARK,
  TEXT,
  TEXT_OR_NULL,
} from "../schemas/common.ts";
import { redactedAudit } from "../views.ts";

const PATH = "/api/v1/audit";

const NAMES: readonly string[] = Object.keys(AUDIT_NAMES);
const QUERY = {
  tenant: NAME.optional(),
  installation: z.boolean().optional().openapi({
    description: "True: acts about the whole installation; for managers and admins of it.",
  }),
  name: z.enum(NAMES).optional(),
  actor: REMARK.optional(),
  subject_kind: z.enum(AUDIT_SUBJECTS).optional(),
  subject: z.string().min(1).max(500).optional().openapi({
    description: "An id or a name; needs `subject_kind`.",
  }),
  from: MOMENT.optional(),
  to: MOMENT.optional(),
};

const ENTRY = z
  .strictObject({
    id: COUNT,
    at: MOMENT,
    tenant: TEXT_OR_NULL,
    name: TEXT,
    actor: TEXT_OR_NULL,
    reason: TEXT_OR_NULL,
    subject: z.strictObject({ kind: TEXT, name: TEXT }),
    before: ANYTHING,
    after: ANYTHING,
  })
  .openapi("AuditEntry");

/** The heads of so many chains are compared in one request. */
const HEADS_MAX = 10_000;
const HEAD = z
  .strictObject({ tenant: TEXT_OR_NULL, day: TEXT, position: COUNT, hash: TEXT })
  .openapi("AuditHead");
const VERDICT = z
  .strictObject({
    isIntact: z.boolean(),
    findings: z.array(
      z.strictObject({
        kind: TEXT,
        tenant: TEXT_OR_NULL,
        day: TEXT_OR_NULL,
        position: COUNT.nullable(),
        entryId: z.int().nullable(),
        message: TEXT,
      }),
    ),
    more: COUNT,
    sealed: COUNT,
    unsealed: COUNT,
    heads: z.array(HEAD),
  })
  .openapi("AuditVerdict");

export function auditRoutes(parts: AppParts): readonly Route[] {
  return [listRoute(parts), exportRoute(parts), verifyRoute(), compareRoute()];
}

function listRoute({ redaction }: AppParts): Route {
  const form = {
    method: "get",
    path: PATH,
    name: "listAudit",
    summary: "Lists audit entries, newest first, in pages. A viewer reads its own acts.",
    access: SEE,
    query: z.strictObject({
      ...QUERY,
      after: z.coerce.number().int().min(0).optional().openapi({
        description: "The `next` of the previous page.",
      }),
      limit: LIMIT,
    }),
    answers: {
      200: {
        description: "One page; `next` is the `after` of the next one.",
        schema: z.strictObject({ entries: z.array(ENTRY), next: COUNT.nullable() }),
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ query: { after, limit, ...query }, mill, identity }) => {
    const redactor = new Redactor(redaction, identity);
    const page = { limit, ...(after === undefined ? {} : { after }) };
    const found = await mill.audit.list({ ...filterOf(query, identity), ...page });
    const entries = found.map((entry) => redactedAudit(entry, redactor));
    const next = found.length < limit ? null : (found.at(-1)?.id ?? null);
    return Response.json({ entries, next });
  });
}

function exportRoute({ redaction }: AppParts): Route {
  const form = {
    method: "get",
    path: `${PATH}/export`,
    name: "exportAudit",
    summary: "All audit entries, oldest first, as lines of JSON. A viewer reads its own acts.",
    access: SEE,
    query: z.strictObject(QUERY),
    answers: {
      200: {
        description: "One entry in each line.",
        schema: ENTRY,
        type: "application/x-ndjson",
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ query, mill, identity, isStillValid }) => {
    const redactor = new Redactor(redaction, identity);
    const exported = mill.audit.export(filterOf(query, identity));
    return jsonLines(redactedEntries(exported, redactor), isStillValid);
  });
}

async function* redactedEntries(
  lines: AsyncIterable<string>,
  redactor: Redactor,
): AsyncGenerator<object> {
  for await (const line of lines) {
    const entry: AuditEntry = JSON.parse(line);
    yield redactedAudit(entry, redactor);
  }
}

function verifyRoute(): Route {
  const form = {
    method: "get",
    path: `${PATH}/verify`,
    name: "verifyAudit",
    summary: "Checks the chain of the audit: what was removed, altered or inserted.",
    access: READ_AUDIT,
    answers: { 200: { description: "What was found.", schema: VERDICT } },
    problems: [],
  } as const;
  return route(form, async ({ mill }) => Response.json(await mill.audit.verify()));
}

function compareRoute(): Route {
  const form = {
    method: "post",
    path: `${PATH}/verify`,
    name: "compareAudit",
    summary:
      "The same check, and a comparison with the `heads` of an earlier answer: what was removed " +
      "from the end of a chain.",
    access: READ_AUDIT,
    changesNothing: true,
    body: z.strictObject({ heads: z.array(HEAD).max(HEADS_MAX) }),
    answers: { 200: { description: "What was found.", schema: VERDICT } },
    problems: [],
  } as const;
  return route(form, async ({ body: { heads }, mill, identity: { tenant } }) => {
    // The chains of others do not exist for a tenant, and their heads would look removed.
    if (tenant !== null && heads.some((head) => head.tenant !== tenant)) {
      throw new RequestRefusal("FORBIDDEN", `The credential is for the tenant ${tenant} alone.`);
    }
    return Response.json(await mill.audit.verify({ heads }));
  });
}

interface AuditQueryFields {
  readonly tenant?: string | undefined;
  readonly installation?: boolean | undefined;
  readonly name?: string | undefined;
  readonly actor?: string | undefined;
  readonly subject_kind?: (typeof AUDIT_SUBJECTS)[number] | undefined;
  readonly subject?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A viewer reads what it did itself. */
function filterOf(query: AuditQueryFields, identity: Identity): AuditFilter {
  const { tenant, name, subject, subject_kind: kind, from, to } = query;
  if ((subject === undefined) !== (kind === undefined)) {
    throw new RequestRefusal("INPUT_INVALID", "subject and subject_kind go together.");
  }
  const actor = readsAll(identity) ? query.actor : identity.actor;
  return {
    ...(tenant === undefined ? {} : { tenant }),
    ...(query.installation === true ? { tenant: ofInstallation(query, identity) } : {}),
    ...(isName(name) ? { name } : {}),
    ...(actor === undefined ? {} : { actor }),
    ...(subject === undefined || kind === undefined ? {} : { subject: { kind, name: subject } }),
    ...(from === undefined ? {} : { from: new Date(from) }),
    ...(to === undefined ? {} : { to: new Date(to) }),
  };
}

/** The tenant of acts about the whole installation. */
function ofInstallation({ tenant }: AuditQueryFields, identity: Identity): null {
  if (tenant !== undefined) {
    throw new RequestRefusal("INPUT_INVALID", "Give either tenant or installation.");
  }
  if (mayCall(READ_INSTALLATION, identity)) return null;
  const who = "a manager or an admin of all tenants";
  throw new RequestRefusal("FORBIDDEN", `The acts about the installation are for ${who}.`);
}

function isName(name: string | undefined): name is AuditName {
  return name !== undefined && Object.hasOwn(AUDIT_NAMES, name);
}

function readsAll({ roles }: Identity): boolean {
  return roles.some((role) => READ_AUDIT.roles.includes(role));
}
