/**
 * A job with its handler, and the chain that builds it. Every `.phase` answers a new type that
 * knows the results of all phases before it: an object literal could not give a later phase the
 * type of an earlier result, and would reorder number-like names.
 */
import type { Context } from "./context.ts";
import type { JobContract } from "./contract.ts";
import type { Refused, Stored } from "./json.ts";

/** What a worker runs. */
export interface Job<Name extends string, Input, Result, Deps = {}> extends JobContract<
  Name,
  Input,
  Result
> {
  /** Names in the order in which they run; empty for a job made with `.run`. */
  readonly phases: readonly string[];
  readonly "~deps"?: (deps: Deps) => void;
}

/** A contract that still waits for its handler: finish it with `.run` or a chain of `.phase`. */
export interface JobBuilder<Name extends string, Input, Payload, Deps> extends JobContract<
  Name,
  Input,
  unknown
> {
  /** Names what handlers read as `ctx.deps`; handed in once, at `mill.work` or in a test. */
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

/** A pipeline. Phases run in the order written; each sees the stored results of those before it. */
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

/** A word that no earlier phase has taken. */
export type PhaseName<N extends string, Results> = N extends keyof Results
  ? Refused<`phase "${N}" is already declared`>
  : N extends `${number}`
    ? Refused<"a phase name is a word, not a number">
    : N;
