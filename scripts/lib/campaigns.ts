/** What `npm run campaign` runs: each part is a list of commands that end by themselves. */
import { bin } from "./command.ts";

export interface Campaign {
  readonly name: string;
  readonly about: string;
  readonly short: readonly Command[];
  readonly full: readonly Command[];
}

export type Command = readonly [program: string, ...args: string[]];

/** The cheap ones first. */
export const CAMPAIGNS: readonly Campaign[] = [
  {
    name: "conformance-15",
    about: "every verb of the store port on PostgreSQL 15",
    ...inBothSizes(project("conformance:postgres-15")),
  },
  {
    name: "engine-role",
    about: "every verb as a role that may only call routines, and its rates; short: a third",
    short: [asEngine("conformance:postgres", "postgres-1")],
    full: [asEngine("conformance:postgres"), show("engine-role")],
  },
  {
    name: "transactions",
    about: "{ tx } through every library, all tests",
    ...inBothSizes(project("transactions")),
  },
  {
    name: "differential",
    about: "a model, SQLite and PostgreSQL answer alike: 1,000 sequences; short: 100",
    ...inBothSizes(project("differential")),
  },
  {
    name: "http-fuzz",
    about: "drawn requests to the HTTP API on either store: 100,000; short: 5,000",
    short: [
      show("http-fuzz", "--store", "sqlite", "--requests", "5000"),
      show("http-fuzz", "--store", "postgres", "--requests", "5000"),
    ],
    full: [show("http-fuzz", "--store", "sqlite"), show("http-fuzz", "--store", "postgres")],
  },
  {
    name: "schedules",
    about: "slots of five years in 20 zones, and real processes; short: one year in two zones",
    short: [
      show("cron", "--years", "1", "--zones", "2"),
      show("cron-processes", "--seconds", "10"),
    ],
    full: [show("cron"), show("cron", "--store", "postgres"), show("cron-processes")],
  },
  {
    name: "control",
    about: "outages, limits, fairness, blocked jobs, and their costs; short: limits under kills",
    // The others also judge times, which a busy machine does not keep.
    short: [show("limits", "--processes", "3", "--jobs", "600", "--kills", "3", "--rounds", "0")],
    full: [
      show("service-outage"),
      show("limits"),
      show("fairness"),
      show("blocked-front"),
      show("all-on"),
      show("minutes-cost"),
    ],
  },
  {
    name: "simulation",
    about: "the engine in virtual time under drawn faults: 600 seeds; short: 60",
    short: [simulate("--seeds", "1..60")],
    full: [simulate("--seeds", "1..600"), project("simulation")],
  },
  {
    name: "simulation-mutants",
    about: "planted bugs that the simulation must see: all; short: a handful",
    short: [project("simulation", "-t", "the simulation")],
    full: [simulate("--mutants")],
  },
  {
    name: "interleavings",
    about: "pairs of verbs on PostgreSQL: every order; short: some orders of every pair",
    short: [project("interleavings")],
    full: [
      project("interleavings"),
      show("interleavings"),
      show("interleavings", "--grain", "rows", "--most", "2000"),
    ],
  },
  {
    name: "crash-points",
    about: "the embedded store killed at every write and sync; short: at each 30th",
    short: [project("crash-points", "kills", "disk")],
    full: [show("crash-points")],
  },
  {
    name: "power-loss",
    about: "images of a disk that lost its power: 2,000 a recording; short: 66 a script",
    short: [project("crash-points", "power-loss")],
    full: [show("power-loss")],
  },
  {
    name: "pipelines",
    about: "pipelines killed at every verb, cancelled, redeployed; short: at each 23rd point",
    short: [project("e2e", "pipelines")],
    full: [
      show("pipeline-kills"),
      show("unit-movers"),
      show("cancel-between"),
      show("changed-deploys"),
      show("late-commits"),
      show("ten-thousand-units"),
    ],
  },
  {
    name: "channels",
    about: "supervised channel tasks killed at every verb and fact; short: at 24 moments",
    short: [project("e2e", "channels")],
    full: [show("channel-kills")],
  },
  {
    name: "outages",
    about: "no writes for 1, 3 and 10 leases on either store; short: for 3 leases",
    short: [project("e2e", "outages")],
    full: [show("outages")],
  },
  {
    name: "chaos",
    about: "faults on real processes: 40 rounds of each store; short: 5 and 3",
    short: [project("chaos")],
    full: [
      node("scripts/chaos.ts", "--store", "sqlite", "--rounds", "40"),
      node("scripts/chaos.ts", "--store", "postgres", "--rounds", "40"),
    ],
  },
  {
    name: "postgres-faults",
    about: "PostgreSQL cut at COMMIT, restarted, failed over, with odd settings; short: few cuts",
    short: [show("postgres-cuts", "--cuts", "3")],
    full: [
      show("postgres-cuts", "--cuts", "100"),
      show("postgres-restarts", "--rounds", "10", "--terminations", "200"),
      show("postgres-failover", "--rounds", "5", "--seconds", "6"),
      show("postgres-listener", "--rounds", "3"),
      show("surroundings"),
    ],
  },
  {
    name: "fleets",
    about: "killed, stopped, frozen and blocked workers, synced commits; short: zombies, deploys",
    short: [
      show("zombies", "--rounds", "5"),
      show("deploys", "--rounds", "3", "--jobs", "200"),
      show("busy-loop", "--jobs", "2"),
    ],
    full: [
      show("recovery", "--rounds", "30"),
      show("zombies", "--rounds", "50"),
      show("deploys", "--rounds", "20", "--jobs", "1000"),
      show("busy-loop", "--jobs", "10"),
      show("durability"),
    ],
  },
  {
    name: "copy",
    about: "an installation moves from SQLite to PostgreSQL and is killed twice: 100,000 jobs",
    short: [project("copy")],
    full: [show("copy", "--jobs", "100000"), project("copy")],
  },
  {
    name: "governance",
    about:
      "letters, bulk, audit, tenants, payload rules: 100,000 letters, 200 races; short: a 50th",
    short: [
      show("reprocess-race", "--rounds", "5"),
      show("audit-tamper", "--entries", "50"),
      show("tenant-isolation", "--store", "sqlite"),
      show("quota-race", "--rounds", "1", "--quota", "100"),
      show("sensitive", "--corpus", "test/payload-corpus/third.json"),
    ],
    full: [
      show("causes"),
      show("reprocess-race"),
      show("bulk-kill"),
      show("audit-tamper"),
      show("audit-cost"),
      show("tenant-isolation"),
      show("tenant-export"),
      show("quota-race"),
      show("sensitive"),
      show("sensitive-cost"),
      show("rules-cost"),
    ],
  },
  {
    name: "mutants",
    about: "broken stores that the conformance suites must catch: all verbs; short: a few",
    short: [
      show("mutants", "--store", "sqlite", "promote", "renew", "acquireLocks"),
      show("mutants", "--store", "postgres", "promote", "renew", "acquireLocks"),
    ],
    full: [show("mutants", "--store", "sqlite"), show("mutants", "--store", "postgres")],
  },
];

function inBothSizes(...commands: readonly Command[]): Pick<Campaign, "short" | "full"> {
  return { short: commands, full: commands };
}

/** A test project, in the size that the campaign tells it. */
function project(name: string, ...args: readonly string[]): Command {
  const strict = ["--reporter=default", "--passWithNoTests=false"];
  return [bin("vitest"), "run", `--project=${name}`, ...strict, ...args];
}

/** The same with stores that run as a member of the role of the engine. */
function asEngine(name: string, ...args: readonly string[]): Command {
  return ["env", "MILLRACE_TEST_ROLE=engine", ...project(name, ...args)];
}

function simulate(...args: readonly string[]): Command {
  return node("scripts/simulate.ts", "--cores", "2", ...args);
}

function show(name: string, ...args: readonly string[]): Command {
  return node(`scripts/show/${name}.ts`, ...args);
}

function node(script: string, ...args: readonly string[]): Command {
  return [process.execPath, "--conditions=source", script, ...args];
}
