/** The reasons to wait and their cures, on a server and in real time. */
import { openMillrace } from "millrace";
import { postgresStore } from "millrace/postgres";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import { preset, SCENES } from "../../support/explain-scenes.ts";
import { testLogger } from "../../support/logger.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres.ts";

/** The bound of a wait for workers. It decides when a broken test gives up, and nothing else. */
const PATIENCE = { timeout: 30_000, interval: 50 };

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

test.each(Object.entries(SCENES))(
  "%s is explained truly on PostgreSQL, and cured by its hint",
  { timeout: 90_000 },
  async (reason, scene) => {
    const own = { url: server.url, schema: `explain_${reason}` };
    await using mill = await openMillrace(postgresStore(own), { logger: testLogger, preset });
    const store = makePostgresStore(own);
    await store.open();
    const until = (condition: () => Promise<boolean>): Promise<void> =>
      vi.waitFor(async () => expect(await condition()).toBe(true), PATIENCE);
    const { id, sentence, details, hint, cure, end } = await scene({ mill, store, until });

    await vi.waitFor(async () => {
      const explanation = await mill.jobs.explain(id);
      expect(explanation).toMatchObject({
        reason,
        sentence,
        hint: expect.stringContaining(hint),
      });
      expect(explanation.details).toEqual(details);
    }, PATIENCE);
    expect((await mill.jobs.get(id)).state).not.toBe("completed");
    await cure();

    await vi.waitFor(
      async () => expect(await mill.jobs.get(id)).toMatchObject({ state: "completed" }),
      PATIENCE,
    );
    end?.();
    await store.close();
  },
);
