import type { Route } from './types.ts';

/**
 * Creates the look-up of the route table, in constant time: a path is compared with literal paths first, then its last segment
 * is taken as a parameter.
 *
 * @throws Error when two routes have the same path, or a parameter is anything but the last segment of a route with `accepts`.
 */
export function createRouter(routes: readonly Route[]): (path: string) => Route | undefined {
  const literals = new Map<string, Route>();
  /** Keyed by the path before the parameter. */
  const parameterized = new Map<string, Route>();

  const add = (map: Map<string, Route>, key: string, route: Route) => {
    if (map.has(key)) throw new Error(`Two routes have the path ${route.path}.`);
    map.set(key, route);
  };
  for (const route of routes) {
    const [prefix = '', name] = route.path.split('{');
    if (name === undefined) add(literals, route.path, route);
    else if (route.accepts && /^\w+\}$/.test(name) && prefix.endsWith('/')) add(parameterized, prefix, route);
    else throw new Error(`The parameter of the path ${route.path} must be its last segment, and the route needs "accepts".`);
    for (const alias of route.aliases ?? []) add(literals, alias, route);
  }

  return (path) => {
    const literal = literals.get(path);
    if (literal) return literal;
    const route = parameterized.get(path.slice(0, path.lastIndexOf('/') + 1));
    return route?.accepts?.(lastSegment(path)) ? route : undefined;
  };
}

/** What follows the last slash of a path: the value of its route's parameter. */
export function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
