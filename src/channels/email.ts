/** `emailChannel`: mails through an SMTP server. */
import { MillraceError } from "../core/errors.ts";
import { propertyOf } from "../core/fault.ts";
import type { Context } from "../api/context.ts";
import { aName, anObject, insist, must, type Rule } from "../api/rules.ts";
import {
  CHANNEL_RULES,
  defineChannel,
  type Channel,
  type ChannelSettings,
} from "./define-channel.ts";
import { addressesOf, anAddress, someAddresses, type EmailAddress } from "./mail-addresses.ts";
import { mailError } from "./mail-error.ts";
import { aHeaderValue, anIdempotencyKey, aText, messageOf } from "./message-rules.ts";

/** What a before handler answers for a mail. A text, a page, or both. */
export interface EmailMessage {
  readonly to: EmailAddress | readonly EmailAddress[];
  readonly cc?: EmailAddress | readonly EmailAddress[];
  readonly bcc?: EmailAddress | readonly EmailAddress[];
  /** Default: `from` of the channel. */
  readonly from?: EmailAddress;
  readonly replyTo?: EmailAddress;
  readonly subject: string;
  readonly text?: string;
  readonly html?: string;
  /** Further headers, such as `List-Unsubscribe`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The part of the Message-ID before the `@`. Default: the id of the job. */
  readonly idempotencyKey?: string;
}

export interface EmailOptions<Name extends string> extends ChannelSettings {
  /** Default: `email`. */
  readonly type?: Name;
  /** Such as `smtps://user:password@mail.example`. */
  readonly smtp: string;
  /** Such as `Example <no-reply@mail.example>`. */
  readonly from: EmailAddress;
}

/** Longer than an SMTP server needs for one answer; the whole mail has `sendTimeout`. */
const ANSWER_MS_MAX = 30_000;

const anSmtpUrl = must(
  (value) =>
    typeof value === "string" && URL.canParse(value) && /^smtps?:$/.test(new URL(value).protocol),
  'a URL such as "smtp://127.0.0.1:2525"',
);

const OPTIONS = anObject(
  {
    required: { smtp: anSmtpUrl, from: anAddress },
    optional: { ...CHANNEL_RULES, type: aName },
  },
  'an object such as { smtp: "smtp://127.0.0.1:2525", from: "no-reply@example.com" }',
);

const MESSAGE = anObject(
  {
    required: { to: someAddresses, subject: aHeaderValue },
    optional: {
      cc: someAddresses,
      bcc: someAddresses,
      from: anAddress,
      replyTo: anAddress,
      text: aText,
      html: aText,
      headers: someHeaders,
      idempotencyKey: anIdempotencyKey,
    },
  },
  'an object such as { to: "ada@example.com", subject: "Hello", text: "…" }',
);

/** Headers that the channel writes itself. */
const OWN_HEADERS =
  /^(from|to|cc|bcc|reply-to|subject|message-id|sender|date|content-.*|mime-.*)$/i;

/**
 * Declares a channel that sends mails through an SMTP server. It needs the package `nodemailer`.
 * The Message-ID is made of the id of the job, unless the message has an `idempotencyKey`: a mail
 * that was sent twice after a crash can be told apart from two mails. A line break in a header is
 * refused. A mail that the server refuses with 5xx fails for good; what concerns the server or the
 * account may be tried again.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { emailChannel } from "millrace/channels";
 *
 * const email = emailChannel({ smtp: "smtp://127.0.0.1:2525", from: "no-reply@example.com" });
 * assert.equal(email.type, "email");
 * assert.deepEqual(email.phases, ["before", "send", "record"]);
 * ```
 */
export function emailChannel<const Name extends string = "email">(
  options: EmailOptions<Name>,
): Channel<Name> {
  insist("emailChannel", OPTIONS, options, "");
  const { smtp, from, type = "email", ...settings } = options;
  let transport: Promise<Transport> | null = null;
  const channel = defineChannel({
    services: [type],
    ...settings,
    type,
    message: messageOf<EmailMessage>(MESSAGE),
    send: async (message, ctx) => {
      transport ??= connect(smtp);
      return sendMail(await transport, mailOf(message, from, ctx));
    },
  });
  // The default type has the name of the type parameter, which the compiler cannot know.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Only the compiler knows it.
  return channel as unknown as Channel<Name>;
}

/** The part of a transport of `nodemailer` that is used. */
interface Transport {
  sendMail(mail: object): Promise<{
    readonly messageId: string;
    readonly accepted: readonly unknown[];
    readonly rejected: readonly unknown[];
    readonly response: string;
  }>;
}

async function connect(url: string): Promise<Transport> {
  const { createTransport } = await importMailer();
  return createTransport({
    url,
    // A message is data: it names no file and no URL to read.
    disableFileAccess: true,
    disableUrlAccess: true,
    connectionTimeout: ANSWER_MS_MAX,
    greetingTimeout: ANSWER_MS_MAX,
    socketTimeout: ANSWER_MS_MAX,
  });
}

async function importMailer(): Promise<typeof import("nodemailer")> {
  try {
    return await import("nodemailer");
  } catch (cause) {
    const isMissing = propertyOf(cause, "code") === "ERR_MODULE_NOT_FOUND";
    const message = isMissing
      ? 'emailChannel needs the package "nodemailer": npm i nodemailer'
      : `the package "nodemailer" cannot be loaded: ${String(cause)}`;
    throw new MillraceError("OPTION_INVALID", message, { cause });
  }
}

/** Field by field, so that a message cannot set other options of the library. */
function mailOf(
  { to, cc, bcc, from, replyTo, subject, text, html, headers, idempotencyKey }: EmailMessage,
  fromDefault: EmailAddress,
  { job, signal }: Context<{}, {}>,
): object {
  const [sender] = addressesOf(from ?? fromDefault);
  const domain = /@([\w.-]+)$/.exec(sender?.address ?? "")?.[1] ?? "millrace.invalid";
  return {
    from: sender,
    to: addressesOf(to),
    cc: addressesOf(cc),
    bcc: addressesOf(bcc),
    replyTo: addressesOf(replyTo),
    subject,
    text,
    html,
    headers,
    messageId: `<${idempotencyKey ?? job.id.toLowerCase()}@${domain}>`,
    // Each mail has a connection of its own, which an abort closes: nothing is sent afterwards.
    signal,
  };
}

async function sendMail(transport: Transport, mail: object): Promise<unknown> {
  try {
    const { messageId, accepted, rejected, response } = await transport.sendMail(mail);
    return { messageId, accepted, rejected, response };
  } catch (error) {
    throw mailError(error);
  }
}

function someHeaders(value: unknown, place: string): ReturnType<Rule> {
  if (typeof value !== "object" || value === null) {
    return { place, problem: "must be an object of texts" };
  }
  for (const [name, text] of Object.entries(value)) {
    if (!/^[A-Za-z0-9-]{1,100}$/.test(name))
      return { place, problem: "has a name with other signs" };
    if (OWN_HEADERS.test(name)) return { place, problem: `must not have ${name}` };
    const mismatch = aHeaderValue(text, `${place}.${name}`);
    if (mismatch !== null) return mismatch;
  }
  return null;
}
