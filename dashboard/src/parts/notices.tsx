/** What a screen says when it has nothing, waits, or has failed. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiProblem } from "../api/client.ts";
import { relativeText } from "../lib/format.ts";
import { now } from "../lib/now.ts";
import { problemText } from "../lib/toasts.ts";
import { isRefusal, type Resource } from "../live/resource.ts";
import { Button, CopyButton } from "./basics.tsx";
import { Icon } from "./icon.tsx";

const SKELETON_MS = 300;

/** Grey lines, only when an answer takes longer than people notice. */
export function Skeleton({ lines = 4 }: { lines?: number }): JSX.Element | null {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), SKELETON_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isLate) return <div class="skeleton" aria-busy="true" />;
  return (
    <div class="skeleton" role="status">
      <span class="sr">Reading from the server</span>
      {Array.from({ length: lines }, (_, index) => (
        <i key={index} class={`w${index % 4}`} />
      ))}
    </div>
  );
}

/** An empty state that teaches: what will appear, and a command that makes it appear. */
export function Empty(props: {
  title: string;
  children?: ComponentChildren;
  /** A command to copy. */
  command?: string;
  actions?: ComponentChildren;
  isWell?: boolean;
}): JSX.Element {
  return (
    <div class="empty">
      <h3>
        {props.isWell === true && <Icon name="check" />}
        {props.title}
      </h3>
      {props.children !== undefined && <p>{props.children}</p>}
      {props.command !== undefined && <Snippet text={props.command} />}
      {props.actions !== undefined && <div class="row">{props.actions}</div>}
    </div>
  );
}

/** Text in a frame of its own, with a button that copies all of it. */
export function Snippet({ text, label = "Copy" }: { text: string; label?: string }): JSX.Element {
  return (
    <div class="snippet">
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label={label} />
    </div>
  );
}

/** A message in the flow of the page. */
export function Note(props: {
  tone: "bad" | "warn" | "info";
  title: ComponentChildren;
  children?: ComponentChildren;
  actions?: ComponentChildren;
}): JSX.Element {
  return (
    <div class={`note ${props.tone}`} role={props.tone === "bad" ? "alert" : "status"}>
      <Icon name={props.tone === "info" ? "eye" : "failures"} />
      <div>
        <b>{props.title}</b>
        {props.children !== undefined && <p>{props.children}</p>}
        {props.actions !== undefined && <div class="row">{props.actions}</div>}
      </div>
    </div>
  );
}

/** What happened, the code, what is still shown and how old it is, what to do. */
export function Failure({ of }: { of: Resource<unknown> }): JSX.Element | null {
  const error = of.error.value;
  if (error === null) return null;
  const readAt = of.readAt.value;
  const shown =
    readAt === null ? "" : ` Shown is what was read ${relativeText(readAt, now.value)}.`;
  const code = error instanceof ApiProblem ? error.code : "FAILED";
  const isGone = error instanceof ApiProblem && error.status === 401;
  if (isGone) return null;
  if (isRefusal(error)) {
    return (
      <Note tone="info" title="You may not see this">
        <code>{code}</code> {problemText(error)}
      </Note>
    );
  }
  return (
    <Note
      tone="bad"
      title="The server could not answer"
      actions={<Button onClick={() => void of.reload()}>Try now</Button>}
    >
      <code>{code}</code> {problemText(error)}
      {shown}
    </Note>
  );
}

/** The content of a resource, or what stands in for it. */
export function Loaded<Data>(props: {
  of: Resource<Data>;
  lines?: number;
  children: (data: Data) => ComponentChildren;
}): JSX.Element {
  const data = props.of.data.value;
  return (
    <>
      <Failure of={props.of} />
      {data === null
        ? props.of.error.value === null && <Skeleton lines={props.lines ?? 4} />
        : props.children(data)}
    </>
  );
}
