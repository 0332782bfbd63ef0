/** `mill.deadLetters`: what a person does about jobs that have failed for good. */
import { MillraceError } from "../core/errors.ts";
import type { JobId } from "../core/job.ts";
import { encodePayload } from "../core/payload.ts";
import type { DeadLetters } from "../face/client.ts";
import type { DeadLetter, EnqueueAnswer, JobStore } from "../store/store.ts";
import { successorOf, type Repeatable } from "./successor.ts";
import { deadLetterView, idOf } from "./views.ts";

const PAGE_DEFAULT = 50;

export function makeDeadLetters(store: JobStore, newId: () => JobId): DeadLetters {
  return {
    async get(text) {
      const id = idOf(text);
      return deadLetterView(await letterOf(store, id));
    },
    async list({ after, limit = PAGE_DEFAULT, ...filter } = {}) {
      const page = { limit, ...(after === undefined ? {} : { after: idOf(after) }) };
      return (await store.deadLetters(filter, page)).map(deadLetterView);
    },
    async acknowledge(id, { actor, notes }) {
      await review(store, idOf(id), "acknowledged", actor, notes);
    },
    async discard(id, { actor, notes }) {
      await review(store, idOf(id), "discarded", actor, notes);
    },
    async reprocess(text, { actor, notes, payload }) {
      const id = idOf(text);
      const letter = await letterOf(store, id);
      const spec: Repeatable = JSON.parse(letter.spec);
      const change =
        payload === undefined
          ? { createdBy: actor }
          : { createdBy: actor, payload: encodePayload(payload).text };
      const successor = successorOf(spec, newId(), change);
      const answer = await store.reprocess(id, successor, actor, notes ?? null);
      if (answer.status === "unknown") throw unknown(id);
      if (answer.status === "closed") throw closed(answer.letter);
      return enqueuedAs(letter.type, answer.answer);
    },
  };
}

function enqueuedAs(type: string, answer: EnqueueAnswer) {
  if (answer.status === "refused") {
    throw new MillraceError("STORE_REFUSED", `the successor was refused: ${answer.code}`);
  }
  const { id, state } = answer;
  return { id, type, state, created: answer.status === "created" };
}

async function letterOf(store: JobStore, id: JobId): Promise<DeadLetter> {
  const letter = await store.deadLetter(id);
  if (letter === null) throw unknown(id);
  return letter;
}

async function review(
  store: JobStore,
  id: JobId,
  status: "acknowledged" | "discarded",
  by: string,
  notes: string | undefined,
): Promise<void> {
  const answer = await store.review(id, { status, by, notes: notes ?? null });
  if (answer.status === "unknown") throw unknown(id);
  if (answer.status === "closed") throw closed(answer.letter);
}

function unknown(id: JobId): MillraceError {
  return new MillraceError("JOB_NOT_FOUND", `there is no dead letter ${id}`, { details: { id } });
}

function closed({ id, status }: DeadLetter): MillraceError {
  return new MillraceError("JOB_OVER", `dead letter ${id} is ${status} and does not change`, {
    details: { id, status },
  });
}
