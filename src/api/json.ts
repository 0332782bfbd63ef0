/** The types of values that can be stored, and the messages for values that cannot. */
import type { Json } from "../core/payload.ts";

/**
 * The type of a value after it was written as JSON and read again: a Date becomes a string, and
 * methods are removed. Results have this type on the first run too, so that a retry after a crash
 * reads the same type.
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

/** The type of an error message: no value has it, and editors show its parameter. */
export interface Refused<Reason extends string> {
  readonly [fault]: Reason;
}

/** One message per part of a type that is not JSON; `never` when the whole type can be stored. */
export type Faults<T, Path extends string> = unknown extends T
  ? never
  : // Json is recursive: expanding it would not terminate.
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
