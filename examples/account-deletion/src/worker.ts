/** The worker: four task types, each a door to SQL. It knows nothing of accounts and files. */
import type { AnyJob } from "millrace";
import { dbFunction, emailChannel, fileDeleteChannel, smsChannel } from "millrace/channels";
import { signedDeleteUrl, type FileMessage } from "./files-service.ts";

/** Where the worker reaches the world. */
export interface Services {
  /** Such as `smtp://127.0.0.1:2525`. */
  readonly smtp: string;
  readonly sms: string;
  readonly files: string;
}

export function jobsOf({ smtp, sms, files }: Services): AnyJob[] {
  return [
    dbFunction(),
    emailChannel({ smtp, from: "Accounts <no-reply@example.com>" }),
    // The services of this example are on this machine, which a channel must be told to reach.
    smsChannel({ url: sms, allow: [new URL(sms).origin] }),
    fileDeleteChannel({
      signedUrl: (message: FileMessage) => signedDeleteUrl(files, message),
      allow: [new URL(files).origin],
    }),
  ];
}
