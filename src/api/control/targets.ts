/** What operators may name: the checks of pauses, drains, intakes and limits. */
import { MillraceError } from "../../core/errors.ts";
import { shown } from "../../core/text.ts";
import type { PauseTarget } from "../client.ts";
import { aName } from "../rules.ts";
import type { DrainTarget } from "./drain.ts";
import type { IntakeTarget } from "./intake.ts";
import type { LimitTarget } from "./limits.ts";

type PauseKind = "lane" | "type" | "tenant" | "service" | "installation";

/** The kind of a target and its name. The name of the installation is `all`. */
export interface Named<Kind extends string> {
  readonly kind: Kind;
  readonly name: string;
}

/** The key of a tenant; undefined: the tenant of the mill. */
export interface NamedKey {
  readonly key: string;
  readonly tenant: string | undefined;
}

/** A target must name exactly one of lane, type, tenant, service and installation. */
export function pauseTargetOf(verb: string, target: PauseTarget): Named<PauseKind> {
  const found = onlyNameOf(verb, target, ["lane", "type", "tenant", "service"]);
  if (found !== null) return found;
  throw invalid(
    `${verb}: name one of { lane }, { type }, { tenant }, { service } and ` +
      '{ installation: true }, such as { type: "email" }',
  );
}

/** The same without a service: a job is not enqueued for a service. */
export function intakeTargetOf(
  verb: string,
  target: IntakeTarget,
): Named<Exclude<PauseKind, "service">> {
  const { kind, name } = pauseTargetOf(verb, target);
  if (kind !== "service") return { kind, name };
  throw invalid(`${verb}: a service has no intake; name the types that use ${name}`);
}

/** The same with a worker, whose id is not checked. */
export function drainTargetOf(verb: string, target: DrainTarget): Named<PauseKind | "worker"> {
  checkTarget(verb, target);
  if (!("worker" in target)) return pauseTargetOf(verb, target);
  if (Object.keys(target).length === 1) return { kind: "worker", name: target.worker };
  throw invalid(`${verb}: name one target, such as { lane: "mail" }`);
}

/** A target must name exactly one of type, tenant, service, installation and key. */
export function limitTargetOf(
  verb: string,
  target: LimitTarget,
): Named<Exclude<PauseKind, "lane">> | NamedKey {
  checkTarget(verb, target);
  if ("key" in target) return keyOf(verb, target);
  const found = onlyNameOf(verb, target, ["type", "tenant", "service"]);
  if (found !== null) return found;
  throw invalid(
    `${verb}: name one of { type }, { tenant }, { service }, { key } or ` +
      '{ installation: true }, such as { type: "email" }',
  );
}

/** The text of the key is not checked. */
function keyOf(verb: string, target: { key: string; tenant?: string }): NamedKey {
  const { key, tenant, ...others } = target;
  if (tenant !== undefined) checkName(verb, "tenant", tenant);
  const [other] = Object.keys(others);
  if (other === undefined) return { key, tenant };
  throw invalid(`${verb}: name { key, tenant } without ${other}`);
}

function onlyNameOf<Kind extends PauseKind>(
  verb: string,
  target: object,
  kinds: readonly Kind[],
): Named<Kind | "installation"> | null {
  checkTarget(verb, target);
  const [entry, ...more] = Object.entries(target);
  const [given, name] = entry ?? [];
  if (more.length > 0) return null;
  if (given === "installation" && name === true) return { kind: given, name: "all" };
  const kind = kinds.find((each) => each === given);
  if (kind === undefined || typeof name !== "string") return null;
  checkName(verb, kind, name);
  return { kind, name };
}

/** Refuses what cannot be a name. `kind` says in the message what is named. */
export function checkName(verb: string, kind: string, name: unknown): void {
  const mismatch = aName(name, kind);
  if (mismatch === null) return;
  const message = `${verb}: ${kind} ${mismatch.problem}`;
  throw new MillraceError("OPTION_INVALID", message, { details: { option: kind } });
}

/** Plain JavaScript may pass any value. */
function checkTarget(verb: string, target: unknown): void {
  if (typeof target === "object" && target !== null) return;
  throw invalid(`${verb}: ${shown(target)} is no target; name one, such as { type: "email" }`);
}

function invalid(message: string): MillraceError {
  return new MillraceError("OPTION_INVALID", message);
}
