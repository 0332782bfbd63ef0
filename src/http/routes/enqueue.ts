/**
 * `POST /api/v1/jobs` and `/api/v1/jobs/batch`: enqueue jobs. A job is durable when the answer is
 * sent.
 */
import { z } from "@hono/zod-openapi";
import { MillraceError } from "../../core/errors.ts";
import type { AnyContract } from "../../api/definition.ts";
import type { TypeView } from "../../api/services/types.ts";
import type { Enqueued, EnqueueOptions } from "../../api/enqueue.ts";
import { wholeNumberIn } from "../../api/rules.ts";
import { ATTEMPTS_BOUNDS, PRIORITY_BOUNDS } from "../../api/settings.ts";
import { declaredType } from "../../jobs/declared-type.ts";
import { bareContract } from "../../jobs/stored-type.ts";
import { PRODUCE, type Identity } from "../identity/identity.ts";
import type { AppParts, HttpMill } from "../parts.ts";
import { bodyOf, invalid, RequestRefusal } from "../problem.ts";
import { route, type Route } from "../route.ts";
import { ANYTHING, COUNT, KEY, NAME, TEXT } from "../schemas/common.ts";
import { ENQUEUED } from "../schemas/jobs.ts";
import { PART_PROBLEM } from "../schemas/problem.ts";
import { checked } from "../validation.ts";

const PATH = "/api/v1/jobs";
const KEY_HEADER = "Idempotency-Key";
/** Jobs of one request. */
const BATCH_MAX = 1_000;
const BATCH_BYTES_MAX = 16_000_000;

const INSTANT = z
  .union([z.string().min(1).max(40), COUNT], {
    error: "ISO text with an offset, or milliseconds since 1970",
  })
  .openapi({ description: "ISO text with an offset, or milliseconds since 1970." });

const DELAY = "milliseconds, or a text such as 90s, 5m or 2h";

const OPTIONS = z.strictObject({
  tenant: NAME.optional(),
  runAt: INSTANT.optional(),
  delay: z
    .union(
      [
        z
          .string()
          .max(20)
          .regex(/^\d+(\.\d+)?(ms|s|m|h|d)$/),
        COUNT,
      ],
      { error: DELAY },
    )
    .optional(),
  priority: z
    .union(
      [
        z.enum(["critical", "high", "normal", "low"]),
        z.int().min(PRIORITY_BOUNDS.min).max(PRIORITY_BOUNDS.max),
      ],
      { error: `${wholeNumberIn(PRIORITY_BOUNDS)}, or critical, high, normal or low` },
    )
    .optional(),
  maxAttempts: z.int().min(ATTEMPTS_BOUNDS.min).max(ATTEMPTS_BOUNDS.max).optional(),
  correlationId: NAME.optional(),
  idempotencyKey: keyOr("return-existing", "error").optional(),
  dedupKey: keyOr("skip", "replace", "extend").optional(),
  concurrencyKey: KEY.optional().openapi({
    description: "One job with the key runs at a time.",
  }),
  after: z
    .array(z.string().min(1).max(40))
    .max(1_000)
    .optional()
    .openapi({ description: "The ids of jobs that must be final first." }),
  onFailed: z
    .enum(["cancel", "run"])
    .optional()
    .openapi({ description: "What happens when a job in after fails." }),
  tags: z.record(z.string(), KEY).optional(),
  payloadVersion: z
    .string()
    .max(40)
    .regex(/^\d{1,9}(?:\.\d{1,9}){0,3}$/, 'a version such as "2" or "1.0"')
    .optional()
    .openapi({ description: "The version of the payload. Default: that of the declared type." }),
  webhookUrl: z
    .string()
    .max(2_000)
    .optional()
    .openapi({ description: "Not part of this release: refused with 501 and the code NOT_YET." }),
  createdBy: NAME.optional(),
});

const NEW_JOB = z
  .strictObject({ type: NAME, payload: ANYTHING.optional(), options: OPTIONS.optional() })
  .openapi("NewJob");

type NewJob = z.output<typeof NEW_JOB>;

function keyOr(...policies: readonly [string, ...string[]]) {
  return z.union([KEY, z.strictObject({ key: KEY, onConflict: z.enum(policies) })], {
    error: "a text, or { key, onConflict }",
  });
}

/** The headers of a request that makes one job. */
export const KEY_HEADERS: z.ZodObject<{ "idempotency-key": z.ZodOptional<z.ZodString> }> = z.object(
  {
    "idempotency-key": z
      .string()
      .max(1_010)
      .optional()
      .openapi({ description: "With or without quotes. A repeated key returns the same job." }),
  },
);

export function enqueueRoutes(parts: AppParts): readonly Route[] {
  return [enqueueRoute(parts), batchRoute(parts)];
}

function enqueueRoute(parts: AppParts): Route {
  const form = {
    method: "post",
    path: PATH,
    name: "enqueueJob",
    summary: "Enqueues a job. The job is durable when the answer is sent.",
    access: PRODUCE,
    headers: KEY_HEADERS,
    body: NEW_JOB,
    answers: {
      200: { description: "The job already exists.", schema: ENQUEUED },
      201: { description: "The job was created. Location is its path.", schema: ENQUEUED },
    },
    problems: [409, 422, 501, 503],
  } as const;
  return route(form, async ({ body, headers, mill, identity, base }) => {
    const key = keyOf(headers["idempotency-key"] ?? null);
    const types = new DeclaredTypes(mill);
    const enqueued = await enqueue({ parts, mill, identity, types }, withKey(body, key));
    const location = `${base}${PATH}/${enqueued.id}`;
    if (enqueued.created) return Response.json(enqueued, { status: 201, headers: { location } });
    // Without a key, it is the dedup key that names a job which exists.
    const isReplay = key !== null || body.options?.idempotencyKey !== undefined;
    const replayed = isReplay ? { "idempotency-replayed": "true" } : {};
    return Response.json(enqueued, { headers: { location, ...replayed } });
  });
}

/** One answer per job: a job that is refused does not keep the others back. */
function batchRoute(parts: AppParts): Route {
  const refusal = z.strictObject({ problem: PART_PROBLEM });
  const form = {
    method: "post",
    path: `${PATH}/batch`,
    name: "enqueueJobs",
    summary:
      "Enqueues up to 1,000 jobs. Each is created or refused on its own, in the order given.",
    access: PRODUCE,
    headers: z.object({
      "idempotency-key": TEXT.optional().openapi({
        description: "Refused: give each job an `idempotencyKey` in its options.",
      }),
    }),
    body: z.strictObject({ jobs: z.array(z.unknown()).min(1).max(BATCH_MAX) }).openapi("NewJobs"),
    bodyBytesMax: BATCH_BYTES_MAX,
    answers: {
      200: {
        description: "One entry per job, in the order given.",
        schema: z.strictObject({
          jobs: z.array(z.union([ENQUEUED, refusal])),
          created: COUNT,
          existing: COUNT,
          refused: COUNT,
        }),
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ body, headers, mill, identity }) => {
    if (headers["idempotency-key"] !== undefined) {
      // To ignore it would create all jobs again when the request is repeated.
      const message = "is for one job: give each job an idempotencyKey in its options";
      throw invalid({ path: KEY_HEADER, message });
    }
    const call = { parts, mill, identity, types: new DeclaredTypes(mill) };
    const jobs = await Promise.all(
      body.jobs.map(async (given, index) => {
        try {
          return await enqueue(call, checked(NEW_JOB, given, `jobs[${index}]`));
        } catch (error) {
          const refused = bodyOf(error);
          if (!isAboutOneJob(refused)) throw error;
          return { problem: refused };
        }
      }),
    );
    const created = jobs.filter((job) => "created" in job && job.created).length;
    const refused = jobs.filter((job) => "problem" in job).length;
    const existing = jobs.length - created - refused;
    return Response.json({ jobs, created, existing, refused });
  });
}

interface EnqueueCall {
  readonly parts: AppParts;
  readonly mill: HttpMill;
  readonly identity: Identity;
  readonly types: DeclaredTypes;
}

/** What workers have declared about the types of one request. Each type is read once. */
class DeclaredTypes {
  readonly #mill: HttpMill;
  readonly #known = new Map<string, Promise<TypeView | null>>();

  constructor(mill: HttpMill) {
    this.#mill = mill;
  }

  get(type: string): Promise<TypeView | null> {
    const known = this.#known.get(type) ?? this.#mill.types.get(type);
    this.#known.set(type, known);
    return known;
  }
}

/** Errors of the server itself concern all jobs of a batch. */
function isAboutOneJob({ status, code }: { status: number; code: string }): boolean {
  return status < 500 || code === "NOT_YET" || code === "INTAKE_CLOSED";
}

async function enqueue(
  { parts, mill, identity, types }: EnqueueCall,
  { type, payload, options }: NewJob,
): Promise<Enqueued<unknown>> {
  if (identity.types !== null && !identity.types.includes(type)) {
    throw new RequestRefusal(
      "FORBIDDEN",
      `The token may enqueue ${identity.types.join(", ")}, not ${type}.`,
    );
  }
  const contract = await contractOf(parts, { type, payload, ...versionOf(options) }, (name) =>
    types.get(name),
  );
  try {
    return await mill.enqueue(contract, payload, optionsOf(options ?? {}, identity));
  } catch (error) {
    throw inBody(error);
  }
}

function versionOf(options: NewJob["options"]): { readonly version?: string } {
  return options?.payloadVersion === undefined ? {} : { version: options.payloadVersion };
}

/** The contract of a type whose code is here, else one made of what the store knows of the type. */
export async function contractOf(
  parts: AppParts,
  request: { readonly type: string; readonly payload?: unknown; readonly version?: string },
  storedType: (name: string) => Promise<TypeView | null>,
): Promise<AnyContract> {
  const { type } = request;
  return knownContract(parts, type) ?? bareContract(request, await storedType(type));
}

/** With a job file, a type that the file does not declare is refused. */
function knownContract(parts: AppParts, type: string): AnyContract | undefined {
  const { contracts, jobFile } = parts;
  if (jobFile !== null) return declaredType(type, contracts(), jobFile);
  return contracts().find((contract) => contract.type === type);
}

function optionsOf(given: NonNullable<NewJob["options"]>, identity: Identity): EnqueueOptions {
  const { after, ...plain } = given;
  const own = identity.tenant;
  if (own !== null && plain.tenant !== undefined && plain.tenant !== own) {
    throw new RequestRefusal("FORBIDDEN", `The credential is for the tenant ${own} alone.`);
  }
  const options: any = {
    createdBy: identity.actor,
    ...plain,
    ...(own === null ? {} : { tenant: own, createdBy: identity.actor }),
    ...(after === undefined ? {} : { after: after.map((id) => ({ id, type: "" })) }),
  };
  return options;
}

function withKey(body: NewJob, idempotencyKey: string | null): NewJob {
  if (idempotencyKey === null) return body;
  if (body.options?.idempotencyKey === undefined) {
    return { ...body, options: { ...body.options, idempotencyKey } };
  }
  throw invalid({ path: KEY_HEADER, message: "is given as a header and as an option: choose one" });
}

/** The key in a header: the string of a structured field, or the text without quotes. */
export function keyOf(header: string | null): string | null {
  if (header === null) return null;
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header)?.[1];
  const key = quoted?.replaceAll(/\\(.)/g, "$1") ?? header;
  const isHalfQuoted = quoted === undefined && header.includes('"');
  if (isHalfQuoted) throw invalid({ path: KEY_HEADER, message: "has a quote that does not end" });
  return checked(KEY, key, KEY_HEADER);
}

/** In the body, an option of the library is one level deeper. */
function inBody(error: unknown): unknown {
  const option = error instanceof MillraceError ? error.details["option"] : undefined;
  if (!(error instanceof MillraceError) || typeof option !== "string") return error;
  const { code, message, hint } = error;
  return new MillraceError(code, message, {
    cause: error,
    details: { path: `options.${option}` },
    hint,
  });
}
