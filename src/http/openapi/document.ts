import { mediaTypes } from '../media-types.ts';
import { paths } from '../paths.ts';
import type { HttpResponse, Route } from '../types.ts';
import { anyProblem, problemSchema, requestIdHeader } from './problem.ts';
import { type OpenApiDocument, type Operation, openApiMethods, type Parameter, type PathItem } from './types.ts';

const description = `This document is generated from the route table of the gateway and from its GraphQL schema, on whose resolvers the REST API runs.

Every request is bounded in size and time. Members of a request that are not listed are ignored. Every error has a code, whose page is \`${paths.errors}/{code}\`. A GET by the address bar or a link of a browser gets errors as HTML pages with the same status.

OpenAPI 3.1 cannot describe the method QUERY, which \`${paths.user}\` supports: see the description of its GET operation.`;

/** The tag of the operations that routes do not describe themselves. */
const otherTag = { name: 'Pages and files', description: 'For people, editors and load balancers. No API token is needed.' };

/** The OpenAPI document of the route table: each route's own description of its operations, or what the table says about it. */
export function createOpenApiDocument(routes: readonly Route[], version: string): OpenApiDocument {
  const tags = routes.flatMap(({ tag }) => (tag ? [tag] : []));
  return {
    openapi: '3.1.1',
    info: {
      title: 'User group gateway',
      version,
      summary: 'Manages the user groups that view your dashboards.',
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '.', description: 'The gateway that serves this document, also below a path prefix.' }],
    tags: [...tags, otherTag],
    paths: Object.fromEntries(routes.map((route) => [route.path, complete(route.openApi?.() ?? pathItemOf(route), route)])),
    components: {
      schemas: { Problem: problemSchema },
      responses: { Problem: anyProblem },
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'Send the header `Authorization: Token <API_TOKEN>`: the word `Token`, a space and an API token.',
        },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: `The same API token as \`Authorization: Bearer <API_TOKEN>\`; not accepted by \`${paths.user}\`.`,
        },
      },
    },
  };
}

/** The response with the document. Caches may keep it for some minutes. */
export function serveOpenApi(document: OpenApiDocument): HttpResponse {
  const headers = { 'content-type': mediaTypes.json };
  return { status: 200, headers, body: JSON.stringify(document), cacheControl: 'public, max-age=300' };
}

/** Adds what the route table says about every operation of a route: its tag, and whether it requires a credential. */
function complete(item: PathItem, route: Route): PathItem {
  const common = { tags: [(route.tag ?? otherTag).name], security: securityOf(route) };
  const operations = openApiMethods.flatMap((method) => {
    const operation = item[method];
    return operation ? [[method, { ...operation, ...common }] as const] : [];
  });
  return { ...item, ...Object.fromEntries(operations) };
}

function securityOf({ credential, schemes }: Route): NonNullable<Operation['security']> {
  if (credential === 'ignored') return [];
  const accepted = [{ token: [] }, ...(schemes?.includes('Bearer') === false ? [] : [{ bearer: [] }])];
  return credential === 'required' ? accepted : [...accepted, {}];
}

function pathItemOf(route: Route): PathItem {
  const methods = openApiMethods.filter((method) => route.methods.includes(method.toUpperCase()));
  return Object.fromEntries(methods.map((method) => [method, operationOf(method, route)]));
}

function operationOf(method: string, route: Route): Operation {
  const { path, produces } = route;
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']): Parameter => {
    return { name, in: 'path', required: true, description: `The ${name}.`, schema: { type: 'string' } };
  });
  const content = Object.fromEntries((produces ?? []).map((type) => [type, { schema: isJson(type) ? {} : { type: 'string' } }]));
  const error = { $ref: '#/components/responses/Problem' };
  return {
    operationId: [method, ...path.split(/\W+/).filter(Boolean)].map(capitalizeUnlessFirst).join(''),
    summary: route.description,
    ...(route.methods.includes('HEAD') && { description: 'HEAD is supported as well.' }),
    ...(parameters.length > 0 && { parameters }),
    responses: {
      200: { description: route.description, headers: requestIdHeader, ...(produces && { content }) },
      '4XX': error,
      '5XX': error,
    },
  };
}

const isJson = (mediaType: string): boolean => mediaType === mediaTypes.json || mediaType.endsWith('+json');

const capitalizeUnlessFirst = (word: string, index: number): string =>
  index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1);
