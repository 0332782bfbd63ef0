/** Answers that are too long for memory, as lines of JSON. */
import { RequestRefusal } from "./problem.ts";

/** Lines between two looks at the credential, which may end during a long answer. */
const CHECKED_EVERY = 1_000;

export async function jsonLines(
  values: AsyncIterable<unknown>,
  isStillValid: () => Promise<boolean>,
): Promise<Response> {
  const lines = encoded(values, isStillValid);
  // A store that fails is answered with a problem, and not in the middle of a body.
  const first = await lines.next();
  const body = ReadableStream.from(first.done === true ? [] : followedBy(first.value, lines));
  return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
}

async function* encoded(
  values: AsyncIterable<unknown>,
  isStillValid: () => Promise<boolean>,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let count = 0;
  for await (const value of values) {
    count += 1;
    if (count % CHECKED_EVERY === 0 && !(await isStillValid())) {
      throw new RequestRefusal("UNAUTHORIZED", "The credential has ended.");
    }
    yield encoder.encode(`${JSON.stringify(value)}\n`);
  }
}

async function* followedBy(
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}
