/** `mill.views`. */
import type { SavedViews } from "../../api/control/views.ts";
import { anObject, must, type Rule } from "../../api/rules.ts";
import { aText, insistOn } from "../../jobs/check-text.ts";
import type { JobStore } from "../../store/store.ts";

const NAME_LENGTH_MAX = 100;
const QUERY_LENGTH_MAX = 4_000;

/** One line that can be part of a path. */
const aViewName = must(
  (value) =>
    typeof value === "string" &&
    value.isWellFormed() &&
    !/\p{Cc}/u.test(value) &&
    value !== "." &&
    value !== ".." &&
    value.length >= 1 &&
    value.length <= NAME_LENGTH_MAX,
  `a text of 1 to ${NAME_LENGTH_MAX} characters without control characters, and not . or ..`,
);
const aQuery: Rule = (value, place) =>
  value === "" ? null : aText(QUERY_LENGTH_MAX)(value, place);
const A_VIEW = anObject(
  { required: { name: aViewName, screen: aViewName, query: aQuery }, optional: {} },
  'an object such as { name: "failed", screen: "jobs", query: "state=failed" }',
);
const ACTOR = anObject({ required: { actor: aText(2_000) }, optional: {} }, '{ actor: "ada" }');

export function makeViews(
  store: Pick<JobStore, "savedViews" | "saveView" | "removeView">,
): SavedViews {
  return {
    async list() {
      const found = await store.savedViews(null);
      return found.map(({ by, savedAt, ...view }) => {
        return { ...view, savedBy: by, savedAt: new Date(savedAt) };
      });
    },
    async save(view, by) {
      insistOn("views.save", A_VIEW, view, "");
      if (by !== undefined) insistOn("views.save", ACTOR, by, "");
      const { name, screen, query } = view;
      await store.saveView({ tenant: null, name, screen, query, by: by?.actor ?? null });
    },
    async remove(name, by) {
      insistOn("views.remove", aViewName, name, "name");
      if (by !== undefined) insistOn("views.remove", ACTOR, by, "");
      return store.removeView({ tenant: null, name }, { by: by?.actor ?? null, reason: null });
    },
  };
}
