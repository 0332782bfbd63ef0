/**
 * What this process knows of job types and of retention. A mill and the mills of its tenants share
 * it, because definitions and workers belong to the process and not to a tenant.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { AboutRetention } from "../api/control/about.ts";
import { definitionOf, type AnyContract, type Definition } from "../api/definition.ts";
import { typed } from "../api/define.ts";
import type { JobId } from "../core/job.ts";
import type { MillraceError } from "../core/errors.ts";
import type { RetryPolicy } from "../core/policy.ts";
import type { Preset } from "../core/presets.ts";
import { policyOf } from "../jobs/retry-policy.ts";
import { notFound } from "../jobs/views.ts";

/** The part of a retention plan that other parts of the process tell. */
export interface KnownRetention {
  readonly keptMs: readonly number[];
  readonly removed: AboutRetention;
}

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
  /** The versions of payloads by type: of workers in this process, and of contracts. */
  readonly #versions = new Map<string, string | null>();
  readonly #contractVersions = new Map<string, string>();
  /** The retention periods of finished jobs, as far as this process knows. */
  #keptMs: readonly number[];
  #retention: AboutRetention | null = null;

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

  /** The version of payloads that workers of this process read. Undefined: there are none. */
  versionOf(type: string): string | null | undefined {
    return this.#versions.get(type);
  }

  /** The version of payloads that a contract has named, in a process without such workers. */
  contractVersionOf(type: string): string | undefined {
    return this.#contractVersions.get(type);
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
      const { type, settings } = definition;
      this.#policies.set(type, policyOf(retry, settings));
      this.#versions.set(type, settings.payloadVersion ?? null);
      this.#learnBody(definition);
    }
  }

  /** Of a contract without backoff and phases, only the schema is kept. */
  learnOnce(contract: AnyContract): void {
    const definition = definitionOf(contract);
    const { type, settings } = definition;
    if (!this.#phases.has(type) && !this.#schemas.has(type)) {
      this.#learnBody(definition);
      if (settings.payloadVersion !== undefined) {
        this.#contractVersions.set(type, settings.payloadVersion);
      }
    }
    if (settings.backoff === undefined || this.#policies.has(type)) return;
    this.#policies.set(type, policyOf(this.#preset.retry, settings));
    this.#learnBody(definition);
  }

  /** What the workers of this process remove. Null: no worker was started here. */
  get retention(): AboutRetention | null {
    return this.#retention;
  }

  /** Remembers the retention periods of workers that were started here. */
  learnRetention({ keptMs, removed }: KnownRetention): void {
    this.#keptMs = keptMs;
    const { finishedMs, deadLetterMs, idempotencyMs, eventMs, minutesMs, auditMs } = removed;
    this.#retention = { finishedMs, deadLetterMs, idempotencyMs, eventMs, minutesMs, auditMs };
  }

  #learnBody({ type, schema, body, settings }: Definition): void {
    // A schema that accepts everything says less than what workers have declared.
    if (schema !== undefined && schema !== typed()) this.#schemas.set(type, schema);
    if (settings.onRetry === "restart") this.#restarting.add(type);
    if (body.kind !== "phases") return;
    this.#phases.set(
      type,
      body.phases.map(({ name }) => name),
    );
  }
}
