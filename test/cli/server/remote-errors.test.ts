/** What commands say when a server is not there, is none, or refuses them. */
import { createServer, type RequestListener } from "node:http";
import type { Command } from "commander";
import { defineJob } from "millrace";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createProgram } from "../../../src/cli/program.ts";
import { commandsFor, WAITING_COMMANDS } from "../../support/tenants/commands.ts";
import { targetsOf } from "../../support/tenants/requests.ts";
import { type } from "../command-line.ts";
import { ServedStore } from "./served-store.ts";

const ID = "01JCR5M4X2E8T9V6B3N7K0QWAZ";
const WHY = ["--reason", "asked"];

/** The arguments of each command that takes --server. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  enqueue: ["greet"],
  "jobs list": [],
  "jobs show": [ID],
  "jobs units": [ID],
  "jobs follow": [ID],
  "jobs logs": [ID],
  "jobs explain": [ID],
  "jobs cancel": [ID],
  "jobs retry": [ID],
  "jobs fail": [ID],
  "jobs release": [ID],
  "jobs delete": [ID],
  "jobs priority": [ID, "--to", "high"],
  "jobs reschedule": [ID, "--delay", "2h"],
  "dlq list": [],
  "dlq stats": [],
  "dlq show": [ID],
  "dlq reprocess": [ID, "--notes", "again"],
  "dlq acknowledge": [ID],
  "dlq assign": [ID, "--to", "bob"],
  "dlq note": [ID, "--notes", "seen"],
  "dlq discard": [ID, "--notes", "spam"],
  "failures list": [],
  "failures show": ["0123456789abcdef"],
  "failures acknowledge": ["0123456789abcdef"],
  "failures snooze": ["0123456789abcdef", "--for", "2h"],
  "failures retry": ["0123456789abcdef", "--notes", "works again"],
  "failures discard": ["0123456789abcdef", "--notes", "spam"],
  "operations list": [],
  "operations show": [ID],
  "operations items": [ID],
  "operations watch": [ID],
  "operations stop": [ID],
  pause: ["--lane", "fast"],
  resume: ["--lane", "fast"],
  pauses: [],
  drain: ["--lane", "fast"],
  "limits list": [],
  "limits set": ["--type", "unused", "--concurrency", "5", ...WHY],
  "limits remove": ["--type", "unused", ...WHY],
  attention: [],
  lanes: [],
  "fairness list": [],
  "fairness set": ["fast"],
  "fairness remove": ["fast"],
  "intake close": ["--lane", "fast"],
  "intake open": ["--lane", "fast"],
  "intake list": [],
  "payloads rules list": [],
  "payloads rules set": ["--type", "unused", "--hard", "5000"],
  "payloads rules remove": ["--type", "unused"],
  "tenants list": [],
  "tenants show": ["acme"],
  "tenants pause": ["acme"],
  "tenants resume": ["acme"],
  "tenants quota": ["acme", "--waiting", "5"],
  "tenants export": ["acme"],
  "tenants remove": ["acme", "--reason", "left", "--confirm", "acme"],
  "workers list": [],
  "workers quiet": [ID],
  "workers resume": [ID],
  "workers stop": [ID],
  "types list": [],
  "types override": ["email", "--priority", "5"],
  "types reset": ["email"],
  "breakers list": [],
  "breakers show": ["bank"],
  "breakers history": ["bank"],
  "breakers open": ["bank", "--reason", "maintenance"],
  "breakers reset": ["bank"],
  stats: [],
  "schedules list": [],
  "schedules show": ["nightly"],
  "schedules history": ["nightly"],
  "schedules create": ["nightly", "0 3 * * *", "email", ...WHY],
  "schedules update": ["nightly", "--cron", "0 4 * * *", ...WHY],
  "schedules pause": ["nightly", "maintenance"],
  "schedules resume": ["nightly"],
  "schedules run": ["nightly"],
  "schedules remove": ["nightly", ...WHY],
  "token create": ["ada"],
  "token list": [],
  "token revoke": [ID],
  "audit list": [],
  "audit export": [],
  "audit verify": [],
};
const NAMES = Object.keys(COMMANDS);
const ids = {
  failed: ID,
  completed: ID,
  running: ID,
  queued: ID,
  scheduled: ID,
  waiting: ID,
  cancelled: ID,
};

beforeEach(() => vi.stubEnv("MILLRACE_TOKEN", "mr_person_unknown"));
afterEach(() => vi.unstubAllEnvs());

function typed(name: string, ...args: readonly string[]): ReturnType<typeof type> {
  return type(...name.split(" "), ...(COMMANDS[name] ?? []), ...args);
}

describe("every command that takes --server", () => {
  test("is tried here, and is one that takes --db and needs no store of its own", () => {
    const leaves = leavesOf(createProgram({ terminal: { out() {}, err() {} }, end() {} }));
    const has = (command: Command, flag: string): boolean =>
      command.options.some(({ long }) => long === flag);
    const local = leaves.filter(([, each]) => has(each, "--db") && !has(each, "--server"));

    const remote = leaves.filter(([, each]) => has(each, "--server")).map(([name]) => name);
    expect(remote.toSorted()).toEqual(NAMES.toSorted());
    expect(local.map(([name]) => name)).toEqual([
      "dev",
      "server",
      "dashboard",
      "worker",
      "payloads check",
      "doctor",
      "migrate",
      "backup",
      "config print",
    ]);
  });

  test("is tried with what belongs to another tenant, unless it waits", () => {
    const { known } = targetsOf({
      own: ids,
      other: ids,
      linked: ID,
      ownToken: ID,
      otherTokens: [],
    });
    const tried = commandsFor(known).map((words) => `${words.join(" ")} `);

    const missing = NAMES.filter((name) => !tried.some((each) => each.startsWith(`${name} `)));
    expect(missing).toEqual(WAITING_COMMANDS);
  });

  test.each(NAMES)("millrace %s ends with 5 when no server answers", async (name) => {
    const { code, out, err } = await typed(name, "--server", "http://127.0.0.1:1");

    expect({ code, out }).toEqual({ code: 5, out: "" });
    expect(err).toContain("SERVER_UNREACHABLE: the server at http://127.0.0.1:1 does not answer");
    expect(err).toContain("correct its URL in --server or MILLRACE_SERVER");
  });

  test.each(NAMES)("millrace %s takes either --db or --server", async (name) => {
    const both = ["--server", "http://127.0.0.1:1", "--db", "sqlite:./nowhere.db"];
    const { code, err } = await typed(name, ...both);

    expect(code).toBe(2);
    expect(err).toContain("error: give either --db or --server");
  });

  test.each(NAMES)("millrace %s --help shows the option", async (name) => {
    const { out } = await type(...name.split(" "), "--help");

    expect(out.replaceAll(/\s+/g, " ")).toMatch(
      /--server <url> URL of a Millrace server, instead of --db; .*\(env: MILLRACE_SERVER\)/,
    );
  });
});

describe("a URL that is no server", () => {
  test.each([
    { url: "jobs.example.com", says: "Write a URL such as https://jobs.example.com." },
    { url: "sqlite:./jobs.db", says: "Write a URL such as https://jobs.example.com." },
    { url: "http://", says: "Write a URL such as https://jobs.example.com." },
    { url: "https://ada:secret@jobs.example.com", says: "belongs into MILLRACE_TOKEN" },
    { url: "https://jobs.example.com/?token=secret", says: "belongs into MILLRACE_TOKEN" },
    { url: "", says: "error: --server is empty" },
  ])("$url is refused", async ({ url, says }) => {
    const { code, err } = await type("jobs", "list", "--server", url);

    expect(code).toBe(2);
    expect(err).toContain(says);
    expect(err).not.toContain("secret@");
  });

  test("as --db is refused with the option to use", async () => {
    const { code, err } = await type("jobs", "list", "--db", "http://127.0.0.1:1");

    expect(code).toBe(2);
    expect(err).toContain("a server is named with --server");
  });
});

describe("another program at the URL", () => {
  test.each([
    { what: "a page", status: 200, body: "<html>", says: "there is no Millrace server" },
    { what: "JSON", status: 200, body: "{}", says: "there is no Millrace server" },
    { what: "nothing", status: 204, body: "", says: "there is no Millrace server" },
    { what: "404", status: 404, body: "<html>", says: "there is no Millrace server" },
    { what: "401", status: 401, body: '{"code":"x"}', says: "there is no Millrace server" },
    { what: "502 of a proxy", status: 502, body: "<html>", says: "does not reach the server: 502" },
  ])("that answers $what ends the command with 5", async ({ status, body, says }) => {
    await using other = await listening((_, response) => response.writeHead(status).end(body));

    const { code, out, err } = await type("jobs", "list", "--server", other.url);

    expect({ code, out }).toEqual({ code: 5, out: "" });
    expect(err).toMatch(new RegExp(`^SERVER_UNREACHABLE: .*${says}`));
  });

  test("that redirects gets no token", async () => {
    const seen: (string | undefined)[] = [];
    await using target = await listening((request, response) => {
      seen.push(request.headers.authorization);
      response.end("{}");
    });
    await using other = await listening((_, response) =>
      response.writeHead(307, { location: `${target.url}/api/v1/jobs` }).end(),
    );

    const { code, err } = await type("jobs", "list", "--server", other.url);

    expect(code).toBe(5);
    expect(err).toContain(`${other.url} redirects to ${target.url}, which gets no token`);
    expect(seen).toEqual([]);
  });

  test("that hangs up ends the command with 5", async () => {
    await using other = await listening((request) => request.socket.destroy());

    expect(await type("jobs", "list", "--server", other.url)).toMatchObject({ code: 5, out: "" });
  });

  test("that is a Millrace of another version is named as such", async () => {
    const problem = { type: "urn:millrace:error:NOT_FOUND", code: "NOT_FOUND", detail: "no path" };
    await using old = await listening((_, response) =>
      response.writeHead(404, { "x-request-id": "1" }).end(JSON.stringify(problem)),
    );

    const { code, err } = await type("stats", "--server", old.url);

    expect(code).toBe(1);
    expect(err).toContain(`the server at ${old.url} does not know GET /api/v1/stats`);
    expect(err).toContain("The server has another version of Millrace");
  });

  test("that fails shows the id for the log of the server", async () => {
    const code = "INTERNAL";
    const problem = { type: `urn:millrace:error:${code}`, code, request_id: "req-12345678" };
    await using broken = await listening((_, response) =>
      response.writeHead(500).end(JSON.stringify(problem)),
    );

    const { code: exit, err } = await type("stats", "--server", broken.url);

    expect(exit).toBe(1);
    expect(err).toContain("failed: request req-12345678");
  });
});

describe("a server that refuses the caller", () => {
  let store: ServedStore;
  const secrets: Record<string, string> = {};
  beforeAll(async () => {
    store = await ServedStore.open();
    const { tokens } = store.mill;
    const roles = ["viewer"] as const;
    const viewer = await tokens.create({ kind: "person", name: "vera", roles });
    const gone = await tokens.create({ kind: "person", name: "gone", roles });
    await tokens.revoke(gone.token.id);
    Object.assign(secrets, { viewer: viewer.secret, gone: gone.secret });
  });
  afterAll(() => store[Symbol.asyncDispose]());

  test.each([
    { what: "no token", secret: () => "", says: "MILLRACE_TOKEN is not set" },
    { what: "an unknown token", secret: () => "mr_person_x", says: "refuses the token" },
    { what: "a revoked token", secret: () => secrets["gone"] ?? "", says: "expired or revoked" },
  ])("with $what says what to do", async ({ secret, says }) => {
    vi.stubEnv("MILLRACE_TOKEN", secret());
    for (const name of NAMES) {
      const { code, out, err } = await typed(name, "--server", store.address);

      expect([name, code, out]).toEqual([name, 1, ""]);
      expect(err).toMatch(/^SERVER_REFUSED: the server at http:\/\/127\.0\.0\.1:\d+ /);
      expect(err).toContain(says);
      expect(err).toContain("millrace token create NAME --role operator");
      expect(err).not.toContain(secret() || "Bearer");
    }
  });

  test("names the role that a command needs", async () => {
    const { id } = await store.mill.enqueue(defineJob({ type: "email" }));
    const { viewer = "" } = secrets;
    const cancel = await store.remoteAs(viewer, "jobs", "cancel", id);
    const discard = await store.remoteAs(viewer, "dlq", "discard", id, "--notes", "x");
    const grant = await store.remoteAs(viewer, "token", "create", "eve");

    expect([cancel, discard, grant]).toMatchObject([{ code: 1 }, { code: 1 }, { code: 1 }]);
    expect(cancel.err).toContain("role operator or manager; the credential has the roles viewer");
    expect(discard.err).toContain("role manager; the credential has the roles viewer");
    expect(grant.err).toContain("role manager or admin; the credential has the roles viewer");
    expect(await store.mill.jobs.get(id)).toMatchObject({ state: "queued" });
  });

  test("wants the reason of a decision", async () => {
    for (const verb of ["discard", "reprocess"]) {
      for (const notes of [[], ["--notes", "  "]]) {
        const { code, err } = await store.remote("dlq", verb, ID, ...notes);
        expect([verb, code]).toEqual([verb, 2]);
        expect(err).toContain("Give the reason with --notes.");
      }
    }
  });

  test("records whom the token belongs to, so --by is refused", async () => {
    for (const words of [
      ["pause", "--lane", "fast"],
      ["dlq", "acknowledge", ID],
    ]) {
      const { code, err } = await store.remote(...words, "--by", "eve");
      expect(code).toBe(2);
      expect(err).toContain("--by goes with --db: a server records whom the token belongs to");
    }
  });
});

/** The commands that do something, by their words. */
function leavesOf(command: Command, path: readonly string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[path.join(" "), command]];
  return command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]));
}

async function listening(answer: RequestListener): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(answer);
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
