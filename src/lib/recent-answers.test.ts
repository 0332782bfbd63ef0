import { describe, expect, test } from "vitest";
import { virtualClock } from "../../test/support/virtual-clock.ts";
import { RecentAnswers } from "./recent-answers.ts";

function counter() {
  let reads = 0;
  return async () => {
    reads += 1;
    return reads;
  };
}

describe("recent answers", () => {
  test("are read once within their time, also by callers at the same time", async () => {
    const clock = virtualClock();
    const answers = new RecentAnswers<number>(clock, 2_000);
    const read = counter();

    const first = await Promise.all([answers.get("a", read), answers.get("a", read)]);
    await clock.advance(1_999);
    const second = await answers.get("a", read);
    await clock.advance(1);
    const third = await answers.get("a", read);

    expect([...first, second, third]).toEqual([1, 1, 1, 2]);
  });

  test("are kept apart by their key", async () => {
    const answers = new RecentAnswers<number>(virtualClock(), 2_000);
    const read = counter();

    expect([await answers.get("a", read), await answers.get("b", read)]).toEqual([1, 2]);
  });

  test("that failed are read again", async () => {
    const answers = new RecentAnswers<number>(virtualClock(), 2_000);
    const refuse = () => Promise.reject(new Error("busy"));

    await expect(answers.get("a", refuse)).rejects.toThrow("busy");
    expect(await answers.get("a", counter())).toBe(1);
  });

  test("are forgotten when there are too many, the oldest first", async () => {
    const answers = new RecentAnswers<number>(virtualClock(), 2_000);
    const read = counter();
    for (let n = 0; n <= 1_000; n += 1) await answers.get(`key ${n}`, read);

    expect(await answers.get("key 1", read)).toBe(2);
    expect(await answers.get("key 0", read)).toBe(1_002);
  });
});
