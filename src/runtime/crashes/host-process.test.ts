import { describe, expect, test } from "vitest";
import type { ClaimedJob } from "../../store/types/jobs-and-runs.ts";
import { HostProcess, type ProcessMember } from "./host-process.ts";

describe("a process of workers", () => {
  test("gives half of its slots to jobs with one crash, an eighth to jobs with more", () => {
    const process = processOf(16);
    expect(limits(process, 100)).toEqual({ once: 8, often: 2 });
  });

  test("gives at least one slot to each", () => {
    const process = processOf(1);
    expect(limits(process, 100)).toEqual({ once: 1, often: 1 });
  });

  test("counts the slots of all its workers", () => {
    const process = processOf(8, 8);
    expect(limits(process, 100)).toEqual({ once: 8, often: 2 });
  });

  test("gives a claim no more than it asks for", () => {
    const process = processOf(16);
    expect(limits(process, 1)).toEqual({ once: 1, often: 1 });
  });

  test("counts claims that overlap together", () => {
    const process = processOf(16);
    const first = process.share(5);
    const second = process.share(5);
    expect([first.once, first.often]).toEqual([5, 2]);
    expect([second.once, second.often]).toEqual([3, 0]);
    first.end([]);
    second.end([]);
    expect(limits(process, 100)).toEqual({ once: 8, often: 2 });
  });

  test("counts crashed jobs until their runs end", () => {
    const process = processOf(16);
    const [once, often] = [claimedJob({ crashes: 1 }), claimedJob({ crashes: 2 })];
    process.share(100).end([once, often, claimedJob({ crashes: 0 })]);
    expect(limits(process, 100)).toEqual({ once: 7, often: 1 });
    process.runEnded(once);
    process.runEnded(once);
    process.runEnded(often);
    expect(limits(process, 100)).toEqual({ once: 8, often: 2 });
  });

  test("wakes its workers when a slot for crashed jobs is free again", () => {
    let wakeUps = 0;
    const process = processOf(16);
    process.join({ ...memberOf(1), wake: () => (wakeUps += 1) });
    const job = claimedJob({ crashes: 1 });
    process.share(1).end([job]);
    process.runEnded(claimedJob({ crashes: 0 }));
    expect(wakeUps).toBe(0);
    process.runEnded(job);
    expect(wakeUps).toBe(1);
  });

  test("stays reserved for the lone run of one worker when that of another ends", async () => {
    const process = processOf(1, 1);
    const [first, second] = [{}, {}];
    await process.empty(first);
    await process.empty(second);

    process.reopen(first);
    process.reopen(first);
    expect(process.isReserved).toBe(true);
    process.reopen(second);
    expect(process.isReserved).toBe(false);
  });

  test("is empty only when every worker is idle", async () => {
    const process = processOf(4);
    const busy = { isIdle: false };
    const ended = Promise.withResolvers<void>();
    process.join({
      id: "0".repeat(26),
      slots: 4,
      get isIdle() {
        return busy.isIdle;
      },
      hasCodeLeft: false,
      empty: () => ended.promise,
      wake: () => {},
    });
    let isEmpty = false;
    const emptied = process.empty(process).then(() => (isEmpty = true));
    await Promise.resolve();
    expect([process.isReserved, isEmpty]).toEqual([true, false]);
    busy.isIdle = true;
    ended.resolve();
    await emptied;
    expect(process.isIdle).toBe(true);
    process.reopen(process);
    expect(process.isReserved).toBe(false);
  });

  test("does not wait for code that ignores its signal", async () => {
    const process = processOf(4);
    process.join({ ...memberOf(4), isIdle: false, hasCodeLeft: true });

    await process.empty(process);

    expect(process.isIdle).toBe(false);
  });

  test("forgets a worker that has left", () => {
    const process = processOf(8);
    const leave = process.join(memberOf(8));
    leave();
    expect(limits(process, 100)).toEqual({ once: 4, often: 1 });
  });
});

function limits(process: HostProcess, limit: number): { once: number; often: number } {
  const { once, often, end } = process.share(limit);
  end([]);
  return { once, often };
}

function processOf(...slots: readonly number[]): HostProcess {
  const process = new HostProcess("0".repeat(26));
  for (const each of slots) process.join(memberOf(each));
  return process;
}

function memberOf(slots: number): ProcessMember {
  const id = "0".repeat(26);
  return { id, slots, isIdle: true, hasCodeLeft: false, empty: async () => {}, wake: () => {} };
}

function claimedJob({ crashes }: { readonly crashes: number }): ClaimedJob {
  return {
    key: 1,
    id: "0".repeat(26),
    n: 1,
    tries: 0,
    crashes,
    maxAttempts: 5,
    onOrphan: "retry",
    retryOwner: "queue",
    isSuccessor: false,
    type: "email",
    tenant: "default",
    lane: "general",
    priority: 100,
    payload: null,
    payloadVersion: null,
    correlationId: "0".repeat(26),
    parentId: null,
    timeoutMs: null,
    concurrencyKey: null,
    tags: {},
    createdAt: 0,
    runAt: 0,
  };
}
