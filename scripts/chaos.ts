/**
 * Chaos on real processes: three workers and two producers live through faults that a seed chooses,
 * and everything that was promised is compared with what happened.
 *
 *     npm run chaos -- --store postgres --rounds 20 --seed 7
 */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { killChildren } from "./show/lib/fleet/children.ts";
import { playCampaign, VOYAGE_ROUNDS } from "./chaos/campaign.ts";
import type { CampaignOptions } from "./chaos/campaign.ts";
import { faultsOf } from "./chaos/faults/all.ts";
import { mixLine, mixOf } from "./chaos/mix.ts";
import { tally, tallyTable } from "./chaos/tally.ts";
import type { Voyage } from "./chaos/voyage.ts";

const HELP = `npm run chaos -- [options]

  --store sqlite|postgres   default: sqlite
  --rounds N                default: 20
  --seed S                  default: 1
  --faults A,B              only these
  -o json                   figures instead of a table
  --help                    this text

Faults on SQLite:     ${namesOf("sqlite")}
Faults on PostgreSQL: ${namesOf("postgres")}

Every ${VOYAGE_ROUNDS} rounds have a database, a fleet and a seed of their own: S, S + 1 and so on.
A round has one leading fault, and now and then another beside it. Its figures are those of the
leading one; only "struck" counts each for itself. It ends with 1 when a promise was broken; then
the raw logs are kept.`;

const { values } = parsed({
  options: {
    store: { type: "string", default: "sqlite" },
    rounds: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    faults: { type: "string" },
    output: { type: "string", short: "o", default: "table" },
    help: { type: "boolean", default: false },
  },
});
const options = chosen();

if (values.help) console.log(HELP);
else if (typeof options === "string") refuse(options);
else await play(options);

type Chosen = Omit<CampaignOptions, "tell">;

/** What was asked for, or what is wrong with it. */
function chosen(): Chosen | string {
  const { store } = values;
  const [rounds = 0, seed = 0] = [values.rounds, values.seed].map(Number);
  if (store !== "sqlite" && store !== "postgres") return `there is no store "${store}"`;
  if (![rounds, seed].every((number) => Number.isSafeInteger(number) && number >= 1)) {
    return "--rounds and --seed take whole numbers from 1 on";
  }
  if (!["table", "json"].includes(values.output)) return "-o takes table or json";
  if (values.faults === undefined) return { store, rounds, seed };
  const faults = values.faults.split(",");
  const known = new Set(faultsOf(store).map(({ name }) => name));
  const unknown = faults.find((name) => !known.has(name));
  if (unknown === undefined) return { store, rounds, seed, faults };
  return `${store} has no fault "${unknown}"; it has ${namesOf(store)}`;
}

function parsed<const Config extends ParseArgsConfig>(config: Config) {
  try {
    return parseArgs(config);
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error));
    process.exit();
  }
}

function refuse(why: string): void {
  console.error(`${why}\nnpm run chaos -- --help tells more`);
  process.exitCode = 2;
}

async function play({ store, seed, ...rest }: Chosen): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));
  process.once("exit", killChildren);
  const beganAt = performance.now();
  const tell = (line: string): void => console.error(line);
  const voyages = await playCampaign({ store, seed, ...rest, tell });
  const seconds = Math.round((performance.now() - beganAt) / 1000);
  const report: Report = { store, seed, seconds, ...figuresOf(voyages) };
  if (values.output === "json") console.log(JSON.stringify(report));
  else for (const line of linesOf(report)) console.log(line);
  if (report.violations.length > 0) process.exitCode = 1;
}

function linesOf(report: Report): readonly string[] {
  const { store, seed, seconds, refused, violations } = report;
  const verdict = violations.length === 0 ? "sound" : `${violations.length} VIOLATIONS`;
  return [
    ...tallyTable(report.faults),
    mixLine(report.mix),
    `${store}, seed ${seed}, ${seconds} s, ${refused} calls refused, ${verdict}`,
  ];
}

interface Report extends ReturnType<typeof figuresOf>, Pick<Chosen, "store" | "seed"> {
  readonly seconds: number;
}

function figuresOf(voyages: readonly Voyage[]) {
  return {
    faults: tally(voyages),
    mix: mixOf(voyages),
    refused: voyages.reduce((sum, { refused }) => sum + refused, 0),
    violations: voyages.flatMap(({ seed, kept, ending }) =>
      ending.findings.map((finding) => ({ seed, kept, ...finding })),
    ),
  };
}

function namesOf(store: "sqlite" | "postgres"): string {
  return faultsOf(store)
    .map(({ name }) => name)
    .join(", ");
}
