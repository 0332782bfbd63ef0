/** Jobs that a closed service has sent back, and that have nothing to wait for any more. */
import type { Settlement } from "../../../core/outcome.ts";
import { awaitedService, dueNow } from "../../shared/services/vain-wait.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { StoreTransaction } from "../database/session.ts";
import { list, texts } from "../database/values.ts";

interface Settled {
  readonly item: { readonly key: JobKey; readonly settlement: Settlement };
}

/**
 * A job that was sent back by a service that has opened since is due now. The breakers stay as they
 * are until the commit: a later reset finds the jobs that wait. They are locked before the leases,
 * as `claim_probe` locks them before the worker and the locks of jobs.
 */
export async function withoutVainWaits<Item extends Settled>(
  transaction: StoreTransaction,
  items: readonly Item[],
): Promise<readonly Item[]> {
  const waits = items.flatMap(({ item: { key, settlement } }) => {
    const service = awaitedService(settlement);
    return service === undefined ? [] : [{ key, service }];
  });
  if (waits.length === 0) return items;
  const services = texts(waits.map(({ service }) => service));
  await transaction.all("keep_breakers", { services });
  const keys = list(waits.map(({ key }) => key));
  const rows = await transaction.all("jobs_of_open_services", { keys, services });
  const open = new Set(rows.map(({ key }) => key));
  return items.map((each) => {
    const { item } = each;
    if (!open.has(item.key)) return each;
    return { ...each, item: { ...item, settlement: dueNow(item.settlement) } };
  });
}
