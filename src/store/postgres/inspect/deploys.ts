/** deploys: when workers of another version of the application began to register. */
import { bounded, DEPLOYS_MAX } from "../../shared/limits.ts";
import type { Deploy, MinutesQuery } from "../../types/minutes.ts";
import type { Session } from "../database/session.ts";

export async function deploys(
  { read }: Session,
  { from, to }: Pick<MinutesQuery, "from" | "to">,
  limit: number,
): Promise<readonly Deploy[]> {
  const rows = await read.all("list_deploys", {
    since: from,
    until: to,
    limit: bounded(limit, DEPLOYS_MAX),
  });
  return rows.map(({ app_version: appVersion, at }) => ({ appVersion, at }));
}
