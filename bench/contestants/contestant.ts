/** A contestant seen from outside: starts its process, asks it verbs, ends it. */
import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SystemName } from "./systems.ts";
import type { Answer, Verb, Verbs } from "./verbs.ts";

const HERE = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = join("bench", "contestants", "child.ts");
/** No verb takes longer; what does is stuck. */
const ANSWER_MS_MAX = 300_000;
const CLOSE_MS_MAX = 10_000;
const COMPLAINT_LETTERS_MAX = 2_000;

export interface Contestant {
  readonly name: string;
  readonly system: SystemName;
  readonly variant?: string;
  /** Another working tree of this repository, with this folder `bench`. */
  readonly tree?: string;
  /** Loads the built package, as users do. */
  readonly isBuilt?: boolean;
}

interface Asked {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class Child implements AsyncDisposable {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #asked = new Map<number, Asked>();
  #asking = 0;
  #complaints = "";
  /** Handlers that have begun, as far as it has told. */
  begun = 0;

  private constructor(contestant: Contestant, url: string) {
    const { name, system, variant, tree = HERE, isBuilt = false } = contestant;
    this.#name = name;
    const args = [system, url, ...(variant === undefined ? [] : [variant])];
    this.#child = fork(join(tree, PROGRAM), args, {
      execArgv: [...(isBuilt ? [] : ["--conditions=source"]), "--expose-gc"],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      this.#complaints = (this.#complaints + chunk.toString()).slice(-COMPLAINT_LETTERS_MAX);
    });
    this.#child.on("message", (answer: Answer) => this.#heard(answer));
    this.#child.on("exit", (code) => this.#gone(`it ended with ${code}: ${this.#complaints}`));
  }

  /** Resolves once the system is open. */
  static async start(contestant: Contestant, url: string): Promise<Child> {
    const child = new Child(contestant, url);
    await child.#answer(0);
    return child;
  }

  ask<V extends Verb>(verb: V, value: Verbs[V]["asks"]): Promise<Verbs[V]["answers"]>;
  ask(verb: Verb, value: unknown): Promise<unknown> {
    this.#asking += 1;
    this.#child.send({ id: this.#asking, verb, value });
    return this.#answer(this.#asking);
  }

  /** Lets the system close, but not for ever. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once("exit", resolve));
    const late = setTimeout(() => this.#child.kill("SIGKILL"), CLOSE_MS_MAX);
    await this.ask("close", null).catch(() => {});
    this.#child.kill();
    await gone;
    clearTimeout(late);
  }

  #answer(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      const late = setTimeout(() => this.#child.kill("SIGKILL"), ANSWER_MS_MAX);
      const settled = (): void => clearTimeout(late);
      this.#asked.set(id, {
        resolve: (value) => (settled(), resolve(value)),
        reject: (error) => (settled(), reject(error)),
      });
    });
  }

  #heard(answer: Answer): void {
    if (answer.id === -1 && "value" in answer) {
      this.begun = Number(answer.value);
      return;
    }
    const asked = this.#asked.get(answer.id);
    this.#asked.delete(answer.id);
    if ("error" in answer) asked?.reject(new Error(`${this.#name}: ${answer.error}`));
    else asked?.resolve(answer.value);
  }

  #gone(why: string): void {
    for (const { reject } of this.#asked.values()) reject(new Error(`${this.#name}: ${why}`));
    this.#asked.clear();
  }
}
