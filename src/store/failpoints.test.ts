import { afterEach, describe, expect, test, vi } from "vitest";
import { makeStore } from "../make-store.ts";
import { virtualClock } from "../../test/support/virtual-clock.ts";
import { FAILPOINTS, parseFailpoints, withFailpoints } from "./failpoints.ts";
import { VERBS } from "./verbs.ts";
import { makeSqliteStore } from "./sqlite/create.ts";
import type { JobStore } from "./store.ts";

afterEach(() => vi.unstubAllEnvs());

describe("the value of MILLRACE_FAILPOINTS", () => {
  test("names failpoints, actions and occurrences", () => {
    const text = "after:claim=kill@3, before:settle=delay(200)@every 5,before:open=error";
    expect(parseFailpoints(text)).toEqual([
      { name: "after:claim", action: { kind: "kill" }, at: 3, isRepeated: false },
      { name: "before:settle", action: { kind: "delay", ms: 200 }, at: 5, isRepeated: true },
      { name: "before:open", action: { kind: "error" }, at: 1, isRepeated: false },
    ]);
  });

  test.each([
    [
      "after:clam=kill",
      'there is no failpoint "after:clam"; the failpoints are before:open, after:open',
    ],
    ["claim=kill", 'there is no failpoint "claim"'],
    ["after:watch=kill", 'there is no failpoint "after:watch"'],
    ["after:claim", '"after:claim" must be a name, an action and an optional occurrence'],
    ["after:claim=explode", "is not an action; the actions are kill, stop, error and delay(MS)"],
    ["after:claim=delay", "is not an action"],
    ["after:claim=delay(1e3)", "is not an action"],
    ["after:claim=delay(3600001)", "is not an action"],
    ["after:claim=kill@0", "must be @N or @every N, with N at least 1"],
    ["after:claim=kill@every", "must be @N or @every N"],
    ["after:claim=kill,", '"" must be a name'],
  ])("is refused when it is %s, and the message teaches", (text, words) => {
    expect(() => parseFailpoints(text)).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        message: expect.stringContaining(words),
        details: { option: "MILLRACE_FAILPOINTS" },
      }),
    );
  });
});

describe("a failpoint", () => {
  test("exists before and after every verb of the port", async () => {
    expect(FAILPOINTS).toEqual(VERBS.flatMap((verb) => [`before:${verb}`, `after:${verb}`]));
  });

  test("that kills triggers once, at the pass that it names", async () => {
    const { armed, signals } = world("before:stats=kill@3");
    await armed.open();
    for (let call = 1; call <= 5; call += 1) await armed.stats(1);
    expect(signals).toEqual(["SIGKILL"]);
    await armed.close();
  });

  test("with @every triggers again and again", async () => {
    const { armed, signals } = world("after:stats=stop@every 2");
    await armed.open();
    for (let call = 1; call <= 5; call += 1) await armed.stats(1);
    expect(signals).toEqual(["SIGSTOP", "SIGSTOP"]);
    await armed.close();
  });

  test("counts its own passes, and two on one verb both trigger", async () => {
    const { armed, signals } = world("after:stats=stop@2,after:stats=kill@3,after:gates=kill@2");
    await armed.open();
    await armed.gates();
    for (let call = 1; call <= 3; call += 1) await armed.stats(1);
    expect(signals).toEqual(["SIGSTOP", "SIGKILL"]);
    await armed.close();
  });

  test("that fails before a verb changes nothing", async () => {
    const { armed } = world("before:pause=error");
    await armed.open();
    const gate = { kind: "lane", name: "mail" } as const;
    await expect(armed.pause(gate, { reason: "dust", by: null })).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: "failpoint before:pause=error@1: nothing was changed",
    });
    expect(await armed.gates()).toEqual([]);
    await armed.close();
  });

  test("that fails after a verb withholds only the answer", async () => {
    const { armed } = world("after:pause=error");
    await armed.open();
    const gate = { kind: "lane", name: "mail" } as const;
    await expect(armed.pause(gate, { reason: "dust", by: null })).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining("the change was made, and the answer is withheld"),
    });
    expect(await armed.gates()).toMatchObject([gate]);
    await armed.close();
  });

  test("after a verb is not passed when the verb itself fails", async () => {
    const { armed, signals } = world("after:stats=kill");
    await expect(armed.stats(1)).rejects.toMatchObject({ code: "STORE_CLOSED" });
    expect(signals).toEqual([]);
  });

  test("that delays calls the verb after that time", async () => {
    const { armed, clock } = world("before:stats=delay(200)");
    await armed.open();
    let isAnswered = false;
    const answer = armed.stats(1).then(() => (isAnswered = true));
    await clock.advance(199);
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    await answer;
    expect(isAnswered).toBe(true);
    await armed.close();
  });
});

describe("a store with failpoints", () => {
  test("warns once that they are armed", () => {
    const { armed } = world("after:claim=kill@3,before:settle=delay(200)@every 5");
    const warnings: string[] = [];
    armed.onWarning?.((warning) => warnings.push(warning));
    armed.onWarning?.((warning) => warnings.push(warning));
    expect(warnings).toEqual([
      "failpoints are armed: after:claim=kill@3, before:settle=delay(200)@every 5",
    ]);
  });

  test("keeps its heartbeat thread, unless a verb of the heartbeat has a failpoint", () => {
    const store = makeSqliteStore({ path: "unopened.db" });
    expect(store.thread).not.toBeNull();
    expect(withFailpoints(store, "after:claim=kill").thread).toEqual(store.thread);
    expect(withFailpoints(store, "before:renew=delay(9)").thread).toBeNull();
    expect(withFailpoints(store, "after:overdue=error").thread).toBeNull();
  });

  test("is made only if the environment names failpoints", async () => {
    const address = { kind: "sqlite", path: ":memory:" } as const;
    vi.stubEnv("MILLRACE_FAILPOINTS", "before:open=error");
    await expect((await makeStore(address)).open()).rejects.toThrow("before:open=error@1");

    vi.stubEnv("MILLRACE_FAILPOINTS", "nonsense");
    await expect(makeStore(address)).rejects.toMatchObject({ code: "OPTION_INVALID" });

    vi.stubEnv("MILLRACE_FAILPOINTS", "");
    const plain = await makeStore(address);
    const warnings: string[] = [];
    plain.onWarning?.((warning) => void warnings.push(warning));
    expect(warnings).toEqual([]);
    await plain.open();
    await plain.close();
  });
});

function world(text: string) {
  const clock = virtualClock();
  const signals: string[] = [];
  const ports = { clock, signal: (signal: string): void => void signals.push(signal) };
  const store = makeSqliteStore({ path: ":memory:" });
  const armed: JobStore = text === "" ? store : withFailpoints(store, text, ports);
  return { store, armed, clock, signals };
}
