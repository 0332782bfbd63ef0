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
    name: "simulation",
    about: "the engine in virtual time under drawn faults: 600 seeds; short: 60",
    short: [simulate("--seeds", "1..60")],
    full: [simulate("--seeds", "1..600"), project("simulation")],
  },
  {
    name: "simulation-mutants",
    about: "planted bugs that the simulation must see: all; short: a handful",
    short: [project("simulation", "-t", "the simulation")],
    full: [node("scripts/simulate.ts", "--mutants")],
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
  return [bin("vitest"), "run", `--project=${name}`, "--reporter=default", ...args];
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
