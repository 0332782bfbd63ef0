/**
 * Virtual time and the scheduler: several simulated processes in one, of which a seeded choice says
 * who goes on.
 *
 * A later action of a process is a task with a due time: a timer of its clock, a later turn of its
 * event loop, a step of a store verb. Within a process tasks keep their order, as Node keeps it;
 * between processes chance decides. After each task all promises that can go on do so, and only
 * then the next is chosen. Nothing waits for the real clock: one stray timer fails the run.
 */
import { createHash } from "node:crypto";
import type { Clock, Dice } from "../../../src/core/clock.ts";
import { seededDice } from "../../support/seeded-dice.ts";

/** A Monday morning. */
const START_AT = Date.UTC(2026, 0, 5, 9);
const realImmediate = globalThis.setImmediate;

interface Task {
  readonly dueAt: number;
  readonly label: string;
  readonly work: () => void;
}

/** One simulated process: what it will do, and whether it still can. */
export class Process {
  readonly name: string;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly tasks: Task[] = [];
  readonly bornAtMs: number;
  readonly #world: World;
  isAlive = true;
  pausedUntil = 0;
  skewMs = 0;
  /** Operations under way. */
  pending = 0;
  /** Verbs of the store that it has called. */
  verbs = 0;

  constructor(world: World, name: string, dice: Dice) {
    this.#world = world;
    this.name = name;
    this.dice = dice;
    this.bornAtMs = world.elapsedMs;
    this.clock = {
      now: () => Math.floor(START_AT + world.elapsedMs + world.jumpMs + this.skewMs),
      monotonic: () => world.elapsedMs,
      after: (ms, wake) => this.later(ms, "timer", wake),
    };
  }

  /** Does `work` after so long, unless the process is dead by then. Answers how to call it off. */
  later(ms: number, label: string, work: () => void): () => void {
    const task = { dueAt: this.#world.elapsedMs + Math.max(0, ms), label, work };
    if (this.isAlive && Number.isFinite(task.dueAt)) insert(this.tasks, task);
    return () => {
      const index = this.tasks.indexOf(task);
      if (index !== -1) this.tasks.splice(index, 1);
    };
  }

  /** Resolves after so long; never, if the process dies before. */
  sleep(ms: number, label: string): Promise<void> {
    return new Promise((resolve) => void this.later(ms, label, resolve));
  }

  /** When it goes on, if no wake-up comes. */
  get nextAt(): number {
    const [first] = this.tasks;
    return first === undefined ? Infinity : Math.max(first.dueAt, this.pausedUntil);
  }

  /** Nothing of it runs any more. */
  kill(): void {
    this.isAlive = false;
    this.tasks.length = 0;
  }
}

/** Keeps the order of due times; equal ones stay in the order in which they came. */
function insert(tasks: Task[], task: Task): void {
  let index = tasks.length;
  while (index > 0 && tasks[index - 1]!.dueAt > task.dueAt) index -= 1;
  tasks.splice(index, 0, task);
}

export class World {
  elapsedMs = 0;
  /** How far the clock of the host was moved. */
  jumpMs = 0;
  steps = 0;
  current: Process | null = null;
  readonly chance: Dice;
  readonly #processes: Process[] = [];
  readonly #seed: number;
  readonly #hash = createHash("sha256");
  readonly #tell: ((line: string) => void) | null;

  constructor(seed: number, tell: ((line: string) => void) | null) {
    this.#seed = seed;
    this.chance = seededDice(seed * 7919 + 1);
    this.#tell = tell;
  }

  process(name: string): Process {
    const number = this.#processes.length + 1;
    const made = new Process(this, name, seededDice(this.#seed * 104_729 + number));
    this.#processes.push(made);
    return made;
  }

  get living(): readonly Process[] {
    return this.#processes.filter(({ isAlive }) => isAlive);
  }

  /** Takes down what happened: the hash over all lines tells whether two runs were the same. */
  note(line: string): void {
    const who = this.current?.name ?? "-";
    const text = `${Math.round(this.elapsedMs * 1_000)} ${who} ${line}\n`;
    this.#hash.update(text);
    this.#tell?.(text.trimEnd());
  }

  get hash(): string {
    return this.#hash.copy().digest("hex").slice(0, 16);
  }

  /** Lets the processes go on until `isOver`, or nothing is left to do, or time is up. */
  async run(untilMs: number, isOver: () => boolean): Promise<void> {
    await turn();
    while (!isOver()) {
      const next = this.#next();
      if (next === null || next.nextAt > untilMs) break;
      this.elapsedMs = Math.max(this.elapsedMs, next.nextAt);
      await this.#step(next);
    }
    if (Number.isFinite(untilMs) && !isOver()) {
      this.elapsedMs = Math.max(this.elapsedMs, untilMs);
    }
  }

  async #step(process: Process): Promise<void> {
    const task = process.tasks.shift();
    if (task === undefined) return;
    this.steps += 1;
    this.current = process;
    if (task.label !== "timer") this.note(task.label);
    task.work();
    await turn();
    this.current = null;
  }

  /** One of those that can go on first, by chance. */
  #next(): Process | null {
    const living = this.living;
    const firstAt = Math.min(...living.map(({ nextAt }) => Math.max(nextAt, this.elapsedMs)));
    if (firstAt === Infinity) return null;
    const able = living.filter(({ nextAt }) => nextAt <= firstAt);
    return able[Math.floor(this.chance.random() * able.length)] ?? null;
  }
}

/** All promises that can go on have done so. */
function turn(): Promise<void> {
  return new Promise((resolve) => void realImmediate(resolve));
}

/** While the simulation runs, turns of the event loop are tasks, and real time is forbidden. */
export function takeOverTime(world: World, stray: (what: string) => void): () => void {
  const { setImmediate, setTimeout, setInterval } = globalThis;
  const { now } = Date;
  const { random } = Math;
  const refuse = (what: string) => (): never => {
    stray(what);
    throw new Error(`${what} was used in a simulation`);
  };
  Object.assign(globalThis, {
    setImmediate(work: () => void) {
      if (world.current === null) stray("setImmediate outside of a process");
      world.current?.later(0, "turn", work);
    },
    setTimeout: refuse("setTimeout"),
    setInterval: refuse("setInterval"),
  });
  Date.now = refuse("Date.now");
  Math.random = refuse("Math.random");
  return () => {
    Object.assign(globalThis, { setImmediate, setTimeout, setInterval });
    Date.now = now;
    Math.random = random;
  };
}
