/** Filters of a list, kept in the address: every view can be shared, and none is hidden. */
import type { JSX } from "preact";
import { setQuery } from "../lib/router.ts";
import { Button } from "./basics.tsx";
import "./filters.css";

export interface Filter {
  /** Its name in the address. */
  readonly key: string;
  readonly label: string;
  /** The values to choose from. Without them, a person writes the value. */
  readonly options?: readonly (readonly [value: string, text: string])[];
  readonly placeholder?: string;
}

export function Filters(props: {
  label: string;
  of: readonly Filter[];
  query: Readonly<Record<string, string>>;
  /** Keys of the address that no longer fit when a filter changes, such as the page. */
  reset?: readonly string[];
}): JSX.Element {
  const { of, query, reset = [] } = props;
  const dropped = Object.fromEntries(reset.map((key) => [key, undefined]));
  const isFiltered = of.some(({ key }) => (query[key] ?? "") !== "");
  const none = Object.fromEntries(of.map(({ key }) => [key, undefined]));
  return (
    <form
      class="filters"
      role="search"
      aria-label={props.label}
      onSubmit={(event) => event.preventDefault()}
    >
      {of.map((filter) => (
        <label key={filter.key} class={query[filter.key] === undefined ? "" : "set"}>
          <span>{filter.label}</span>
          <Control
            filter={filter}
            value={query[filter.key] ?? ""}
            onChange={(value) => setQuery({ ...dropped, [filter.key]: value.trim() })}
          />
        </label>
      ))}
      {isFiltered && (
        <Button kind="quiet" icon="close" onClick={() => setQuery({ ...dropped, ...none })}>
          Clear
        </Button>
      )}
    </form>
  );
}

function Control(props: {
  filter: Filter;
  value: string;
  onChange: (value: string) => void;
}): JSX.Element {
  const { filter, value, onChange } = props;
  const { options, placeholder = "Any" } = filter;
  if (options === undefined) {
    return (
      <input
        class="field"
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  const isListed = value === "" || options.some(([each]) => each === value);
  return (
    <select class="field" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">{placeholder}</option>
      {!isListed && <option value={value}>{value}</option>}
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  );
}
