/**
 * The definition inside a contract: the data that the runtime reads from the values of `defineJob`
 * and `.of`.
 *
 * The definition is a hidden property of the value, not an entry of a WeakMap. A workspace may
 * install two copies of this package, and the worker's copy must read the contract that the web
 * app's copy made. A map in a module would be empty for the other copy.
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
  /** `undefined` for a job without payload. */
  readonly schema: StandardSchemaV1 | undefined;
  readonly settings: JobSettings;
  readonly body: Body;
  /** The unit that calls the declared services; absent: the whole run does. */
  readonly caller?: CallingUnit;
}

/** A unit by its phase. Its name in the store is this name, a blank and the id of the job. */
export interface CallingUnit {
  readonly phase: string;
  readonly unit: string;
}

/** The handlers of a definition. */
export type Body =
  | { readonly kind: "none" }
  | { readonly kind: "handler"; readonly handler: Handler }
  | { readonly kind: "phases"; readonly phases: readonly Phase[] };

export interface Phase {
  readonly name: string;
  readonly handler: Handler;
}

/** A handler without its static types. */
export type Handler = (payload: any, ctx: Context<any, any>) => unknown;

/** The contents of a request. */
export interface RequestParts {
  readonly contract: AnyContract;
  readonly payload: unknown;
  readonly options: EnqueueOptions;
}

export type AnyContract = JobContract<string, any, unknown>;

/** The hidden properties of a contract or a request. */
interface Sealed {
  readonly "~definition"?: Definition;
  readonly "~request"?: RequestParts;
}

/** The definition that `defineJob` has put into a contract. */
export function definitionOf(contract: AnyContract): Definition {
  return insideOf(contract)["~definition"] ?? refuse(contract, "a job made with defineJob");
}

/** The contents that `.of` has put into a request. */
export function requestOf(request: JobRequest<unknown>): RequestParts {
  return insideOf(request)["~request"] ?? refuse(request, "a request made with .of of a job");
}

export function isContract(value: unknown): value is AnyContract {
  return insideOf(value)["~definition"] !== undefined;
}

/** Makes a frozen contract with the methods `steps`. */
export function makeContract(definition: Definition, steps: object): AnyContract {
  const contract: AnyContract = {
    type: definition.type,
    of: (payload?: unknown, options: EnqueueOptions = {}) =>
      sealed({ type: definition.type }, { "~request": { contract, payload, options } }),
    ...steps,
  };
  return sealed(contract, { "~definition": definition });
}

/** The same job, whose services only one of its units calls. */
export function calledBy<Contract extends AnyContract & { readonly phases: readonly string[] }>(
  contract: Contract,
  caller: CallingUnit,
): Contract {
  const { phases } = contract;
  const made: AnyContract = makeContract({ ...definitionOf(contract), caller }, { phases });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The same steps, but `.phase`.
  return made as Contract;
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
