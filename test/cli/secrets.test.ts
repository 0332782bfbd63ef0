/**
 * Secrets stay out of what the commands print. Canaries stand for a password, a payload and so on;
 * every command of the program runs with success and with typical failures, and all output is
 * searched. A command that is not in COMMANDS makes the first test fail.
 */
import { inspect } from "node:util";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { defineJob, openMillrace, typed } from "../../src/index.ts";
import { postgresStore } from "../../src/store/postgres/index.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";
import { Project, type } from "./command-line.ts";

const CANARIES = {
  password: "canary-password",
  parameter: "canary-parameter",
  environment: "canary-environment",
  webhook: "canary-webhook",
  payload: "canary-payload",
  tag: "canary-tag",
  key: "canary-key",
  /** The credential that commands send to a server, and that a server takes from its owner. */
  token: "canary-token-of-the-owner",
} as const;
type Canary = keyof typeof CANARIES;

/** Where a canary may appear, and why. A format is part of the name. */
const SHOW_JOBS: Readonly<Record<string, readonly Canary[]>> = {
  // The command that continues a list repeats the filter that was typed.
  "jobs list": ["tag"],
  // These show one job as a whole, which is their purpose.
  "jobs show": ["payload", "tag", "key"],
  "jobs show -o json": ["payload", "tag", "key"],
  // A page as JSON has whole jobs; the table has none of these.
  "jobs list -o json": ["payload", "tag", "key"],
  // The whole job, once it has ended.
  "jobs follow -o json": ["payload", "tag", "key"],
  "jobs priority -o json": ["payload", "tag", "key"],
  "jobs reschedule -o json": ["payload", "tag", "key"],
  // A reviewer decides by the payload, and a letter keeps the keys of its job.
  "dlq show": ["payload", "key"],
  "dlq show -o json": ["payload", "key"],
  "dlq list -o json": ["payload", "key"],
  "dlq acknowledge -o json": ["payload", "key"],
  "dlq note -o json": ["payload", "key"],
  "dlq assign -o json": ["payload", "key"],
  "dlq discard -o json": ["payload", "key"],
  // The key of the new job is the old one with a suffix.
  "dlq reprocess": ["key"],
  "dlq reprocess -o json": ["key"],
};

/** The jobs that the commands are about. */
interface Ids {
  readonly done: string;
  readonly dead: string;
  readonly spare: readonly string[];
}

/** A cause that no letter has: what other commands need stays. */
const CAUSE = "0123456789abcdef";

/** The arguments of each command, without --db. Null: the command runs until a signal. */
const COMMANDS: Readonly<Record<string, ((ids: Ids) => readonly string[]) | null>> = {
  dev: null,
  server: null,
  dashboard: null,
  worker: () => ["--jobs", "jobs.ts", "--until-idle"],
  enqueue: () => ["noted", JSON.stringify(CANARIES.payload), "--tag", `t=${CANARIES.tag}`],
  "jobs list": () => ["--tag", `t=${CANARIES.tag}`, "--limit", "1"],
  "jobs show": ({ done }) => [done, "--logs"],
  "jobs units": ({ done }) => [done],
  "jobs follow": ({ done }) => [done, "--timeout", "5s"],
  "jobs logs": ({ done }) => [done],
  "jobs explain": ({ spare }) => [spare[0] ?? ""],
  "jobs cancel": ({ spare }) => [spare[1] ?? "", "--reason", "no need"],
  "jobs retry": ({ spare }) => [spare[2] ?? ""],
  "jobs fail": ({ spare }) => [spare[3] ?? "", "--message", "by hand"],
  "jobs release": ({ spare }) => [spare[4] ?? ""],
  "dlq list": () => ["--limit", "1"],
  "dlq stats": () => [],
  "dlq show": ({ dead }) => [dead],
  "dlq note": ({ dead }) => [dead, "--notes", "seen before"],
  "dlq assign": ({ dead }) => [dead, "--to", "bob"],
  "jobs delete": ({ spare }) => [spare[4] ?? ""],
  "jobs priority": ({ spare }) => [spare[4] ?? "", "--to", "high"],
  "jobs reschedule": ({ spare }) => [spare[4] ?? "", "--delay", "2h"],
  "operations list": () => [],
  "operations show": ({ done }) => [done],
  "operations items": ({ done }) => [done],
  "operations watch": ({ done }) => [done],
  "operations stop": ({ done }) => [done],
  "failures list": () => [],
  "failures show": () => [CAUSE],
  "failures acknowledge": () => [CAUSE, "--by", "ada"],
  "failures snooze": () => [CAUSE, "--for", "2h"],
  "failures retry": () => [CAUSE],
  "failures discard": () => [CAUSE],
  "dlq acknowledge": ({ dead }) => [dead, "--by", "ada"],
  "dlq reprocess": ({ dead }) => [dead, "--payload", JSON.stringify(CANARIES.payload)],
  "dlq discard": ({ dead }) => [dead, "--by", "ada"],
  pause: () => ["--type", "unused"],
  resume: () => ["--type", "unused"],
  pauses: () => [],
  drain: () => ["--type", "unused", "--resume-after"],
  "limits list": () => [],
  "limits set": () => ["--type", "unused", "--concurrency", "5"],
  "limits remove": () => ["--type", "unused"],
  attention: () => [],
  lanes: () => [],
  "fairness list": () => [],
  "fairness set": () => ["unused", "--weight", "acme=3"],
  "fairness remove": () => ["unused"],
  "intake close": () => ["--type", "unused"],
  "intake open": () => ["--type", "unused"],
  "intake list": () => [],
  "payloads check": () => [],
  "payloads rules list": () => [],
  "payloads rules set": () => ["--type", "unused", "--hard", "5000"],
  "payloads rules remove": () => ["--type", "unused"],
  "tenants list": () => [],
  "tenants show": () => ["unused"],
  "tenants pause": () => ["unused"],
  "tenants resume": () => ["unused"],
  "tenants quota": () => ["unused", "--waiting", "5"],
  "tenants export": () => ["unused"],
  "tenants remove": () => ["unused", "--reason", "gone", "--confirm", "unused"],
  "audit list": () => [],
  "audit export": () => [],
  "audit verify": () => [],
  "workers list": () => [],
  "workers quiet": ({ done }) => [done],
  "workers resume": ({ done }) => [done],
  "workers stop": ({ done }) => [done],
  "types list": () => [],
  "types override": () => ["unused", "--priority", "5"],
  "types reset": () => ["unused"],
  "breakers list": () => [],
  "breakers show": () => ["bank"],
  "breakers history": () => ["bank"],
  "breakers open": () => ["bank", "--reason", "maintenance"],
  "breakers reset": () => ["bank"],
  "schedules create": () => ["nightly", "0 3 * * *", "email"],
  "schedules list": () => [],
  "schedules show": () => ["nightly"],
  "schedules history": () => ["nightly"],
  "schedules update": () => ["nightly", "--cron", "0 4 * * *"],
  "schedules pause": () => ["nightly", "maintenance"],
  "schedules resume": () => ["nightly"],
  "schedules run": () => ["nightly"],
  "schedules remove": () => ["nightly"],
  "schedules next": () => ["0 3 * * *"],
  stats: () => [],
  "token create": () => ["ada", "--role", "viewer"],
  "token list": () => ["--ended"],
  // An id of no token: what other commands need stays.
  "token revoke": ({ done }) => [done],
  doctor: () => [],
  migrate: () => [],
  "process new": () => ["comms.send_email", "--channel", "email"],
  backup: () => ["copy.db"],
  copy: () => [],
  "config print": () => [],
};

/** Servers that cannot be reached, are none, or are written with a secret. */
const SERVER_URLS: readonly string[] = [
  "http://127.0.0.1:1",
  `http://ada:${CANARIES.password}@127.0.0.1:1`,
  `http://127.0.0.1:1/?sslpassword=${CANARIES.parameter}`,
  `http:ada:${CANARIES.password}@db`,
  `https://ada:${CANARIES.password}`,
];

const noted = defineJob({ type: "noted", payload: typed<string>() }).run(() => 1);
const doomed = defineJob({ type: "doomed", payload: typed<string>(), maxAttempts: 1 }).run(() => {
  throw new Error("the bank is closed");
});

let server: PostgresServer;
let project: Project;
let ids: Ids;

beforeAll(async () => {
  process.env["SOME_SECRET"] = CANARIES.environment;
  process.env["MILLRACE_TOKEN"] = CANARIES.token;
  server = await startPostgres({ durable: false });
  project = new Project("jobs.ts");
  ids = await fill();
});
afterAll(async () => {
  delete process.env["SOME_SECRET"];
  delete process.env["MILLRACE_TOKEN"];
  project[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

describe("the output of every command", () => {
  test("is searched here", () => {
    expect(Object.keys(COMMANDS).toSorted()).toEqual(leavesOf(programOf()).toSorted());
  });

  test.each(Object.keys(COMMANDS))("millrace %s shows no secret", async (name) => {
    for (const format of formatsOf(name)) {
      await expectNoSecret(name, [...argumentsOf(name), ...databaseOf(name), ...format], format);
    }
  });

  test.each(Object.keys(COMMANDS))("millrace %s shows no secret when it fails", async (name) => {
    const words = argumentsOf(name);
    const url = secretUrl();
    const failures = [
      ...databaseOf(name, secretUrl({ host: "127.0.0.1:1" })),
      ...databaseOf(name, secretUrl({ user: "unknown" })),
      ...databaseOf(name, secretUrl({ path: `/jobs/${CANARIES.password}@x` })),
      ...databaseOf(name, `postgres:ada:${CANARIES.password}@db`),
      ...databaseOf(name, `host=db password=${CANARIES.password}`),
    ];
    const wrong = failures.flatMap((word, index) =>
      index % 2 === 0 ? [[...words, word, failures[index + 1] ?? ""]] : [],
    );
    const mistyped = [
      [...words, `--bd=${url}`],
      [...words, url, `{"x":"${CANARIES.payload}"`],
      [...words, "--jobs", url],
      [...words, "--port", url],
      [...words, "--limit", url],
      [...words, "--output", url],
      [...words, "--payload", `{"x":"${CANARIES.payload}"`],
    ];
    const servers = optionsOf(name).includes("--server") ? SERVER_URLS : [];
    const refused = servers.map((each) => [...words, "--server", each]);
    // A process of its own takes seconds, so `dev` shows the first failure of each kind.
    const all =
      name === "dev"
        ? [wrong[0] ?? [], ...mistyped.slice(0, 3)]
        : [...wrong, ...mistyped, ...refused];
    for (const args of all) await expectNoSecret(name, args, []);
  });

  test("through a server, every command that takes one shows no secret", async () => {
    const files = ["--db", secretUrl({ schema: "served" })];
    const program = project.start("server", "--port", "0", ...files);
    const [, address = ""] = await program.said(/^Millrace is at (http:\S+)$/m);
    const local = { ...ids };
    try {
      ids = await fill("served");
      const names = Object.keys(COMMANDS).filter((name) => optionsOf(name).includes("--server"));
      expect(names.length).toBeGreaterThan(20);
      for (const name of names) {
        for (const format of formatsOf(name)) {
          const args = [...argumentsOf(name), "--server", address, ...format];
          await expectNoSecret(name, args, format);
        }
      }
    } finally {
      ids = local;
      program.child.kill("SIGTERM");
    }
    const { stdout, stderr } = await program.ended;
    expect(secretsIn(stdout + stderr)).toEqual([]);
  });

  test("a copy and its comparison show no secret", async () => {
    const mill = await openMillrace(project.db, { logger: SILENT });
    await mill.enqueue(noted, CANARIES.payload, { tags: { t: CANARIES.tag } });
    await mill.close();
    const to = ["--from", project.db, "--to", secretUrl({ schema: "copied" })];

    await expectNoSecret("copy", [...to, "--dry-run"], []);
    await expectNoSecret("copy", to, []);
    await query(`UPDATE copied.job SET payload = '"${CANARIES.payload}-forged"';
      UPDATE copied.tag SET value = '${CANARIES.tag}-forged'`);
    await expectNoSecret("copy", [...to, "--verify"], []);
    await expectNoSecret("copy", [...to, "--verify", "-o", "json"], []);
  });

  test("the words of a wrong payload are not repeated", async () => {
    for (const payload of [`{"x":"${CANARIES.payload}"`, CANARIES.payload, `[${CANARIES.payload}]`])
      await expectNoSecret("enqueue", ["noted", payload, ...databaseOf("enqueue")], []);
    await expectNoSecret(secretUrl(), [], []);
  });
});

describe("the output of a process", () => {
  test("has no secret while jobs run and fail", async () => {
    const worker = project.start("worker", "--jobs", "jobs.ts", "--until-idle", ...workerOptions());
    const { stdout, stderr, code } = await worker.ended;

    expect(code).toBe(0);
    expect(stderr).toContain("runs greet");
    expect(secretsIn(stdout + stderr)).toEqual([]);
  });

  test.each(["server", "dashboard", "dev"])("of millrace %s has none", async (name) => {
    const files = name === "dev" ? ["--jobs", "jobs.ts"] : [];
    const program = project.start(name, "--port", "0", ...files, "--db", secretUrl());
    await program.said(/Millrace is at/);
    program.child.kill("SIGTERM");
    const { stdout, stderr } = await program.ended;

    expect(stderr).toContain("postgres:…@127.0.0.1");
    expect(secretsIn(stdout + stderr)).toEqual([]);
  });
});

describe("the errors of the library", () => {
  test.each([
    ["a server that is not there", () => secretUrl({ host: "127.0.0.1:1" })],
    ["an unknown user", () => secretUrl({ user: "unknown" })],
    ["an unescaped password", () => `postgres://ada:x/${CANARIES.password}@db/jobs`],
    ["a missing host", () => `postgres://ada:${CANARIES.password}`],
    ["another database", () => `mysql://ada:${CANARIES.password}@db/jobs`],
  ])("show no secret: %s", async (_, urlOf) => {
    const error: unknown = await openMillrace(urlOf()).catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(Error);
    const shown = [String(error), JSON.stringify(error), inspect(error, INSPECTED)];
    expect(secretsIn(shown.join("\n"))).toEqual([]);
  });

  test("show no secret when a mill or a store is logged", async () => {
    const store = postgresStore({ url: secretUrl() });
    const mill = await openMillrace(secretUrl());
    const shown = [store, mill].flatMap((each) => [inspect(each, INSPECTED), inspect(each)]);
    await mill.close();

    expect(secretsIn([...shown, JSON.stringify(store)].join("\n"))).toEqual([]);
  });
});

const INSPECTED = { depth: 8, showHidden: true } as const;

/** Runs a command in this process and searches its output. */
async function expectNoSecret(
  name: string,
  args: readonly string[],
  format: readonly string[],
): Promise<void> {
  const before = process.cwd();
  process.chdir(project.path);
  try {
    const { out, err } = await outputOf([...name.split(" "), ...args]);
    const place = [name, ...format].join(" ");
    const allowed = SHOW_JOBS[place] ?? [];
    const found = secretsIn(out + err).filter((canary) => !allowed.includes(canary));
    expect({ place, found }).toEqual({ place, found: [] });
  } finally {
    process.chdir(before);
  }
}

/** How long `dev`, which may wait for a change of its files, is given to fail. */
const DEV_MS_MAX = 5_000;

async function outputOf(words: readonly string[]): Promise<{ out: string; err: string }> {
  if (words[0] !== "dev") return type(...words);
  const program = project.start(...words);
  const end = setTimeout(() => program.child.kill("SIGTERM"), DEV_MS_MAX);
  const { stdout, stderr } = await program.ended;
  clearTimeout(end);
  return { out: stdout, err: stderr };
}

function secretsIn(text: string): Canary[] {
  const names: readonly Canary[] = [
    "password",
    "parameter",
    "environment",
    "webhook",
    "payload",
    "tag",
    "key",
    "token",
  ];
  return names.filter((name) => text.includes(CANARIES[name]));
}

function programOf(): Command {
  const ignore = (): void => {};
  return createProgram({ terminal: { out: ignore, err: ignore }, end: ignore });
}

/** The commands that do something, by their words. */
function leavesOf(command: Command, path: readonly string[] = []): string[] {
  if (command.commands.length === 0) return [path.join(" ")];
  return command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]));
}

function commandOf(name: string): Command | undefined {
  return name
    .split(" ")
    .reduce<Command | undefined>(
      (command, word) => command?.commands.find((each) => each.name() === word),
      programOf(),
    );
}

function optionsOf(name: string): readonly string[] {
  return commandOf(name)?.options.flatMap(({ long }) => long ?? []) ?? [];
}

function formatsOf(name: string): readonly (readonly string[])[] {
  if (COMMANDS[name] === null) return [];
  const formats = commandOf(name)?.options.find(({ long }) => long === "--output")?.argChoices;
  const others = (formats ?? []).filter((format) => format !== "table");
  return [[], ...others.map((format) => ["-o", format])];
}

function argumentsOf(name: string): readonly string[] {
  return COMMANDS[name]?.(ids) ?? [];
}

/** The options that name the database. */
function databaseOf(name: string, url: string = secretUrl()): string[] {
  if (name === "copy") return ["--from", project.db, "--to", url];
  return optionsOf(name).includes("--db") ? ["--db", url] : [];
}

function workerOptions(): readonly string[] {
  return ["--db", secretUrl(), "--types", "greet,doomed"];
}

async function query(sql: string): Promise<void> {
  const client = await connect(server.url);
  await client.query(sql);
  await client.end();
}

function secretUrl({
  user = "postgres",
  host = "",
  path = "/postgres",
  schema = "secrets",
} = {}): string {
  const place = host === "" ? new URL(server.url).host : host;
  const parameters = `sslpassword=${CANARIES.parameter}&schema=${schema}`;
  return `postgres://${user}:${CANARIES.password}@${place}${path}?${parameters}`;
}

/** Jobs with a canary in every part that a caller chooses. */
async function fill(schema = "secrets"): Promise<Ids> {
  const mill = await openMillrace(secretUrl({ schema }), { logger: SILENT });
  const add = async (job: typeof noted | typeof doomed, n: number): Promise<string> => {
    const { id } = await mill.enqueue(job, CANARIES.payload, {
      tags: { t: CANARIES.tag },
      idempotencyKey: `${CANARIES.key}-${n}`,
    });
    return id;
  };
  const done = await add(noted, 1);
  const dead = await add(doomed, 2);
  const worker = mill.work({ jobs: [noted, doomed] });
  await mill.wait({ id: done, type: "noted" });
  await mill.wait({ id: dead, type: "doomed" });
  await worker.stop();
  const spare: string[] = [];
  for (let n = 3; n < 9; n += 1) spare.push(await add(noted, n));
  const greet = defineJob({ type: "greet", payload: typed<{ name: string }>() });
  await mill.enqueue(greet, { name: CANARIES.payload }, { tags: { t: CANARIES.tag } });
  await mill.enqueue(doomed, CANARIES.payload, { tags: { t: CANARIES.tag } });
  await mill.close();
  // The client refuses webhooks, which are not part of this release. The table has their column.
  await query(`UPDATE ${schema}.job SET webhook = 'https://example.com/?t=${CANARIES.webhook}'`);
  return { done, dead, spare };
}

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
