/** Credentials of every kind, for one tenant and for all. */
import type { PersonRole } from "../../src/api/tokens.ts";
import type { NewToken } from "../../src/api/tokens.ts";
import type { Millrace } from "../../src/index.ts";

export const TENANT = "acme";

/** Who calls. A `stream` token reads {@link Callers.jobId} alone. */
export type CallerName = PersonRole | "producer" | "worker" | "stream" | "anonymous";

export const CALLERS: readonly CallerName[] = [
  "anonymous",
  "viewer",
  "operator",
  "manager",
  "admin",
  "producer",
  "worker",
  "stream",
];

export interface Callers {
  /** The job of the stream tokens. */
  readonly jobId: string;
  /** The headers with the credential of a caller, for one tenant or for all. */
  readonly headersOf: (
    caller: CallerName,
    scope: "all" | "tenant",
  ) => Readonly<Record<string, string>>;
}

/** Makes a token of every kind, and the job that stream tokens read. */
export async function makeCallers(mill: Millrace, jobId: string): Promise<Callers> {
  const secrets = new Map<string, string>();
  for (const scope of ["all", "tenant"] as const) {
    for (const caller of CALLERS) {
      if (caller === "anonymous") continue;
      const { secret } = await mill.tokens.create(tokenOf(caller, scope, jobId));
      secrets.set(`${caller} ${scope}`, secret);
    }
  }
  return {
    jobId,
    headersOf: (caller, scope) => {
      const secret = secrets.get(`${caller} ${scope}`);
      return secret === undefined ? {} : { authorization: `Bearer ${secret}` };
    },
  };
}

function tokenOf(
  caller: Exclude<CallerName, "anonymous">,
  scope: "all" | "tenant",
  jobId: string,
): NewToken {
  const common = { name: `${caller} ${scope}`, ...(scope === "all" ? {} : { tenant: TENANT }) };
  if (caller === "producer" || caller === "worker") return { ...common, kind: caller };
  if (caller === "stream") return { ...common, kind: "stream", jobId };
  return { ...common, kind: "person", roles: [caller] };
}
