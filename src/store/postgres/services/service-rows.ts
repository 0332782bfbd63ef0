/** What PostgreSQL has stored about services, read and written for a whole batch. */
import type { Breaker } from "../../../core/breaker.ts";
import { breakerOf, columnsOf, isChange } from "../../shared/services/breaker-rows.ts";
import type { NewPark, ServiceState } from "../../shared/services/service-state.ts";
import type { QueryRows } from "../database/queries.gen.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import type { Sql } from "../database/statements.ts";
import { list } from "../database/values.ts";

export interface KnownService extends ServiceState {
  readonly id: number;
  readonly nowMs: number;
}

export type ParkRow = NewPark & { readonly gate: number; readonly service: number };

export async function readServices(
  sql: Sql,
  ids: readonly number[],
): Promise<Map<number, KnownService>> {
  const rows = await sql.all("find_breakers", { services: list(ids) });
  return new Map(rows.map((row) => [row.service, knownService(row)]));
}

function knownService(row: QueryRows["find_breakers"]): KnownService {
  const parks: readonly (readonly [number | null, number])[] = JSON.parse(row.parks);
  return {
    id: row.service,
    nowMs: row.now,
    breaker: breakerOf(row),
    hasEnded: row.ended,
    pause: row.is_paused ? { until: row.paused_until, reason: row.pause_reason ?? "" } : null,
    parks: new Map(parks),
  };
}

export function serviceAt(known: ReadonlyMap<number, KnownService>, id: number): KnownService {
  const found = known.get(id);
  if (found === undefined) throw new Error(`service ${id} was not read`);
  return found;
}

/**
 * Locks the breakers in one order, reads them afterwards, and stores what `decide` has put into the
 * map and the list. Jobs go on where a breaker has closed. `also` belongs to the same transaction.
 */
export async function inTurn<Answer>(
  session: Session,
  ids: readonly number[],
  decide: (
    services: Map<number, KnownService>,
    parks: ParkRow[],
    transaction: StoreTransaction,
  ) => Answer | Promise<Answer>,
  also: (
    transaction: StoreTransaction,
    decided: Answer,
    isRepeat: boolean,
  ) => Promise<Answer> = async (_, decided) => decided,
): Promise<Answer> {
  const { answer, hasClosed } = await repeating(session.dice, (isRepeat) =>
    session.transaction(async (transaction) => {
      const services = list(ids);
      await transaction.run("insert_breakers", { services });
      await transaction.all("lock_breakers", { services });
      const before = await readServices(transaction, ids);
      const after = new Map(before);
      const parks: ParkRow[] = [];
      const decided = await decide(after, parks, transaction);
      const changed = [...after].map(([id, { breaker }]) => ({
        id,
        before: serviceAt(before, id).breaker,
        next: breaker,
      }));
      await store(transaction, changed, parks);
      const told = await also(transaction, decided, isRepeat);
      return { answer: told, hasClosed: changed.some(isClosing) };
    }),
  );
  if (hasClosed) session.wakeForReturned("work");
  return answer;
}

interface ChangedBreaker {
  readonly id: number;
  readonly before: Breaker;
  readonly next: Breaker;
}

function isClosing({ before, next }: ChangedBreaker): boolean {
  return next.state === "closed" && before.state !== "closed";
}

async function store(
  transaction: StoreTransaction,
  all: readonly ChangedBreaker[],
  parks: readonly ParkRow[],
): Promise<void> {
  const changed = all.filter(({ before, next }) => before !== next);
  const rowsOf = (entries: readonly ChangedBreaker[]): string =>
    JSON.stringify(entries.map(({ id, next }) => ({ service: id, ...columnsOf(next) })));
  if (changed.length > 0) await transaction.run("put_breakers", { breakers: rowsOf(changed) });
  const told = changed.filter(({ before, next }) => isChange(before, next));
  if (told.length > 0) await transaction.run("insert_breaker_changes", { changes: rowsOf(told) });
  const last = new Map(parks.map((park) => [park.gate, park]));
  if (last.size > 0) {
    await transaction.run("put_parks", { parks: JSON.stringify([...last.values()]) });
  }
}
