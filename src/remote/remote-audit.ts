/** `mill.audit` of a server. */
import type { Audit, AuditEntry, AuditFilter } from "../api/control/audit.ts";
import { instantMs } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
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
    async verify({ heads = [] } = {}) {
      if (heads.length === 0) return calls.json(`${PATH}/verify`);
      throw new MillraceError("OPTION_INVALID", "a server compares with no earlier heads", {
        hint: "Compare with --db, where the store can be reached.",
      });
    },
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
