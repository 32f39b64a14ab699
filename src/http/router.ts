import type { Route } from './types.ts';

/** A route, and what its path has in the place of the parameter; an empty text where there is none. */
export interface RouteMatch {
  readonly route: Route;
  readonly parameter: string;
}

/** Finds the route of a request by its path. */
export type FindRoute = (path: string) => RouteMatch | undefined;

/**
 * Creates the look-up of the route table, in constant time: a path is compared with literal paths first, then its last segment
 * is taken as a parameter.
 *
 * @throws Error when two routes have the same path, or a parameter is anything but the last segment of a route with `accepts`.
 */
export function createRouter(routes: readonly Route[]): FindRoute {
  const literals = new Map<string, RouteMatch>();
  /** Keyed by the path before the parameter. */
  const parameterized = new Map<string, Route>();

  for (const route of routes) {
    const { path, accepts, aliases = [] } = route;
    const prefix = prefixOf(path);
    if ((prefix === undefined) !== (accepts === undefined)) {
      throw new Error(`The path ${path} must have a parameter if the route has "accepts", and only then.`);
    }
    if (prefix === undefined) addOnce(literals, path, { route, parameter: '' });
    else addOnce(parameterized, prefix, route);
    for (const alias of aliases) {
      if (prefixOf(alias) !== undefined) throw new Error(`The path ${alias} is an alias, which has no parameter.`);
      addOnce(literals, alias, { route, parameter: '' });
    }
  }

  return (path) => {
    const literal = literals.get(path);
    if (literal) return literal;
    const end = path.lastIndexOf('/') + 1;
    const route = parameterized.get(path.slice(0, end));
    if (!route) return undefined;
    const parameter = path.slice(end);
    return route.accepts?.(parameter) ? { route, parameter } : undefined;
  };
}

/** The text before the parameter of a path; nothing if it has none. @throws Error when it is not one whole last segment. */
function prefixOf(path: string): string | undefined {
  if (!/[{}]/.test(path)) return undefined;
  const prefix = /^([^{}]*\/)\{\w+\}$/.exec(path)?.[1];
  if (prefix === undefined) throw new Error(`The parameter of the path ${path} must be its last segment, and the only one.`);
  return prefix;
}

function addOnce<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (map.has(key)) throw new Error(`Two routes have the path ${key}.`);
  map.set(key, value);
}
