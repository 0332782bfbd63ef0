/** The server as users start it: a process of its own, a real socket, real signals. */
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Program, root, temporaryFolder } from "./programs.ts";

const URL_LINE = /^Millrace is at (http:\/\/127\.0\.0\.1:(\d+))$/m;

describe("millrace server", () => {
  test("prints its address, serves page and overview, and stops cleanly at SIGTERM", async () => {
    using folder = temporaryFolder();
    const server = start(folder.path, ["--port", "0"]);
    const [, address] = await server.said(URL_LINE);

    const page = await fetch(`${address}/`);
    const overview = await fetch(`${address}/api/v1/overview`);
    server.child.kill("SIGTERM");

    expect(await page.text()).toContain("Jobs by state");
    expect(await overview.json()).toMatchObject({ states: { length: 7 } });
    expect(await server.ended).toMatchObject({ code: 0, signal: null });
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
    expect(stderr).toContain(`port ${taken.port} is taken by another program`);
  });

  test("takes the port of MILLRACE_PORT as told, too", async () => {
    using folder = temporaryFolder();
    await using taken = await occupyPort();

    const env = { MILLRACE_PORT: String(taken.port) };
    const { code } = await start(folder.path, [], env).ended;

    expect(code).toBe(2);
  });

  test("goes on to a free port when nobody asked for one, and says so", async () => {
    using folder = temporaryFolder();
    await using _ = await occupyPort(7333);
    const server = start(folder.path, []);
    const [, , port] = await server.said(URL_LINE);

    server.child.kill("SIGTERM");

    const { code, stderr } = await server.ended;
    expect(Number(port)).toBeGreaterThan(7333);
    expect(stderr).toContain(`Port 7333 is taken, using ${port}.`);
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
