/** Turns the request of a bulk operation into the plan that is stored. */
import type {
  DeadLetterBulkAction,
  JobBulkAction,
  OperationRequest,
} from "../../api/control/operations.ts";
import { anObject, isObject, listOf, oneOf, type Rule } from "../../api/rules.ts";
import { SETTING_RULES } from "../../api/settings.ts";
import { statesFor } from "../../core/control/bulk.ts";
import { durationMs, instantMs } from "../../core/duration.ts";
import { MillraceError } from "../../core/errors.ts";
import { aText, insistOn } from "../../jobs/check-text.ts";
import { aDelay, aMoment } from "../../jobs/enqueue-options.ts";
import { priorityOf } from "../../jobs/new-job.ts";
import { idOf } from "../../jobs/views.ts";
import {
  OPERATION_IDS_MAX,
  type JobAction,
  type OperationPlan,
} from "../../store/types/operations.ts";
import type { ListFilter } from "../../store/types/lists.ts";
import { countFilter, deadLetterFilter } from "../filters.ts";

const JOB_ACTIONS = ["cancel", "retry", "delete", "priority", "reschedule"] as const;
const LETTER_ACTIONS = ["reprocess", "discard", "acknowledge"] as const;

const A_REQUEST: Rule = anObject(
  {
    required: { action: oneOf(...JOB_ACTIONS, ...LETTER_ACTIONS) },
    optional: {
      jobs: () => null,
      deadLetters: () => null,
      ids: listOf(aText(100)),
      priority: SETTING_RULES.priority,
      runAt: aMoment,
      delay: aDelay,
    },
  },
  'an object such as { action: "cancel", jobs: { type: "email" } }',
);

/** `jobs` is the filter without the states that the action is for. */
export interface Planned {
  readonly plan: OperationPlan;
  readonly jobs: ListFilter | null;
}

export function planOf(verb: string, request: OperationRequest): Planned {
  insistOn(verb, A_REQUEST, request, "");
  const targets = [request.jobs, request.deadLetters, request.ids];
  if (targets.filter((target) => target !== undefined).length !== 1) {
    throw invalid(`${verb}: name one of jobs, deadLetters and ids`, "jobs");
  }
  if (request.ids !== undefined) return ofIds(verb, request);
  if (request.jobs !== undefined) return ofJobs(verb, request);
  return ofLetters(verb, request);
}

function ofIds(
  verb: string,
  request: OperationRequest & { readonly ids: readonly string[] },
): Planned {
  const ids = [...new Set(request.ids.map((id) => idOf(id)))];
  if (ids.length === 0) throw invalid(`${verb}: ids is empty: name at least one id`, "ids");
  if (ids.length > OPERATION_IDS_MAX) {
    const most = OPERATION_IDS_MAX.toLocaleString("en");
    throw invalid(`${verb}: ids must name at most ${most} ids, not ${ids.length}`, "ids");
  }
  const change = isOfLetters(request) ? { action: request.action } : actionOf(verb, request);
  return { plan: { ...change, ids }, jobs: null };
}

function ofJobs(verb: string, request: OperationRequest & { readonly jobs: object }): Planned {
  const { action }: { readonly action: string } = request;
  if (isOfLetters({ action })) throw wrongTarget(verb, action, "deadLetters");
  const filter = countFilter(request.jobs);
  insistOnCondition(verb, filter, "jobs");
  const given = filter.states ?? (filter.runningMs === undefined ? undefined : RUNNING);
  const states = statesFor(request.action, given);
  if (states.length === 0) {
    const words = (given ?? []).join(" or ");
    throw invalid(`${verb}: ${request.action} changes no job that is ${words}`, "jobs.state");
  }
  const change = actionOf(verb, request);
  return { plan: { ...change, jobs: { ...filter, states } }, jobs: filter };
}

const RUNNING = ["running"] as const;

function ofLetters(verb: string, request: OperationRequest): Planned {
  if (!isOfLetters(request)) throw wrongTarget(verb, request.action, "jobs");
  for (const option of ["after", "limit"]) {
    if (!isObject(request.deadLetters) || !(option in request.deadLetters)) continue;
    throw invalid(`${verb}: deadLetters takes no ${option}`, `deadLetters.${option}`);
  }
  const { filter } = deadLetterFilter(request.deadLetters ?? {});
  insistOnCondition(verb, filter, "deadLetters");
  return { plan: { action: request.action, deadLetters: filter }, jobs: null };
}

function isOfLetters(request: { readonly action: string }): request is DeadLetterBulkAction {
  return LETTER_ACTIONS.some((action) => action === request.action);
}

function actionOf(verb: string, change: JobBulkAction): JobAction {
  switch (change.action) {
    case "priority":
      insistOn(verb, SETTING_RULES.priority, change.priority, "priority");
      return { action: "priority", priority: priorityOf(change.priority) };
    case "reschedule": {
      if ((change.runAt === undefined) === (change.delay === undefined)) {
        throw invalid(`${verb}: reschedule needs runAt or delay, and not both`, "runAt");
      }
      const due =
        change.runAt === undefined
          ? { delayMs: durationMs(change.delay, "delay") }
          : { at: instantMs(change.runAt, "runAt") };
      return { action: "reschedule", due };
    }
    case "cancel":
    case "retry":
    case "delete":
      return { action: change.action };
  }
}

/** An action on all jobs by mistake would be costly. */
function insistOnCondition(verb: string, filter: object, option: string): void {
  const conditions = Object.values(filter).filter(
    (value) => !(isObject(value) && Object.keys(value).length === 0),
  );
  if (conditions.length > 0) return;
  throw invalid(`${verb}: ${option} is empty: name at least one condition`, option);
}

function wrongTarget(verb: string, action: string, target: string): MillraceError {
  return invalid(`${verb}: ${action} is for ${target}: name ${target} or ids`, target);
}

function invalid(message: string, option: string): MillraceError {
  return new MillraceError("OPTION_INVALID", message, { details: { option } });
}
