/** How many jobs of a target run: what a drain over HTTP waits for. */
import { z } from "@hono/zod-openapi";
import type { DrainTarget } from "../../../api/control/drain.ts";
import { SEE } from "../../identity/identity.ts";
import { route, type Route } from "../../route.ts";
import { COUNT, NAME, TEXT } from "../../schemas/common.ts";
import { targetOf } from "../operations.ts";

const RUNNING = z
  .strictObject({
    running: COUNT,
    atLeast: z.boolean(),
    ids: z.array(TEXT).openapi({ description: "The ids of some of the jobs, at most 20." }),
    claims: z.array(TEXT).openapi({
      description:
        "Claims under way, which may still start jobs of a target that was paused before. Give " +
        "them to the next request, which answers those that are still under way.",
    }),
  })
  .openapi("Running");

/** The names of claims, as the database spells them. */
const CLAIM = z.string().regex(/^[0-9]+\/[0-9]+$/);
const CLAIMS_MAX = 1_000;

export function runningRoutes(): readonly Route[] {
  const form = {
    method: "get",
    path: "/api/v1/running/{kind}/{name}",
    name: "countRunning",
    summary:
      "Counts the running jobs of a lane, type, tenant, service or worker, or of the installation.",
    access: SEE,
    params: z.strictObject({
      kind: z.enum(["lane", "type", "tenant", "service", "installation", "worker"]),
      name: NAME,
    }),
    query: z.strictObject({
      claims: z
        .string()
        .max(20_000)
        .optional()
        .openapi({ description: "The claims of the answer before, separated by commas." }),
    }),
    answers: { 200: { description: "The count.", schema: RUNNING } },
    problems: [],
  } as const;
  return [
    route(form, async ({ params: { kind, name }, query: { claims }, mill }) => {
      const target: DrainTarget = kind === "worker" ? { worker: name } : targetOf({ kind, name });
      const known = claims === undefined ? {} : { claims: claimsOf(claims) };
      return Response.json(await mill.running(target, known));
    }),
  ];
}

/** A name that no claim can have is left out: it cannot be under way. */
function claimsOf(text: string): readonly string[] {
  const names = text === "" ? [] : text.split(",");
  return names.filter((name) => CLAIM.safeParse(name).success).slice(0, CLAIMS_MAX);
}
