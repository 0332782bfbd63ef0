/**
 * Stops inside of statements: a trigger that waits for an advisory lock before each row that is
 * written. The holder of the lock decides when it goes on.
 */
import type { PoolClient } from "pg";
import type { PostgresTestStore } from "../support/stores.ts";
import { SIDE_SETTING } from "./side.ts";

const PLACES = ["ready", "blocked", "lease", "run_start", "attempt"];
const TABLES = [...PLACES, "dedup", "idempotency", "lock", "dependency", "finished_dependency"];
/** Rows that one verb writes at most. */
const STOPS_MAX = 40;

export class Stops implements AsyncDisposable {
  readonly #client: PoolClient;
  readonly #schema: string;

  private constructor(client: PoolClient, schema: string) {
    this.#client = client;
    this.#schema = `"${schema}"`;
  }

  static async make({ pool, schema }: PostgresTestStore): Promise<Stops> {
    const stops = new Stops(await pool.connect(), schema);
    await stops.#install();
    return stops;
  }

  /** Closes all stops again. */
  async reset(): Promise<void> {
    await this.#client.query(`SELECT pg_advisory_unlock_all();
      ALTER SEQUENCE ${this.#schema}.stop_1 RESTART;
      ALTER SEQUENCE ${this.#schema}.stop_2 RESTART;
      SELECT pg_advisory_lock(side, stop)
      FROM generate_series(1, 2) AS side, generate_series(1, ${STOPS_MAX}) AS stop`);
  }

  /** Lets the caller go on that stands at this stop. */
  async open(side: number, stop: number): Promise<void> {
    await this.#client.query("SELECT pg_advisory_unlock($1::integer, $2::integer)", [side, stop]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.query(`SELECT pg_advisory_unlock_all();
      DROP FUNCTION ${this.#schema}.stop() CASCADE;
      DROP SEQUENCE ${this.#schema}.stop_1, ${this.#schema}.stop_2`);
    this.#client.release();
  }

  async #install(): Promise<void> {
    const schema = this.#schema;
    await this.#client.query(`CREATE SEQUENCE ${schema}.stop_1; CREATE SEQUENCE ${schema}.stop_2;
      CREATE FUNCTION ${schema}.stop() RETURNS trigger LANGUAGE plpgsql AS $stop$
      DECLARE side integer := nullif(current_setting('${SIDE_SETTING}', true), '')::integer;
      BEGIN
        IF side IS NOT NULL THEN
          PERFORM pg_advisory_xact_lock(
            side, nextval(format('${schema}.stop_%s', side)::regclass)::integer
          );
        END IF;
        RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
      END $stop$`);
    for (const table of TABLES) {
      await this.#client.query(`CREATE TRIGGER stop BEFORE INSERT OR UPDATE OR DELETE
        ON ${schema}.${table} FOR EACH ROW EXECUTE FUNCTION ${schema}.stop()`);
    }
  }
}
