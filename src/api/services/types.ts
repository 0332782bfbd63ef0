/** `mill.types`: what the workers of an installation have declared about their types. */
import type { Json } from "../../core/payload.ts";

export interface Types {
  /**
   * Lists the types that workers have declared when they joined, by name. Of several workers, the
   * one that joined last counts.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const pay = defineJob({ type: "pay", lane: "fast", services: ["bank"] }).run(() => {});
   *
   * await using test = await createTestMill();
   * await test.drain([pay], { appVersion: "2.1.0" });
   * const [known] = await test.mill.types.list();
   * assert.equal(known?.lane, "fast");
   * assert.deepEqual(known?.services, ["bank"]);
   * assert.equal(known?.appVersion, "2.1.0");
   * ```
   */
  list(): Promise<readonly TypeView[]>;
  /** The settings of one type; `null` if no worker has declared the type. */
  get(type: string): Promise<TypeView | null>;
}

/** What the worker that joined last has declared about a type. */
export interface TypeView {
  readonly type: string;
  readonly lane: string;
  /** A job with a lower number runs first. */
  readonly priority: number;
  readonly maxAttempts: number;
  /** The longest run; `null` means no limit. */
  readonly timeoutMs: number | null;
  /** The external services that the jobs of the type call. */
  readonly services: readonly string[];
  /** The JSON Schema of the payload; `null` if the schema library gives none. */
  readonly payloadSchema: Json | null;
  /** The version of the application, as the option `appVersion` of `work` names it. */
  readonly appVersion: string | null;
  readonly declaredAt: Date;
  /** The living workers that run jobs of the type. */
  readonly workers: number;
  /** True when these workers have declared the type differently. */
  readonly isDisputed: boolean;
}
