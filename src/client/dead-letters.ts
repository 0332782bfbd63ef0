/** `mill.deadLetters`: review of failed jobs. */
import type { Annotation } from "../store/types/reviews.ts";
import { MillraceError } from "../core/errors.ts";
import type { Clock } from "../core/clock.ts";
import type { JobId, JsonText } from "../core/job.ts";
import { canonicalJson } from "../core/payload.ts";
import type { DeadLetters, Reprocessed } from "../api/client.ts";
import { aName, anObject, type Rule } from "../api/rules.ts";
import type { DeadLetterRecord, JobRecord } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";
import { deadLetterFilter } from "./filters.ts";
import { editedSuccessor, type EditParts } from "./failures/edited-payload.ts";
import { countLetters, letterStats } from "./failures/letter-stats.ts";
import { letterSuccessor, specOf } from "../jobs/letter-successor.ts";
import { successorAnswer } from "../jobs/retry-as-new-job.ts";
import { anyRemark, insistOn } from "../jobs/check-text.ts";
import { deadLetterView, idOf, listed } from "../jobs/views.ts";

interface DeadLetterParts extends EditParts {
  readonly clock: Pick<Clock, "now">;
  readonly newId: () => JobId;
}

export function makeDeadLetters(parts: DeadLetterParts): DeadLetters {
  const { store, clock, newId } = parts;
  return {
    async get(text) {
      const id = idOf(text);
      return deadLetterView(await letterOf(store, id));
    },
    async texts(id) {
      // The copy may be damaged, so its payload may be no text.
      const { payload }: { readonly payload: unknown } = specOf(await letterOf(store, idOf(id)));
      return { payload: typeof payload === "string" ? payload : null };
    },
    async list(given = {}) {
      const { filter, after, limit } = deadLetterFilter(given);
      const page = { limit, ...(after === undefined ? {} : { after: idOf(after) }) };
      const letters = await store.deadLetters(filter, page);
      return letters.map((letter) => listed(deadLetterView(letter)));
    },
    count: (filter = {}) => countLetters(store, filter),
    stats: () => letterStats(store),
    async acknowledge(id, by) {
      insistOn("deadLetters.acknowledge", aReviewer, by, "");
      await review(store, idOf(id), "acknowledged", by);
    },
    async note(id, by) {
      insistOn("deadLetters.note", aNoter, by, "");
      await annotate(store, idOf(id), { act: "noted", by: by.actor, notes: by.notes });
    },
    async assign(id, by) {
      insistOn("deadLetters.assign", anAssigner, by, "");
      const { actor, to, notes = null } = by;
      await annotate(store, idOf(id), { act: "assigned", by: actor, to, notes });
    },
    async discard(id, by) {
      insistOn("deadLetters.discard", aReviewer, by, "");
      await review(store, idOf(id), "discarded", by);
    },
    async reprocess(text, by) {
      insistOn("deadLetters.reprocess", aReprocessor, by, "");
      const { actor, notes, payload } = by;
      const id = idOf(text);
      const letter = await letterOf(store, id);
      const spec = specOf(letter);
      const plain = letterSuccessor(letter, newId(), { actor, nowMs: clock.now() });
      const edit =
        payload === undefined ? null : await editedSuccessor(parts, plain, spec, payload);
      // Before a refusal is thrown: the request stays (003-35).
      const act = { by: actor, reason: notes ?? null };
      await store.requestReprocess([{ id, changes: edit?.audited ?? null }], act);
      if (edit !== null && "refusal" in edit) throw edit.refusal;
      const successor = edit?.successor ?? plain;
      const changes = edit?.changes ?? null;
      const answer = await store.reprocess(id, successor, actor, notes ?? null, changes);
      if (answer.status === "unknown") throw unknown(id);
      const edited = edit === null ? undefined : successor.payload;
      if (answer.status === "closed") return successorBefore(store, answer.letter, edited);
      const { created, ...enqueued } = successorAnswer(spec, answer.answer);
      const named = { ...enqueued, created, deadLetterId: id };
      if (created) return { ...named, idempotencyKey: successor.idempotency?.key ?? null };
      const existing = await store.get(idOf(enqueued.id));
      insistOnPayload(letter, enqueued.id, existing, edited);
      return { ...named, idempotencyKey: existing?.idempotencyKey ?? null };
    },
  };
}

/** A dead letter has one successor, however often it is asked for. */
async function successorBefore(
  store: JobStore,
  letter: DeadLetterRecord,
  edited: JsonText | null | undefined,
): Promise<Reprocessed> {
  const { successor: id, type } = letter;
  if (id === null) throw closed(letter);
  const job = await store.get(id);
  insistOnPayload(letter, id, job, edited);
  const [state, idempotencyKey] = [job?.state ?? null, job?.idempotencyKey ?? null];
  return { id, type, state, created: false, deadLetterId: letter.id, idempotencyKey };
}

/** An edited payload must not be dropped because there is a successor with another one. */
function insistOnPayload(
  { id }: DeadLetterRecord,
  successorId: JobId,
  job: JobRecord | null,
  edited: JsonText | null | undefined,
): void {
  if (edited === undefined) return;
  if (job !== null && sameJson(job.payload, edited)) return;
  const message = `dead letter ${id} is not reprocessed with this payload`;
  throw new MillraceError("JOB_OVER", `${message}: job ${successorId} repeats it already`, {
    details: { id, successorId },
    hint: "Follow this job. If it fails, reprocess its own dead letter with the payload.",
  });
}

function sameJson(one: JsonText | null, other: JsonText | null): boolean {
  if (one === null || other === null) return one === other;
  return canonicalJson(one) === canonicalJson(other);
}

/** The actor of a review, and notes. */
interface Reviewer {
  readonly actor: string;
  readonly notes?: string;
}

function reviewerRule(more: Readonly<Record<string, Rule>>): Rule {
  return anObject(
    { required: { actor: aName }, optional: { notes: anyRemark, ...more } },
    'an object such as { actor: "ada" }',
  );
}

const aReviewer = reviewerRule({});
const aNoter = anObject(
  { required: { actor: aName, notes: anyRemark }, optional: {} },
  'an object such as { actor: "ada", notes: "asked the bank" }',
);
const anAssigner = anObject(
  {
    required: { actor: aName, to: (value, place) => (value === null ? null : aName(value, place)) },
    optional: { notes: anyRemark },
  },
  'an object such as { actor: "ada", to: "bob" }',
);
// encodePayload checks the payload, and names the path of an error.
const aReprocessor = reviewerRule({ payload: () => null });

async function letterOf(store: JobStore, id: JobId): Promise<DeadLetterRecord> {
  const letter = await store.deadLetter(id);
  if (letter === null) throw unknown(id);
  return letter;
}

async function annotate(store: JobStore, id: JobId, annotation: Annotation): Promise<void> {
  const answer = await store.annotate(id, annotation);
  if (answer.status === "unknown") throw unknown(id);
  if (answer.status === "closed") throw closed(answer.letter);
}

async function review(
  store: JobStore,
  id: JobId,
  status: "acknowledged" | "discarded",
  { actor, notes }: Reviewer,
): Promise<void> {
  const answer = await store.review(id, { status, by: actor, notes: notes ?? null });
  if (answer.status === "unknown") throw unknown(id);
  if (answer.status === "closed") throw closed(answer.letter);
}

function unknown(id: JobId): MillraceError {
  return new MillraceError("JOB_NOT_FOUND", `there is no dead letter ${id}`, { details: { id } });
}

/** The hint of the code would be to retry the job, which ignores the decision of the review. */
function closed({
  id,
  status,
  reviewedBy,
  successor: successorId,
}: DeadLetterRecord): MillraceError {
  if (successorId !== null) {
    const message = `dead letter ${id} is ${status}: job ${successorId} was enqueued in its place`;
    return new MillraceError("JOB_OVER", message, {
      details: { id, status, successorId },
      hint: "Follow the job that was enqueued in its place.",
    });
  }
  const by = reviewedBy === null ? "" : ` by ${reviewedBy}`;
  return new MillraceError("JOB_OVER", `dead letter ${id} was ${status}${by} and cannot change`, {
    details: { id, status },
    hint: "Enqueue a new job if the work is needed after all.",
  });
}
