/**
 * The object store: a folder with a folder for each bucket, behind a service that signs URLs. A
 * signed URL allows one method on one object for a minute.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";

/** A file, as `files.get_file_delete_payload` names it. */
export interface FileMessage {
  readonly bucket: string;
  readonly object_key: string;
}

export interface FilesService extends AsyncDisposable {
  /** The address of the service, without a slash at its end. */
  readonly url: string;
}

const VALID_MS = 60_000;

/** Serves the objects in a folder. */
export async function startFilesService(folder: string): Promise<FilesService> {
  const secret = randomBytes(32);
  const server = createServer((request, response) => {
    const address = new URL(request.url ?? "/", "http://service");
    const answering =
      address.pathname === "/sign"
        ? sign(address, secret, response)
        : remove({ folder, secret, request, address }, response);
    answering.catch(() => end(response, 500));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Asks the service for a URL that deletes a file. */
export async function signedDeleteUrl(service: string, message: FileMessage): Promise<string> {
  const { bucket, object_key } = message;
  const query = new URLSearchParams({ bucket, object_key });
  const answer = await fetch(`${service}/sign?${query.toString()}`, { method: "POST" });
  if (!answer.ok) throw new Error(`the files service answered ${answer.status}`);
  return new URL(await answer.text(), service).href;
}

/** `POST /sign`: the path of a signed URL. */
async function sign(address: URL, secret: Buffer, response: ServerResponse): Promise<void> {
  const bucket = address.searchParams.get("bucket") ?? "";
  const key = address.searchParams.get("object_key") ?? "";
  if (!isName(bucket) || !isName(key)) return end(response, 400);
  const expires = `${Date.now() + VALID_MS}`;
  const signature = signatureOf(secret, bucket, key, expires);
  end(response, 200, `/objects/${bucket}/${key}?expires=${expires}&signature=${signature}`);
}

interface Removal {
  readonly folder: string;
  readonly secret: Buffer;
  readonly request: IncomingMessage;
  readonly address: URL;
}

/** `DELETE /objects/BUCKET/KEY`. An object that is gone already answers 404. */
async function remove(
  { folder, secret, request, address }: Removal,
  response: ServerResponse,
): Promise<void> {
  const [, bucket = "", key = ""] = /^\/objects\/([^/]+)\/([^/]+)$/.exec(address.pathname) ?? [];
  const expires = address.searchParams.get("expires") ?? "";
  const given = Buffer.from(address.searchParams.get("signature") ?? "");
  const expected = Buffer.from(signatureOf(secret, bucket, key, expires));
  const isSigned = given.length === expected.length && timingSafeEqual(given, expected);
  if (request.method !== "DELETE" || !isSigned || Number(expires) < Date.now()) {
    return end(response, 403);
  }
  // A bucket that does not exist is a mistake of the configuration, and no deleted object.
  if (!existsSync(join(folder, bucket))) return end(response, 403, "there is no such bucket");
  const file = join(folder, bucket, key);
  if (!existsSync(file)) return end(response, 404);
  await rm(file);
  end(response, 204);
}

function signatureOf(secret: Buffer, ...parts: readonly string[]): string {
  return createHmac("sha256", secret)
    .update(["DELETE", ...parts].join("\n"))
    .digest("hex");
}

/** A name has no slash and is no step to another folder. */
function isName(text: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,99}$/i.test(text);
}

function end(response: ServerResponse, status: number, text = ""): void {
  response.writeHead(status).end(text);
}
