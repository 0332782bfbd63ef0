/** `fileDeleteChannel`: deletes files, in a folder or through signed URLs. */
import { insideOf } from "../api/channels/run-inside.ts";
import type { Context } from "../api/context.ts";
import { aFunction, aName, anObject, insist, isObject } from "../api/rules.ts";
import {
  CHANNEL_RULES,
  defineChannel,
  type Channel,
  type ChannelSettings,
} from "./define-channel.ts";
import { askProvider } from "./http-provider.ts";
import { deleteInFolder } from "./local-folder.ts";
import { aHeaderValue, aText, messageOf, someOrigins } from "./message-rules.ts";

/** What a before handler answers for a file in the folder of the channel. */
export interface FileMessage {
  /** Relative to the folder, with `/` in between. */
  readonly path: string;
}

/** The files are in a folder of this machine. */
export interface FolderOptions<Name extends string> extends ChannelSettings {
  /** Default: `file_delete`. */
  readonly type?: Name;
  readonly folder: string;
}

/** The files are in a store that signs URLs. */
export interface SignedUrlOptions<Name extends string> extends ChannelSettings {
  /** Default: `file_delete`. */
  readonly type?: Name;
  /** Returns a signed URL for the request DELETE. The message is that of the before handler. */
  readonly signedUrl: (message: any, ctx: Context<{}, {}>) => string | Promise<string>;
  /** Origins that may be requested although they are no public https. */
  readonly allow?: readonly string[];
}

const SETTINGS = { ...CHANNEL_RULES, type: aName };
const FOLDER = anObject(
  { required: { folder: aHeaderValue }, optional: SETTINGS },
  'an object such as { folder: "/srv/files" }',
);
const SIGNED = anObject(
  { required: { signedUrl: aFunction }, optional: { ...SETTINGS, allow: someOrigins } },
  "an object such as { signedUrl: async (message) => url }",
);
const MESSAGE = anObject(
  { required: { path: aText }, optional: {} },
  'an object such as { path: "a/b.pdf" }',
);

const NOT_FOUND = 404;

/**
 * Declares a channel that deletes files. A file that does not exist counts as deleted. With
 * `folder`, the path must lead to a file within the folder, also after all symbolic links. With
 * `signedUrl`, the file is deleted by a request DELETE to the URL.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, readdir, writeFile } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { fileDeleteChannel } from "millrace/channels";
 * import { perform } from "millrace/testing";
 *
 * const folder = await mkdtemp(join(tmpdir(), "files-"));
 * await writeFile(join(folder, "a.txt"), "Hello");
 * const files = fileDeleteChannel({ folder });
 *
 * const { payload } = await perform(files, { path: "a.txt" });
 * assert.deepEqual(payload, { deleted: true });
 * assert.deepEqual(await readdir(folder), []);
 * ```
 */
export function fileDeleteChannel<const Name extends string = "file_delete">(
  options: FolderOptions<Name> | SignedUrlOptions<Name>,
): Channel<Name> {
  const isSigned = isObject(options) && "signedUrl" in options;
  insist("fileDeleteChannel", isSigned ? SIGNED : FOLDER, options, "");
  const channel = "signedUrl" in options ? signedChannel(options) : folderChannel(options);
  // The default type has the name of the type parameter, which the compiler cannot know.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Only the compiler knows it.
  return channel as Channel<Name>;
}

function folderChannel({
  folder,
  type = "file_delete",
  ...settings
}: FolderOptions<string>): Channel<string> {
  return defineChannel({
    ...settings,
    type,
    message: messageOf<FileMessage>(MESSAGE),
    send: async ({ path }) => ({ deleted: await deleteInFolder(folder, path) }),
  });
}

function signedChannel({
  signedUrl,
  allow = [],
  type = "file_delete",
  ...settings
}: SignedUrlOptions<string>): Channel<string> {
  return defineChannel({
    services: [type],
    ...settings,
    type,
    send: async (message: unknown, ctx) => {
      const url = await signedUrl(message, ctx);
      const { signal } = ctx;
      const request = { url, method: "DELETE", signal, ignoresBody: true } as const;
      const isDone = (answered: number): boolean => answered === NOT_FOUND;
      const { status } = await askProvider(request, { allow, now: insideOf(ctx).now(), isDone });
      return { deleted: status !== NOT_FOUND };
    },
  });
}
