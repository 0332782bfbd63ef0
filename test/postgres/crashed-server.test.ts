/** A server that crashes and forgets nothing that a worker has built on. */
import { describe, expect, test } from "vitest";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { completed } from "../support/factories.ts";
import { startPostgres } from "../support/postgres.ts";
import { add, settleAll, startAll, stateOf, take } from "../support/steps.ts";

describe("a run of a buffer", () => {
  test("has begun even if the server crashes right after, so that its end is taken", async () => {
    await using server = await startPostgres();
    const store = makePostgresStore({ url: server.url });
    await store.open();
    try {
      const [id] = await add(store, {});
      const batch = await take(store, { prefetch: true });
      await startAll(store, batch);

      await server.stop("immediate");
      await server.start();

      await settleAll(store, batch, completed());
      expect(await stateOf(store, id)).toBe("completed");
    } finally {
      await store.close();
    }
  });
});
