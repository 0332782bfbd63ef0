/**
 * A stand-in for `run_function` of an installation: calls any function of a schema by its name.
 * Answers how a test adds a function.
 */
import type { Pool } from "pg";

interface Functions {
  /** `body` is an expression of JSON that may use `payload`. */
  add(name: string, body: string): Promise<void>;
}

export async function standInFunctions(pool: Pool, schema: string): Promise<Functions> {
  const own = `"${schema}"`;
  await pool.query(`
    CREATE OR REPLACE FUNCTION ${own}.run_function(name text, payload jsonb) RETURNS jsonb
    LANGUAGE plpgsql AS $$
    DECLARE answer jsonb; body text;
    BEGIN
        EXECUTE 'SELECT body FROM ${own}.stand_in WHERE name = $1' INTO body USING name;
        IF body IS NULL THEN
            RAISE EXCEPTION 'no function %', name USING ERRCODE = 'MR010';
        END IF;
        EXECUTE 'SELECT ' || body || ' FROM (SELECT $1 AS payload) AS given'
            INTO answer USING payload;
        RETURN answer;
    END $$`);
  await pool.query(`CREATE TABLE IF NOT EXISTS ${own}.stand_in (name text PRIMARY KEY, body text)`);
  return {
    async add(name, body) {
      await pool.query(`INSERT INTO ${own}.stand_in VALUES ($1, $2)`, [name, body]);
    },
  };
}
