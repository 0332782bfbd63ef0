/**
 * A job with its handler, and the chain that builds it. Every `.phase` returns a new type with the
 * results of all earlier phases. An object literal could not give a later phase the type of an
 * earlier result, and would reorder names that look like numbers.
 */
import type { Context } from "./context.ts";
import type { JobContract } from "./contract.ts";
import type { Refused, Stored } from "./json.ts";

/** A job with its handler, for `mill.work`. */
export interface Job<Name extends string, Input, Result, Deps = {}> extends JobContract<
  Name,
  Input,
  Result
> {
  /** The names of the phases in the order in which they run. Empty for a job made with `.run`. */
  readonly phases: readonly string[];
  readonly "~deps"?: (deps: Deps) => void;
}

/** A contract without a handler. `.run` or a chain of `.phase` adds the handler. */
export interface JobBuilder<Name extends string, Input, Payload, Deps> extends JobContract<
  Name,
  Input,
  unknown
> {
  /** Declares the type of `ctx.deps`. The value is given to `mill.work`, or by a test. */
  using<D>(): JobBuilder<Name, Input, Payload, D>;

  run<R>(
    handler: (payload: Payload, ctx: Context<{}, Deps>) => R | Promise<R>,
  ): Job<Name, Input, Stored<Awaited<R>>, Deps>;

  phase<N extends string, R>(
    name: PhaseName<N, {}>,
    handler: (payload: Payload, ctx: Context<{}, Deps>) => R | Promise<R>,
  ): PhasedJob<
    Name,
    Input,
    Payload,
    { readonly [K in N]: Stored<Awaited<R>> },
    Stored<Awaited<R>>,
    Deps
  >;
}

/** A pipeline. Phases run in the order written and read the stored results of earlier phases. */
export interface PhasedJob<Name extends string, Input, Payload, Results, Last, Deps> extends Job<
  Name,
  Input,
  Last,
  Deps
> {
  phase<N extends string, R>(
    name: PhaseName<N, Results>,
    handler: (payload: Payload, ctx: Context<Results, Deps>) => R | Promise<R>,
  ): PhasedJob<
    Name,
    Input,
    Payload,
    Results & { readonly [K in N]: Stored<Awaited<R>> },
    Stored<Awaited<R>>,
    Deps
  >;
}

/** A word that is not yet the name of a phase. */
export type PhaseName<N extends string, Results> = N extends keyof Results
  ? Refused<`phase "${N}" is already declared`>
  : N extends `${number}`
    ? Refused<"a phase name is a word, not a number">
    : N;
