/** The rules of a preset hold for every process of the installation. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineJob, openMillrace, practice, typed, type Millrace, type Preset } from "millrace";
import { sqliteStore } from "millrace/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defaults } from "../../../src/core/presets.ts";
import { openTest } from "../support.ts";

const scan = defineJob({ type: "scan", payload: typed<{ text: string }>() });
const LONG = { text: "more than ten bytes" };
const BROKEN = { code: "PAYLOAD_RULE_BROKEN" };
const small = presetWith({ types: { scan: { hardBytes: 10 } } });
const SCAN = { type: "scan" } as const;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "millrace-preset-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function presetWith(payloadRules: Preset["payloadRules"]): Preset {
  return { ...defaults, payloadRules };
}

/** A mill with a store of its own, as another process has it. */
function open(preset: Preset = defaults): Promise<Millrace> {
  return openMillrace(sqliteStore({ path: join(folder, "app.db") }), { preset });
}

describe("the payload rules of a preset", () => {
  test("hold in a process that was opened without the preset", async () => {
    await using first = await open(small);
    await using other = await open();

    await expect(other.enqueue(scan, LONG)).rejects.toMatchObject(BROKEN);
    expect(await first.payloadRules.list()).toMatchObject([
      { scope: "type", name: "scan", rule: { hardBytes: 10 }, owner: "code", setBy: null },
    ]);
  });

  test("are stored once, and those of the process that has started last count", async () => {
    await using first = await open(small);
    const [before] = await first.payloadRules.list();
    await using second = await open(small);
    expect(await second.payloadRules.list()).toEqual([before]);

    await using third = await open(presetWith({ types: { scan: { hardBytes: 50 } } }));

    expect((await third.enqueue(scan, LONG)).created).toBe(true);
    expect(await first.payloadRules.list()).toMatchObject([{ rule: { hardBytes: 50 } }]);
  });

  test("give way to the rule of an operator, and count again without it", async () => {
    await using first = await open(small);
    await first.payloadRules.set(SCAN, { hardBytes: 50 }, { actor: "ada" });
    await using second = await open(small);
    expect((await second.enqueue(scan, LONG)).created).toBe(true);
    expect(await first.payloadRules.list()).toMatchObject([{ owner: "operator", setBy: "ada" }]);

    expect(await first.payloadRules.remove(SCAN)).toBe(true);

    await expect(first.enqueue(scan, LONG)).rejects.toMatchObject(BROKEN);
    expect(await second.payloadRules.list()).toMatchObject([{ owner: "code" }]);
  });

  test("stay removed, also when a process starts with the preset", async () => {
    await using first = await open(small);
    expect(await first.payloadRules.remove(SCAN, { actor: "ada" })).toBe(true);

    await using second = await open(small);

    expect((await first.enqueue(scan, LONG)).created).toBe(true);
    expect((await second.enqueue(scan, LONG)).created).toBe(true);
    expect(await second.payloadRules.list()).toMatchObject([
      { scope: "type", name: "scan", rule: {}, owner: "operator", setBy: "ada" },
    ]);
    await second.payloadRules.remove(SCAN);
    await expect(second.enqueue(scan, LONG)).rejects.toMatchObject(BROKEN);
  });

  test("hold when a worker brings the preset along", async () => {
    await using kit = await openTest();
    const worker = kit.mill.work({ jobs: [], preset: practice });
    await worker.ready;
    await kit.settled();

    expect((await kit.store.payloadRules()).map(({ scope }) => scope)).toContain("installation");
    await expect(kit.mill.enqueue(scan, LONG)).rejects.toMatchObject(BROKEN);
    await worker.stop();
  });

  test("hold in their own process while the store has no room for them", async () => {
    await using kit = await openTest();
    for (let n = 0; n < 500; n += 1) {
      const target = { scope: "type", name: `t${n}` } as const;
      await kit.store.setPayloadRule(target, { strict: true }, { by: null, reason: null });
    }
    await using mill = await openMillrace(kit.store, { preset: small, logger: silent() });

    await expect(mill.enqueue(scan, LONG)).rejects.toMatchObject(BROKEN);
    expect(await mill.payloadRules.list()).toHaveLength(500);
  });
});

function silent() {
  const nothing = (): void => {};
  return { debug: nothing, info: nothing, warn: nothing, error: nothing };
}
