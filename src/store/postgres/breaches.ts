/** Which of the invariants do not hold, all as of one moment. Nobody waits for it meanwhile. */
import {
  BREAKERS_MAX,
  INVARIANTS,
  miscounted,
  type Breach,
  type Breaker,
  type Counts,
} from "../invariants.ts";
import { stateCodec } from "../codes.ts";
import { send, type PgClient } from "./pool.ts";
import { queries, type QueryParameters } from "./queries.gen.ts";
import type { Session } from "./session.ts";
import { inSchema, type Sql } from "./statements.ts";
import { types } from "./values.ts";

/** How long one look may take. A million jobs take seconds. */
const LOOK_MS_MAX = 120_000;

const ONE_MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";

export interface Look {
  /** Whether to look also at those that take reading whole tables. */
  readonly isDeep: boolean;
  /** Whether nothing else is wrong that would explain a miscount. */
  readonly isSound: boolean;
}

export async function breaches(session: Session, { isDeep, isSound }: Look): Promise<Breach[]> {
  return session.trial(async (sql, client) => {
    await send(client, { text: ONE_MOMENT });
    const found: Breach[] = [];
    for (const invariant of INVARIANTS) {
      if (invariant.isDeep && !isDeep) continue;
      const breakers: Breaker[] = await look(session, client, invariant.query);
      if (breakers.length > 0) found.push({ invariant, breakers });
    }
    if (!isDeep || !isSound || found.length > 0) return found;
    const [recount] = await look(session, client, "recount");
    return [...miscounted(await countsOf(sql), recount)];
  });
}

async function look(
  { schema, clock }: Session,
  client: PgClient,
  name: keyof QueryParameters,
): Promise<any[]> {
  const values: Readonly<Record<string, unknown>> = {
    limit: BREAKERS_MAX,
    now: clock === null ? null : new Date(clock.now()).toISOString(),
  };
  const { text, parameters } = queries[name];
  const { rows } = await send(client, {
    text: inSchema(text, schema),
    values: parameters.map((parameter) => values[parameter] ?? null),
    types,
    query_timeout: LOOK_MS_MAX,
  });
  return rows;
}

/** As the statistics count. */
async function countsOf(sql: Sql): Promise<Counts> {
  const max = Number.MAX_SAFE_INTEGER;
  const places = await sql.get("count_places", { max });
  const failed = await sql.get("count_ended", { state: stateCodec.code.failed, max });
  return {
    scheduled: places?.scheduled ?? 0,
    queued: places?.ready ?? 0,
    held: places?.blocked ?? 0,
    running: places?.running ?? 0,
    failed: failed?.count ?? 0,
  };
}
