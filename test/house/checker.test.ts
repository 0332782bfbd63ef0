import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { check } from "../../scripts/show/lib/check.ts";
import type { StoredAttempt, StoredJob } from "../../scripts/show/lib/check.ts";
import type { LedgerLine } from "../../scripts/show/lib/ledger.ts";
import { countsOf } from "../../scripts/show/lib/verdict.ts";
import { root, run, temporaryFolder } from "./programs.ts";

/** Process 1 dies in the middle of `b`; process 2 takes `b` over after the lease of a second. */
const CLEAN = [
  line("start", { job: "a", fence: 1, pid: 1, at: 0 }),
  line("start", { job: "b", fence: 1, pid: 1, at: 10 }),
  line("end", { job: "a", fence: 1, pid: 1, at: 20 }),
  line("start", { job: "b", fence: 2, pid: 2, at: 1500 }),
  line("end", { job: "b", fence: 2, pid: 2, at: 1510 }),
];

describe("the checker", () => {
  test("passes a clean history with a takeover", () => {
    expect(counts({ acks: ["a", "b"], ledger: CLEAN })).toEqual({ takeovers: 1 });
  });

  test("passes it with the store as a witness", () => {
    const store = {
      a: stored("completed", [{ fence: 1, outcome: "succeeded", finishedAt: 21 }]),
      b: stored("completed", [
        { fence: 1, outcome: "crashed", finishedAt: 1400 },
        { fence: 2, outcome: "succeeded", finishedAt: 1511 },
      ]),
    };

    expect(counts({ acks: ["a", "b"], ledger: CLEAN, store })).toEqual({ takeovers: 1 });
  });

  test("finds a planted loss", () => {
    expect(counts({ acks: ["a", "b", "c"], ledger: CLEAN })).toEqual({ takeovers: 1, lost: 1 });
  });

  test.each<[loss: string, job: StoredJob | null]>([
    ["is not in the store", null],
    ["never left the queue", stored("queued", [])],
    [
      "is recorded under a fence that did not end",
      stored("completed", [{ fence: 2, outcome: "succeeded", finishedAt: 30 }]),
    ],
  ])("finds an ended job that %s", (_, job) => {
    const store = job === null ? {} : { a: job };

    expect(counts({ acks: ["a"], ledger: CLEAN.slice(0, 3), store })).toEqual({ lost: 1 });
  });

  test("calls a job that the store gave up on the record not lost", () => {
    const died = stored("failed", [{ fence: 1, outcome: "crashed", finishedAt: 900 }]);

    expect(counts({ acks: ["b"], ledger: CLEAN.slice(1, 2), store: { b: died } })).toEqual({
      "given up": 1,
    });
  });

  test("finds a planted double finish", () => {
    const again = [
      line("start", { job: "a", fence: 2, pid: 2, at: 100 }),
      line("end", { job: "a", fence: 2, pid: 2, at: 110 }),
      line("start", { job: "c", fence: 3, pid: 1, at: 200 }),
    ];

    expect(counts({ acks: ["a"], ledger: [...CLEAN.slice(0, 3), ...again] })).toEqual({
      doubled: 1,
    });
  });

  test("finds a second end of one run", () => {
    const ledger = [...CLEAN, line("end", { job: "a", fence: 1, pid: 1, at: 21 })];

    expect(counts({ acks: ["a", "b"], ledger })).toEqual({ takeovers: 1, doubled: 1 });
  });

  test("finds two finishes that the store accepted", () => {
    const b = stored("completed", [
      { fence: 1, outcome: "succeeded", finishedAt: 1600 },
      { fence: 2, outcome: "succeeded", finishedAt: 1511 },
    ]);
    const late = line("end", { job: "b", fence: 1, pid: 1, at: 1590 });

    expect(counts({ acks: ["b"], ledger: [...CLEAN, late], store: { b } })).toEqual({
      "late ends": 1,
      doubled: 1,
      overlap: 1,
    });
  });

  test("finds a planted overlap: the holder was alive just before and after", () => {
    const ledger = [
      ...CLEAN.slice(0, 3),
      line("start", { job: "b", fence: 2, pid: 2, at: 400 }),
      line("end", { job: "b", fence: 2, pid: 2, at: 450 }),
      line("start", { job: "c", fence: 3, pid: 1, at: 500 }),
    ];

    expect(counts({ acks: ["a", "b"], ledger })).toEqual({ overlap: 1 });
  });

  test("finds an overlap that the store did not know of", () => {
    const b = stored("completed", [{ fence: 2, outcome: "succeeded", finishedAt: 1511 }]);

    expect(counts({ acks: ["b"], ledger: CLEAN, store: { b } })).toEqual({ overlap: 1 });
  });

  test("finds an overlap under the same fence, however silent the holder was", () => {
    const ledger = [
      line("start", { job: "a", fence: 1, pid: 1, at: 0 }),
      line("start", { job: "a", fence: 1, pid: 2, at: 5000 }),
      line("end", { job: "a", fence: 1, pid: 2, at: 5010 }),
    ];

    expect(counts({ acks: ["a"], ledger })).toEqual({ overlap: 1, unfenced: 1 });
  });

  test("takes the late end of a zombie for what it is", () => {
    const late = line("end", { job: "b", fence: 1, pid: 1, at: 3000 });

    expect(counts({ acks: ["a", "b"], ledger: [...CLEAN, late] })).toEqual({
      takeovers: 1,
      "late ends": 1,
    });
  });

  test("tells a repeat after a crash from a double finish", () => {
    const ledger = [
      ...CLEAN.slice(0, 3),
      line("start", { job: "a", fence: 2, pid: 2, at: 1500 }),
      line("end", { job: "a", fence: 2, pid: 2, at: 1510 }),
    ];

    expect(counts({ acks: ["a"], ledger })).toEqual({ repeats: 1 });
  });

  test("tells a restart after a stop from a takeover", () => {
    const ledger = [
      line("start", { job: "a", fence: 1, pid: 1, at: 0 }),
      line("quit", { job: "a", fence: 1, pid: 1, at: 5 }),
      line("start", { job: "a", fence: 2, pid: 2, at: 10 }),
      line("end", { job: "a", fence: 2, pid: 2, at: 20 }),
    ];

    expect(counts({ acks: ["a"], ledger })).toEqual({ restarts: 1 });
  });
});

describe("checker.ts", () => {
  test("exits with 0 on a clean history and with 1 on a planted loss", async () => {
    using folder = temporaryFolder();
    const acks = join(folder.path, "acks.txt");
    const ledger = join(folder.path, "ledger.jsonl");
    writeFileSync(ledger, CLEAN.map((each) => `${JSON.stringify(each)}\n`).join(""));
    const judge = (...ids: string[]) => {
      writeFileSync(acks, ids.map((id) => `${id}\n`).join(""));
      return run(
        process.execPath,
        ["scripts/show/checker.ts", "--acks", acks, "--ledger", ledger, "-o", "json"],
        { cwd: root },
      );
    };

    const clean = await judge("a", "b");
    const lossy = await judge("a", "b", "c");

    expect(clean).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(clean.stdout)).toMatchObject({ acked: 2, takeovers: 1, lost: 0 });
    expect(lossy.code).toBe(1);
    expect(JSON.parse(lossy.stdout)).toMatchObject({
      lost: 1,
      findings: [{ kind: "lost", job: "c", why: "it was acknowledged and never ended" }],
    });
  });

  test("says what it wants when it is asked wrongly", async () => {
    const { code, stderr } = await run(process.execPath, ["scripts/show/checker.ts"], {
      cwd: root,
    });

    expect(code).toBe(2);
    expect(stderr).toContain("--acks FILE --ledger FILE");
  });
});

/** What the checker counted, without what it found nowhere and how much there was to read. */
function counts(history: {
  acks: readonly string[];
  ledger: readonly LedgerLine[];
  store?: Readonly<Record<string, StoredJob>>;
}): Record<string, number> {
  const { store, ...rest } = history;
  const judged = check({
    ...rest,
    leaseMs: 1000,
    ...(store !== undefined && { store: new Map(Object.entries(store)) }),
  });
  const found = Object.entries(countsOf(judged)).filter(([, count]) => count > 0);
  return Object.fromEntries(found.filter(([what]) => !["acked", "starts", "ends"].includes(what)));
}

function line(
  what: LedgerLine["what"],
  { job, fence, pid, at }: Pick<LedgerLine, "job" | "fence" | "pid" | "at">,
): LedgerLine {
  return { job, fence, pid, attempt: 1, what, at };
}

function stored(state: StoredJob["state"], attempts: readonly StoredAttempt[]): StoredJob {
  return { state, charged: attempts.length, attempts };
}
