/**
 * The groups of tests. `npm test` runs one batch after the other, each by one Vitest process, so
 * that a mistake in the code itself is reported before the slow tests begin.
 */
import { availableParallelism } from "node:os";

export interface TestProject {
  readonly name: string;
  readonly include: readonly string[];
  /** What its files may take, added up, before the summary prints a line about it. */
  readonly budgetSeconds: number;
  /** How long one test may take. */
  readonly testSeconds: number;
  readonly batch: Batch;
  /** Part of `npm run test:quick`. */
  readonly quick?: true;
  /** A campaign project runs by its name or by `npm run campaign`, and never by `npm test`. */
  readonly level?: "campaign";
  /** A module that runs once before its first test. */
  readonly setup?: string;
}

/** `unit` is measured for coverage; `code` keeps the processor busy; `processes` mostly waits. */
export type Batch = "unit" | "code" | "processes";

const CORES = Math.max(2, availableParallelism());

/** In the order in which they run, with the number of files that run at the same time. */
export const BATCHES: readonly { readonly name: Batch; readonly workers: number }[] = [
  { name: "unit", workers: CORES },
  { name: "code", workers: CORES },
  { name: "processes", workers: CORES + 1 },
];

/** A run of `npm test` that takes longer on two quiet cores says so, and does not fail. */
export const BUDGET_SECONDS_TOTAL = 360;

/** In a batch, long ones first: their files must not be left over at the end. */
export const PROJECTS: readonly TestProject[] = [
  {
    name: "unit",
    include: ["src/**/*.test.ts", "dashboard/src/**/*.test.ts"],
    budgetSeconds: 30,
    testSeconds: 10,
    batch: "unit",
    quick: true,
  },
  {
    name: "api",
    include: ["test/api/*.test.ts", "test/examples.test.ts"],
    budgetSeconds: 60,
    testSeconds: 120,
    batch: "code",
  },
  {
    name: "conformance:postgres",
    include: ["test/conformance/postgres*.test.ts"],
    budgetSeconds: 150,
    testSeconds: 20,
    batch: "code",
  },
  {
    name: "conformance:sqlite",
    include: ["test/conformance/sqlite*.test.ts"],
    budgetSeconds: 30,
    testSeconds: 20,
    batch: "code",
    quick: true,
  },
  {
    name: "conformance:postgres-15",
    include: ["test/conformance/oldest-postgres*.test.ts"],
    budgetSeconds: 120,
    testSeconds: 20,
    batch: "code",
    level: "campaign",
  },
  {
    name: "tidy",
    include: ["test/tidy.test.ts"],
    budgetSeconds: 15,
    testSeconds: 20,
    batch: "code",
  },
  {
    name: "runtime",
    include: ["test/runtime/**/*.test.ts"],
    budgetSeconds: 40,
    testSeconds: 20,
    batch: "code",
    quick: true,
  },
  {
    name: "postgres",
    include: ["test/postgres/**/*.test.ts"],
    budgetSeconds: 180,
    testSeconds: 120,
    batch: "processes",
  },
  {
    name: "e2e",
    include: ["test/e2e/**/*.test.ts"],
    budgetSeconds: 120,
    testSeconds: 300,
    batch: "processes",
  },
  {
    name: "examples",
    include: ["examples/**/*.test.ts"],
    budgetSeconds: 90,
    testSeconds: 60,
    batch: "processes",
  },
  {
    name: "http",
    include: ["test/http/*.test.ts"],
    budgetSeconds: 60,
    testSeconds: 180,
    batch: "processes",
    setup: "test/http/install.ts",
  },
  {
    name: "dashboard",
    include: ["test/dashboard/*.test.ts"],
    budgetSeconds: 90,
    testSeconds: 240,
    batch: "processes",
  },
  {
    name: "cli",
    include: ["test/cli/**/*.test.ts"],
    budgetSeconds: 120,
    testSeconds: 60,
    batch: "processes",
  },
  {
    name: "copy",
    include: ["test/copy/*.test.ts"],
    budgetSeconds: 60,
    testSeconds: 60,
    batch: "processes",
  },
  {
    name: "transactions",
    include: ["test/transactions/*.test.ts"],
    budgetSeconds: 40,
    testSeconds: 60,
    batch: "processes",
    setup: "test/transactions/install.ts",
  },
  {
    name: "chaos",
    include: ["test/chaos/*.test.ts"],
    budgetSeconds: 30,
    testSeconds: 120,
    batch: "processes",
  },
  {
    name: "blame",
    include: ["test/blame/*.test.ts"],
    budgetSeconds: 60,
    testSeconds: 60,
    batch: "processes",
  },
  {
    name: "crash-points",
    include: ["test/crash-points/*.test.ts"],
    budgetSeconds: 45,
    testSeconds: 240,
    batch: "processes",
  },
  {
    name: "interleavings",
    include: ["test/interleavings/*.test.ts"],
    budgetSeconds: 30,
    testSeconds: 120,
    batch: "processes",
  },
  {
    name: "differential",
    include: ["test/differential/*.test.ts"],
    budgetSeconds: 20,
    testSeconds: 120,
    batch: "processes",
  },
  {
    name: "simulation",
    include: ["test/simulation/*.test.ts"],
    budgetSeconds: 20,
    testSeconds: 120,
    batch: "processes",
  },
  {
    name: "docs",
    include: ["test/docs/*.test.ts"],
    budgetSeconds: 90,
    testSeconds: 180,
    batch: "processes",
  },
  {
    name: "repository",
    include: ["test/repository/*.test.ts"],
    budgetSeconds: 30,
    testSeconds: 60,
    batch: "processes",
  },
];
