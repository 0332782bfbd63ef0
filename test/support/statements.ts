/** Counts the statements that a piece of work sends to SQLite and PostgreSQL. */
import { StatementSync } from "node:sqlite";
import { Client } from "pg";

/** Statements of all stores of this process, without BEGIN and COMMIT on SQLite. */
export async function countStatements<Answer>(
  work: () => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly statements: number }> {
  let statements = 0;
  const count = (): void => void (statements += 1);
  const restored = [
    ...(["all", "get", "run", "iterate"] as const).map((name) =>
      counting(StatementSync.prototype, name, count),
    ),
    counting(Client.prototype, "query", count),
  ];
  try {
    const answer = await work();
    return { answer, statements };
  } finally {
    for (const restore of restored) restore();
  }
}

/** Calls `count` before each call of a method. Answers how to restore the method. */
function counting(prototype: any, name: string, count: () => void): () => void {
  const original = prototype[name];
  prototype[name] = function counted(this: unknown, ...args: unknown[]): unknown {
    count();
    return original.apply(this, args);
  };
  return () => void (prototype[name] = original);
}
