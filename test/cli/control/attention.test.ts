import { describe, expect, test } from "vitest";
import { workerInfo } from "../../support/factories.ts";
import { TestStore } from "../command-line.ts";

const HOUR_MS = 3_600_000;

describe("millrace attention", () => {
  test("says what was checked, and ends with 0", async () => {
    await using store = new TestStore();

    const { code, out, err } = await store.type("attention");

    expect({ code, out }).toEqual({ code: 0, out: "Nothing needs attention.\n" });
    expect(err).toMatch(/^Checked, and well: .*error rates, .*bulk operations\.\n$/);
  });

  test("shows what is broken, with a command, and ends with 1", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const { store: port } = Reflect.get(mill, "parts");
    await port.register(workerInfo({ host: "mill-7", beatMs: 0, leaseMs: HOUR_MS }));

    const table = await store.type("attention");
    const asJson = await store.type("attention", "-o", "json");

    expect(table.code).toBe(1);
    expect(table.out).toMatch(/^LEVEL +SINCE +FINDING +COMMAND\nbroken +.* The worker 01/);
    expect(table.out).toContain("millrace workers list");
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.out)).toMatchObject({
      findings: [{ rule: "worker_silent", details: { host: "mill-7" } }],
      checked: expect.any(Array),
    });
  });

  test("ends with 0 if a person should only look", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    await mill.breakers.forceOpen("bank", "they asked us to stop", { actor: "ada" });

    const { code, out } = await store.type("attention");

    expect(code).toBe(0);
    expect(out).toMatch(/look +.* The breaker of the service bank is open until it is reset/);
  });
});
