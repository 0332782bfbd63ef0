/** Servers that other machines reach: what they need, whom they believe, and what they hide. */
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { openMillrace } from "millrace";
import { describe, expect, test } from "vitest";
import { Project } from "../command-line.ts";
import type { Program } from "../programs.ts";

const OWNER = "chosen-by-the-operator";
const OWNED = { MILLRACE_TOKEN: OWNER };
const PUBLIC = ["--public-url", "https://jobs.example.com"];

describe("a server beyond this machine", () => {
  test.each([
    { args: ["--host", "0.0.0.0"], missing: "--public-url is missing" },
    { args: ["--host", "0.0.0.0", ...PUBLIC], missing: "there is no credential" },
    { args: ["--trust-proxy"], missing: "--public-url is missing" },
  ])("does not start with $args alone, and names the other half", async ({ args, missing }) => {
    using project = new Project();

    const { code, stdout, stderr } = await project.start("server", "--port", "0", ...args).ended;

    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(missing);
  });

  test.each(["jobs.example.com", "https://jobs.example.com/path", "ftp://jobs.example.com"])(
    "refuses the public URL %s",
    async (url) => {
      using project = new Project();

      const { code, stderr } = await project.start("server", "--public-url", url).ended;

      expect(code).toBe(2);
      expect(stderr).toContain("--public-url must be a URL such as https://jobs.example.com");
    },
  );

  test("starts with the token of a person, and prints neither a link nor a secret", async () => {
    using project = new Project();
    const mill = await openMillrace(project.db);
    const { secret } = await mill.tokens.create({ kind: "person", name: "ada", roles: ["viewer"] });
    await mill.close();

    const server = project.start("server", "--host", "0.0.0.0", "--port", "0", ...PUBLIC);
    await server.said(/^Millrace is at https:\/\/jobs\.example\.com$/m);
    server.child.kill("SIGTERM");

    const { code, stdout, stderr } = await server.ended;
    expect(code).toBe(0);
    expect(stdout + stderr).not.toMatch(/login=|mr_/);
    expect(stdout + stderr).not.toContain(secret);
  });
});

describe("the hosts that a server answers for", () => {
  test("are this machine, the public URL, and what a trusted proxy forwards", async () => {
    using project = new Project();
    const statuses: Record<string, number> = {};
    for (const args of [PUBLIC, [...PUBLIC, "--trust-proxy"]]) {
      const { server, port } = await owned(project, ...args);
      const ask = (headers: object): Promise<number> => statusOf(port, headers);
      const mode = args.length > PUBLIC.length ? "trusted" : "plain";
      statuses[`${mode}: public`] = await ask({ host: "jobs.example.com" });
      statuses[`${mode}: foreign`] = await ask({ host: "evil.example.com" });
      const evil = { "x-forwarded-host": "evil.example.com" };
      statuses[`${mode}: forwarded foreign`] = await ask({ host: "jobs.example.com", ...evil });
      const own = { "x-forwarded-host": "jobs.example.com" };
      statuses[`${mode}: forwarded public`] = await ask({ host: "internal:7333", ...own });
      server.child.kill("SIGTERM");
      await server.ended;
    }

    expect(statuses).toEqual({
      "plain: public": 200,
      "plain: foreign": 421,
      "plain: forwarded foreign": 200,
      "plain: forwarded public": 421,
      "trusted: public": 200,
      "trusted: foreign": 421,
      "trusted: forwarded foreign": 421,
      "trusted: forwarded public": 200,
    });
  });
});

describe("millrace server --redact", () => {
  test("hides more fields from operators, and none from managers", async () => {
    using project = new Project();
    const mill = await openMillrace(project.db);
    const person = async (role: "operator" | "manager"): Promise<string> =>
      (await mill.tokens.create({ kind: "person", name: role, roles: [role] })).secret;
    const [operator, manager] = [await person("operator"), await person("manager")];
    await mill.close();
    const payload = JSON.stringify({ iban: "DE02", card: { number: "4242", owner: "Ada" } });
    const id = await project.enqueue("charge", payload);

    const fields = ["--redact", "iban", "card.number"];
    const server = project.start("server", "--port", "0", ...fields);
    const [, address = ""] = await server.said(/^Millrace is at (http:\/\/[^/]+)/m);
    const read = async (secret: string): Promise<unknown> => {
      const headers = { authorization: `Bearer ${secret}` };
      const response = await fetch(`${address}/api/v1/jobs/${id}`, { headers });
      const { payload: seen }: { payload: unknown } = JSON.parse(await response.text());
      return seen;
    };
    const [hidden, whole] = [await read(operator), await read(manager)];
    server.child.kill("SIGTERM");
    await server.ended;

    expect(hidden).toMatchObject({ card: { owner: "Ada" } });
    expect(JSON.stringify(hidden)).not.toMatch(/DE02|4242/);
    expect(whole).toEqual(JSON.parse(payload));
  });
});

describe("millrace server --link", () => {
  const trace = "https://trace.example/{correlation_id}";

  test.each([
    ["--link", "trace=javascript:alert(1)"],
    ["--link", "trace=https://x.example/{unknown}"],
    ["--link", "trace"],
    ["--link", `trace=${trace}`, "--link", `trace=${trace}`],
  ])("refuses %s %s", async (...words) => {
    using project = new Project();

    const { code, stderr } = await project.start("server", "--port", "0", ...words).ended;

    expect(code).toBe(2);
    expect(stderr).toContain("--link");
  });

  test("and links in the configuration file are told to the page", async () => {
    using project = new Project();
    const user = "https://admin.example/u/{payload.userId}";
    const config = `export default { links: { user: ${JSON.stringify(user)} } };`;
    writeFileSync(join(project.path, "millrace.config.mjs"), config);
    const linksOf = async (...words: readonly string[]): Promise<unknown> => {
      const server = project.startWith(OWNED, "server", "--port", "0", ...words);
      const [, address = ""] = await server.said(/^Millrace is at (http:\/\/[^/\s]+)/m);
      const headers = { authorization: `Bearer ${OWNED.MILLRACE_TOKEN}` };
      const response = await fetch(`${address}/api/v1/settings`, { headers });
      const { links }: { links: unknown } = JSON.parse(await response.text());
      server.child.kill("SIGTERM");
      await server.ended;
      return links;
    };

    expect(await linksOf()).toEqual({ user });
    expect(await linksOf("--link", `trace=${trace}`)).toEqual({ trace });
  });
});

/** A server with a public address says on stderr where a proxy reaches it. */
async function owned(
  project: Project,
  ...args: readonly string[]
): Promise<{ server: Program; port: number }> {
  const server = project.startWith(OWNED, "server", "--port", "0", ...args);
  let said = "";
  server.child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await expect.poll(() => said, { timeout: 20_000 }).toMatch(/Listening on 127\.0\.0\.1:\d+/);
  return { server, port: Number(/127\.0\.0\.1:(\d+)/.exec(said)?.[1]) };
}

/** `fetch` sends no Host header of the caller's choice. */
function statusOf(port: number, headers: object): Promise<number> {
  const all = { ...headers, authorization: `Bearer ${OWNER}` };
  return new Promise((resolve, reject) => {
    const call = request({ host: "127.0.0.1", port, path: "/api/v1/overview", headers: all });
    call.once("error", reject);
    call.once("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    call.end();
  });
}
