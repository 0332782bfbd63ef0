/** A campaign: voyages with one seed after the other, until all rounds are played. */
import { startPostgres } from "../../test/support/postgres.ts";
import { faultsOf } from "./faults/all.ts";
import type { Fault, StoreKind } from "./scene.ts";
import { sail } from "./voyage.ts";
import type { Voyage } from "./voyage.ts";

/** A fleet lives that long. */
export const VOYAGE_ROUNDS = 20;

export interface CampaignOptions {
  readonly store: StoreKind;
  readonly rounds: number;
  readonly seed: number;
  /** Names; absent: all of this store. */
  readonly faults?: readonly string[];
  readonly tell: (line: string) => void;
}

export async function playCampaign(options: CampaignOptions): Promise<readonly Voyage[]> {
  const { store, rounds, seed, tell } = options;
  const faults = possible(options);
  await using server = store === "postgres" ? await startPostgres() : null;
  const voyages: Voyage[] = [];
  for (let left = rounds; left > 0; left -= VOYAGE_ROUNDS) {
    const voyage = await sail({
      server,
      faults,
      rounds: Math.min(left, VOYAGE_ROUNDS),
      seed: seed + voyages.length,
      tell,
    });
    voyages.push(voyage);
    for (const line of complaints(options, voyage)) tell(line);
  }
  return voyages;
}

/** The faults that were asked for, without those that this machine cannot have. */
function possible({ store, faults: names, tell }: CampaignOptions): readonly Fault[] {
  return faultsOf(store)
    .filter(({ name }) => names?.includes(name) ?? true)
    .filter((fault) => {
      const obstacle = fault.store === "sqlite" ? (fault.obstacle?.() ?? null) : null;
      if (obstacle !== null) tell(`without ${fault.name}: ${obstacle}`);
      return obstacle === null;
    });
}

function complaints({ store, faults }: CampaignOptions, voyage: Voyage): readonly string[] {
  if (voyage.kept === null) return [];
  const chosen = faults === undefined ? "" : ` --faults ${faults.join(",")}`;
  const { seed, rounds, ending, kept } = voyage;
  return [
    ...ending.findings.slice(0, 20).map(({ kind, job, why }) => `${kind}: ${job}: ${why}`),
    `${ending.findings.length} violation(s); the raw logs are kept in ${kept}`,
    `again: npm run chaos -- --store ${store} --rounds ${rounds.length} --seed ${seed}${chosen}`,
  ];
}
