/** What a type of work is: a definition, a lane, and code of the application. */
import { defineJob, typed } from "millrace";
import { perform } from "millrace/testing";
import { describe, expect, test } from "vitest";
import { latch, openTest, unchecked } from "../support.ts";

/** Code of an application, without a word of jobs. */
class Shop {
  readonly sent: string[] = [];
  #isUp = false;

  async *orders(customer: string): AsyncGenerator<string> {
    for (const number of [1, 2]) yield `${customer}-${number}`;
  }

  async confirm(customer: string): Promise<readonly string[]> {
    const orders: string[] = [];
    for await (const order of this.orders(customer)) orders.push(order);
    const ends = await Promise.allSettled(orders.map((order) => this.#send(order)));
    if (ends.some(({ status }) => status === "rejected")) throw new Error("the mail is down");
    return this.sent;
  }

  async #send(order: string): Promise<void> {
    if (!this.#isUp) {
      this.#isUp = true;
      throw new Error(`${order}: no connection`);
    }
    this.sent.push(order);
  }
}

describe("a type of work", () => {
  test("is code of the application that is kept, delivered and retried (000-01)", async () => {
    await using kit = await openTest();
    const shop = new Shop();
    const confirm = defineJob({ type: "confirm", payload: typed<string>() }).run((customer) =>
      shop.confirm(customer),
    );
    const job = await kit.mill.enqueue(confirm, "ada");
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "queued", payload: "ada" });

    await kit.drain([confirm]);
    await kit.advance("2s");
    await kit.drain([confirm]);

    expect(await kit.outcomes(job)).toEqual(["failed", "succeeded"]);
    expect(await kit.mill.result(job)).toEqual(["ada-2", "ada-1", "ada-2"]);
  });

  test("runs in the lane of its definition, and in no lane of a caller (004-14)", async () => {
    await using kit = await openTest();
    const end = latch();
    const ran: string[] = [];
    const slow = defineJob({ type: "slow" }).run(() => end.passed);
    const fast = defineJob({ type: "fast", lane: "fast" }).run(() => void ran.push("fast"));

    const wish = unchecked({ lane: "general" });
    await expect(kit.mill.enqueue(fast, undefined, wish)).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
    await kit.mill.enqueueMany([slow.of(), slow.of(), fast.of()]);
    kit.mill.work({ jobs: [slow, fast], lanes: { fast: 1, general: 1 } });
    await kit.settled();

    expect(ran).toEqual(["fast"]);
    expect(await kit.mill.jobs.stats()).toMatchObject({ queued: 1, running: 1 });
    end.open();
  });

  test("is a definition, a handler and a lane, and runs without a worker (004-40)", async () => {
    const resize = defineJob({ type: "resize", lane: "fast", payload: typed<{ width: number }>() })
      .using<{ ratio: number }>()
      .run(({ width }, ctx) => ({ width, height: width * ctx.deps.ratio }));
    const deps = { ratio: 2 };

    expect(await perform(resize, { width: 3 }, { deps })).toEqual({ width: 3, height: 6 });
    await using kit = await openTest();
    const job = await kit.mill.enqueue(resize, { width: 4 });
    await kit.drain([resize], { deps });

    expect(await kit.mill.result(job)).toEqual({ width: 4, height: 8 });
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ type: "resize", lane: "fast" });
  });
});
