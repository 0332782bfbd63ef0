/** What can go wrong with calls of functions by name. */
import type { Faults } from "../all.ts";

export const SQLITE_FUNCTION_FAULTS: Faults = {
  runFunction: {
    "services/functions.ts": [
      ["an unknown function is a failed one", '"FUNCTION_UNKNOWN"', '"FUNCTION_FAILED"'],
      ["the error does not name the function", "details: { function: name },", "details: {},"],
    ],
  },
};

export const POSTGRES_FUNCTION_FAULTS: Faults = {
  runFunction: {
    "services/functions.ts": [
      ["the SQLSTATE of a name is another one", '"MR018"', '"MR010"'],
      ["the error does not name the function", "{ function: name, sqlState", "{ sqlState"],
    ],
    "surface/50-functions.sql": [
      ["the registry is not asked", "IF target IS NULL THEN", "IF false THEN"],
    ],
  },
};
