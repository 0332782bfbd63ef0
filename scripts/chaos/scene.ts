/** What a fault finds to strike at. */
import type { Dice } from "../../src/core/clock.ts";
import type { PostgresServer } from "../../test/support/postgres.ts";
import type { Child } from "../show/lib/fleet/children.ts";
import type { Fleet } from "../show/lib/fleet/fleet.ts";
import type { Fate, Proxy, Request } from "../show/lib/fleet/proxy.ts";
import type { JumpingClock } from "./clock.ts";

export type StoreKind = "sqlite" | "postgres";
export type Scene = SqliteScene | PostgresScene;

interface Common {
  readonly fleet: Fleet;
  readonly producers: Child[];
  /** Starts the successor of a producer. */
  readonly startProducer: (seat: number) => Child;
  readonly leaseMs: number;
}

export interface SqliteScene extends Common {
  readonly store: "sqlite";
  readonly file: string;
  /** The small disk that the file lies on; null where none could be had. */
  readonly disk: string | null;
  /** All processes live on one host, and have one clock. */
  readonly clock: JumpingClock;
}

export interface PostgresScene extends Common {
  readonly store: "postgres";
  readonly server: PostgresServer;
  /** The server's own address of the database. */
  readonly url: string;
  readonly proxy: Proxy;
  /** What becomes of requests that pass the proxy; null: they pass. */
  readonly fates: { of: ((request: Request) => Fate) | null };
  /** The clocks of single hosts. The server has the true time. */
  readonly clocks: readonly JumpingClock[];
}

/** A fault strikes some times, heals, and answers how often it has struck. */
export type Fault =
  | {
      readonly name: string;
      readonly store: "any";
      strike(scene: Scene, dice: Dice): Promise<number>;
    }
  | {
      readonly name: string;
      readonly store: "sqlite";
      /** Why this machine cannot have it; null if it can. */
      readonly obstacle?: () => string | null;
      strike(scene: SqliteScene, dice: Dice): Promise<number>;
    }
  | {
      readonly name: string;
      readonly store: "postgres";
      strike(scene: PostgresScene, dice: Dice): Promise<number>;
    };

export async function strike(fault: Fault, scene: Scene, dice: Dice): Promise<number> {
  if (fault.store === "any") return fault.strike(scene, dice);
  if (fault.store === "sqlite" && scene.store === "sqlite") return fault.strike(scene, dice);
  if (fault.store === "postgres" && scene.store === "postgres") return fault.strike(scene, dice);
  throw new Error(`${fault.name} is no fault of ${scene.store}`);
}

/** A number between two, by chance. */
export function between(dice: Dice, least: number, most: number): number {
  return least + dice.random() * (most - least);
}

/** One of several, by chance. */
export function seatOf(dice: Dice, all: { readonly length: number }): number {
  return Math.floor(dice.random() * all.length);
}
