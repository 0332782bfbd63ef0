/** `mill.forTenant` on PostgreSQL: the audits that test/runtime/operators has for SQLite. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client } from "../../../src/client/client.ts";
import { tenantStore } from "../../../src/client/tenants/tenant-store.ts";
import { defaults } from "../../../src/core/presets.ts";
import { systemClock, systemDice } from "../../../src/lib/system.ts";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import { testLogger } from "../../support/logger.ts";
import { pictureOf } from "../../support/notes.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres.ts";
import { auditMethods, methodsOf } from "../../support/tenants/methods.ts";
import { fillTenants, OWN } from "../../support/tenants/scene.ts";
import { auditVerbs } from "../../support/tenants/verbs.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

test("the verbs of a tenant's store tell nothing of another tenant", async () => {
  await using world = await opened("verbs");

  expect(await auditVerbs(tenantStore(world.store, OWN), world.scene)).toEqual([]);
});

test("the mill of a tenant tells and changes nothing of another tenant", async () => {
  await using world = await opened("methods");
  const { store, scene } = world;
  const picture = () => Promise.all(Object.values(scene.other).map((id) => pictureOf(store, id)));
  const before = await picture();

  expect(await auditMethods(methodsOf(world.all.forTenant(OWN)), world)).toEqual([]);

  expect(await picture()).toEqual(before);
});

/** An installation of its own: names that verbs have given would be found by methods. */
async function opened(schema: string) {
  const store = makePostgresStore({ url: server.url, schema });
  await store.open();
  const ports = { clock: systemClock, dice: systemDice, logger: testLogger };
  const all = new Client({ store, ...ports, tenant: "default", preset: defaults });
  const scene = await fillTenants(store);
  return { store, all, scene, [Symbol.asyncDispose]: () => all.close() };
}
