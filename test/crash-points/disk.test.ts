/** The model of a disk, by hand: the images are worth no more than it is. */
import { describe, expect, test } from "vitest";
import { Disk, momentsOf } from "./disk.ts";
import type { Moment } from "./disk.ts";
import { operationsOf } from "./recording.ts";
import type { Call, Operation } from "./recording.ts";

const made: Operation = { kind: "link", name: "jobs.db", file: 1 };
const write = (offset: number, text: string): Operation => ({
  kind: "write",
  file: 1,
  offset,
  bytes: Buffer.from(text),
});

describe("a loss of power", () => {
  test("leaves a file without its name until the folder is synced", () => {
    const operations: Operation[] = [made, write(0, "a"), { kind: "sync", file: 1 }];
    expect(contents(last(operations).synced)).toEqual({});
    expect(contents(last([...operations, { kind: "sync-folder" }]).synced)).toEqual({
      "jobs.db": "a",
    });
  });

  test("may take what was written after the last sync, and what is left shows zeros", () => {
    const operations: Operation[] = [made, { kind: "sync-folder" }, write(0, "a"), write(2, "c")];
    const { synced, pending } = last(operations);
    expect(contents(synced)).toEqual({ "jobs.db": "" });
    expect(contents(synced.after(pending.slice(1)))).toEqual({ "jobs.db": "\0\0c" });
    expect(contents(synced.after(pending))).toEqual({ "jobs.db": "a\0c" });
  });

  test("may undo a truncation, and brings an unlinked file back under its old name", () => {
    const sync: Operation[] = [{ kind: "sync", file: 1 }, { kind: "sync-folder" }];
    const { synced, pending } = last([
      made,
      write(0, "abc"),
      ...sync,
      { kind: "truncate", file: 1, size: 1 },
      { kind: "unlink", name: "jobs.db" },
    ]);
    expect(contents(synced)).toEqual({ "jobs.db": "abc" });
    expect(contents(synced.after(pending.slice(0, 1)))).toEqual({ "jobs.db": "a" });
    expect(contents(synced.after(pending))).toEqual({});
  });

  test("comes when the step before is acknowledged and the next is not yet synced", () => {
    const sync: Operation = { kind: "sync", file: 1 };
    const moments = momentsOf([made, write(0, "a"), sync, { kind: "ack" }, write(1, "b"), sync]);
    expect(moments.map(({ acked, pending }) => [acked, pending.length])).toEqual([
      [0, 2],
      [1, 2],
      [1, 1],
    ]);
  });
});

describe("a recording", () => {
  test("follows a file from its first name to its last", () => {
    const calls = [
      call("openat", ["AT_FDCWD", quoted("part"), "O_RDWR|O_CREAT"], "database/part"),
      call("pwrite64", ["3", quoted("x"), "1", "7"], "database/part"),
      call("rename", [quoted("part"), quoted("whole")], "database/whole"),
      call("fsync", ["3"], "database/whole"),
      call("fsync", ["4"], "database"),
      call("write", ["5"], "acks"),
    ];
    expect(operationsOf(calls)).toEqual([
      { kind: "link", name: "part", file: 1 },
      { kind: "write", file: 1, offset: 7, bytes: Buffer.from("x") },
      { kind: "rename", from: "part", name: "whole", file: 1 },
      { kind: "sync", file: 1 },
      { kind: "sync-folder" },
      { kind: "ack" },
    ]);
  });

  test("stops at a call that it does not understand", () => {
    const opened = call("openat", ["AT_FDCWD", quoted("a"), "O_CREAT"], "database/a");
    const strange = call("fallocate", ["3"], "database/a");
    expect(() => operationsOf([opened, strange])).toThrow("fallocate is not modelled");
  });
});

function last(operations: readonly Operation[]): Moment {
  const moment = momentsOf(operations).at(-1);
  expect(moment).toBeDefined();
  return moment ?? { synced: new Disk(), pending: [], acked: 0 };
}

function contents(disk: Disk): Record<string, string> {
  return Object.fromEntries([...disk.files()].map(([name, bytes]) => [name, bytes.toString()]));
}

function call(name: string, args: readonly string[], path: string): Call {
  return { thread: "1", name, args, path };
}

/** As strace writes it. */
function quoted(text: string): string {
  return `"${Buffer.from(text)
    .toString("hex")
    .replaceAll(/../g, String.raw`\x$&`)}"`;
}
