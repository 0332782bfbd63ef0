/**
 * Makes the value of `ctx.deps` from the export `deps` of the job file, or of millrace.config.ts.
 * The export is an object, or a function that makes one when the worker starts.
 */
import { EXIT, CommandFailure } from "../terminal/exit-codes.ts";

export interface Deps {
  readonly value: object;
  /** Calls the `dispose` of the value, if it has one. Called after the worker has stopped. */
  dispose(): Promise<void>;
}

/** Makes the dependencies that `file` exports. */
export async function makeDeps(exported: unknown, file: string): Promise<Deps> {
  const value = typeof exported === "function" ? await call(exported, file) : (exported ?? {});
  if (typeof value !== "object" || value === null) {
    throw new CommandFailure(
      `${file}: deps is neither an object nor a function that returns one.`,
      {
        hint: "Write: export const deps = async () => ({ … });",
        exitCode: EXIT.usage,
      },
    );
  }
  return { value, dispose: () => dispose(value, file) };
}

async function call(make: Function, file: string): Promise<unknown> {
  try {
    return await make();
  } catch (error) {
    throw failed(`${file}: deps could not be made`, error);
  }
}

async function dispose(value: object, file: string): Promise<void> {
  const end: unknown =
    Reflect.get(value, Symbol.asyncDispose) ??
    Reflect.get(value, Symbol.dispose) ??
    Reflect.get(value, "dispose");
  if (typeof end !== "function") return;
  try {
    await Reflect.apply(end, value, []);
  } catch (error) {
    throw failed(`${file}: deps could not be disposed of`, error);
  }
}

function failed(what: string, error: unknown): CommandFailure {
  const story = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new CommandFailure(`${what}:\n${story}`, {
    hint: "Correct deps, or the service that it connects to.",
    exitCode: EXIT.broken,
  });
}
