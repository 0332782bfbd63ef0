/** The files of the dashboard, and the link that signs a browser in. */
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Context, Hono } from "hono";
import type { AppParts } from "../parts.ts";
import { openSession } from "../routes/session.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".md": "text/markdown; charset=utf-8",
};
/** The build names these files after their content, so that a browser may keep them for ever. */
const NAMED_BY_CONTENT = "/assets/";
const FOREVER = "public, max-age=31536000, immutable";

interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  readonly caching: string;
}

/** The page needs no credential: it has no data, and asks for one. */
export function servePage(app: Hono, parts: AppParts): void {
  const { pageFolder } = parts;
  if (pageFolder === null) return;
  app.use("/", async (context, next) => {
    const code = context.req.query("login");
    if (code === undefined) return next();
    const identity = parts.links.redeem(code);
    const headers = { location: `${parts.base}/` };
    if (identity === null) return new Response(null, { status: 303, headers });
    const cookie = await openSession(parts, context.req.raw, { identity, parentId: null });
    return new Response(null, { status: 303, headers: { ...headers, "set-cookie": cookie } });
  });
  let files: Promise<ReadonlyMap<string, PageFile>> | null = null;
  const serve = async (context: Context): Promise<Response> => {
    files ??= readFiles(pageFolder);
    const file = (await files).get(context.req.path);
    return file === undefined ? context.notFound() : answerWith(file, context);
  };
  for (const path of ["/", "/icon.svg", "/licences.md", "/assets/:file"]) app.get(path, serve);
}

function answerWith(file: PageFile, context: Context): Response {
  const isGzip = /\bgzip\b/.test(context.req.header("accept-encoding") ?? "");
  return new Response(isGzip ? file.gzipped : file.bytes, {
    headers: {
      "content-type": file.type,
      "cache-control": file.caching,
      vary: "accept-encoding",
      ...(isGzip ? { "content-encoding": "gzip" } : {}),
    },
  });
}

/** All files at once: they are few and small, and a request must not name a path of the disk. */
async function readFiles(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter(
    (entry) => entry.isFile() && TYPES[extname(entry.name)] !== undefined,
  );
  const read = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    const place = `/${relative(folder, path).split(sep).join("/")}`;
    const bytes = new Uint8Array(await readFile(path));
    const file = {
      type: TYPES[extname(name)] ?? "",
      bytes,
      gzipped: new Uint8Array(await promisify(gzip)(bytes)),
      caching: place.startsWith(NAMED_BY_CONTENT) ? FOREVER : "no-store",
    };
    return [place === "/index.html" ? "/" : place, file] as const;
  });
  return new Map(await Promise.all(read));
}
