/** What can go wrong in searches by lane, error and payload. */
import type { Faults } from "../all.ts";

const SQLITE: Faults[string][string] = [
  ["the lane is not looked at", ":lane IS NULL", "1"],
  ["the case of an error matters", "lower(now.last_error ->> 'message')", "now.last_error"],
  ["the name of an error is not searched", "last_error ->> 'name'", "last_error ->> 'nothing'"],
  ["the class of an error is not searched", "last_error ->> 'class'", "last_error ->> 'nothing'"],
  ["the text of the payload is not looked at", ":payload_text IS NULL", "1"],
  ["large numbers are rounded", "step.value -> part.fullkey", "part.value"],
  ["a longer path is enough", "depth = json_array_length", "depth <= json_array_length"],
  ["an object is a scalar", "WHEN 'object' THEN NULL", ""],
  [
    "one path of several is enough",
    "FROM json_each(:payload) AS wanted",
    "FROM (SELECT value FROM json_each(:payload) LIMIT 1) AS wanted",
  ],
];

export const SQLITE_LIST_CONTENT_FAULTS: Faults = {
  "list by lane, error and payload": { match_jobs: SQLITE, count_matching: SQLITE },
};

const POSTGRES: Faults[string][string] = [
  ["the lane is not looked at", ":lane::integer IS NULL", "true"],
  ["the error is not looked at", ":error::text IS NULL", "true"],
  ["the text of the payload is not looked at", ":payload_text::text IS NULL", "true"],
  ["the payload is not looked at", ":payload::json IS NULL", "true"],
];

export const POSTGRES_LIST_CONTENT_FAULTS: Faults = {
  "list by lane, error and payload": {
    match_jobs: POSTGRES,
    count_matching: POSTGRES,
    "functions/job-filters.sql": [
      ["the case of an error matters", 'lower(word.text COLLATE "C")', "word.text"],
      ["the class of an error is not searched", ", error ->> 'class'", ""],
      ["an index counts from the end", "'^(0|", "'^-?(0|"],
      ["an object is a scalar", "WHEN 'object' THEN NULL", ""],
      ["nothing is no text", "WHEN 'null' THEN 'null'", ""],
      ["one path of several is enough", "END LOOP;\n    RETURN true", "RETURN true; END LOOP"],
    ],
  },
};
