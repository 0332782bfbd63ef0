/** `millrace/channels`: jobs that call functions and providers, and jobs that supervise them. */
// oxlint-disable-next-line import/no-unassigned-import -- It throws on an old Node.
import "../lib/require-node.ts";
export { defineChannel } from "./define-channel.ts";
export type { Channel, ChannelDefinition, ChannelSettings } from "./define-channel.ts";
export { dbFunction } from "./db-function.ts";
export type { ChannelTask, FunctionTask } from "./tasks.ts";
export type { Envelope } from "../core/channels/envelope.ts";
export { emailChannel } from "./email.ts";
export type { EmailMessage, EmailOptions } from "./email.ts";
export type { EmailAddress } from "./mail-addresses.ts";
export { smsChannel } from "./sms.ts";
export type { SmsMessage, SmsOptions } from "./sms.ts";
export { fileDeleteChannel } from "./file-delete.ts";
export type { FileMessage, FolderOptions, SignedUrlOptions } from "./file-delete.ts";
export { webhookChannel } from "./webhook.ts";
export type { WebhookMessage, WebhookOptions } from "./webhook.ts";
export { defineSupervisor } from "./supervisor.ts";
export type {
  SupervisedStuck,
  SupervisedSuccess,
  Supervisor,
  SupervisorBackoff,
  SupervisorDefinition,
  SupervisorSettings,
} from "./supervisor.ts";
