/** The served OpenAPI document as a judge of answers. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { jsonOf, type TestServer } from "../../support/http/http-server.ts";

/** The packages of the frameworks are installed apart from those of the project. */
const installed = createRequire(join(import.meta.dirname, "..", "frameworks", "package.json"));

export interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** The documented statuses. */
  readonly statuses: readonly number[];
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, any>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export class Contract {
  readonly document: OpenApi;
  /** `name status` of the documented answers that were seen. */
  readonly seen: Set<string> = new Set<string>();
  /** What was wrong with answers. */
  readonly findings: string[] = [];
  readonly #ajv: any;

  static async of(server: TestServer): Promise<Contract> {
    return new Contract(await jsonOf<OpenApi>(await server.ask("/openapi.json")));
  }

  private constructor(document: OpenApi) {
    this.document = document;
    const { default: Ajv } = installed("ajv/dist/2020.js");
    this.#ajv = new Ajv({ strict: false, allErrors: true });
    installed("ajv-formats").default(this.#ajv);
    this.#ajv.addSchema({ ...document, $id: "openapi" });
  }

  get operations(): readonly Operation[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, responses }]) => ({
        name: operationId,
        method: method.toUpperCase(),
        path,
        statuses: Object.keys(responses).map(Number),
      })),
    );
  }

  /** Compares an answer with what the document says about it. */
  async judge({ name, method, path }: Operation, response: Response): Promise<void> {
    const { status, headers } = response;
    const place = `${name} ${status}`;
    const documented = this.document.paths[path]?.[method.toLowerCase()].responses[status];
    if (documented === undefined) {
      this.findings.push(`${place} is not documented: ${(await response.text()).slice(0, 200)}`);
      return;
    }
    this.seen.add(place);
    const type = headers.get("content-type")?.split(";")[0] ?? null;
    if (type === "text/event-stream") {
      if (documented.content[type] === undefined) this.findings.push(`${place} is no stream`);
      await response.body?.cancel();
      return;
    }
    const text = await response.text();
    const texts = type === "application/x-ndjson" ? text.split("\n").slice(0, -1) : [text];
    for (const each of texts) {
      const finding = this.#bodyFinding(documented.content, type, each);
      if (finding !== null) this.findings.push(`${place} ${finding}`);
    }
  }

  #bodyFinding(content: any, type: string | null, text: string): string | null {
    if (content === undefined) return text === "" ? null : "has a body that is not documented";
    const schema = type === null ? undefined : content[type]?.schema;
    if (schema === undefined) return `is of the type ${type}`;
    const validate = this.#ajv.compile(withIds(schema));
    if (validate(JSON.parse(text))) return null;
    return `does not match: ${this.#ajv.errorsText(validate.errors)}: ${text.slice(0, 300)}`;
  }
}

/** The places of object schemas that allow what they do not name. */
export function openObjects(document: object): readonly string[] {
  const found: string[] = [];
  const walk = (value: any, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    const isObject = value.type === "object" && value.properties !== undefined;
    if (isObject && value.additionalProperties !== false) found.push(path);
    for (const [name, each] of Object.entries(value)) walk(each, `${path}/${name}`);
  };
  walk(document, "");
  return found;
}

/** Validates the document with a program of other people. */
export async function problemsOf(document: object): Promise<unknown> {
  const { Validator } = await import(installed.resolve("@seriousme/openapi-schema-validator"));
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document));
  return { version: validator.version, valid, errors: errors ?? [] };
}

/** References within the document, seen from outside of it. */
function withIds(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/'));
}
