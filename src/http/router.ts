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
 */
export function createRouter(routes: readonly Route[]): FindRoute {
  const literals = new Map<string, RouteMatch>();
  /** Keyed by the path before the parameter. */
  const parameterized = new Map<string, Route>();
  for (const route of routes) {
    const { path, aliases = [], accepts } = route;
    if (accepts) parameterized.set(path.slice(0, path.indexOf('{')), route);
    else for (const literal of [path, ...aliases]) literals.set(literal, { route, parameter: '' });
  }
  return (path) => {
    const literal = literals.get(path);
    if (literal) return literal;
    const end = path.lastIndexOf('/') + 1;
    const route = parameterized.get(path.slice(0, end));
    const parameter = path.slice(end);
    return route?.accepts?.(parameter) ? { route, parameter } : undefined;
  };
}
