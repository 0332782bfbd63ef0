/** Reads from V8 which functions of a source tree were entered. */
import { Session, type Profiler } from "node:inspector";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";

/** One function of the tree that was entered at least once. */
export interface EnteredFunction {
  /** The path from the root of the tree, with forward slashes. */
  readonly file: string;
  readonly name: string;
  /** The place in the text of the file. It tells two functions of the same name apart. */
  readonly offset: number;
  readonly calls: number;
}

/** V8 counts every call from now on. Counting begins before the tree is loaded. */
export class Coverage {
  readonly #session = new Session();
  readonly #source: string;
  readonly #tree: string;

  constructor(tree: string) {
    this.#tree = `${tree}${sep}`;
    this.#source = `${this.#tree}src${sep}`;
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  }

  /**
   * The functions that were entered since the last call of this method. V8 answers before the
   * method returns, so the event loop does not turn meanwhile. A module's own body and unnamed
   * functions have an empty name; V8's initialisers of fields have a name in angle brackets.
   */
  take(): EnteredFunction[] {
    let scripts: readonly Profiler.ScriptCoverage[] = [];
    this.#session.post("Profiler.takePreciseCoverage", (error, answer) => {
      if (error !== null) throw error;
      scripts = answer.result;
    });
    return scripts.flatMap((script) => this.#enteredIn(script));
  }

  #enteredIn({ url, functions }: Profiler.ScriptCoverage): EnteredFunction[] {
    if (!url.startsWith("file:")) return [];
    const path = fileURLToPath(url);
    if (!path.startsWith(this.#source)) return [];
    const file = path.slice(this.#tree.length).replaceAll(sep, "/");
    return functions.flatMap(({ functionName: name, ranges }) => {
      const { startOffset: offset = 0, count: calls = 0 } = ranges[0] ?? {};
      return calls === 0 ? [] : [{ file, name, offset, calls }];
    });
  }
}
