/** `mill.audit` of a server. */
import type { Audit, AuditEntry, AuditFilter } from "../api/control/audit.ts";
import { instantMs } from "../core/duration.ts";
import { withDates } from "./dates.ts";
import { readPages } from "./pages.ts";
import type { ServerCall, ServerCalls } from "./server-calls.ts";

const PATH = "/api/v1/audit";

export function remoteAudit(calls: ServerCalls): Audit {
  return {
    async list({ limit, after, ...filter } = {}) {
      const { entries } = await readPages<AuditEntry, number>({ limit, after }, async (page) => {
        const query = { ...queryOf(filter), ...page };
        const found = await calls.json<any>(PATH, { query });
        return { entries: withDates<AuditEntry[]>(found.entries), next: found.next };
      });
      return entries;
    },
    export: (filter = {}) => calls.lines(`${PATH}/export`, { query: queryOf(filter) }),
    verify: ({ heads } = {}) =>
      heads === undefined
        ? calls.json(`${PATH}/verify`)
        : calls.json(`${PATH}/verify`, { method: "POST", body: { heads } }),
  };
}

function queryOf(filter: Omit<AuditFilter, "after" | "limit">): NonNullable<ServerCall["query"]> {
  const { tenant, subject, from, to, ...plain } = filter;
  return {
    ...plain,
    ...(tenant === null ? { installation: true } : { tenant }),
    ...(subject === undefined ? {} : { subject_kind: subject.kind, subject: subject.name }),
    ...(from === undefined ? {} : { from: momentText(from) }),
    ...(to === undefined ? {} : { to: momentText(to) }),
  };
}

function momentText(instant: NonNullable<AuditFilter["from"]>): string {
  return new Date(instantMs(instant, "from")).toISOString();
}
