import { describe, expect, test } from "vitest";
import { TestStore } from "../command-line.ts";

describe("millrace limits", () => {
  test("sets, lists and removes limits", async () => {
    await using store = new TestStore();
    await store.json("enqueue", "email");

    const set = await store.type("limits", "set", "--type", "email", "--concurrency", "5");
    const rate = ["--rate", "100/1m", "--burst", "10", "--by", "ada"];
    await store.type("limits", "set", "--tenant", "acme", ...rate);
    await store.type("limits", "set", "--service", "bank", "--concurrency", "2");
    await store.type("limits", "set", "--key", "box-7", "--tenant", "acme", "--rate", "10/1m");
    const listed = await store.type("limits", "list");
    const removed = await store.type("limits", "remove", "--type", "email");
    const again = await store.type("limits", "remove", "--type", "email");

    expect(set).toMatchObject({ code: 0, out: "The limit of the type email is set.\n" });
    expect(listed.out).toMatch(/^type +email +0 of 5 +1 /m);
    expect(listed.out).toMatch(/^tenant +acme +100 per .+, burst 10 +0 +ada$/m);
    expect(listed.out).toMatch(/^service +bank +0 of 2 /m);
    expect(listed.out).toMatch(/^key +acme box-7 +10 per /m);
    expect(removed.out).toBe("The limit of the type email is removed.\n");
    expect(again.out).toBe("No operator has set a limit of the type email.\n");
  });

  test.each([
    [
      ["set", "--concurrency", "5"],
      "Name exactly one of --type, --tenant, --service, --key and --all.",
    ],
    [["set", "--type", "email"], "Name --concurrency, --rate or both."],
    [["set", "--type", "email", "--rate", "100"], "is not a rate"],
    [["set", "--type", "email", "--concurrency", "0"], "is not a number of jobs"],
    [["set", "--all", "--concurrency", "5", "--burst", "2"], "--burst belongs to --rate"],
  ])("refuses %j", async (args, message) => {
    await using store = new TestStore();

    const { code, err } = await store.type("limits", ...args);

    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});
