/** The types of values that survive the store, and the sentences for those that do not. */
import type { Json } from "../core/payload.ts";

/**
 * What comes back after a value was written as JSON and read again: a Date is a string, a method is
 * gone. Results are typed this way on the first run too, so that a crash changes no type.
 */
export type Stored<T> = unknown extends T
  ? T
  : [T] extends [void]
    ? undefined
    : T extends string | number | boolean | null | undefined
      ? T
      : T extends { toJSON(): infer J }
        ? Stored<J>
        : T extends bigint | symbol | AnyFunction
          ? never
          : T extends readonly unknown[]
            ? { [I in keyof T]: Stored<T[I]> }
            : T extends object
              ? { [K in keyof T as T[K] extends symbol | AnyFunction ? never : K]: Stored<T[K]> }
              : never;

declare const fault: unique symbol;

/** Never a real value: its parameter is the sentence that the editor shows. */
export interface Refused<Reason extends string> {
  readonly [fault]: Reason;
}

/** Where a type is not JSON, one sentence per place; `never` when all of it can be stored. */
export type Faults<T, Path extends string> = unknown extends T
  ? never
  : // Json refers to itself: to look inside it would never end.
    [T] extends [Json]
    ? never
    : T extends string | number | boolean | null | undefined
      ? never
      : T extends Date
        ? `${Path} is a Date, which does not survive storage: ${InsteadOfDate}`
        : T extends bigint
          ? `${Path} is a bigint, which is not JSON: take a string`
          : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
            ? `${Path} is a Map or Set, which is not JSON: take an array`
            : T extends symbol | AnyFunction
              ? `${Path} is not JSON`
              : T extends readonly (infer E)[]
                ? Faults<E, `${Path}[]`>
                : T extends object
                  ? { [K in keyof T & string]: Faults<T[K], `${Path}.${K}`> }[keyof T & string]
                  : never;

type InsteadOfDate = "take an ISO string, z.iso.datetime() or z.coerce.date<string>()";

type AnyFunction = (...args: never[]) => unknown;
