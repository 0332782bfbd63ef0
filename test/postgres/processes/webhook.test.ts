/** A process whose channel is `webhook`, from its migration to the request that a receiver gets. */
import { dbFunction, webhookChannel } from "millrace/channels";
import { openMillrace } from "millrace";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openHttp } from "../../support/channels/http-receiver.ts";
import { Installations } from "./installation.ts";

const SECRET = `whsec_${Buffer.alloc(32, "of a test").toString("base64")}`;

let installations: Installations;
beforeAll(async () => {
  installations = await Installations.start();
});
afterAll(() => installations[Symbol.asyncDispose]());

test("a process with --channel webhook makes tasks that webhookChannel sends", async () => {
  await using receiver = await openHttp(() => ({ status: 200 }));
  await using made = await installations.open();
  const { origin } = receiver;
  await made.add("billing.tell_paid", { channel: "webhook", root: "invoice_id:bigint" });
  await made.sql.query(`CREATE OR REPLACE FUNCTION billing.get_tell_paid_payload(_payload jsonb)
    RETURNS jsonb LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    RETURN jsonb_build_object('status', 'succeeded', 'payload', jsonb_build_object(
      'url', '${origin}/hooks', 'type', 'invoice.paid', 'data', jsonb_build_object('invoice', 7),
      'idempotencyKey', 'invoice-paid-7'))`);
  await using mill = await openMillrace(made.url);
  mill.work({ jobs: [dbFunction(), webhookChannel({ secrets: [SECRET], allow: [origin] })] });

  await made.value("SELECT billing.kickoff_tell_paid(7)");

  const isDone = "SELECT billing.has_tell_paid_succeeded_attempt(1)";
  await vi.waitUntil(() => made.value(isDone), { timeout: 15_000 });
  const [{ headers, body } = { headers: {}, body: "" }, ...more] = receiver.requests;
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  expect(new Webhook(SECRET).verify(body, Object.fromEntries(texts))).toEqual({
    type: "invoice.paid",
    data: { invoice: 7 },
  });
  expect(headers).toMatchObject({ "webhook-id": "invoice-paid-7" });
  expect(more).toEqual([]);
});
