/** `smsChannel`: text messages through a provider with a simple HTTP interface. */
import { insideOf } from "../api/channels/run-inside.ts";
import { aName, anObject, insist } from "../api/rules.ts";
import {
  CHANNEL_RULES,
  defineChannel,
  type Channel,
  type ChannelSettings,
} from "./define-channel.ts";
import { askProvider } from "./http-provider.ts";
import {
  aHeaderValue,
  anIdempotencyKey,
  aText,
  aUrl,
  messageOf,
  someOrigins,
} from "./message-rules.ts";

/** What a before handler answers for a text message. */
export interface SmsMessage {
  readonly to: string;
  readonly text: string;
  /** The sender, if the provider lets one choose. */
  readonly from?: string;
  /** What is sent as `id` and as `Idempotency-Key`. Default: the id of the job. */
  readonly idempotencyKey?: string;
}

export interface SmsOptions<Name extends string> extends ChannelSettings {
  /** Default: `sms`. */
  readonly type?: Name;
  /** The URL to which messages are posted. https, unless `allow` has its origin. */
  readonly url: string;
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string | undefined;
  /** Origins that may be requested although they are no public https. */
  readonly allow?: readonly string[];
}

const OPTIONS = anObject(
  {
    required: { url: aUrl },
    optional: { ...CHANNEL_RULES, type: aName, token: aHeaderValue, allow: someOrigins },
  },
  'an object such as { url: "https://sms.example.com/messages" }',
);

const MESSAGE = anObject(
  {
    required: { to: aHeaderValue, text: aText },
    optional: { from: aHeaderValue, idempotencyKey: anIdempotencyKey },
  },
  'an object such as { to: "+43 1 123", text: "Hello" }',
);

/** The part of an answer that is JSON; another answer is of no use to a handler. */
function jsonOf(text: string): unknown {
  try {
    // An id with more digits than a number of JavaScript has is handed on as a text.
    return JSON.parse(text, (_, value, at?: { source?: string }) =>
      Number.isInteger(value) && !Number.isSafeInteger(value) ? (at?.source ?? value) : value,
    );
  } catch {
    return null;
  }
}

/**
 * Declares a channel that posts text messages: `POST` with the JSON `{ id, to, text, from }`. The
 * header `Idempotency-Key` is the id of the job, or the `idempotencyKey` of the message. 2xx means
 * sent. 429 with `Retry-After` parks the service, 5xx, 408 and 425 may be tried again, and every
 * other answer is final.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { smsChannel } from "millrace/channels";
 *
 * const sms = smsChannel({ url: "https://sms.example.com/messages", token: "secret" });
 * assert.equal(sms.type, "sms");
 * ```
 */
export function smsChannel<const Name extends string = "sms">(
  options: SmsOptions<Name>,
): Channel<Name> {
  insist("smsChannel", OPTIONS, options, "");
  const { url, token, allow = [], type = "sms", ...settings } = options;
  const channel = defineChannel({
    services: [type],
    ...settings,
    type,
    message: messageOf<SmsMessage>(MESSAGE),
    send: async ({ idempotencyKey, ...message }, ctx) => {
      const { job, signal } = ctx;
      const id = idempotencyKey ?? job.id;
      const headers = {
        "content-type": "application/json",
        "idempotency-key": id,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      };
      const body = JSON.stringify({ id, ...message });
      const request = { url, method: "POST", headers, body, signal } as const;
      const answer = await askProvider(request, { allow, now: insideOf(ctx).now() });
      return { status: answer.status, answer: jsonOf(answer.body) };
    },
  });
  // The default type has the name of the type parameter, which the compiler cannot know.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Only the compiler knows it.
  return channel as unknown as Channel<Name>;
}
