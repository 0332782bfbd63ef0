/**
 * Lets contestants do the same work in turn, round by round, so that other load of the machine
 * falls on all of them. The order turns with the rounds, so that no contestant is always first.
 */
import type { Contestant } from "./contestants/contestant.ts";
import type { DatabaseKind, Databases } from "./databases.ts";
import type { Figures, Measurement } from "./measurements.ts";
import type { Other, Row } from "./report.ts";

export interface Entrant extends Contestant {
  readonly database: DatabaseKind;
  /** Part of the jobs that it gets, where all of them would take too long. */
  readonly share?: number;
}

/** One piece of work. The first entrant is ours. */
export interface Contest {
  readonly work: string;
  readonly measure: Measurement;
  readonly entrants: readonly Entrant[];
  readonly rows: readonly RowOf[];
  /** What does not vary enough to repeat. */
  readonly once?: boolean;
}

/** How one figure of a contest becomes a row of the report. */
export interface RowOf extends Pick<Row, "id" | "work" | "unit" | "better"> {
  readonly figure: string;
  /** What ours has to be, times the figure of a named entrant. */
  readonly targets?: Readonly<Record<string, number>>;
  readonly bound?: number;
}

export interface Options {
  readonly rounds: number;
  readonly jobs: number;
  readonly databases: Databases;
  readonly say: (line: string) => void;
}

export interface Outcome {
  readonly rows: readonly Row[];
  /** Who could not do which work, and why. */
  readonly failures: readonly string[];
}

export async function compete(contests: readonly Contest[], options: Options): Promise<Outcome> {
  const taken = new Map<string, Map<number, Figures>>();
  const failures = new Map<string, string>();
  for (let round = 0; round < options.rounds; round += 1) {
    for (const contest of contests) {
      if (contest.once === true && round > 0) continue;
      for (const entrant of turned(contest.entrants, round)) {
        const name = nameOf(contest, entrant);
        if (failures.has(name)) continue;
        try {
          const figures = await take(contest, entrant, options);
          taken.set(name, (taken.get(name) ?? new Map()).set(round, figures));
          options.say(`round ${round + 1}, ${name}: ${shown(figures)}`);
        } catch (error) {
          failures.set(name, error instanceof Error ? error.message : String(error));
          options.say(`round ${round + 1}, ${name} failed: ${failures.get(name)}`);
        }
      }
    }
  }
  return {
    rows: contests.flatMap((contest) => contest.rows.map((row) => rowOf(contest, row, taken))),
    failures: [...failures].map(([name, why]) => `${name}: ${why}`),
  };
}

function turned<Item>(items: readonly Item[], by: number): Item[] {
  return items.map((_, index) => items[(index + by) % items.length]!);
}

function nameOf({ work }: Contest, { name }: Entrant): string {
  return `${work}, ${name}`;
}

function take({ measure }: Contest, entrant: Entrant, options: Options): Promise<Figures> {
  const { database, share = 1 } = entrant;
  return measure({
    contestant: entrant,
    jobs: Math.ceil(options.jobs * share),
    fresh: () => options.databases.fresh(database),
  });
}

function shown(figures: Figures): string {
  const each = Object.entries(figures).map(([name, value]) => `${name} ${value.toPrecision(4)}`);
  return each.join(", ");
}

function rowOf(contest: Contest, row: RowOf, taken: Map<string, Map<number, Figures>>): Row {
  const { id, work, unit, better, figure, targets = {}, bound = null } = row;
  const byRound = (entrant: Entrant): Map<number, number> => {
    const rounds = taken.get(nameOf(contest, entrant)) ?? new Map<number, Figures>();
    return new Map(
      [...rounds].flatMap(([round, figures]) => {
        const value = figures[figure];
        return value === undefined || !Number.isFinite(value) ? [] : [[round, value]];
      }),
    );
  };
  const [first, ...rest] = contest.entrants;
  const ours = first === undefined ? new Map<number, number>() : byRound(first);
  const others = rest.map((entrant): Other => {
    const values = byRound(entrant);
    const ratios = [...values].flatMap(([round, value]) => {
      const own = ours.get(round);
      // A difference may be negative; its ratio would say nothing.
      return own === undefined || own <= 0 || value <= 0 ? [] : [own / value];
    });
    const target = targets[entrant.name] ?? null;
    return { name: entrant.name, values: [...values.values()], ratios, target };
  });
  return { id, work, unit, better, ours: [...ours.values()], others, bound };
}
