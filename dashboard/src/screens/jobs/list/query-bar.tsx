/** The query bar: terms as chips that can be removed, a field, and what fits in the field. */
import type { JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { parseQuery, queryText, termText, type Parsed } from "../../../lib/query.ts";
import { takeQueryFocus } from "../../../lib/query-focus.ts";
import { go, href } from "../../../lib/router.ts";
import { Button } from "../../../parts/basics.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { suggestionsFor, type Known, type Suggestion } from "./suggest.ts";

interface Chip {
  readonly key: string;
  readonly value: string;
  /** As it is written. */
  readonly text: string;
}

export function QueryBar(props: {
  text: string;
  known: Known;
  wrong: ReadonlySet<string>;
  onChange: (text: string) => void;
}): JSX.Element {
  const { text, known, wrong, onChange } = props;
  const [draft, setDraft] = useState("");
  const [at, setAt] = useState(-1);
  const [isOpen, setOpen] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const list = useId();
  useEffect(() => {
    const typed = takeQueryFocus();
    if (typed === null) return;
    write(typed);
    field.current?.focus();
  }, []);
  const parsed = parseQuery(text);
  const chips = chipsOf(parsed);
  const shown = isOpen ? suggestionsFor(draft, known) : [];
  const write = (next: string): void => {
    setDraft(next);
    setAt(-1);
    setOpen(true);
  };
  const search = (added: string): void => {
    write("");
    setOpen(false);
    if (added.trim() !== "") onChange(joined(text, added));
  };
  const choose = (suggestion: Suggestion): void => {
    if (suggestion.jobId !== undefined) return go(href(["jobs", suggestion.jobId]));
    if (suggestion.isWhole) search(suggestion.text);
    else write(suggestion.text);
    field.current?.focus();
  };
  const edit = (index: number): void => {
    onChange(without(parsed, index));
    write(chips[index]?.text ?? "");
    field.current?.focus();
  };
  const keys: Readonly<Record<string, () => boolean>> = {
    ArrowDown: () => (setOpen(true), setAt(Math.min(at + 1, shown.length - 1)), true),
    ArrowUp: () => (setAt(Math.max(at - 1, -1)), true),
    Tab: () => {
      const suggestion = shown[Math.max(at, 0)];
      if (suggestion === undefined || draft === "") return false;
      choose(suggestion);
      return true;
    },
    Enter: () => {
      const suggestion = shown[at] ?? (shown[0]?.jobId === undefined ? undefined : shown[0]);
      if (suggestion === undefined) {
        search(draft);
        // The keys of the list act at once.
        field.current?.blur();
      } else choose(suggestion);
      return true;
    },
    Escape: () => {
      if (isOpen) setOpen(false);
      else field.current?.blur();
      return true;
    },
    Backspace: () => {
      if (draft !== "" || chips.length === 0) return false;
      edit(chips.length - 1);
      return true;
    },
    " ": () => {
      if (!/^[\w.\-[\]]+[:=<>]("([^"\\]|\\.)*"|[^\s"]+)$/.test(draft)) return false;
      search(draft);
      setOpen(true);
      return true;
    },
  };
  return (
    <div class="query-wrap" role="search" aria-label="Jobs">
      <div class="query">
        <Icon name="search" />
        {chips.map((chip, index) => (
          <ChipView
            key={`${index} ${chip.text}`}
            chip={chip}
            isWrong={wrong.has(chip.text)}
            edit={() => edit(index)}
            remove={() => onChange(without(parsed, index))}
          />
        ))}
        <input
          ref={field}
          data-query
          role="combobox"
          aria-label="Filter jobs"
          aria-expanded={shown.length > 0}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={at === -1 ? undefined : `${list}-${at}`}
          autocomplete="off"
          spellcheck={false}
          placeholder={
            chips.length === 0 ? "type:email state:failed payload.user.id=42 age<1h" : ""
          }
          value={draft}
          onInput={(event) => write(event.currentTarget.value)}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={(event) => {
            // Single keys of the page do not act here; Escape would leave the page.
            event.stopPropagation();
            if (keys[event.key]?.() === true) event.preventDefault();
          }}
        />
        {text !== "" && (
          <Button kind="quiet" icon="close" label="Remove all terms" onClick={() => onChange("")} />
        )}
      </div>
      <Suggestions id={list} shown={shown} at={at} draft={draft} choose={choose} />
    </div>
  );
}

function ChipView(props: {
  chip: Chip;
  isWrong: boolean;
  edit: () => void;
  remove: () => void;
}): JSX.Element {
  const { chip, isWrong, edit, remove } = props;
  return (
    <span class={isWrong ? "tok wrong" : "tok"}>
      <button type="button" class="edit" title={`Change ${chip.text}`} onClick={edit}>
        <span class="k">{chip.key}</span>
        <span class="v">{chip.value}</span>
        {isWrong && <span class="sr"> (not understood)</span>}
      </button>
      <button type="button" aria-label={`Remove ${chip.text}`} title="Remove" onClick={remove}>
        <Icon name="close" small />
      </button>
    </span>
  );
}

function Suggestions(props: {
  id: string;
  shown: readonly Suggestion[];
  at: number;
  draft: string;
  choose: (suggestion: Suggestion) => void;
}): JSX.Element {
  const { id, shown, at, choose } = props;
  return (
    <div class={shown.length === 0 ? "suggest none" : "suggest"}>
      <ul id={id} role="listbox" aria-label="Suggestions">
        {shown.map((suggestion, index) => (
          <li
            key={suggestion.text}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            // Before the field loses the focus, which closes the list.
            onMouseDown={(event) => {
              event.preventDefault();
              choose(suggestion);
            }}
          >
            <code class="cut" title={suggestion.text}>
              {suggestion.text}
            </code>
            <span class="dim cut">{suggestion.hint}</span>
          </li>
        ))}
      </ul>
      {shown.length > 0 && (
        <p class="suggest-foot" aria-hidden="true">
          <kbd>↑</kbd> <kbd>↓</kbd> move <kbd>Tab</kbd> take <kbd>Enter</kbd> search <kbd>Esc</kbd>{" "}
          close
        </p>
      )}
    </div>
  );
}

function chipsOf({ terms, words }: Parsed): readonly Chip[] {
  return [
    ...terms.map((term) => ({
      key: `${term.key}${term.sign}`,
      value: term.value,
      text: termText(term),
    })),
    ...words.map((word) => ({
      key: "text",
      value: word,
      text: queryText({ terms: [], words: [word] }),
    })),
  ];
}

function without({ terms, words }: Parsed, index: number): string {
  return queryText({
    terms: terms.filter((_, each) => each !== index),
    words: words.filter((_, each) => each + terms.length !== index),
  });
}

/** Both in one text; a term that is there already is not repeated. */
function joined(text: string, added: string): string {
  const [before, after] = [parseQuery(text), parseQuery(added)];
  const known = new Set(before.terms.map(termText));
  return queryText({
    terms: [...before.terms, ...after.terms.filter((term) => !known.has(termText(term)))],
    words: [...before.words, ...after.words],
  });
}
