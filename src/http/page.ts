/** The files of the dashboard, and the link that signs a browser in. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Hono } from "hono";
import type { AppParts } from "./parts.ts";
import { openSession } from "./routes/session.ts";

const FILES: Readonly<Record<string, { readonly file: string; readonly type: string }>> = {
  "/": { file: "index.html", type: "text/html; charset=utf-8" },
  "/style.css": { file: "style.css", type: "text/css; charset=utf-8" },
  "/page.js": { file: "page.js", type: "text/javascript; charset=utf-8" },
};

/** The page needs no credential: it has no data, and says how to sign in. */
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
  for (const [path, { file, type }] of Object.entries(FILES)) {
    app.get(path, async (context) => {
      const text = await readFile(join(pageFolder, file), "utf8");
      return context.body(text, 200, { "content-type": type });
    });
  }
}
