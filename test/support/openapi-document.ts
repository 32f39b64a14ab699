/** A JSON Schema, as far as tests read it. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly allOf?: readonly JsonSchema[];
  /** What a text contains, once parsed. */
  readonly contentSchema?: JsonSchema;
}

/** An example of a response. */
export interface Example {
  readonly summary: string;
  readonly value: unknown;
  /** A shell command that gets it, if the one of the operation does not. */
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
  /** A shell command that sends the examples of the parameters and the body. */
  readonly 'x-curl': string;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

/** The methods that the document describes. OpenAPI 3.1 has no QUERY. */
export const openApiMethods = ['get', 'put', 'post', 'patch', 'delete'] as const;

/** The operations of a path. */
export type PathItem = Readonly<Partial<Record<(typeof openApiMethods)[number], Operation>>> & {
  /** The response to every other method. */
  readonly 'x-other-methods'?: ResponseObject;
};

/** `openapi.yaml` without references, as far as tests read it. */
export interface OpenApiDocument {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
  };
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
