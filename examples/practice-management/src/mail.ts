/** Mail that comes in, and notifications that go out. */
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { NonRetryableError, RateLimitedError, RetryableError, TransientError } from "millrace";
import { rowsOf } from "./database.ts";
import type { FirmPayload } from "./payload-validator.ts";
import { connectionFolder, writeWhole, type Practice } from "./practice.ts";

export type MessageRef = FirmPayload & {
  readonly connection_id: number;
  readonly external_message_id: string;
};
export type NotificationRef = FirmPayload & { readonly notification_id: number };

/** Stores a message of a mailbox, which is a folder with one file per message. */
export function fetchMail(practice: Practice, ref: MessageRef): { fetched_count: number } {
  const { tenant_id: firm, connection_id: connection, external_message_id: message } = ref;
  const mailbox = connectionFolder(practice, firm, connection);
  if (mailbox === null) throw new NonRetryableError(`there is no connection ${connection}`);
  refuseClosed(mailbox);
  // The id comes from outside and must not lead out of the folder.
  const file = join(mailbox, `${basename(message)}.eml`);
  if (!existsSync(file)) throw new RetryableError(`message ${message} is not there yet`);
  const added = practice.db
    .prepare(
      `INSERT INTO email (firm_id, connection_id, external_message_id, raw)
       VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    )
    .run(firm, connection, message, readFileSync(file, "utf8"));
  return { fetched_count: Number(added.changes) };
}

/** A mail server says so in its answers; here a file in the folder does. */
function refuseClosed(mailbox: string): void {
  if (existsSync(join(mailbox, "offline"))) throw new TransientError("the mail server hung up");
  if (existsSync(join(mailbox, "busy"))) throw new RateLimitedError("too many requests");
}

/** Reads the headers of a stored message and maps its sender to a client of the firm. */
export function parseMail({ db }: Practice, ref: MessageRef): { client: string | null } {
  const key = [ref.tenant_id, ref.connection_id, ref.external_message_id] as const;
  const here = "firm_id = ? AND connection_id = ? AND external_message_id = ?";
  const [email] = rowsOf<{ raw: string }>(db, `SELECT raw FROM email WHERE ${here}`, ...key);
  if (email === undefined) throw new NonRetryableError("the message was never fetched");
  const sender = headerOf(email.raw, "From");
  const [client] = rowsOf<{ name: string }>(
    db,
    "SELECT name FROM client WHERE firm_id = ? AND address = ?",
    ref.tenant_id,
    sender,
  );
  const name = client?.name ?? null;
  db.prepare(`UPDATE email SET subject = ?, client = ? WHERE ${here}`).run(
    headerOf(email.raw, "Subject"),
    name,
    ...key,
  );
  return { client: name };
}

function headerOf(raw: string, name: string): string {
  return new RegExp(`^${name}: *(.+)$`, "im").exec(raw)?.[1]?.trim() ?? "";
}

/** Puts a mail into the outbox, under the number of the notification: a repeat replaces it. */
export function sendEmail(practice: Practice, ref: NotificationRef): { sent: string } {
  const { recipient, subject } = notificationOf(practice, ref);
  const name = `notification-${ref.notification_id}.eml`;
  const mail = `To: ${recipient}\nSubject: ${subject}\n`;
  writeWhole(join(practice.folder, String(ref.tenant_id), "outbox", name), mail);
  return { sent: name };
}

export function showInApp(practice: Practice, ref: NotificationRef): { shown: number } {
  notificationOf(practice, ref);
  practice.db.prepare("UPDATE notification SET shown = 1 WHERE id = ?").run(ref.notification_id);
  return { shown: ref.notification_id };
}

function notificationOf(
  { db }: Practice,
  { tenant_id: firm, notification_id: id }: NotificationRef,
): { recipient: string; subject: string } {
  const [found] = rowsOf<{ recipient: string; subject: string }>(
    db,
    "SELECT recipient, subject FROM notification WHERE firm_id = ? AND id = ?",
    firm,
    id,
  );
  if (found === undefined) throw new NonRetryableError(`there is no notification ${id}`);
  return found;
}
