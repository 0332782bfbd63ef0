/** The fields of a schema. */
import type { JSX } from "preact";
import { Field } from "../../parts/dialog.tsx";
import type { FormField, Values } from "./schema-fields.ts";

interface SchemaFormProps {
  readonly fields: readonly FormField[];
  readonly values: Values;
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (path: string, value: string) => void;
}

export function SchemaForm(props: SchemaFormProps): JSX.Element {
  return (
    <>
      {props.fields.map((field) =>
        field.kind === "group" ? (
          <fieldset key={field.path} class="group">
            <legend>{nameOf(field)}</legend>
            <SchemaForm {...props} fields={field.fields} />
          </fieldset>
        ) : (
          <Field
            key={field.path}
            label={nameOf(field)}
            hint={hintOf(field)}
            problem={props.problems[field.path] ?? null}
          >
            <Control
              field={field}
              value={props.values[field.path] ?? ""}
              onChange={(value) => props.onChange(field.path, value)}
            />
          </Field>
        ),
      )}
    </>
  );
}

function nameOf({ name, isRequired }: FormField): JSX.Element {
  return (
    <>
      <span class="wrap">{name}</span>
      {!isRequired && <span class="sub"> optional</span>}
    </>
  );
}

function hintOf({ hint, kind }: FormField): string {
  if (kind === "list") return [hint, "One per line"].filter(Boolean).join(". ");
  if (kind === "json") return [hint, "JSON"].filter(Boolean).join(". ");
  return hint;
}

function Control(props: {
  field: FormField;
  value: string;
  onChange: (value: string) => void;
}): JSX.Element {
  const { field, value } = props;
  const onInput = (event: {
    currentTarget: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
  }): void => props.onChange(event.currentTarget.value);
  switch (field.kind) {
    case "boolean":
    case "choice":
      return (
        <select class="field" value={value} onChange={onInput}>
          <option value="">{field.isRequired ? "Choose" : "Leave out"}</option>
          {field.options.map((option) => (
            <option key={option} value={option}>
              {option.replace(/^"|"$/g, "")}
            </option>
          ))}
        </select>
      );
    case "list":
    case "json":
      return <textarea class="field mono" spellcheck={false} value={value} onInput={onInput} />;
    case "moment":
      return <input class="field" type="datetime-local" step="1" value={value} onInput={onInput} />;
    case "number":
    case "integer":
      return <input class="field" inputMode="decimal" value={value} onInput={onInput} />;
    case "text":
    case "group":
      return <input class="field" value={value} onInput={onInput} />;
  }
}
