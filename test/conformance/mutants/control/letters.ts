/** What can go wrong with filters and counts of dead letters. */
import type { Faults } from "../all.ts";

export const SQLITE_LETTER_FAULTS: Faults = {
  countLetters: {
    list_dead_letters: [
      ["categories do not matter", "OR category = :category", "OR true"],
      ["classes of errors do not matter", "OR error_class = :error_class", "OR true"],
      ["causes do not matter", "OR cause = :cause", "OR true"],
      ["persons do not matter", "OR assigned_to = :assigned_to", "OR true"],
      ["correlations do not matter", "OR correlation = :correlation", "OR true"],
      ["the first time is left out", "created_at >= :created_from", "created_at > :created_from"],
      [
        "the end of the range counts",
        "created_at < :created_before",
        "created_at <= :created_before",
      ],
    ],
    count_dead_letters: [
      ["categories do not matter", "OR category = :category", "OR true"],
      ["classes of errors do not matter", "OR error_class = :error_class", "OR true"],
      ["causes do not matter", "OR cause = :cause", "OR true"],
      ["persons do not matter", "OR assigned_to = :assigned_to", "OR true"],
      ["correlations do not matter", "OR correlation = :correlation", "OR true"],
      ["the first time is left out", "created_at >= :created_from", "created_at > :created_from"],
      [
        "the end of the range counts",
        "created_at < :created_before",
        "created_at <= :created_before",
      ],
    ],
  },
  letterGroups: {
    group_dead_letters: [
      ["all letters are new", "sum(died_at >= :since)", "sum(1 + 0 * :since)"],
      ["the oldest are read", "ORDER BY died_at DESC", "ORDER BY died_at"],
      ["tenants do not matter", "OR tenant = :tenant", "OR true"],
      ["the newest is told", "min(died_at)", "max(died_at)"],
      ["small groups come first", "ORDER BY letters DESC", "ORDER BY letters"],
    ],
  },
};

export const POSTGRES_LETTER_FAULTS: Faults = {
  countLetters: {
    list_dead_letters: [
      ["categories do not matter", "OR category = :category::text", "OR true"],
      ["classes of errors do not matter", "OR error_class = :error_class::text", "OR true"],
      ["causes do not matter", "OR cause = :cause::text", "OR true"],
      ["persons do not matter", "OR assigned_to = :assigned_to::text", "OR true"],
      ["correlations do not matter", "OR correlation = :correlation::text", "OR true"],
      [
        "the first time is left out",
        "created_at >= :created_from::bigint",
        "created_at > :created_from::bigint",
      ],
      [
        "the end of the range counts",
        "created_at < :created_before::bigint",
        "created_at <= :created_before::bigint",
      ],
    ],
    count_dead_letters: [
      ["categories do not matter", "OR category = :category::text", "OR true"],
      ["classes of errors do not matter", "OR error_class = :error_class::text", "OR true"],
      ["causes do not matter", "OR cause = :cause::text", "OR true"],
      ["persons do not matter", "OR assigned_to = :assigned_to::text", "OR true"],
      ["correlations do not matter", "OR correlation = :correlation::text", "OR true"],
      [
        "the first time is left out",
        "created_at >= :created_from::bigint",
        "created_at > :created_from::bigint",
      ],
      [
        "the end of the range counts",
        "created_at < :created_before::bigint",
        "created_at <= :created_before::bigint",
      ],
    ],
  },
  letterGroups: {
    group_dead_letters: [
      ["all letters are new", "WHERE died_at >= millrace", "WHERE true OR died_at >= millrace"],
      ["the oldest are read", "ORDER BY died_at DESC", "ORDER BY died_at"],
      ["tenants do not matter", "OR tenant = :tenant::integer", "OR true"],
      ["the newest is told", "min(died_at)", "max(died_at)"],
      ["small groups come first", "ORDER BY letters DESC", "ORDER BY letters"],
    ],
  },
};
