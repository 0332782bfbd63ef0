/** The small parts that every screen uses. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { copyText } from "../lib/copy.ts";
import { countText, durationText, momentText, relativeText, shortId } from "../lib/format.ts";
import { now } from "../lib/now.ts";
import { zone } from "../lib/prefs.ts";
import { toast } from "../lib/toasts.ts";
import { Icon, type IconName } from "./icon.tsx";

export interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly kind?: "plain" | "primary" | "danger" | "danger-fill" | "quiet";
  readonly icon?: IconName;
  readonly keycap?: string;
  readonly disabled?: boolean;
  readonly pressed?: boolean;
  /** The name of a button that shows an icon alone. */
  readonly label?: string;
  /** More about a button that has a text. */
  readonly title?: string;
  readonly type?: "button" | "submit";
  readonly onClick?: (event: MouseEvent) => void;
}

export function Button(props: ButtonProps): JSX.Element {
  const { children, kind = "plain", icon, keycap, label, pressed, type = "button" } = props;
  return (
    <button
      type={type}
      class={`btn ${kind}${children === undefined ? " bare" : ""}`}
      disabled={props.disabled === true}
      aria-label={label}
      title={props.title ?? label}
      aria-pressed={pressed}
      onClick={props.onClick}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
      {keycap !== undefined && <kbd aria-hidden="true">{keycap}</kbd>}
    </button>
  );
}

/** A link that looks like a button. */
export function ButtonLink(props: {
  href: string;
  children: ComponentChildren;
  kind?: "plain" | "primary" | "quiet";
  icon?: IconName;
}): JSX.Element {
  const { href, children, kind = "plain", icon } = props;
  return (
    <a class={`btn ${kind}`} href={href}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </a>
  );
}

export function Panel(props: {
  title?: ComponentChildren;
  /** Beside the title, smaller. */
  sub?: ComponentChildren;
  /** At the right end of the head. */
  aside?: ComponentChildren;
  foot?: ComponentChildren;
  /** The content reaches the edges, as a table does. */
  flush?: boolean;
  class?: string;
  id?: string;
  children: ComponentChildren;
}): JSX.Element {
  const { title, sub, aside, foot, flush = false, children } = props;
  return (
    <section class={`panel ${props.class ?? ""}`} id={props.id}>
      {title !== undefined && (
        <header class="panel-head">
          <h2>{title}</h2>
          {sub !== undefined && <span class="sub">{sub}</span>}
          {aside !== undefined && <div class="aside">{aside}</div>}
        </header>
      )}
      <div class={flush ? "panel-flush" : "panel-body"}>{children}</div>
      {foot !== undefined && <footer class="panel-foot">{foot}</footer>}
    </section>
  );
}

/** The head of a screen: its name, and its actions at the right. */
export function PageHead(props: {
  title: ComponentChildren;
  sub?: ComponentChildren;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="page-head">
      <h1>{props.title}</h1>
      {props.sub !== undefined && <span class="sub">{props.sub}</span>}
      <div class="actions">{props.children}</div>
    </div>
  );
}

/** A moment, relative to now, with the full time on hover. */
export function Time({ at }: { at: string | number | null | undefined }): JSX.Element {
  if (at === null || at === undefined) return <span class="dim">–</span>;
  const ms = typeof at === "number" ? at : Date.parse(at);
  return (
    <time dateTime={new Date(ms).toISOString()} title={momentText(ms, zone.value)}>
      {relativeText(ms, now.value)}
    </time>
  );
}

/** The full time in the chosen zone. */
export function Moment({ at }: { at: string | number }): JSX.Element {
  const ms = typeof at === "number" ? at : Date.parse(at);
  return <time dateTime={new Date(ms).toISOString()}>{momentText(ms, zone.value)}</time>;
}

/** The time since a moment, or between two. */
export function Lasted(props: { from: string | null; to?: string | null }): JSX.Element {
  if (props.from === null) return <span class="dim">–</span>;
  const to = props.to === undefined || props.to === null ? now.value : Date.parse(props.to);
  return <span class="nw">{durationText(to - Date.parse(props.from))}</span>;
}

export function Count({ of }: { of: { count: number; atLeast: boolean } }): JSX.Element {
  return <span>{countText(of)}</span>;
}

export type TagTone = "plain" | "bad" | "back" | "good" | "accent" | "warn";

export function Tag(props: {
  children: ComponentChildren;
  tone?: TagTone;
  title?: string;
}): JSX.Element {
  return (
    <span class={`tag ${props.tone ?? "plain"}`} title={props.title}>
      {props.children}
    </span>
  );
}

/** A text that may be cut: the whole text is shown on hover and copied whole. */
export function Cut({ text, mono = false }: { text: string; mono?: boolean }): JSX.Element {
  return (
    <span class={`cut${mono ? " mono" : ""}`} title={text}>
      {text}
    </span>
  );
}

export function CopyButton({ text, label }: { text: string; label: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const copy = async (event: MouseEvent): Promise<void> => {
    event.stopPropagation();
    const isDone = await copyText(text);
    if (!isDone) toast({ tone: "bad", title: "The browser has refused to copy" });
    setCopied(isDone);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <Button
      kind="quiet"
      icon={isCopied ? "check" : "copy"}
      label={isCopied ? "Copied" : label}
      onClick={(event) => void copy(event)}
    />
  );
}

/** The last letters of an id as a link; the copy has all of it. */
export function IdLink({ id, href }: { id: string; href: string }): JSX.Element {
  return (
    <a class="mono id" href={href} title={id}>
      {shortId(id)}
    </a>
  );
}

/** A choice of few, side by side. */
export function Choice<Value extends string>(props: {
  label: string;
  value: Value;
  options: readonly (readonly [Value, ComponentChildren])[];
  onChange: (value: Value) => void;
}): JSX.Element {
  return (
    <div class="choice" role="group" aria-label={props.label}>
      {props.options.map(([value, text]) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === props.value}
          onClick={() => props.onChange(value)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

/** Names and values in a row that wraps. */
export function Facts(props: {
  of: readonly (readonly [string, ComponentChildren] | null | false)[];
}): JSX.Element {
  return (
    <dl class="facts">
      {props.of
        .filter((each) => each !== null && each !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A line of parts: ok, failed, running and the rest. */
export function Meter(props: {
  label: string;
  parts: readonly { readonly share: number; readonly tone: "good" | "bad" | "run" | "warn" }[];
}): JSX.Element {
  let from = 0;
  const bars = props.parts.map(({ share, tone }) => {
    const width = Math.max(0, Math.min(1 - from, share)) * 100;
    const bar = (
      <rect key={tone} class={tone} x={`${from * 100}%`} width={`${width}%`} height="8" />
    );
    from += share;
    return bar;
  });
  return (
    <svg class="meter" role="img" aria-label={props.label}>
      <rect class="bg" width="100%" height="8" />
      {bars}
    </svg>
  );
}
