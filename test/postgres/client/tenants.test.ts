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

test("the mill of a tenant tells and changes nothing of another tenant", async () => {
  const store = makePostgresStore({ url: server.url, schema: "tenants" });
  await store.open();
  const ports = { clock: systemClock, dice: systemDice, logger: testLogger };
  await using all = new Client({ store, ...ports, tenant: "default", preset: defaults });
  const scene = await fillTenants(store);
  const picture = () => Promise.all(Object.values(scene.other).map((id) => pictureOf(store, id)));
  const before = await picture();

  expect(await auditVerbs(tenantStore(store, OWN), scene)).toEqual([]);
  expect(await auditMethods(methodsOf(all.forTenant(OWN)), { all, scene })).toEqual([]);

  expect(await picture()).toEqual(before);
});
