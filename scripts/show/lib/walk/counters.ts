/** Counts statements and proxy traps of a whole process. Set up before a source tree is loaded. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";

export interface ProxyCounter {
  calls: number;
}

export interface StatementCounter {
  /** Statements that read or write. */
  statements: number;
  /** Statements that begin, end or divide a transaction. */
  brackets: number;
}

const BRACKET = /^\s*(BEGIN|START TRANSACTION|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)\b/i;

/** Counts the traps of every proxy that is made from now on. */
export function countProxyCalls(): ProxyCounter {
  const counter: ProxyCounter = { calls: 0 };
  const RealProxy = Proxy;
  // The engine looks a trap up by its name once per call of the trap.
  const counted = (handler: object): object =>
    new RealProxy(handler, {
      get(target, name) {
        const trap: unknown = Reflect.get(target, name);
        if (typeof trap === "function") counter.calls += 1;
        return trap;
      },
    });
  globalThis.Proxy = new RealProxy(RealProxy, {
    construct: (target, [proxied, handler]: [object, object]) =>
      new target(proxied, counted(handler)),
  });
  return counter;
}

/**
 * Counts the statements that this thread gives to SQLite, and to PostgreSQL by the tree's own `pg`.
 * The thread of the heartbeat is another one, and its statements are not counted.
 */
export function countStatements(tree: string): StatementCounter {
  const counter: StatementCounter = { statements: 0, brackets: 0 };
  const count = (text: unknown): void => {
    const isBracket = typeof text === "string" && BRACKET.test(text);
    counter[isBracket ? "brackets" : "statements"] += 1;
  };
  for (const name of ["run", "get", "all", "iterate"]) {
    beforeEach(StatementSync.prototype, name, (statement) => count(statement.sourceSQL));
  }
  beforeEach(DatabaseSync.prototype, "exec", (_, text) => count(text));
  const load = createRequire(join(tree, "package.json"));
  const driver: { readonly Client: { readonly prototype: object } } = load("pg");
  beforeEach(driver.Client.prototype, "query", (_, query) => count(textOf(query)));
  return counter;
}

/** `pg` takes a text, or an object that has one. */
function textOf(query: unknown): unknown {
  if (typeof query !== "object" || query === null) return query;
  return "text" in query ? query.text : null;
}

/** Calls `note` with the object and the first argument before each call of a method. */
function beforeEach<T extends object>(
  prototype: T,
  name: string,
  note: (self: T, first: unknown) => void,
): void {
  const method: unknown = Reflect.get(prototype, name);
  if (typeof method !== "function") throw new Error(`there is no method ${name} to count`);
  Reflect.set(prototype, name, function noted(this: T, ...args: unknown[]): unknown {
    note(this, args[0]);
    return Reflect.apply(method, this, args);
  });
}
