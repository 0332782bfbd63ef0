import { defineJob } from "millrace";
import { describe, expect, test } from "vitest";
import { TestStore } from "../command-line.ts";

describe("millrace fairness", () => {
  test("makes lanes fair, lists them and removes their fairness", async () => {
    await using store = new TestStore();
    await store.json("enqueue", "email");

    const empty = await store.type("fairness", "list");
    const weights = ["--weight", "acme=3", "--weight", "a=b=2", "--by", "ada"];
    const set = await store.type("fairness", "set", "general", ...weights);
    const listed = await store.type("fairness", "list");
    const removed = await store.type("fairness", "remove", "general");
    const again = await store.type("fairness", "remove", "general");

    expect(empty.err).toContain("There are no fair lanes.");
    expect(set).toMatchObject({ code: 0, out: "The lane general is fair.\n" });
    expect(listed.out).toMatch(/^general +a=b=2 acme=3 +ada$/m);
    expect(removed.out).toBe("The fairness of the lane general is removed.\n");
    expect(again.out).toBe("No operator has made the lane general fair.\n");
  });

  test("and jobs explain tells the weight of the tenant of a job", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const email = defineJob({ type: "email" }).run(() => ended);
    await mill.fairness.set("general", { weights: { acme: 3 } });
    const first = await mill.enqueue(email);
    await using worker = mill.work({ jobs: [email], lanes: { general: 1 }, signals: false });
    await worker.ready;
    await expect.poll(async () => (await mill.jobs.get(first.id)).state).toBe("running");
    const { id } = await mill.enqueue(email, undefined, { tenant: "acme" });

    const { out } = await store.type("jobs", "explain", id);

    expect(out).toContain("The lane general is fair, and the tenant acme has the weight 3.");
    end();
  });

  test.each(["acme", "acme=0", "acme=1001", "=3", "acme=x"])(
    "refuses the weight %s",
    async (weight) => {
      await using store = new TestStore();

      const { code, err } = await store.type("fairness", "set", "general", "--weight", weight);

      expect(code).toBe(2);
      expect(err).toContain("is not the weight of a tenant");
    },
  );
});
