/** Where a value stands in a payload, and what the names around it say about the value. */
import { secretNamed, type NamedSecret } from "./names.ts";
import { wordSet, wordsOf } from "./words.ts";

const STEP_LENGTH_MAX = 60;

/** Where a value stands. */
export interface Place {
  /** The steps to the value, or to the text that contains it. */
  readonly steps: readonly (string | number)[];
  readonly path: string;
  /** The name that says what the value is: that of its field, or of the list around it. */
  readonly name: string;
  /** What the fields beside the value say about it, if its own name says nothing. */
  readonly named?: NamedSecret | undefined;
  /** The field that holds the value. */
  readonly field: string;
  /** The names of the fields beside it. */
  readonly beside: readonly string[];
  /** The names of the objects around, in groups. */
  readonly around: readonly (readonly string[])[];
  /** How many texts of JSON are around it. */
  readonly jsonDepth?: number;
}

export const TOP: Place = { steps: [], path: "", name: "", field: "", beside: [], around: [] };

/** Values directly below such a field are named after the field: `password: { value }`. */
const CARRIERS = wordSet(
  "value val content v data text default plain plaintext raw current new old from to before after",
  "cleartext previous",
);
const CONTAINERS = wordSet("secrets credentials passwords tokens apikeys creds");

/** Fields that need the name around them: `wifi: { key }`, `door: { code }`, `card: { number }`. */
const GENERIC = wordSet(
  "key keys code codes phrase words number answer pass pin token secret hex backup",
);

/** What stands beside a secret in such a container. */
export const METADATA: ReadonlySet<string> = wordSet(
  "id ids type kind name user username login email host hostname port url uri endpoint region",
  "scope scopes account service provider at expires expiry usr server method mode flow as",
  "count version status issuer audience label title note description env environment",
  "project tenant path arn ref reference database db address domain realm client profile",
  "ip device browser os agent location country city from",
);

export function inList(place: Place, index: number): Place {
  const steps = place.jsonDepth === undefined ? [...place.steps, index] : place.steps;
  return { ...place, steps, path: `${place.path}[${index}]` };
}

export function inObject(
  place: Place,
  key: string,
  { beside, around }: Pick<Place, "beside" | "around">,
): Place {
  const steps = place.jsonDepth === undefined ? [...place.steps, key] : place.steps;
  const step = shownStep(key);
  const path = place.path === "" ? step : `${place.path}.${step}`;
  const name = nameOf(place.name, key);
  const named = name === place.name ? place.named : undefined;
  return { ...place, steps, path, beside, around, field: key, name, named };
}

/** `password: { value: "…" }` and `secrets: { stripe: "…" }` are named after the field around. */
function nameOf(outer: string, key: string): string {
  // The fast path: most objects are at the top, or have names without a meaning here.
  if (outer === "") return key;
  if (CARRIERS.has(key.toLowerCase())) return outer;
  if (GENERIC.has(key.toLowerCase())) {
    const named = secretNamed(`${outer}_${key}`);
    if (named !== null && named.form !== "bytes") return `${outer}_${key}`;
  }
  if (!CONTAINERS.has(outer.replaceAll(/[^A-Za-z]/g, "").toLowerCase())) return key;
  const isTelling = secretNamed(key) !== null || METADATA.has(wordsOf(key).at(-1) ?? "");
  return isTelling ? key : `${key}_in_${outer}`;
}

/** A key may be a secret: a long one is cut. */
function shownStep(key: string): string {
  return key.length > STEP_LENGTH_MAX ? `${key.slice(0, 8)}…` : key;
}
