/** What a worker declares about its types when it joins. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { isObject } from "../api/rules.ts";
import type { Definition } from "../api/definition.ts";
import { jobDefaultsOf } from "../jobs/new-job.ts";
import type { TypeDeclaration } from "../store/types/services.ts";
import { statedLimit } from "./lanes/declare-limits.ts";
import type { WorkerSettings } from "./settings.ts";

/** A larger JSON Schema is not stored. */
const SCHEMA_CHARACTERS_MAX = 100_000;

export function declarationsOf(
  settings: Pick<WorkerSettings, "definitions" | "preset" | "appVersion">,
): readonly TypeDeclaration[] {
  const { definitions, preset, appVersion } = settings;
  return [...definitions.values()].map(({ type, schema, settings: own }: Definition) => ({
    type,
    ...jobDefaultsOf(own, preset),
    services: own.services ?? [],
    limit: statedLimit(own),
    category: own.category ?? null,
    payloadVersion: own.payloadVersion ?? null,
    payloadSchema: schema === undefined ? null : jsonSchemaOf(schema),
    appVersion,
  }));
}

/**
 * The JSON Schema of a payload, if the schema library can give one: by the Standard JSON Schema
 * interface, or by a method. A schema that cannot be expressed throws.
 */
function jsonSchemaOf(schema: StandardSchemaV1): string | null {
  try {
    const found = standardOf(schema) ?? ownOf(schema);
    const text = isObject(found) ? JSON.stringify(found) : null;
    return text === null || text.length > SCHEMA_CHARACTERS_MAX ? null : text;
  } catch {
    return null;
  }
}

function standardOf(schema: StandardSchemaV1): unknown {
  const converter: unknown = Reflect.get(schema["~standard"], "jsonSchema");
  if (!isObject(converter) || typeof converter["input"] !== "function") return undefined;
  return converter["input"]({ target: "draft-2020-12" });
}

function ownOf(schema: StandardSchemaV1): unknown {
  for (const name of ["toJSONSchema", "toJsonSchema"]) {
    const method: unknown = Reflect.get(schema, name);
    if (typeof method === "function") return Reflect.apply(method, schema, []);
  }
  return undefined;
}
