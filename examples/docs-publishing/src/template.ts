/**
 * Templates: `{{name}}` stands for a value, and what lies between `{{#list}}` and `{{/list}}` is
 * repeated for each item. Values are escaped, always, and never looked through for names.
 */
export type Values = Readonly<Record<string, string>>;

export interface TemplateValues {
  readonly values: Values;
  readonly lists?: Readonly<Record<string, readonly Values[]>>;
}

const PLACES = /\{\{#(?<list>\w+)\}\}(?<body>[\s\S]*?)\{\{\/\k<list>\}\}|\{\{(?<name>\w+)\}\}/g;

export function fill(template: string, { values, lists = {} }: TemplateValues): string {
  return template.replaceAll(PLACES, (...match) => {
    const { list, body = "", name = "" }: Partial<Values> = match.at(-1);
    if (list === undefined) return escapeHtml(lookedUp(values, name));
    return lookedUp(lists, list)
      .map((item) => fill(body, { values: { ...values, ...item } }))
      .join("");
  });
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

function lookedUp<T>(known: Readonly<Record<string, T>>, name: string): T {
  const value = Object.hasOwn(known, name) ? known[name] : undefined;
  if (value !== undefined) return value;
  throw new RangeError(`the template asks for “${name}”, which there is not`);
}
