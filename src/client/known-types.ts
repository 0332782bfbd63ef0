/**
 * What this process knows of job types and of retention. A mill and the mills of its tenants share
 * it, because definitions and workers belong to the process and not to a tenant.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { definitionOf, type AnyContract, type Definition } from "../api/definition.ts";
import type { JobId } from "../core/job.ts";
import type { MillraceError } from "../core/errors.ts";
import type { RetryPolicy } from "../core/policy.ts";
import type { Preset } from "../core/presets.ts";
import { policyOf } from "../jobs/retry-policy.ts";
import { notFound } from "../jobs/views.ts";

export class KnownTypes {
  readonly #preset: Preset;
  /** The retry policy by type, as far as this process has definitions. */
  readonly #policies = new Map<string, RetryPolicy>();
  /** The phases by type, likewise. */
  readonly #phases = new Map<string, readonly string[]>();
  /** Types whose new attempts and successors keep no checkpoints, likewise. */
  readonly #restarting = new Set<string>();
  /** The schemas of payloads by type, likewise. */
  readonly #schemas = new Map<string, StandardSchemaV1>();
  /** The retention periods of finished jobs, as far as this process knows. */
  #keptMs: readonly number[];

  constructor(preset: Preset) {
    this.#preset = preset;
    this.#keptMs = Object.values(preset.retention.finishedMs);
  }

  policyOf(type: string): RetryPolicy {
    return this.#policies.get(type) ?? this.#preset.retry;
  }

  phasesOf(type: string): readonly string[] {
    return this.#phases.get(type) ?? [];
  }

  /** The schema of the payload, if this process knows the type. */
  schemaOf(type: string): StandardSchemaV1 | undefined {
    return this.#schemas.get(type);
  }

  restarts(type: string): boolean {
    return this.#preset.onRetry === "restart" || this.#restarting.has(type);
  }

  notFound(id: JobId): MillraceError {
    return notFound(id, this.#keptMs);
  }

  /**
   * Remembers retry policies, for failures that an operator records, and phases, for the progress
   * of jobs that have not begun.
   */
  learn(definitions: Iterable<Definition>, retry: RetryPolicy): void {
    for (const definition of definitions) {
      this.#policies.set(definition.type, policyOf(retry, definition.settings));
      this.#learnBody(definition);
    }
  }

  /** Of a contract without backoff and phases, only the schema is kept. */
  learnOnce(contract: AnyContract): void {
    const definition = definitionOf(contract);
    const { type, settings } = definition;
    if (!this.#phases.has(type) && !this.#schemas.has(type)) this.#learnBody(definition);
    if (settings.backoff === undefined || this.#policies.has(type)) return;
    this.learn([definition], this.#preset.retry);
  }

  /** Remembers the retention periods of workers that were started here. */
  learnRetention(keptMs: readonly number[]): void {
    this.#keptMs = keptMs;
  }

  #learnBody({ type, schema, body, settings }: Definition): void {
    if (schema !== undefined) this.#schemas.set(type, schema);
    if (settings.onRetry === "restart") this.#restarting.add(type);
    if (body.kind !== "phases") return;
    this.#phases.set(
      type,
      body.phases.map(({ name }) => name),
    );
  }
}
