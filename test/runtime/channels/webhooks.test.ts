/** `webhookChannel` with a real receiver; the package `standardwebhooks` verifies what it gets. */
import assert from "node:assert/strict";
import { defineJob } from "millrace";
import { webhookChannel } from "millrace/channels";
import { perform } from "millrace/testing";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { openHttp } from "../../support/channels/http-receiver.ts";
import { openTest, unchecked } from "../support.ts";

const OLD = secretOf("the old one");
const NEW = secretOf("the new one");
const EVENT = { type: "invoice.paid", data: { invoice: 7, note: "Grüße 😀" } };

describe("webhookChannel", () => {
  test("posts a message that the public package verifies", async () => {
    await using receiver = await openHttp(() => ({ status: 204 }));
    const webhook = webhookChannel({ secrets: [NEW], allow: [receiver.origin] });
    const url = `${receiver.origin}/hooks?source=mill`;
    const message = { ...EVENT, url, timestamp: "2030-01-31T09:30:00Z" };

    const { payload } = await perform(webhook, message);

    const [asked] = receiver.requests;
    assert(asked !== undefined);
    expect(asked).toMatchObject({
      method: "POST",
      url: "/hooks?source=mill",
      headers: { "content-type": "application/json" },
    });
    expect(verified(asked, NEW)).toEqual({ ...EVENT, timestamp: "2030-01-31T09:30:00Z" });
    expect(payload).toEqual({ id: asked.headers["webhook-id"], status: 204 });
    const changed = { ...asked, body: asked.body.replace("7", "8") };
    expect(() => verified(changed, NEW)).toThrow("No matching signature");
    expect(() => verified(asked, OLD)).toThrow("No matching signature");
  });

  test("signs with each secret, so that one can be replaced", async () => {
    await using receiver = await openHttp(() => ({ status: 200 }));
    const webhook = webhookChannel({ secrets: [NEW, OLD], allow: [receiver.origin] });

    await perform(webhook, { ...EVENT, url: receiver.origin });

    const [asked] = receiver.requests;
    expect(asked?.headers["webhook-signature"]).toMatch(/^v1,\S{44} v1,\S{44}$/);
    for (const secret of [NEW, OLD]) expect(verified(asked, secret)).toEqual(EVENT);
  });

  test("asks for the secrets of the receiver, and sends nothing without one", async () => {
    await using receiver = await openHttp(() => ({ status: 200 }));
    const { origin } = receiver;
    const known: Record<string, readonly string[]> = { [`${origin}/a`]: [OLD] };
    const webhook = webhookChannel({
      secrets: async ({ url }) => known[url] ?? [],
      allow: [origin],
    });

    await perform(webhook, { ...EVENT, url: `${origin}/a` });

    expect(verified(receiver.requests[0], OLD)).toEqual(EVENT);
    await expect(perform(webhook, { ...EVENT, url: `${origin}/b` })).rejects.toMatchObject({
      "~class": "non_retryable",
    });
    expect(receiver.requests).toHaveLength(1);
  });

  test("has one id in all attempts of a task, which is that of the job", async () => {
    await using receiver = await openHttp((n) => ({ status: n === 1 ? 503 : 200 }));
    await using kit = await openTest();
    const { origin } = receiver;
    const webhook = webhookChannel({ secrets: [NEW], allow: [origin], retryOwner: "queue" });
    const job = await kit.mill.enqueue(webhook, { ...EVENT, url: origin });

    await kit.drain([webhook]);
    await kit.advance("1m");
    await kit.drain([webhook]);

    expect(await kit.mill.result(job)).toMatchObject({ payload: { id: job.id, status: 200 } });
    const [first, second] = receiver.requests.map(({ headers }) => headers);
    expect(receiver.requests).toHaveLength(2);
    expect([first?.["webhook-id"], second?.["webhook-id"]]).toEqual([job.id, job.id]);
    // The time is that of the attempt, in seconds.
    const waited = Number(second?.["webhook-timestamp"]) - Number(first?.["webhook-timestamp"]);
    expect(waited).toBeGreaterThan(0);
    expect(first?.["webhook-timestamp"]).toMatch(/^\d{10}$/);
  });

  test("has the same id again when the worker died after the answer of the receiver", async () => {
    await using kit = await openTest();
    await using receiver = await openHttp((n) => {
      if (n === 1) kit.crashAt("record");
      return { status: 200 };
    });
    const webhook = webhookChannel({ secrets: [NEW], allow: [receiver.origin] });
    const job = await kit.mill.enqueue(webhook, { ...EVENT, url: receiver.origin });
    await kit.drain([webhook]);
    // Another worker rescues the job.
    const rescuer = kit.mill.work({ jobs: [defineJob({ type: "other" }).run(() => {})] });
    await kit.advance("2m");
    await rescuer.stop();

    await kit.drain([webhook]);

    expect(await kit.mill.result(job)).toMatchObject({ payload: { id: job.id } });
    const ids = receiver.requests.map(({ headers }) => headers["webhook-id"]);
    expect(ids).toEqual([job.id, job.id]);
  });

  test("has the id that the message sets", async () => {
    await using receiver = await openHttp(() => ({ status: 200 }));
    const webhook = webhookChannel({ secrets: [NEW], allow: [receiver.origin] });
    await perform(webhook, { ...EVENT, url: receiver.origin, idempotencyKey: "invoice-7" });
    expect(receiver.requests).toMatchObject([{ headers: { "webhook-id": "invoice-7" } }]);
  });

  test.each([
    [301, { location: "http://169.254.169.254/" }, { "~class": "non_retryable" }],
    [304, {}, { "~class": "non_retryable" }],
    [400, {}, { "~class": "non_retryable" }],
    [404, {}, { "~class": "non_retryable" }],
    [410, {}, { "~class": "non_retryable" }],
    [408, {}, { "~class": "transient" }],
    [500, {}, { "~class": "transient" }],
    [502, {}, { "~class": "transient" }],
    [429, {}, { "~class": "rate_limited", retryAfter: undefined }],
    [429, { "retry-after": "30" }, { "~class": "rate_limited", retryAfter: 30_000 }],
  ])("counts the answer %d with %o as %o", async (status, headers, thrown) => {
    await using receiver = await openHttp(() => ({ status, headers }));
    const { origin } = receiver;
    const retries = { retryOwner: "queue", maxAttempts: 2 } as const;
    const webhook = webhookChannel({ secrets: [NEW], allow: [origin], ...retries });
    await expect(perform(webhook, { ...EVENT, url: origin })).rejects.toMatchObject(thrown);
    expect(receiver.requests).toHaveLength(1);
  });

  test.each([
    [200, "is longer than 64 KB", { body: "x".repeat(70_000) }, { payload: { status: 200 } }],
    [202, "never ends", { body: "x", isEndless: true }, { payload: { status: 202 } }],
  ])("has arrived with the answer %d, the body of which %s", async (status, _, answer, done) => {
    await using receiver = await openHttp(() => ({ status, ...answer }));
    const webhook = webhookChannel({ secrets: [NEW], allow: [receiver.origin] });

    expect(await perform(webhook, { ...EVENT, url: receiver.origin })).toMatchObject(done);
    expect(receiver.requests).toHaveLength(1);
  });

  test("counts the status of an answer with an endless body", async () => {
    await using receiver = await openHttp(() => ({ status: 410, body: "x", isEndless: true }));
    const webhook = webhookChannel({ secrets: [NEW], allow: [receiver.origin] });
    const sent = perform(webhook, { ...EVENT, url: receiver.origin });
    await expect(sent).rejects.toMatchObject({ "~class": "non_retryable" });
  });

  test("reaches nothing on this machine that is not allowed", async () => {
    await using receiver = await openHttp(() => ({ status: 200 }));
    const webhook = webhookChannel({ secrets: [NEW] });
    const message = { ...EVENT, url: receiver.origin };
    await expect(perform(webhook, message)).rejects.toMatchObject({ "~class": "non_retryable" });
    expect(receiver.requests).toEqual([]);
  });

  test.each([
    ["no URL", { ...EVENT }],
    ["a path as URL", { ...EVENT, url: "/hooks" }],
    ["no type", { data: 1, url: "https://example.com" }],
    ["no data", { type: "a", url: "https://example.com" }],
    ["a line break in the id", { ...EVENT, url: "https://example.com", idempotencyKey: "a\r\nb" }],
    ["another field", { ...EVENT, url: "https://example.com", headers: {} }],
  ])("refuses %s in a message", async (_, message) => {
    const webhook = webhookChannel({ secrets: [NEW] });
    await expect(perform(webhook, unchecked(message))).rejects.toMatchObject({
      "~class": "non_retryable",
    });
  });

  test.each([
    [OLD],
    [[OLD]],
    [{}],
    [{ secrets: [] }],
    [{ secrets: "whsec_" }],
    [{ secrets: [NEW.slice("whsec_".length)] }],
    [{ secrets: ["whsec_c2hvcnQ="] }],
    [{ secrets: [`whsec_${Buffer.alloc(65).toString("base64")}`] }],
    [{ secrets: [NEW, `${OLD}\n`] }],
    [{ secrets: [NEW], url: "https://example.com" }],
  ])("refuses the options %o, and shows no secret", (options) => {
    const declare = (): unknown => webhookChannel(unchecked(options));
    expect(declare).toThrow(expect.objectContaining({ code: "DEFINITION_INVALID" }));
    expect(declare).not.toThrow(OLD);
  });
});

function secretOf(text: string): string {
  return `whsec_${Buffer.alloc(32, text).toString("base64")}`;
}

type Asked = Awaited<ReturnType<typeof openHttp>>["requests"][number];

/** What a receiver reads; it throws if the signature is wrong. */
function verified(asked: Asked | undefined, secret: string): unknown {
  const headers = asked?.headers ?? {};
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return new Webhook(secret).verify(asked?.body ?? "", Object.fromEntries(texts));
}
