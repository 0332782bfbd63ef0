/** `millrace breakers`, and `--service` of pause and resume. */
import { describe, expect, test } from "vitest";
import { defineJob } from "../../../src/index.ts";
import { TestStore } from "../command-line.ts";

const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => {});

describe("millrace breakers", () => {
  test("lists, opens, shows and resets the breaker of a service (004-26, 004-33)", async () => {
    await using store = new TestStore();
    const none = await store.type("breakers", "list");
    await declare(store);
    const closed = await store.type("breakers", "list", "--open");

    const opened = await store.type("breakers", "open", "bank", "--reason", "stop", "--by", "ada");

    expect(none.err).toContain("No type uses a service");
    expect(closed.err).toContain("All breakers are closed");
    expect(opened).toMatchObject({
      code: 0,
      out: "The breaker of bank is open until it is reset.\n",
    });
    expect((await store.type("breakers", "list", "--open")).out).toMatch(
      /^bank +open +0 +after reset +pay +stop$/m,
    );
    const sheet = await store.type("breakers", "show", "bank");
    expect(sheet.out).toMatch(/^state +open$/m);
    expect(sheet.out).toMatch(/^changed by +ada$/m);
    const mill = await store.mill;
    const { id } = await mill.enqueue(pay);
    expect((await store.type("jobs", "explain", id)).out).toContain("kept open by ada: stop");

    const reset = await store.type("breakers", "reset", "bank", "--by", "bob");
    const again = await store.type("breakers", "reset", "bank");

    expect(reset.out).toBe("The breaker of bank is closed: its jobs may run now.\n");
    expect(again.out).toBe("The breaker of bank was closed already.\n");
    expect(await store.json("breakers", "history", "bank")).toMatchObject([
      { state: "closed", changedBy: "bob" },
      { state: "open", changedBy: "ada", reason: "stop" },
    ]);
    expect((await store.type("breakers", "history", "bank")).out).toMatch(/ago +closed +0 +bob/);
    expect((await store.type("breakers", "history", "fax")).err).toContain("never changed");
  });

  test("needs a reason to open a breaker", async () => {
    await using store = new TestStore();
    expect(await store.type("breakers", "open", "bank")).toMatchObject({ code: 2 });
  });
});

describe("millrace pause --service", () => {
  test("holds the jobs of types back that use the service", async () => {
    await using store = new TestStore();
    await declare(store);
    const mill = await store.mill;
    await mill.enqueue(pay);

    const paused = await store.type("pause", "--service", "bank", "--reason", "audit");
    expect(paused.out).toBe("Service bank is paused.\n");
    expect((await store.type("pauses")).out).toMatch(/^service +bank +1 +1 /m);
    const resumed = await store.type("resume", "--service", "bank");
    expect(resumed.out).toBe("Service bank is resumed: 1 queued job may run now.\n");
  });
});

async function declare(store: TestStore): Promise<void> {
  const worker = (await store.mill).work({ jobs: [pay], signals: false });
  await worker.ready;
  await worker.stop();
}
