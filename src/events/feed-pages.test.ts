import { describe, expect, test } from "vitest";
import { newJob, newJobs } from "../../test/support/factories.ts";
import { briefly, openStreams, takeMessages, turns } from "../../test/support/http/streams.ts";

describe("the pages of the feed", () => {
  test("are read once for many streams at every wake-up", async () => {
    await using scene = await openStreams();
    const readers = Array.from({ length: 50 }, () => scene.open());
    await turns();
    scene.calls.length = 0;

    for (let n = 0; n < 5; n += 1) {
      await scene.store.enqueue([newJob()]);
      await turns();
    }
    const found = await Promise.all(readers.map((reader) => takeMessages(reader, 5)));
    for (const reader of readers) await reader.cancel();

    expect(found.flat()).toHaveLength(250);
    // A short page is complete: no further read finds out that nothing is behind it.
    expect(scene.calls).toEqual(Array.from({ length: 5 }, () => "feed"));
  });

  test("of a busy feed are read together, and a lone change is read at once", async () => {
    await using scene = await openStreams();
    const reader = scene.open();
    await turns();
    const reads: number[] = [];
    for (const count of [5, 100, 5]) {
      scene.calls.length = 0;
      for (let n = 0; n < count; n += 1) {
        await scene.store.enqueue([newJob()]);
        await turns();
      }
      reads.push(scene.calls.length);
      await scene.pass(1_000);
    }
    const messages = await takeMessages(reader, 110);
    await reader.cancel();

    expect(new Set(messages.map(({ id }) => id)).size).toBe(110);
    expect(reads).toEqual([5, expect.any(Number), 5]);
    expect(reads[1]).toBeLessThanOrEqual(25);
    expect(scene.clock.pending).toBe(0);
  });

  test("of large entries are read together as well", async () => {
    await using scene = await openStreams();
    const reader = scene.open();
    await turns();
    scene.calls.length = 0;

    for (let n = 0; n < 5; n += 1) {
      await scene.store.enqueue(newJobs(100));
      await turns();
    }
    const soon = [...scene.calls];
    await scene.pass(20);
    const later = scene.calls.slice(soon.length);
    const messages = await takeMessages(reader, 500);
    await reader.cancel();

    expect({ soon, later }).toEqual({ soon: ["feed"], later: ["feed"] });
    expect(messages).toHaveLength(500);
  });

  test("are read by a new stream at once, also in the pause of a busy feed", async () => {
    await using scene = await openStreams();
    const first = scene.open();
    await turns();
    await scene.store.enqueue(newJobs(100));
    await turns();
    await first.cancel();

    const second = scene.open();
    await turns();
    const job = newJob();
    await scene.store.enqueue([job]);
    const [message] = await takeMessages(second, 1);
    await second.cancel();

    expect(briefly(message!)).toBe(`job:enqueued ${job.id}`);
  });

  test("have a change that comes while the end of the feed is looked up", async () => {
    await using scene = await openStreams();
    const { promise: answer, resolve } = Promise.withResolvers<void>();
    let ends = 0;
    scene.before = async (verb) => {
      // The end that the pages look up; the stream looks it up as well.
      if (verb === "feedEnd" && (ends += 1) === 1) await answer;
    };
    const job = newJob();
    const reader = scene.open();
    const read = reader.read();
    await turns();
    await scene.store.enqueue([job]);
    await turns();

    resolve();
    await turns();
    await scene.pass(1_000);
    const { value } = await read;
    await reader.cancel();

    expect(briefly(value!)).toBe(`job:enqueued ${job.id}`);
  });

  test("give a stream that is far behind every entry once", async () => {
    await using scene = await openStreams();
    const jobs = newJobs(1_300);
    for (const job of jobs.slice(0, 700)) await scene.store.enqueue([job]);
    const reader = scene.open({ after: "0" });
    const messages = await takeMessages(reader, 100);
    for (const job of jobs.slice(700)) await scene.store.enqueue([job]);
    // A busy feed is not read at every wake-up.
    await scene.pass(1_000);
    messages.push(...(await takeMessages(reader, 1_200)));
    await reader.cancel();

    expect(messages.map(briefly)).toEqual(jobs.map(({ id }) => `job:enqueued ${id}`));
  });

  test("are shared by streams that are behind, wherever each of them is", async () => {
    await using scene = await openStreams();
    for (let n = 0; n < 150; n += 1) await scene.store.enqueue([newJob()]);
    const readers = Array.from({ length: 50 }, (_, n) => scene.open({ after: String(n) }));

    const found = await Promise.all(readers.map((reader) => takeMessages(reader, 100)));
    for (const reader of readers) await reader.cancel();

    expect(found.map(([first]) => first?.id)).toEqual(readers.map((_, n) => `${n + 1}.0.1`));
    // One by the streams, and one behind the end, for all of them.
    expect(scene.calls.filter((verb) => verb === "feed").length).toBeLessThanOrEqual(3);
  });

  test("do not keep the entries of bulk writes", async () => {
    await using scene = await openStreams();
    const stalled = scene.open();
    await turns();
    for (let n = 0; n < 12; n += 1) await scene.store.enqueue(newJobs(1_000));
    await turns();
    scene.calls.length = 0;

    const kept = await scene.pages.after(11);
    const older = await scene.pages.after(5);
    await stalled.cancel();

    expect({ kept: kept.length, older: older.length > 0 }).toEqual({ kept: 1, older: true });
    // The newest 5,000 jobs need no read.
    expect(scene.calls).toEqual(["feed"]);
  });
});
