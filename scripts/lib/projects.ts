/** The groups of tests, cheapest first: what breaks early is told early. */

export interface TestProject {
  readonly name: string;
  readonly include: readonly string[];
  /** How long the whole project may take before the run complains. */
  readonly budgetSeconds: number;
  /** How long one test may take. */
  readonly testSeconds: number;
  /** Part of `npm run test:quick`. */
  readonly quick: boolean;
  /** A module that runs once before its first test. */
  readonly setup?: string;
}

/** `npm test` fails above this, whatever the single budgets say. */
export const BUDGET_SECONDS_TOTAL = 900;

export const PROJECTS: readonly TestProject[] = [
  {
    name: "unit",
    include: ["src/**/*.test.ts"],
    budgetSeconds: 30,
    testSeconds: 10,
    quick: true,
  },
  {
    name: "conformance:sqlite",
    include: ["test/conformance/sqlite*.test.ts"],
    budgetSeconds: 20,
    testSeconds: 20,
    quick: true,
  },
  {
    name: "conformance:postgres",
    include: ["test/conformance/postgres*.test.ts"],
    budgetSeconds: 90,
    testSeconds: 20,
    quick: false,
  },
  {
    name: "conformance:postgres-15",
    include: ["test/conformance/oldest-postgres*.test.ts"],
    budgetSeconds: 90,
    testSeconds: 20,
    quick: false,
  },
  {
    name: "runtime",
    include: ["test/runtime/**/*.test.ts"],
    budgetSeconds: 40,
    testSeconds: 20,
    quick: true,
  },
  {
    name: "tidy",
    include: ["test/tidy.test.ts"],
    budgetSeconds: 15,
    testSeconds: 20,
    quick: false,
  },
  {
    name: "api",
    include: ["test/api/*.test.ts", "test/examples.test.ts"],
    budgetSeconds: 60,
    testSeconds: 120,
    quick: false,
  },
  {
    name: "examples",
    include: ["examples/**/*.test.ts"],
    budgetSeconds: 90,
    testSeconds: 60,
    quick: false,
  },
  {
    name: "cli",
    include: ["test/cli/*.test.ts"],
    budgetSeconds: 90,
    testSeconds: 60,
    quick: false,
  },
  {
    name: "repository",
    include: ["test/repository/*.test.ts"],
    budgetSeconds: 30,
    testSeconds: 60,
    quick: false,
  },
  {
    name: "e2e",
    include: ["test/e2e/*.test.ts"],
    budgetSeconds: 200,
    testSeconds: 300,
    quick: false,
  },
  {
    name: "postgres",
    include: ["test/postgres/*.test.ts"],
    budgetSeconds: 180,
    testSeconds: 120,
    quick: false,
  },
  {
    name: "transactions",
    include: ["test/transactions/*.test.ts"],
    // With the installation of the libraries, which is needed once.
    budgetSeconds: 180,
    testSeconds: 60,
    quick: false,
    setup: "test/transactions/install.ts",
  },
  {
    name: "copy",
    include: ["test/copy/*.test.ts"],
    budgetSeconds: 60,
    testSeconds: 60,
    quick: false,
  },
  {
    name: "chaos",
    include: ["test/chaos/*.test.ts"],
    budgetSeconds: 60,
    testSeconds: 120,
    quick: false,
  },
  {
    name: "crash-points",
    include: ["test/crash-points/*.test.ts"],
    budgetSeconds: 90,
    testSeconds: 240,
    quick: false,
  },
  {
    name: "differential",
    include: ["test/differential/*.test.ts"],
    budgetSeconds: 60,
    testSeconds: 120,
    quick: false,
  },
  {
    name: "interleavings",
    include: ["test/interleavings/*.test.ts"],
    budgetSeconds: 90,
    testSeconds: 120,
    quick: false,
  },
  {
    name: "simulation",
    include: ["test/simulation/*.test.ts"],
    budgetSeconds: 60,
    testSeconds: 120,
    quick: false,
  },
];
