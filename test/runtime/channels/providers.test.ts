import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emailChannel, fileDeleteChannel, smsChannel } from "millrace/channels";
import { perform } from "millrace/testing";
import { SMTPServer } from "smtp-server";
import { describe, expect, test } from "vitest";
import { openHttp } from "../../support/channels/http-receiver.ts";
import { openTest, unchecked } from "../support.ts";

const MAIL = { to: "ada@example.com", subject: "Hello", text: "Good morning" };

describe("emailChannel", () => {
  test("sends a mail whose Message-ID is that of the job (002-12, 002-16)", async () => {
    await using smtp = await openSmtp();
    await using kit = await openTest();
    const email = emailChannel({ smtp: smtp.url, from: "Mill <no-reply@example.com>" });
    const functions = { "comms.get": () => ({ success: true, payload: MAIL }) };
    const job = await kit.mill.enqueue(email, { before_handler: "comms.get" });

    await kit.drain([email], { functions });

    expect(await kit.mill.result(job)).toMatchObject({
      status: "succeeded",
      payload: {
        messageId: `<${job.id.toLowerCase()}@example.com>`,
        accepted: ["ada@example.com"],
      },
    });
    expect(smtp.mails).toHaveLength(1);
    expect(smtp.mails[0]).toContain(`Message-ID: <${job.id.toLowerCase()}@example.com>`);
    expect(smtp.mails[0]).toContain("Good morning");
  });

  test.each([
    ["a subject", { ...MAIL, subject: "Hello\r\nBcc: eve@example.com" }],
    ["an address", { ...MAIL, to: "ada@example.com\nBcc: eve@example.com" }],
    ["one of several addresses", { ...MAIL, to: ["ada@example.com", "eve@example.com\r"] }],
    ["a carbon copy", { ...MAIL, cc: "ada@example.com\r\n" }],
    ["a blind copy", { ...MAIL, bcc: "ada@example.com\u0085" }],
    ["a sender", { ...MAIL, from: "a@example.com\nSubject: no" }],
    ["a reply address", { ...MAIL, replyTo: "a@example.com\n" }],
    ["a header", { ...MAIL, headers: { "X-A": "b\r\nBcc: eve@example.com" } }],
    ["the name of a header", { ...MAIL, headers: { "X-A\r\nBcc": "b" } }],
  ])("refuses a line break in %s", async (_, mail) => {
    await using smtp = await openSmtp();
    const email = emailChannel({ smtp: smtp.url, from: "no-reply@example.com" });
    await expect(perform(email, mail)).rejects.toMatchObject({ "~class": "non_retryable" });
    expect(smtp.sessions).toBe(0);
  });

  test.each([
    ["a file", { ...MAIL, attachments: [{ path: "/etc/passwd" }] }],
    ["a raw mail", { ...MAIL, raw: "From: eve@example.com" }],
    ["a text of a file", { ...MAIL, text: unchecked({ path: "/etc/passwd" }) }],
    ["a header of the channel", { ...MAIL, headers: { "Message-ID": "<a@b>" } }],
    ["no recipient", { ...MAIL, to: [] }],
    ["no subject", { to: "ada@example.com" }],
  ])("refuses %s in a message", async (_, mail) => {
    await using smtp = await openSmtp();
    const email = emailChannel({ smtp: smtp.url, from: "no-reply@example.com" });
    await expect(perform(email, unchecked(mail))).rejects.toMatchObject({
      "~class": "non_retryable",
    });
    expect(smtp.sessions).toBe(0);
  });

  test("has the Message-ID that the message sets", async () => {
    await using smtp = await openSmtp();
    const email = emailChannel({ smtp: smtp.url, from: "no-reply@example.com" });
    await perform(email, { ...MAIL, idempotencyKey: "welcome-7" });
    expect(smtp.mails[0]).toContain("Message-ID: <welcome-7@example.com>");
    const hostile = { ...MAIL, idempotencyKey: "a>\r\nBcc: b@c.d" };
    await expect(perform(email, hostile)).rejects.toMatchObject({ "~class": "non_retryable" });
  });

  test.each([
    [550, "non_retryable"],
    [451, "transient"],
  ])("counts the answer %d as %s", async (code, kind) => {
    await using smtp = await openSmtp({ code });
    const email = emailChannel({ smtp: smtp.url, from: "no-reply@example.com" });
    await expect(perform(email, MAIL)).rejects.toMatchObject({ "~class": kind });
    expect(smtp.mails).toEqual([]);
  });

  test("counts a server that is not there as transient", async () => {
    const smtp = await openSmtp();
    await smtp[Symbol.asyncDispose]();
    const email = emailChannel({ smtp: smtp.url, from: "no-reply@example.com" });
    await expect(perform(email, MAIL)).rejects.toMatchObject({ "~class": "transient" });
  });

  test.each([
    [{ smtp: "http://127.0.0.1", from: "a@example.com" }],
    [{ smtp: "smtp://127.0.0.1", from: "a@example.com\r\n" }],
    [{ smtp: "smtp://127.0.0.1" }],
    [{ smtp: "smtp://127.0.0.1", from: "a@example.com", pool: true }],
  ])("refuses the options %o", (options) => {
    expect(() => emailChannel(unchecked(options))).toThrow(
      expect.objectContaining({ code: "DEFINITION_INVALID" }),
    );
  });
});

describe("smsChannel", () => {
  const SMS = { to: "+43 1 123", text: "Hello" };

  test("posts the message with the id of the job (002-12, 002-16)", async () => {
    await using provider = await openHttp(() => ({ status: 202, body: '{"id":"s1"}' }));
    await using kit = await openTest();
    const { origin } = provider;
    const sms = smsChannel({ url: `${origin}/messages`, token: "secret", allow: [origin] });
    const job = await kit.mill.enqueue(sms, SMS);

    await kit.drain([sms]);

    expect(await kit.mill.result(job)).toMatchObject({
      payload: { status: 202, answer: { id: "s1" } },
    });
    expect(provider.requests).toMatchObject([
      {
        method: "POST",
        url: "/messages",
        headers: {
          authorization: "Bearer secret",
          "idempotency-key": job.id,
          "content-type": "application/json",
        },
        body: JSON.stringify({ id: job.id, ...SMS }),
      },
    ]);
  });

  test.each([
    [400, {}, { "~class": "non_retryable" }],
    [422, {}, { "~class": "non_retryable" }],
    [301, { location: "http://169.254.169.254/" }, { "~class": "non_retryable" }],
    [408, {}, { "~class": "transient" }],
    [500, {}, { "~class": "transient" }],
    [503, {}, { "~class": "transient" }],
    [429, {}, { "~class": "rate_limited" }],
    [429, { "retry-after": "30" }, { "~class": "rate_limited", retryAfter: 30_000 }],
    [
      429,
      { "retry-after": "Fri, 31 Dec 2100 23:59:59 GMT" },
      { "~class": "rate_limited", retryAfter: 86_400_000 },
    ],
    [429, { "retry-after": "9".repeat(11) }, { "~class": "rate_limited", retryAfter: 86_400_000 }],
  ])("counts the answer %d with %o as %o", async (status, headers, thrown) => {
    await using provider = await openHttp(() => ({ status, headers, body: "" }));
    const { origin } = provider;
    const retries = { retryOwner: "queue", maxAttempts: 2 } as const;
    const sms = smsChannel({ url: origin, allow: [origin], ...retries });
    await expect(perform(sms, SMS)).rejects.toMatchObject(thrown);
    expect(provider.requests).toHaveLength(1);
  });

  test.each([
    "Fri, 31 Dec 1999 23:59:59 GMT",
    "soon",
    "",
    "0",
    "-5",
    "1.5",
    "10, 20",
    "2100-01-01",
  ])("waits by the backoff when Retry-After is %o", async (text) => {
    const headers = { "retry-after": text };
    await using provider = await openHttp(() => ({ status: 429, headers, body: "" }));
    const { origin } = provider;
    const sms = smsChannel({ url: origin, allow: [origin], retryOwner: "queue", maxAttempts: 2 });
    const thrown = await perform(sms, SMS).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ "~class": "rate_limited", retryAfter: undefined });
  });

  test("sends the key that the message sets, in all attempts", async () => {
    await using provider = await openHttp(() => ({ status: 200, body: "" }));
    const { origin } = provider;
    const sms = smsChannel({ url: origin, allow: [origin] });
    await perform(sms, { ...SMS, idempotencyKey: "welcome-7" });
    await perform(sms, { ...SMS, idempotencyKey: "welcome-7" });
    const body = JSON.stringify({ id: "welcome-7", ...SMS });
    const asked = { headers: { "idempotency-key": "welcome-7" }, body };
    expect(provider.requests).toMatchObject([asked, asked]);
  });

  test("reaches nothing on this machine that is not allowed", async () => {
    await using provider = await openHttp(() => ({ status: 200, body: "" }));
    const sms = smsChannel({ url: provider.origin });
    await expect(perform(sms, SMS)).rejects.toMatchObject({ "~class": "non_retryable" });
    expect(provider.requests).toEqual([]);
  });

  test.each([
    [{ url: "sms" }],
    [{ url: "https://sms.example.com", token: "a\r\nb" }],
    [{ url: "https://sms.example.com", allow: ["https://sms.example.com/path"] }],
  ])("refuses the options %o", (options) => {
    expect(() => smsChannel(options)).toThrow(
      expect.objectContaining({ code: "DEFINITION_INVALID" }),
    );
  });
});

describe("fileDeleteChannel in a folder", () => {
  test("deletes a file, and counts a missing one as deleted", async () => {
    await using place = await openFolder();
    const files = fileDeleteChannel({ folder: place.folder });
    await expect(perform(files, { path: "in/a.txt" })).resolves.toMatchObject({
      payload: { deleted: true },
    });
    await expect(perform(files, { path: "in/a.txt" })).resolves.toMatchObject({
      payload: { deleted: false },
    });
    for (const path of ["no/such/a.txt", "in/b.txt/c.txt"]) {
      await writeFile(join(place.folder, "in/b.txt"), "b");
      await expect(perform(files, { path })).resolves.toMatchObject({
        payload: { deleted: false },
      });
    }
    expect(await place.left()).not.toContain("files/in/a.txt");
  });

  test.each([
    ["a path upwards", "../out/b.txt"],
    ["a path upwards in the middle", "in/../../out/b.txt"],
    ["a path upwards at the end", "in/.."],
    ["a symbolic link to a folder outside", "way/b.txt"],
    ["a symbolic link to a file outside", "link.txt"],
    ["a symbolic link within the folder", "inner.txt"],
    ["a folder", "in"],
    ["the folder itself", "."],
    ["nothing", ""],
    ["a doubled slash", "in//a.txt"],
    ["a backslash", "in\\a.txt"],
    ["a drive", "C:a.txt"],
    ["a symbolic link to itself", "loop/a.txt"],
    ["a name that is too long", `in/${"x".repeat(300)}`],
    ["a folder whose name is too long", `${"x".repeat(300)}/a.txt`],
  ])("refuses %s", async (_, path) => {
    await using place = await openFolder();
    const before = await place.left();
    const files = fileDeleteChannel({ folder: place.folder });
    await expect(perform(files, { path })).rejects.toMatchObject({ "~class": "non_retryable" });
    expect(await place.left()).toEqual(before);
  });

  test("refuses an absolute path, also one that leads into the folder", async () => {
    await using place = await openFolder();
    const files = fileDeleteChannel({ folder: place.folder });
    for (const path of [join(place.folder, "in/a.txt"), join(place.root, "out/b.txt")]) {
      await expect(perform(files, { path })).rejects.toMatchObject({ "~class": "non_retryable" });
    }
    expect(await place.left()).toContain("files/in/a.txt");
  });
});

describe("fileDeleteChannel with signed URLs", () => {
  test.each([
    [204, true, "no body", {}],
    [404, false, "no body", {}],
    [200, true, "more than 64 KB", { body: "x".repeat(70_000) }],
    [404, false, "a body that never ends", { body: "x", isEndless: true }],
  ])("counts the answer %d as deleted: %s, with %s", async (status, deleted, _, answer) => {
    await using provider = await openHttp(() => ({ status, ...answer }));
    const { origin } = provider;
    const files = fileDeleteChannel({
      signedUrl: async ({ key }: { key: string }) => `${origin}/${key}?signature=s`,
      allow: [origin],
    });
    await expect(perform(files, { key: "a.pdf" })).resolves.toMatchObject({ payload: { deleted } });
    expect(provider.requests).toMatchObject([{ method: "DELETE", url: "/a.pdf?signature=s" }]);
  });

  test("requests no address of the own network", async () => {
    const files = fileDeleteChannel({ signedUrl: () => "https://169.254.169.254/a" });
    await expect(perform(files, {})).rejects.toMatchObject({ "~class": "non_retryable" });
  });

  test.each([
    [{}],
    [{ folder: "" }],
    [{ folder: "/srv", signedUrl: () => "" }],
    [{ folder: "/srv", allow: [] }],
    [{ signedUrl: "https://example.com" }],
  ])("refuses the options %o", (options) => {
    expect(() => fileDeleteChannel(unchecked(options))).toThrow(
      expect.objectContaining({ code: "DEFINITION_INVALID" }),
    );
  });
});

/** A real SMTP server on loopback, which refuses every mail with `code`, if there is one. */
async function openSmtp({ code }: { code?: number } = {}) {
  const mails: string[] = [];
  const counted = { sessions: 0 };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onConnect(_, done) {
      counted.sessions += 1;
      done();
    },
    onData(stream, _, done) {
      let text = "";
      stream.on("data", (chunk) => (text += String(chunk)));
      stream.on("end", () => {
        if (code !== undefined) {
          done(Object.assign(new Error("refused"), { responseCode: code }));
          return;
        }
        mails.push(text);
        done();
      });
    },
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.server.address();
  return {
    url: `smtp://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    mails,
    get sessions() {
      return counted.sessions;
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** A folder with files and links, beside a folder that is not to be touched. */
async function openFolder() {
  const root = await realpath(await mkdtemp(join(tmpdir(), "millrace-files-")));
  const folder = join(root, "files");
  await mkdir(join(folder, "in"), { recursive: true });
  await mkdir(join(root, "out"));
  await writeFile(join(folder, "in/a.txt"), "a");
  await writeFile(join(root, "out/b.txt"), "b");
  await symlink(join(root, "out"), join(folder, "way"));
  await symlink(join(root, "out/b.txt"), join(folder, "link.txt"));
  await symlink(join(folder, "in/a.txt"), join(folder, "inner.txt"));
  await symlink("loop", join(folder, "loop"));
  return {
    root,
    folder,
    left: async () => (await readdir(root, { recursive: true })).toSorted(),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}
