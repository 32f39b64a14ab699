import { mediaTypes } from '../media-types.ts';

/** A JSON Schema, draft 2020-12: the dialect of OpenAPI 3.1. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: string | number;
  readonly enum?: readonly (string | null)[];
  readonly format?: string;
  /** Of a text: the media type of what it contains. */
  readonly contentMediaType?: string;
  /** Of a text: what it contains, once parsed. */
  readonly contentSchema?: JsonSchema;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly propertyNames?: JsonSchema;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly required?: readonly string[];
  readonly allOf?: readonly JsonSchema[];
}

/** An example of a body, and the commands that cause it. */
export interface Example {
  readonly summary: string;
  readonly value: unknown;
  /** A shell command with curl; absent where no request causes the response by itself. */
  readonly 'x-curl'?: string;
}

/** The representations of a body, by media type. */
export type Content = Readonly<
  Record<string, { readonly schema: JsonSchema; readonly examples?: Readonly<Record<string, Example>> }>
>;

/** A response, or a reference to one. */
export interface ResponseObject {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, HeaderObject>>;
  readonly content?: Content;
}

/** A response header. */
export interface HeaderObject {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

/** A parameter in the query, the path or the headers. */
export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: boolean;
  readonly description: string;
  /** Of an object: one parameter for each member, `name[member]=value`. */
  readonly style?: 'deepObject';
  readonly explode?: true;
  readonly schema: JsonSchema;
}

/**
 * The schema of a parameter that is JSON: a text. Generated clients send an object in other forms, even if the document describes
 * it as JSON (`content` of the parameter).
 */
export const jsonText = (contentSchema: JsonSchema): JsonSchema => ({
  type: 'string',
  contentMediaType: mediaTypes.json,
  contentSchema,
});

/** An operation: a method of a path. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Filled in from the route table. */
  readonly tags?: readonly string[];
  /** Filled in from the route table. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

/** The methods that an OpenAPI 3.1 document may describe, as far as the gateway has them. There is no QUERY. */
export const openApiMethods = ['get', 'put', 'post'] as const;

/** The operations of a path. */
export type PathItem = Readonly<Partial<Record<(typeof openApiMethods)[number], Operation>>> & {
  readonly description?: string;
  /** The response to every other method. */
  readonly 'x-other-methods'?: ResponseObject;
};

/** An OpenAPI 3.1 document, as far as the gateway uses it. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<Record<'title' | 'version' | 'summary' | 'description', string>> & {
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
}
