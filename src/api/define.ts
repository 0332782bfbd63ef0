/** `defineJob` and the chain of `.run` and `.phase`. Every call returns a new frozen value. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { upcastProblem } from "../core/payload-rules/payload-version.ts";
import { shown } from "../core/text.ts";
import { makeContract } from "./definition.ts";
import type { AnyContract, Body, Definition, Handler, Phase } from "./definition.ts";
import type { JobBuilder } from "./job.ts";
import type { Faults, Refused } from "./json.ts";
import { aFunction, aName, anObject, insist, isObject, must, refusal } from "./rules.ts";
import type { Rule } from "./rules.ts";
import { frozenSettings, SETTING_RULES } from "./settings.ts";
import type { JobSettings } from "./settings.ts";

type Schema = StandardSchemaV1<any, any>;
type In<S> = S extends Schema ? StandardSchemaV1.InferInput<S> : undefined;
type Out<S> = S extends Schema ? StandardSchemaV1.InferOutput<S> : undefined;

/** The schema itself, or the sentence that names the part of its input that is not JSON. */
type Storable<S> = S &
  ([Faults<In<S>, "payload">] extends [never] ? unknown : Refused<Faults<In<S>, "payload">>);

/**
 * Declares a job: its type, payload and settings. The returned contract is enough to enqueue the
 * job. `.run` or a chain of `.phase` adds the handler, in the same file or in a file that only the
 * worker loads.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { defineJob, typed } from "millrace";
 *
 * const greet = defineJob({ type: "greet", payload: typed<{ name: string }>(), lane: "fast" });
 * const greeter = greet.run(({ name }) => `Hello ${name}`);
 *
 * const publish = defineJob({ type: "publish", maxAttempts: 3 })
 *   .phase("render", () => ({ pages: 12 }))
 *   .phase("upload", (_, ctx) => ctx.results.render.pages);
 *
 * assert.equal(greeter.type, "greet");
 * assert.deepEqual(publish.phases, ["render", "upload"]);
 * ```
 */
export function defineJob<const Name extends string, S extends Schema | undefined = undefined>(
  definition: JobSettings & { readonly type: Name; readonly payload?: Storable<S> },
): JobBuilder<Name, In<S>, Out<S>, {}> {
  insist(subjectOf(definition), DEFINITION_RULE, definition, "");
  const { type, payload, ...settings } = definition;
  const problem = upcastProblem(settings);
  if (problem !== null) throw refusal(subjectOf(definition), { place: "upcast", problem });
  const contract = buildContract({
    type,
    schema: payload,
    settings: frozenSettings(settings),
    body: { kind: "none" },
  });
  // The chain has many types and one builder, which knows none of them at run time.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Only the compiler knows them.
  return contract as unknown as JobBuilder<Name, In<S>, Out<S>, {}>;
}

/**
 * Declares the type of a payload without a schema. At run time the payload must be JSON; its shape
 * is not checked.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { defineJob, typed } from "millrace";
 *
 * const resize = defineJob({ type: "resize", payload: typed<{ key: string; width: number }>() });
 *
 * assert.equal(resize.of({ key: "a.png", width: 640 }).type, "resize");
 * ```
 */
export function typed<T>(): StandardSchemaV1<T, T> {
  return TYPED as StandardSchemaV1<any, any>;
}

const TYPED: StandardSchemaV1 = Object.freeze({
  "~standard": Object.freeze({
    version: 1,
    vendor: "millrace",
    validate: (value: unknown) => ({ value }),
  } as const),
});

const DEFINITION_RULE = anObject(
  {
    required: { type: aName },
    optional: {
      payload: must(isSchema, "a Standard Schema (zod, valibot, arktype) or typed<…>()"),
      ...SETTING_RULES,
    },
  },
  'an object such as { type: "email" }',
);

function isSchema(value: unknown): boolean {
  // The schemas of some libraries are functions.
  if (typeof value !== "function" && !isObject(value)) return false;
  const standard: unknown = Reflect.get(value, "~standard");
  return (
    isObject(standard) && standard["version"] === 1 && typeof standard["validate"] === "function"
  );
}

/** The name of the job in error messages, also for a definition that is not an object. */
function subjectOf(definition: unknown): string {
  const type = isObject(definition) ? definition["type"] : undefined;
  return typeof type === "string" ? `job ${shown(type)}` : "defineJob";
}

function buildContract(definition: Definition): AnyContract {
  const contract: AnyContract = makeContract(definition, {
    using: () => contract,
    run: (handler: Handler) => buildJob(definition, handler),
    phase: (name: string, handler: Handler) => buildPipeline(definition, [], { name, handler }),
  });
  return contract;
}

function buildJob(definition: Definition, handler: Handler): AnyContract {
  insist(subjectOf(definition), aFunction, handler, "the handler of run");
  const body: Body = Object.freeze({ kind: "handler", handler });
  return makeContract({ ...definition, body }, { phases: Object.freeze([]) });
}

function buildPipeline(definition: Definition, before: readonly Phase[], next: Phase): AnyContract {
  insistOnPhase(subjectOf(definition), before, next);
  const phases = Object.freeze([...before, Object.freeze(next)]);
  const body: Body = Object.freeze({ kind: "phases", phases });
  return makeContract(
    { ...definition, body },
    {
      phases: Object.freeze(phases.map(({ name }) => name)),
      phase: (name: string, handler: Handler) =>
        buildPipeline(definition, phases, { name, handler }),
    },
  );
}

function insistOnPhase(subject: string, before: readonly Phase[], next: Phase): void {
  insist(subject, aPhaseName, next.name, "the name of a phase");
  const place = `phase ${shown(next.name)}`;
  if (before.some(({ name }) => name === next.name)) {
    const problem = "is already declared; give every phase a name of its own";
    throw refusal(subject, { place, problem });
  }
  insist(subject, aFunction, next.handler, `the handler of ${place}`);
}

/** Results are stored by name in an object, which would reorder numbers and drop `__proto__`. */
const aPhaseName: Rule = (value, place) => aName(value, place) ?? aWord(value, place);
const aWord = must(
  (value) => !Number.isFinite(Number(value)) && value !== "__proto__",
  'a word such as "upload"',
);
