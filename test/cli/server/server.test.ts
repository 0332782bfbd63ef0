/** The server as users start it: a process of its own, a real socket, real signals. */
import { createServer } from "node:http";
import { userInfo } from "node:os";
import { join } from "node:path";
import { openMillrace } from "millrace";
import { describe, expect, test } from "vitest";
import { Program, root, temporaryFolder } from "../programs.ts";

const URL_LINE = /^Millrace is at ((http:\/\/127\.0\.0\.1:(\d+))\/\?login=[\w-]{43})$/m;
/** The secret of the person who starts a server, for tests that need no browser. */
const OWNER = "chosen-by-the-operator";
const BEARER = { authorization: `Bearer ${OWNER}`, "content-type": "application/json" };

describe("millrace server", () => {
  test("prints a link that signs one browser in, and stops cleanly at SIGTERM", async () => {
    using folder = temporaryFolder();
    const server = start(folder.path, ["--port", "0"]);
    const [, link = "", address, port] = await server.said(URL_LINE);

    const first = await fetch(link, { redirect: "manual" });
    const cookie = first.headers.get("set-cookie") ?? "";
    const headers = { cookie: cookie.split(";")[0] ?? "" };
    const page = await fetch(new URL(first.headers.get("location") ?? "", link), { headers });
    const overview = await fetch(`${address}/api/v1/overview`, { headers });
    const who = await fetch(`${address}/api/v1/session`, { headers });
    const second = await fetch(link, { redirect: "manual" });
    const stranger = await fetch(`${address}/api/v1/overview`);
    server.child.kill("SIGTERM");

    expect(cookie).toMatch(
      new RegExp(`^millrace-${port}=mr_session_\\S+; .*HttpOnly; SameSite=Strict`),
    );
    expect(await page.text()).toContain("<title>Millrace</title>");
    expect(await overview.json()).toMatchObject({ states: { length: 7 } });
    expect(await who.json()).toMatchObject({ actor: userInfo().username, tenant: null });
    expect({ status: second.status, cookie: second.headers.get("set-cookie") }).toEqual({
      status: 303,
      cookie: null,
    });
    expect(stranger.status).toBe(401);
    expect(await server.ended).toMatchObject({ code: 0, signal: null });
  });

  test("takes the token of MILLRACE_TOKEN and does not print it", async () => {
    using folder = temporaryFolder();
    const { server, address } = await owned(folder.path);

    const { status } = await fetch(`${address}/api/v1/jobs`, { headers: BEARER });
    server.child.kill("SIGTERM");

    expect(status).toBe(200);
    const { stdout, stderr } = await server.ended;
    expect(stdout + stderr).not.toContain(OWNER);
  });

  test("refuses a token that is easy to guess", async () => {
    using folder = temporaryFolder();

    const { code, stderr } = await start(folder.path, [], { MILLRACE_TOKEN: "secret" }).ended;

    expect(code).toBe(2);
    expect(stderr).toContain("MILLRACE_TOKEN must have at least 16 characters");
  });

  test("lets no long wait of a client hold up its stop", async () => {
    using folder = temporaryFolder();
    const { server, address } = await owned(folder.path);
    const headers = BEARER;
    const made = await fetch(`${address}/api/v1/jobs`, {
      method: "POST",
      headers,
      body: JSON.stringify({ type: "never" }),
    });
    await made.body?.cancel();

    const waiting = fetch(`${address}${made.headers.get("location")}?wait=60s`, { headers });
    // Its answer shows that the server has heard of the one before it.
    await fetch(`${address}/api/v1/overview`, { headers });
    server.child.kill("SIGTERM");

    expect(await (await waiting).json()).toMatchObject({ state: "queued" });
    expect(await server.ended).toMatchObject({ code: 0 });
  });

  test("runs the demo's jobs beside itself, and gives back what it has not finished", async () => {
    using folder = temporaryFolder();
    const { server, address } = await owned(folder.path, "--demo");
    const headers = BEARER;
    const ask = async (type: string, payload?: object): Promise<string> => {
      const body = JSON.stringify({ type, payload });
      const made = await fetch(`${address}/api/v1/jobs`, { method: "POST", headers, body });
      return `${address}${made.headers.get("location")}`;
    };

    const long = await ask("demo.export");
    const quick = await ask("demo.email", { to: "ada@example.com" });
    const ended = await fetch(`${quick}?wait=30s`, { headers });
    const running = await fetch(long, { headers });
    server.child.kill("SIGTERM");

    expect(await ended.json()).toMatchObject({ state: "completed", lane: "fast" });
    expect(await running.json()).toMatchObject({ state: "running" });
    expect(await server.ended).toMatchObject({ code: 0, signal: null });
    const after = await openMillrace(`sqlite:${join(folder.path, "jobs.db")}`);
    const id = long.slice(long.lastIndexOf("/") + 1);
    expect(await after.jobs.get(id)).toMatchObject({ state: "queued", attempts: 0 });
    await after.close();
  });

  test("stops at SIGINT just the same", async () => {
    using folder = temporaryFolder();
    const server = start(folder.path, ["--port", "0"]);
    await server.said(URL_LINE);

    server.child.kill("SIGINT");

    expect(await server.ended).toMatchObject({ code: 0, signal: null });
  });

  test("refuses a port that is taken when it was told to use it", async () => {
    using folder = temporaryFolder();
    await using taken = await occupyPort();

    const { code, stderr } = await start(folder.path, ["--port", String(taken.port)]).ended;

    expect(code).toBe(2);
    expect(stderr).toContain(`port ${taken.port} is used by another program`);
  });

  test("takes the port of MILLRACE_PORT as told, too", async () => {
    using folder = temporaryFolder();
    await using taken = await occupyPort();

    const env = { MILLRACE_PORT: String(taken.port) };
    const { code } = await start(folder.path, [], env).ended;

    expect(code).toBe(2);
  });

  test("goes on to a free port when no option names one, and says so", async () => {
    using folder = temporaryFolder();
    await using _ = await occupyPort(7333);
    const server = start(folder.path, []);
    const [, , , port] = await server.said(URL_LINE);

    server.child.kill("SIGTERM");

    const { code, stderr } = await server.ended;
    expect(Number(port)).toBeGreaterThan(7333);
    expect(stderr).toContain(`Port 7333 is in use, using ${port}.`);
    expect(code).toBe(0);
  });
});

function start(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Program {
  const entry = join(root, "bin", "millrace.js");
  const db = `sqlite:${join(folder, "jobs.db")}`;
  return new Program(process.execPath, [entry, "server", "--db", db, ...args], {
    env: { ...process.env, ...env },
  });
}

/** A server that takes the token of its owner. */
async function owned(
  folder: string,
  ...args: readonly string[]
): Promise<{ server: Program; address: string }> {
  const server = start(folder, ["--port", "0", ...args], { MILLRACE_TOKEN: OWNER });
  const [, address = ""] = await server.said(/^Millrace is at (http:\S+)$/m);
  return { server, address };
}

/** Holds a port. If another program already holds it, that will do as well. */
async function occupyPort(wanted = 0): Promise<{ port: number } & AsyncDisposable> {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.once("error", () => resolve(wanted));
    server.listen(wanted, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : wanted);
    });
  });
  return { port, [Symbol.asyncDispose]: async () => void server.close() };
}
