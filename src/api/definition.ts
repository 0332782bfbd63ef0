/**
 * The inside of a contract: what the runtime reads of the values that `defineJob` and `.of` make.
 *
 * It hangs on the value itself, under a key that no listing shows, and not in a WeakMap: a
 * workspace may install two copies of this package, and the worker's copy must read the contract
 * that the web app's copy made. A map in a module would be empty for the other copy.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { MillraceError } from "../core/errors.ts";
import { shown } from "../core/text.ts";
import type { Context } from "./context.ts";
import type { JobContract, JobRequest } from "./contract.ts";
import type { EnqueueOptions } from "./enqueue.ts";
import type { JobSettings } from "./settings.ts";

export interface Definition {
  readonly type: string;
  /** Absent: the job takes no payload. */
  readonly schema: StandardSchemaV1 | undefined;
  readonly settings: JobSettings;
  readonly body: Body;
}

/** What there is to run. */
export type Body =
  | { readonly kind: "none" }
  | { readonly kind: "handler"; readonly handler: Handler }
  | { readonly kind: "phases"; readonly phases: readonly Phase[] };

export interface Phase {
  readonly name: string;
  readonly handler: Handler;
}

/** A handler after its types have done their work. */
export type Handler = (payload: any, ctx: Context<any, any>) => unknown;

/** A request as the client unpacks it. */
export interface RequestParts {
  readonly contract: AnyContract;
  readonly payload: unknown;
  readonly options: EnqueueOptions;
}

export type AnyContract = JobContract<string, any, unknown>;

/** What hangs on a contract or a request besides its public API. */
interface Sealed {
  readonly "~definition"?: Definition;
  readonly "~request"?: RequestParts;
}

/** Reads what `defineJob` has put into a contract. */
export function definitionOf(contract: AnyContract): Definition {
  return insideOf(contract)["~definition"] ?? refuse(contract, "a job made with defineJob");
}

/** Reads what `.of` has put into a request. */
export function requestOf(request: JobRequest<unknown>): RequestParts {
  return insideOf(request)["~request"] ?? refuse(request, "a request made with the .of of a job");
}

export function isContract(value: unknown): value is AnyContract {
  return insideOf(value)["~definition"] !== undefined;
}

/** Makes a contract that can do `steps` besides being enqueued, and closes it for good. */
export function makeContract(definition: Definition, steps: object): AnyContract {
  const contract: AnyContract = {
    type: definition.type,
    of: (payload?: unknown, options: EnqueueOptions = {}) =>
      sealed({ type: definition.type }, { "~request": { contract, payload, options } }),
    ...steps,
  };
  return sealed(contract, { "~definition": definition });
}

function sealed<T extends object>(value: T, inside: Sealed): T {
  for (const [key, hidden] of Object.entries(inside)) {
    Object.defineProperty(value, key, { value: Object.freeze(hidden), enumerable: false });
  }
  return Object.freeze(value);
}

function insideOf(value: unknown): Sealed {
  return typeof value === "object" && value !== null ? value : {};
}

function refuse(value: unknown, expected: string): never {
  throw new MillraceError("DEFINITION_INVALID", `expected ${expected}, found ${shown(value)}`);
}
