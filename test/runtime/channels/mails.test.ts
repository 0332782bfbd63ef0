/** How `emailChannel` deals with servers that refuse, hang or answer late. */
import { emailChannel } from "millrace/channels";
import { perform } from "millrace/testing";
import { describe, expect, test } from "vitest";
import { openRawSmtp } from "../../support/channels/raw-smtp.ts";
import { latch, openTest } from "../support.ts";

const MAIL = { to: "ada@example.com", subject: "Hello", text: "Good morning" };
const from = "no-reply@example.com";

describe("a mail that takes too long", () => {
  test("is not sent after its failure was recorded", async () => {
    const reached = latch();
    const late = latch();
    await using smtp = await openRawSmtp(async (line) => {
      if (!/^RCPT/i.test(line)) return line === "DATA" ? "354 go on" : "250 ok";
      reached.open();
      await late.passed;
      return "250 ok";
    });
    await using kit = await openTest();
    const email = emailChannel({ smtp: smtp.url, from, sendTimeout: "30s" });
    const failures: string[] = [];
    const functions = {
      failed: ({ error }: { error: string }) => {
        failures.push(error);
        return { status: "succeeded" };
      },
      mail: () => ({ status: "succeeded", payload: MAIL }),
    };
    await kit.mill.enqueue(email, { before_handler: "mail", error_handler: "failed" });
    kit.mill.work({ jobs: [email], functions });
    await reached.passed;

    await kit.advance("31s");
    const closed = smtp.idle();
    late.open();
    await closed;

    expect(failures).toEqual(["ctx.timeout: not finished within 30000 ms"]);
    expect(smtp.lines).not.toContain("DATA");
    expect(smtp.accepted).toBe(0);
  });
});

describe("the addresses of a mail", () => {
  test("are those of its entries, one by one", async () => {
    await using smtp = await openRawSmtp();
    const email = emailChannel({ smtp: smtp.url, from: "Mill <no-reply@example.com>" });
    const to = ["Bob <bob@example.com>", { name: "Eve, eve@evil.com", address: "c@example.com" }];
    await perform(email, { ...MAIL, to, cc: '"Lovelace, Ada" <ada@example.com>' });
    expect(smtp.lines.filter((line) => line.startsWith("RCPT"))).toEqual([
      "RCPT TO:<bob@example.com>",
      "RCPT TO:<c@example.com>",
      "RCPT TO:<ada@example.com>",
    ]);
  });

  test.each(["eve@evil.com, Bob <bob@example.com>", "Bob, eve@evil.com <bob@example.com>"])(
    "are refused in one entry: %s",
    async (to) => {
      await using smtp = await openRawSmtp();
      const email = emailChannel({ smtp: smtp.url, from });
      await expect(perform(email, { ...MAIL, to })).rejects.toMatchObject({
        "~class": "non_retryable",
      });
      expect(smtp.lines).toEqual([]);
    },
  );
});

describe("a server that refuses", () => {
  test.each([
    ["the connection", "CONN", "554 5.7.1 your address is blocked", "transient"],
    ["the connection for now", "CONN", "421 busy", "transient"],
    ["the greeting", "EHLO", "550 go away", "transient"],
    ["a sender without a login", "MAIL", "530 5.7.0 Authentication required", "transient"],
    ["a sender for its address", "MAIL", "550 5.7.1 your address is blocked", "transient"],
    ["a sender whose name is none", "MAIL", "553 5.1.8 no such sender", "non_retryable"],
    ["a sender by an extended code", "MAIL", "550 5.1.7 bad sender", "non_retryable"],
    ["a mail that is too large", "MAIL", "552 5.3.4 too large", "non_retryable"],
    ["a recipient", "RCPT", "550 5.1.1 no such user", "non_retryable"],
    ["a recipient without a login", "RCPT", "530 5.7.0 Authentication required", "transient"],
    ["a recipient for now", "RCPT", "450 4.7.1 greylisted", "transient"],
    ["the content", ".", "554 5.7.1 spam", "non_retryable"],
    ["the content for now", ".", "451 later", "transient"],
  ])("%s fails the mail as its code says", async (_, command, answer, kind) => {
    const verbs = command === "EHLO" ? ["EHLO", "HELO"] : [command];
    const isRefused = (line: string): boolean => verbs.some((verb) => line.startsWith(verb));
    const greeting = command === "CONN" ? answer : "220 ready";
    await using smtp = await openRawSmtp((line) => (isRefused(line) ? answer : null), greeting);
    const email = emailChannel({ smtp: smtp.url, from });
    await expect(perform(email, MAIL)).rejects.toMatchObject({ "~class": kind });
  });

  test("a login fails all mails, and the breaker knows", async () => {
    await using smtp = await openRawSmtp((line) => {
      if (/^EHLO/i.test(line)) return "250-ready\r\n250 AUTH PLAIN";
      return /^AUTH/i.test(line) ? "535 5.7.8 wrong password" : null;
    });
    await using kit = await openTest();
    const email = emailChannel({ smtp: smtp.url.replace("//", "//mill:secret@"), from });
    for (let n = 0; n < 5; n += 1) await kit.mill.enqueue(email, MAIL);
    await kit.drain([email]);
    expect((await kit.mill.breakers.get("email")).state).toBe("open");
  });
});
