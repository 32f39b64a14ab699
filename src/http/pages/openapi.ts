/** A JSON Schema, as far as the reference shows it. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly allOf?: readonly JsonSchema[];
  /** What a text contains, once parsed. */
  readonly contentSchema?: JsonSchema;
}

/** An example of a response. */
export interface Example {
  readonly summary: string;
  readonly value: unknown;
  /** A shell command that gets it, if the example request of the operation does not. */
  readonly 'x-curl'?: string;
}

/** A request body or a response in a media type. */
export interface MediaType {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Example>>;
}

/** A parameter in the query or a header. */
export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

/** A response. */
export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly required?: boolean }>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

/** An operation: a method of a path. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** The accepted ways to send a credential, by the names of security schemes. None: no credential is read. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

/** The methods that the document describes. OpenAPI 3.1 has no QUERY. */
export const openApiMethods = ['get', 'put', 'post', 'patch', 'delete'] as const;

/** The operations of a path. */
export type PathItem = Readonly<Partial<Record<(typeof openApiMethods)[number], Operation>>> & {
  /** The response to every other method. */
  readonly 'x-other-methods'?: ResponseObject;
};

/** `openapi.yaml` without references, as far as the reference shows it. */
export interface OpenApiDocument {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** The shell variables of the examples, and what each holds. */
  readonly 'x-example-variables': Readonly<Record<string, string>>;
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>;
  };
}

/**
 * Reads an OpenAPI document, with what each `$ref` refers to in its place; what stands beside a `$ref` prevails.
 *
 * @param text JSON, in which no schema refers to itself.
 */
export function readOpenApi(text: string): OpenApiDocument {
  const document = JSON.parse(text) as object;
  const find = (pointer: string): unknown =>
    pointer
      .split('/')
      .slice(1)
      .reduce((value: unknown, name) => (value as Record<string, unknown>)[name], document);
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...own } = value as Record<string, unknown>;
    const members = Object.fromEntries(Object.entries(own).map(([name, member]) => [name, resolve(member)]));
    return typeof $ref === 'string' ? { ...(resolve(find($ref)) as object), ...members } : members;
  };
  return resolve(document) as OpenApiDocument;
}

/** The responses that stand for errors. */
export function errorResponses({ components, paths }: OpenApiDocument): ResponseObject[] {
  const others = Object.values(paths).flatMap((item) => item['x-other-methods'] ?? []);
  return [...Object.values(components.responses), ...others];
}

/** The operations of a path, with their methods in capital letters. */
export function operationsOf(item: PathItem): [method: string, operation: Operation][] {
  return openApiMethods.flatMap((method) => {
    const operation = item[method];
    return operation ? [[method.toUpperCase(), operation] as [string, Operation]] : [];
  });
}
