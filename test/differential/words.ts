/** What kinds of answers a verb has given: equal answers prove little if they are all the same. */

/** The kinds in an answer, such as `created` and `refused STORE_REFUSED`. */
export function wordsOf(answer: unknown): readonly string[] {
  if (Array.isArray(answer)) return wordsOfList(answer);
  if (typeof answer === "object" && answer !== null) return [wordsOfObject(answer)];
  if (typeof answer === "number") return [answer === 0 ? "0" : "some"];
  if (typeof answer === "boolean") return [answer ? "yes" : "no"];
  return [typeof answer === "string" ? answer : "nothing"];
}

function wordsOfList(answers: readonly unknown[]): readonly string[] {
  if (answers.length === 0) return ["none"];
  const isVerdict = (each: unknown): boolean =>
    typeof each === "string" ? /^\w+$/.test(each) : "status" in Object(each);
  return answers.every(isVerdict) ? answers.flatMap(wordsOf) : ["some"];
}

/** A verdict by its name, anything else by what of it is not empty. */
function wordsOfObject(answer: object): string {
  const { status, state, by, code } = {
    status: null,
    state: null,
    by: null,
    code: null,
    ...answer,
  };
  const named = [status, by ?? code].filter((word) => typeof word === "string");
  if (named.length > 0) return named.join(" ");
  if (typeof state === "string") return state;
  const filled = Object.entries(answer).filter(([, value]) => !isEmpty(value));
  return filled.map(([name]) => name).join("+") || "nothing";
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object" && value !== null) return Object.values(value).every(isEmpty);
  return value === null || value === undefined || value === 0 || value === false;
}
