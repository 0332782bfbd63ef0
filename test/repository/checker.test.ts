import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { check } from "../../scripts/show/lib/check/check.ts";
import type {
  Ack,
  Exit,
  History,
  StoredAttempt,
  StoredJob,
} from "../../scripts/show/lib/fleet/history.ts";
import type { LedgerLine } from "../../scripts/show/lib/fleet/ledger.ts";
import { DEAF_EXIT } from "../../scripts/show/lib/fleet/history.ts";
import { countsOf } from "../../scripts/show/lib/check/verdict.ts";
import { root, run, temporaryFolder } from "../cli/programs.ts";

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

  const OVERTAKEN = [
    line("start", { job: "b", fence: 2, pid: 2, at: 1500 }),
    line("end", { job: "b", fence: 2, pid: 2, at: 1510 }),
    line("start", { job: "b", fence: 1, pid: 1, at: 2000 }),
  ];

  test("takes the late start of a zombie for what it is", () => {
    const b = stored("completed", [
      { fence: 1, outcome: "crashed", finishedAt: 1400 },
      { fence: 2, outcome: "succeeded", finishedAt: 1511 },
    ]);

    expect(counts({ acks: ["b"], ledger: OVERTAKEN, store: { b } })).toEqual({ "late starts": 1 });
  });

  test("finds a late start under a lower fence that the store had not closed", () => {
    const b = stored("completed", [{ fence: 2, outcome: "succeeded", finishedAt: 1511 }]);

    expect(counts({ acks: ["b"], ledger: OVERTAKEN, store: { b } })).toEqual({
      doubled: 1,
      unfenced: 1,
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

describe("the checker of promises", () => {
  const SUCCEEDED: readonly StoredAttempt[] = [{ fence: 1, outcome: "succeeded", finishedAt: 20 }];
  const FAILED: StoredAttempt = { fence: 1, outcome: "failed", finishedAt: 20 };
  const waited = stored("queued", []);

  test("passes a retry, a kept key, a child, a cancellation and a deploy", () => {
    const history: Seen = {
      acks: [
        { id: "a", key: "k", dueAt: 5 },
        { id: "a", key: "k" },
      ],
      ledger: [
        line("start", { job: "a", fence: 1, pid: 1, at: 5 }),
        line("fail", { job: "a", fence: 1, pid: 1, at: 6 }),
        line("start", { job: "a", fence: 2, pid: 1, at: 30 }),
        line("end", { job: "a", fence: 2, pid: 1, at: 31 }),
      ],
      store: {
        a: {
          ...stored("completed", [FAILED, { ...SUCCEEDED[0]!, fence: 2, finishedAt: 32 }]),
          name: "a",
          end: "parent",
          key: "k",
        },
        b: { ...stored("cancelled", []), name: "a.child", end: "well", parent: "a" },
      },
      cancels: [{ id: "b", at: 40, state: "cancelled" }],
      exits: [
        { pid: 1, told: "stop", code: 0 },
        { pid: 3, told: "stop", code: DEAF_EXIT },
        { pid: 2, told: "killed", code: "SIGKILL" },
      ],
      ailments: [],
    };

    expect(counts(history)).toEqual({ retries: 1 });
  });

  test("finds a retry that the store did not know of", () => {
    const ledger = [
      line("start", { job: "a", fence: 1, pid: 1, at: 5 }),
      line("fail", { job: "a", fence: 1, pid: 1, at: 6 }),
      line("start", { job: "a", fence: 2, pid: 1, at: 30 }),
      line("end", { job: "a", fence: 2, pid: 1, at: 31 }),
    ];
    const a = stored("completed", [{ ...SUCCEEDED[0]!, fence: 2, finishedAt: 32 }]);

    expect(counts({ acks: [], ledger, store: { a } })).toEqual({ doubled: 1 });
  });

  test("finds a key that was promised to two jobs", () => {
    const acks = [
      { id: "a", key: "k" },
      { id: "b", key: "k" },
    ];
    const ledger = ["a", "b"].flatMap((job) => [
      line("start", { job, fence: 1, pid: 1, at: 0 }),
      line("end", { job, fence: 1, pid: 1, at: 1 }),
    ]);

    expect(counts({ acks, ledger })).toEqual({ copied: 1 });
  });

  test("finds a key under which the store has another job than the promised one", () => {
    const store = { b: { ...waited, key: "k" } };

    expect(counts({ acks: [{ id: "a", key: "k" }], store })).toEqual({ lost: 1, copied: 1 });
  });

  test("finds one request that became two jobs", () => {
    const store = { a: { ...waited, name: "same" }, b: { ...waited, name: "same" } };

    expect(counts({ acks: [], store })).toEqual({ copied: 1 });
  });

  test.each([
    ["stays", [2, 2]],
    ["falls", [2, 1]],
  ])("finds a fence that %s in the ledger of the store", (_, [first = 0, second = 0]) => {
    const a = stored("failed", [
      { ...FAILED, fence: first },
      { ...FAILED, fence: second },
    ]);

    expect(counts({ acks: [], store: { a } })).toEqual({ unfenced: 1 });
  });

  test.each<[what: string, store: Record<string, StoredJob>]>([
    [
      "a success without its child",
      { a: { ...stored("completed", []), name: "a", end: "parent" } },
    ],
    ["a child of a failure", { a: stored("failed", []), b: { ...waited, parent: "a" } }],
    ["a child of no job", { b: { ...waited, parent: "a" } }],
  ])("finds %s", (_, store) => {
    expect(counts({ acks: [], store })).toEqual({ childless: 1 });
  });

  test.each<[what: string, job: StoredJob]>([
    ["success of a failure", { ...stored("completed", SUCCEEDED), end: "failure" }],
    ["failure of a success", { ...stored("failed", [FAILED]), end: "well" }],
    ["cancellation that no client asked for", { ...stored("cancelled", []), end: "well" }],
  ])("finds the %s", (_, a) => {
    expect(counts({ acks: [], store: { a } })).toEqual({ unlike: 1 });
  });

  test("explains the failure of a success by the death of its workers", () => {
    const a = { ...stored("failed", [{ ...FAILED, outcome: "crashed" }]), end: "well" } as const;

    expect(counts({ acks: [], store: { a } })).toEqual({});
  });

  const CANCELLED = { id: "a", at: 100, state: "cancelled" } as const;

  test("finds a start after the acknowledged cancellation", () => {
    const ledger = [line("start", { job: "a", fence: 1, pid: 1, at: 101 })];

    expect(counts({ acks: [], ledger, cancels: [CANCELLED] })).toEqual({ unheeded: 1 });
  });

  test("does not take the late word of a zombie for one", () => {
    const ledger = [line("start", { job: "a", fence: 1, pid: 1, at: 101 })];
    const a = stored("cancelled", [{ fence: 1, outcome: "crashed", finishedAt: 90 }]);

    expect(counts({ acks: [], ledger, store: { a }, cancels: [CANCELLED] })).toEqual({});
  });

  test("finds a start before its time", () => {
    const ledger = [line("start", { job: "a", fence: 1, pid: 1, at: 90 })];

    expect(counts({ acks: [{ id: "a", dueAt: 100 }], ledger })).toEqual({ lost: 1, early: 1 });
  });

  test.each<[what: string, exit: Exit]>([
    ["ended by itself", { pid: 1, told: "nothing", code: 0 }],
    ["died by itself", { pid: 1, told: "nothing", code: "SIGBUS" }],
    ["did not stop well", { pid: 1, told: "stop", code: 1 }],
  ])("finds a process that %s", (_, exit) => {
    expect(counts({ acks: [], exits: [exit] })).toEqual({ exit: 1 });
  });

  test("finds what the doctor found", () => {
    expect(counts({ acks: [], ailments: ["a job is nowhere"] })).toEqual({ ailing: 1 });
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
function counts(seen: Seen): Record<string, number> {
  const { acks, store, ...rest } = seen;
  const judged = check({
    ledger: [],
    ...rest,
    acks: acks.map((ack) => (typeof ack === "string" ? { id: ack } : ack)),
    leaseMs: 1000,
    ...(store !== undefined && { store: new Map(Object.entries(store)) }),
  });
  const found = Object.entries(countsOf(judged)).filter(([, count]) => count > 0);
  return Object.fromEntries(found.filter(([what]) => !["acked", "starts", "ends"].includes(what)));
}

interface Seen extends Partial<Omit<History, "acks" | "store">> {
  readonly acks: readonly (string | Ack)[];
  readonly store?: Readonly<Record<string, StoredJob>>;
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
