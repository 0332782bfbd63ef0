/** The successor of a dead letter with another payload, which is checked as at an enqueue. */
import { payloadExcess } from "../../core/control/quotas.ts";
import { jsonDifference } from "../../core/failures/json-difference.ts";
import type { JobId, JsonText } from "../../core/job.ts";
import { decode, encodePayload, type Json } from "../../core/payload.ts";
import { redactedChanges, redactionRules } from "../../core/redaction.ts";
import { enqueuedOf } from "../../jobs/enqueue-result.ts";
import { parsePayload } from "../../jobs/new-job.ts";
import type { PayloadGate } from "../../jobs/payloads/payload-gate.ts";
import type { JobStore } from "../../store/store.ts";
import type { NewJob } from "../../store/types/jobs-and-runs.ts";
import type { JobSpec } from "../../store/types/records.ts";
import type { KnownTypes } from "../known-types.ts";
import { declaredSchema } from "./declared-schema.ts";

export interface EditParts {
  readonly store: JobStore;
  readonly known: Pick<KnownTypes, "schemaOf" | "versionOf" | "contractVersionOf">;
  readonly payloads: PayloadGate;
}

type Successor = NewJob & { readonly retryOf: JobId };

/** `audited`: what the payload changes, without secrets. Null: a rule has refused the payload. */
export type Edit = { readonly audited: JsonText | null } & (
  | { readonly successor: Successor; readonly changes: JsonText }
  | { readonly refusal: unknown }
);

/** A refusal is an answer here: the request is recorded before it is thrown. */
export async function editedSuccessor(
  parts: EditParts,
  unchanged: Successor,
  original: JobSpec,
  payload: Json,
): Promise<Edit> {
  let audited: JsonText | null = null;
  try {
    const { text, bytes } = encodePayload(payload);
    await parts.payloads.refresh();
    const payloadVersion = await currentVersion(parts, original);
    const edited = { ...unchanged, payload: text, payloadVersion };
    // A number with too many digits for JavaScript is checked as handlers read it.
    const read = decode(text) ?? payload;
    const checkSchema = (): Promise<void> => insistOnSchema(parts, original.type, read);
    const accepted = await acceptedByRules(parts, { edited, bytes, original }, checkSchema);
    const successor = { ...edited, payload: accepted.payload, tags: accepted.tags };
    const changes = jsonDifference(
      decode(original.payload) ?? undefined,
      decode(accepted.payload) ?? undefined,
    );
    audited = JSON.stringify(redactedChanges(changes, redactionRules()));
    await checkSchema();
    await insistOnQuota(parts.store, edited, bytes);
    return { audited, successor, changes: JSON.stringify(changes) };
  } catch (refusal) {
    return { audited, refusal };
  }
}

/** A payload that was written now must not be changed by the functions for older versions. */
async function currentVersion(
  { store, known }: EditParts,
  { type, payloadVersion }: JobSpec,
): Promise<string | null> {
  const own = known.versionOf(type);
  if (own !== undefined) return own;
  const [declared] = await store.types(type);
  if (declared !== undefined) return declared.payloadVersion;
  return known.contractVersionOf(type) ?? payloadVersion;
}

/** As at an enqueue, an error of the schema is told before one of the rules. */
async function acceptedByRules(
  { payloads }: EditParts,
  { edited, bytes, original }: { edited: Successor; bytes: number; original: JobSpec },
  checkSchema: () => Promise<void>,
): Promise<NewJob> {
  try {
    return payloads.acceptEdited(edited, bytes, original);
  } catch (error) {
    await checkSchema();
    throw error;
  }
}

async function insistOnSchema(
  { store, known }: EditParts,
  type: string,
  payload: Json,
): Promise<void> {
  const schema = known.schemaOf(type) ?? (await declaredSchema(store, type));
  if (schema !== undefined) await parsePayload(type, schema, payload);
}

/** Other quotas let successors pass, which continue accepted work. These bytes are new. */
async function insistOnQuota(store: JobStore, job: Successor, bytes: number): Promise<void> {
  const { id, tenant } = job;
  const quotas = await store.quotas();
  const quota =
    quotas.find((each) => each.tenant === tenant) ?? quotas.find((each) => each.tenant === null);
  const excess = quota === undefined ? null : payloadExcess(quota, bytes);
  if (excess === null) return;
  const refused = { tenant, ...excess };
  enqueuedOf({ status: "refused", code: "PAYLOAD_OVER_QUOTA", holder: id, quota: refused }, job);
}
