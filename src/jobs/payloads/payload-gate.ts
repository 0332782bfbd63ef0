/**
 * The payload rules at the entrance of new jobs. The rules are kept in memory: they are read before
 * the first job, again when they are older than {@link RULES_AGE_MS_MAX}, and at once after a
 * change in this process. Without rules, a job costs one comparison.
 *
 * Rules of presets are stored, so that every process of the installation knows them. As long as a
 * rule of a preset has no row, the rule holds in this process alone.
 */
import type { Logger } from "../../api/context.ts";
import type { Clock } from "../../core/clock.ts";
import { MillraceError } from "../../core/errors.ts";
import {
  checkPayload,
  redacted,
  softWarning,
  type JobIdentity,
  type PayloadProblem,
} from "../../core/payload-rules/check.ts";
import type { Finding } from "../../core/payload-rules/detect.ts";
import type { PresetRules } from "../../core/payload-rules/practice.ts";
import { addedUp, type EffectiveRule, type PayloadRule } from "../../core/payload-rules/rule.ts";
import { decode, encodePayload } from "../../core/payload.ts";
import type { NewJob } from "../../store/types/jobs-and-runs.ts";
import type { JobSpec } from "../../store/types/records.ts";
import type { DeclaredRule, PayloadRuleRecord } from "../../store/types/payload-rules.ts";
import { changedRules, declaredRules, joined, rulesWithoutRow } from "./declared-rules.ts";

/** Rules of another process count here after this time at the latest. */
const RULES_AGE_MS_MAX = 5_000;
/** How long a job waits for the first reading of the rules, and for a later one. */
const FIRST_READ_MS_MAX = 5_000;
const READ_MS_MAX = 1_000;
/** Warnings about the payloads of one type come at most this often. */
const WARNING_MS = 60_000;
/** The types whose warnings and rules are remembered. */
const TYPES_MAX = 1_000;
/** The tag of a job whose payload was redacted, with the sets of patterns. */
const REDACTED_TAG = "redacted";
const TAGS_MAX = 50;
const SCOPES = ["installation", "category", "type"] as const;
const NOT_DECLARED =
  "cannot store the payload rules of a preset; until then they hold in this process alone";

export interface PayloadGateParts {
  readonly readRules: () => Promise<readonly PayloadRuleRecord[]>;
  readonly declareRules: (rules: readonly DeclaredRule[]) => Promise<void>;
  readonly presetRules: PresetRules;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class PayloadGate {
  /** Grows with every change of rules in this process, for all gates on any view of a store. */
  static #changes = 0;
  readonly #parts: PayloadGateParts;
  readonly #warnings = new Map<string, { sinceMs: number; unsaid: number }>();
  #declared: readonly DeclaredRule[];
  /** The rules that count: those of the store, and declared ones without a row. */
  #rules: readonly DeclaredRule[];
  /** Rules of code that differ are replaced once: the process that has started last counts. */
  #hasDeclared = false;
  /** The rules by category and type, as far as jobs have asked. */
  #effective = new Map<string, EffectiveRule | null>();
  #readAt = -Infinity;
  #readChange = -1;
  #reading: Promise<void> | null = null;

  constructor(parts: PayloadGateParts) {
    this.#parts = parts;
    this.#declared = declaredRules(parts.presetRules);
    this.#rules = this.#declared;
  }

  /** Rules were changed by this process: every gate reads them before its next job. */
  static rulesChanged(): void {
    PayloadGate.#changes += 1;
  }

  /** Stores the rules of a preset with which this process has started. Never rejects. */
  async declare(preset: PresetRules): Promise<void> {
    const added = joined(this.#declared, declaredRules(preset));
    if (added.length === 0) return;
    this.#declared = added;
    this.#hasDeclared = false;
    this.#readChange = -1;
    try {
      await this.refresh();
    } catch (error) {
      this.#parts.logger.warn(NOT_DECLARED, { error });
    }
  }

  /** Null: the rules in memory are young enough. */
  refresh(): Promise<void> | null {
    const ageMs = this.#parts.clock.monotonic() - this.#readAt;
    if (ageMs < RULES_AGE_MS_MAX && this.#readChange === PayloadGate.#changes) return null;
    return this.#refreshed();
  }

  /** The job as it may be stored, or PAYLOAD_RULE_BROKEN or PAYLOAD_MISMATCH. */
  accept(job: NewJob, bytes: number, isScheduled = false): NewJob {
    const idempotencyKey = job.idempotency?.key ?? null;
    return this.#accept(job, bytes, { ...job, idempotencyKey, isScheduled, repeats: null });
  }

  /** The same for a job that repeats another one with another payload. */
  acceptEdited(
    job: NewJob,
    bytes: number,
    original: Pick<JobSpec, "idempotencyKey" | "payload" | "payloadVersion">,
  ): NewJob {
    // The key of the successor is made from that of its original, which the payload may name.
    const { idempotencyKey, payload, payloadVersion } = original;
    const repeats = { payload: decode(payload), payloadVersion };
    return this.#accept(job, bytes, { ...job, idempotencyKey, isScheduled: false, repeats });
  }

  #accept(job: NewJob, bytes: number, identity: JobIdentity): NewJob {
    const rule = this.#rules.length === 0 ? null : this.#ruleOf(job);
    if (rule === null) {
      const warning = softWarning(bytes);
      if (warning !== null) this.#warn(job.type, [warning]);
      return job;
    }
    const payload = decode(job.payload);
    const { errors, warnings, redactions } = checkPayload(payload, bytes, rule, identity);
    if (errors.length > 0) throw refusal(job.type, errors);
    if (warnings.length > 0) this.#warn(job.type, warnings);
    if (redactions.length === 0) return job;
    const text = encodePayload(redacted(payload ?? null, redactions)).text;
    return this.#redactedJob(job, text, redactions);
  }

  async #refreshed(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = null));
    const reading = this.#reading;
    const wasRead = this.#readAt !== -Infinity;
    const { promise: late, resolve } = Promise.withResolvers<"late">();
    const limitMs = wasRead ? READ_MS_MAX : FIRST_READ_MS_MAX;
    const stop = this.#parts.clock.after(limitMs, () => resolve("late"));
    try {
      const isLate = (await Promise.race([reading, late])) === "late";
      if (isLate && !wasRead) {
        const message = `the payload rules could not be read within ${limitMs} ms`;
        throw new MillraceError("STORE_BUSY", message);
      }
      if (isLate) this.#parts.logger.warn("cannot read the payload rules; the last ones count");
    } finally {
      stop();
      // A reading that ends after its job has gone on concerns the next job.
      reading.catch(() => {});
    }
  }

  async #read(): Promise<void> {
    const change = PayloadGate.#changes;
    const stored = await this.#readDeclaring();
    const counted = [...rulesWithoutRow(this.#declared, stored), ...stored];
    // A rule without parts stands for one that was removed.
    this.#rules = counted.filter(({ rule }) => Object.keys(rule).length > 0);
    this.#effective = new Map();
    this.#readAt = this.#parts.clock.monotonic();
    this.#readChange = change;
  }

  async #readDeclaring(): Promise<readonly PayloadRuleRecord[]> {
    const { readRules, declareRules, logger } = this.#parts;
    const stored = await readRules();
    const missing = [
      ...rulesWithoutRow(this.#declared, stored),
      ...(this.#hasDeclared ? [] : changedRules(this.#declared, stored)),
    ];
    try {
      if (missing.length > 0) await declareRules(missing);
      this.#hasDeclared = true;
      return missing.length === 0 ? stored : await readRules();
    } catch (error) {
      logger.warn(NOT_DECLARED, { error });
      return stored;
    }
  }

  #ruleOf({ type, category }: Pick<NewJob, "type" | "category">): EffectiveRule | null {
    const key = JSON.stringify([category, type]);
    const known = this.#effective.get(key);
    if (known !== undefined) return known;
    const rule = addedUp(this.#rulesOf(type, category));
    if (this.#effective.size < TYPES_MAX) this.#effective.set(key, rule);
    return rule;
  }

  #rulesOf(type: string, category: string | null): readonly PayloadRule[] {
    const names = { installation: "all", category, type };
    const own = this.#rules.filter(({ scope, name }) => name === names[scope]);
    // The problems of a payload are told from the widest rule to the narrowest.
    return SCOPES.flatMap((scope) => own.filter((each) => each.scope === scope)).map(
      ({ rule }) => rule,
    );
  }

  #redactedJob(job: NewJob, payload: string | null, redactions: readonly Finding[]): NewJob {
    const sets = [...new Set(redactions.map(({ rule }) => rule))].toSorted().join(",");
    const paths = redactions.map(({ path }) => path);
    this.#parts.logger.info("values of a payload were redacted before it was stored", {
      job_id: job.id,
      type: job.type,
      paths,
      sets,
    });
    const hasRoom = Object.keys(job.tags).length < TAGS_MAX;
    const tags = hasRoom ? { ...job.tags, [REDACTED_TAG]: sets } : job.tags;
    // The same request stays the same when rules change, and two secrets are two requests.
    const idempotency =
      job.idempotency === null ? null : { ...job.idempotency, givenPayload: job.payload };
    return { ...job, payload, tags, idempotency };
  }

  /** Once per type and minute, with the number of payloads since the last line. */
  #warn(type: string, warnings: readonly PayloadProblem[]): void {
    const nowMs = this.#parts.clock.monotonic();
    const last = this.#warnings.get(type);
    if (last !== undefined && nowMs - last.sinceMs < WARNING_MS) {
      last.unsaid += 1;
      return;
    }
    if (this.#warnings.size >= TYPES_MAX) this.#warnings.clear();
    this.#warnings.set(type, { sinceMs: nowMs, unsaid: 0 });
    this.#parts.logger.warn("a payload has what its rules advise against", {
      type,
      payloads: 1 + (last?.unsaid ?? 0),
      problems: warnings.slice(0, 20).map(({ path, rule, message }) => ({ path, rule, message })),
    });
  }
}

/** All errors at once. A payload that contradicts its job has a code of its own. */
function refusal(type: string, errors: readonly PayloadProblem[]): MillraceError {
  const isMismatch = errors.some(({ rule }) => rule === "mismatch");
  const shown = errors.slice(0, 20);
  const problems = shown.map(({ message }) => message).join("; ");
  const issues = shown.map(({ path, rule, message }) => ({
    path: path === "payload" || path.startsWith("options.") ? path : `payload.${path}`,
    rule,
    message,
  }));
  return new MillraceError(
    isMismatch ? "PAYLOAD_MISMATCH" : "PAYLOAD_RULE_BROKEN",
    `job "${type}": ${problems}`,
    { details: { issues } },
  );
}
