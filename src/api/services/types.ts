/** `mill.types`: what the workers of an installation have declared about their types. */
import type { ActedBy } from "../control/audit.ts";
import type { Duration } from "../../core/duration.ts";
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
  /**
   * Sets settings of a type in place of those that workers declare, also after a deploy, until
   * `reset`. Settings that are not named stay as they are. They apply to new jobs that are enqueued
   * by the name of the type, without its code: over HTTP by a server without the job file, and by
   * `millrace enqueue --no-jobs` and, on PostgreSQL, in plain SQL. An option of the enqueue wins.
   * Rejects with `TYPE_NOT_FOUND` if no worker has declared the type.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const pay = defineJob({ type: "pay", priority: 100 }).run(() => {});
   *
   * await using test = await createTestMill();
   * await test.drain([pay]);
   * await test.mill.types.override("pay", { priority: 5, timeout: "1m" });
   * const known = await test.mill.types.get("pay");
   * assert.equal(known?.priority, 5);
   * assert.equal(known?.declared.priority, 100);
   * assert.equal(await test.mill.types.reset("pay"), true);
   * ```
   */
  override(type: string, settings: TypeSettings, by?: ActedBy): Promise<void>;
  /** The declaration of the type counts again. Resolves with false if nothing was overridden. */
  reset(type: string, by?: ActedBy): Promise<boolean>;
  /** The settings of one type; `null` if no worker has declared the type. */
  get(type: string): Promise<TypeView | null>;
}

/** What an operator can override: at least one setting. */
export interface TypeSettings {
  lane?: string;
  priority?: number;
  maxAttempts?: number;
  /** `false` means no limit. */
  timeout?: Duration | false;
}

/** The settings that new jobs get if they are enqueued without the code of their type. */
export interface EnqueueSettings {
  readonly lane: string;
  /** A job with a lower number runs first. */
  readonly priority: number;
  readonly maxAttempts: number;
  /** The longest run; `null` means no limit. */
  readonly timeoutMs: number | null;
}

/**
 * A type: the declaration of the worker that joined last, and above it the settings that count,
 * those of an operator included.
 */
export interface TypeView extends EnqueueSettings {
  readonly type: string;
  /** What the worker that joined last has declared. */
  readonly declared: EnqueueSettings;
  /** What an operator has overridden; `null` without an override. */
  readonly override: TypeOverrideView | null;
  /** The external services that the jobs of the type call. */
  readonly services: readonly string[];
  readonly category: string | null;
  /** The version of payloads that the code writes; `null` if it names none. */
  readonly payloadVersion: string | null;
  /** The JSON Schema of the payload; `null` if the schema library gives none. */
  readonly payloadSchema: Json | null;
  /** The version of the application, as the option `appVersion` of `work` names it. */
  readonly appVersion: string | null;
  /** What happens to a job after a crash of its worker: it runs again, or it fails. */
  readonly onOrphan: "retry" | "fail";
  /** Whether the queue repeats a failed job, or a supervisor does. */
  readonly retryOwner: "queue" | "supervisor";
  readonly declaredAt: Date;
  /** The living workers that run jobs of the type. */
  readonly workers: number;
  /** True when these workers have declared the type differently. */
  readonly isDisputed: boolean;
}

export interface TypeOverrideView {
  /** The names of the settings that an operator has set. */
  readonly settings: readonly (keyof EnqueueSettings)[];
  readonly setBy: string | null;
  readonly setAt: Date;
}
