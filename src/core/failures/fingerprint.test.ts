import { describe, expect, test } from "vitest";
import type { Fault } from "../outcome.ts";
import { causeOf, fingerprint, withCause } from "./fingerprint.ts";
import { normalMessage } from "./normal-message.ts";
import { libraryFolder, ownFrame } from "./own-frame.ts";

const FAULT: Fault = { class: "retryable", name: "Error", message: "boom" };

function messages(...texts: string[]): Set<string> {
  return new Set(texts.map((message) => fingerprint({ ...FAULT, message })));
}

function frame(...lines: string[]): string {
  return ownFrame(
    ["Error: boom", ...lines.map((line) => `    at ${line}`)].join("\n"),
    "/mill/src/",
  );
}

describe("a cause", () => {
  test("has 16 hexadecimal digits and does not change between releases of Millrace", () => {
    expect(fingerprint(FAULT)).toBe("dccc2adeb049235d");
  });

  test("depends on class, name, message and own frame", () => {
    const stack = "Error: boom\n    at send (/srv/app/dist/mail.js:3:4)";
    const other = "Error: boom\n    at send (/srv/app/dist/sms.js:3:4)";
    const causes = [
      FAULT,
      { ...FAULT, class: "transient" as const },
      { ...FAULT, name: "TypeError" },
      { ...FAULT, message: "bang" },
      { ...FAULT, stack },
      { ...FAULT, stack: other },
    ].map((fault) => fingerprint(fault));

    expect(new Set(causes).size).toBe(6);
  });

  test("of an error that Millrace makes does not depend on limits and counts", () => {
    const crash = { ...FAULT, name: "CrashError" };
    expect(fingerprint({ ...crash, message: "The worker died during the run." })).toBe(
      fingerprint({ ...crash, message: "The job crashed its worker 3 times, at last alone." }),
    );
    const own = { ...crash, stack: "CrashError: a\n    at f (/srv/app/dist/x.js:1:1)" };
    expect(fingerprint({ ...own, message: "a" })).not.toBe(fingerprint({ ...own, message: "b" }));
  });

  test("stays the one that was stored, and is computed for a row without one", () => {
    expect(causeOf({ ...FAULT, cause: "0123456789abcdef" })).toBe("0123456789abcdef");
    expect(withCause(FAULT)).toEqual({ ...FAULT, cause: fingerprint(FAULT) });
  });
});

describe("the normal message", () => {
  test.each([
    ["user 17 not found", "user 234,567 not found"],
    ["took 5 s", "took 1m 30s", "took 2.5 ms"],
    ["job 01JD0Z6Y7Q8R9S0TAVBWCXDYEZ failed", "job 01jd0z6y7q8r9s0tavbwcxdyff failed"],
    ["no row b6b3a2c4-1111-4222-8333-944445555566", "no row 00000000-0000-7000-8000-000000000000"],
    ["commit 4f3a2b1c9d", "commit deadbeef", "commit 0xfe"],
    ["charge ch_3MtwBwLkdIwHu7ix28a3tqPa refused", "charge ch_9AtwBwLkdIwHu7ix28a3tqPz refused"],
    [
      "expired at 2026-11-18T04:18:12.123Z",
      "expired at 2026-11-19 05:00",
      "expired at Wed Nov 18 2026 04:18:12 GMT+0100 (Central European Time)",
      "expired at 18 November 2026, 4:18 pm",
      "expired at 04:18:12",
    ],
    ["cannot read /srv/a/b.csv", "cannot read ./c/d.csv", "cannot read data/2026/c.csv"],
    ["cannot read C:\\data\\a.csv", "cannot read D:\\b.csv"],
    ["at file:///srv/app/x.js:10:5", "at file:///opt/app/y.js:11:7"],
    ["ENOENT, open '/data/My Files/a.csv'", "ENOENT, open '/data/b.csv'"],
    ["connect ECONNREFUSED 10.0.0.1:5432", "connect ECONNREFUSED ::1:5432"],
    ["connect to fe80::1ff:fe23:4567:890a failed", "connect to 127.0.0.1 failed"],
    ["GET https://api.bank.com/users/17?x=y", "GET https://me:pw@api.bank.com:8080/accounts"],
    ["no mailbox ada@example.com", "no mailbox bob.b@mail.example.org"],
    ['bad value "order 17 of ada"', 'bad value "order 18 of bob"'],
    ["mail.ts:10:5 is wrong", "mail.ts:113:59 is wrong"],
    ["ids [1, 2, 3] are gone", "ids [4] are gone"],
    ["balance is -5", "balance is 17"],
    ["two  words\n 1", "two words 2"],
  ])("is equal for %j and %j", (...texts) => {
    expect([...new Set(texts.map(normalMessage))]).toHaveLength(1);
    expect(messages(...texts).size).toBe(1);
  });

  test("differs when words or hosts differ", () => {
    expect(
      messages(
        "user 17 not found",
        "order 17 not found",
        'bad value "red"',
        'bad value "blue"',
        "GET https://api.bank.com/1",
        "GET https://api.mail.com/1",
        "Cannot read properties of undefined (reading 'name')",
        "Cannot read properties of undefined (reading 'email')",
      ).size,
    ).toBe(8);
  });

  test("reads the beginning of a long message", () => {
    expect(normalMessage(`${"word ".repeat(200)}one`)).toBe(
      normalMessage(`${"word ".repeat(200)}other`),
    );
  });
});

describe("the own frame", () => {
  test("is outside of Node, of dependencies and of Millrace", () => {
    expect(
      frame(
        "Socket.connect (node:net:10:2)",
        "Array.map (<anonymous>)",
        "async Promise.all (index 0)",
        "Client.query (/srv/app/node_modules/pg/lib/client.js:7:1)",
        "ctx.step (/mill/src/runtime/run/phases.ts:5:5)",
        "async Object.run [as handler] (file:///srv/app/dist/jobs/mail.js:10:5)",
        "other (/srv/app/dist/other.js:1:1)",
      ),
    ).toBe("run jobs/mail");
    expect(frame("Socket.connect (node:net:10:2)")).toBe("");
    expect(ownFrame("")).toBe("");
  });

  test.each([
    ["send (/srv/app/dist/jobs/mail.js:10:5)", "send (/opt/blue/dist/jobs/mail.js:99:1)"],
    ["send (/srv/releases/17/jobs/mail.js:1:1)", "send (/srv/releases/18/jobs/mail.js:2:1)"],
    ["send (/srv/release-17/mail.js:1:1)", "send (/srv/release-18.2/mail.js:2:1)"],
    ["send (/srv/4f3a2b1c9/mail.js:1:1)", "send (/srv/0a1b2c3d4/mail.js:2:1)"],
    ["send (/app/dist/chunk-3F2A9B1C.js:1:1)", "send (/app/dist/chunk-00AA9B1C.js:1:1)"],
    ["send (/app/dist/mail.js?t=17:1:1)", "send (/app/dist/mail.js?t=18:2:1)"],
    ["send (C:\\app\\dist\\mail.js:1:1)", "send (D:\\x\\dist\\mail.js:4:1)"],
    ["new Mail (/app/dist/mail.js:1:1)", "Mail (/app/dist/mail.js:1:1)"],
    [
      "/app/dist/mail.js:1:1",
      "async file:///app/dist/mail.js:2:1",
      "<anonymous> (/a/src/mail.ts:5)",
    ],
  ])("is equal for %j and %j", (...lines) => {
    expect(frame(lines[0])).not.toBe("");
    expect([...new Set(lines.map((line) => frame(line)))]).toHaveLength(1);
  });

  test("differs by function, file and folder", () => {
    const lines = [
      "send (/app/dist/mail/index.js:1:1)",
      "read (/app/dist/mail/index.js:1:1)",
      "send (/app/dist/sms/index.js:1:1)",
      "send (/app/dist/mail/other.js:1:1)",
    ];
    expect(new Set(lines.map((line) => frame(line))).size).toBe(4);
  });

  test("is the one of the innermost cause that has one", () => {
    const outer = "Error: not saved\n    at save (/app/dist/save.js:1:1)";
    const inner = "Error: no row\n    at find (/app/dist/find.js:1:1)";
    const foreign = "Error: closed\n    at query (/app/node_modules/pg/x.js:1:1)";
    expect(ownFrame([outer, inner, foreign].join("\nCaused by: "))).toBe("find find");
    expect(ownFrame([outer, foreign].join("\nCaused by: "))).toBe("save save");
  });

  test("is found beside Millrace when both are in one bundle", () => {
    expect(libraryFolder("file:///srv/bundle.js")).toBeNull();
    expect(libraryFolder("file:///srv/dist/core/failures/own-frame.js")).toBe("/srv/dist/");
    const stack = "Error: x\n    at send (/srv/bundle.js:1:1)";
    expect(ownFrame(stack, null)).toBe("send srv/bundle");
  });
});
