import 'reflect-metadata';
import type { EndpointRecord } from './endpoint';

/** Path prefix of the API. Source: reference identity-and-import 1. */
const API_PREFIX = '/api/v4';

/** Nest's metadata key for the path of a controller. */
const CONTROLLER_PATH = 'path';

/**
 * Returns the full path templates of an endpoint, such as `/api/v4/projects/:id`: its own, then its aliases, which do
 * not include the controller's path. A declared path that begins with `//` is relative to the root.
 */
export function templatesOf(endpoint: EndpointRecord): readonly string[] {
  const prefix = Reflect.getMetadata(CONTROLLER_PATH, endpoint.controller) as string | readonly string[] | undefined;
  const base = typeof prefix === 'string' ? prefix : (prefix?.[0] ?? '');
  const aliases = (endpoint.options.aliases ?? []).map((path) => joinApiPath('', path));
  return [joinApiPath(base, endpoint.path), ...aliases];
}

function joinApiPath(base: string, path: string): string {
  if (path.startsWith('//')) return path.slice(1);
  const joined = [API_PREFIX, base, path].map((part) => part.replace(/^\/+|\/+$/g, '')).filter((part) => part !== '');
  return `/${joined.join('/')}`;
}

/** Names of the parameters in a template, including its wildcard. */
export function pathParamNamesOf(template: string): ReadonlySet<string> {
  return new Set([...template.matchAll(/[:*]([A-Za-z_]\w*)/g)].map((match) => match[1]!));
}

/** Name of the wildcard in a template; null without one. */
export function wildcardNameOf(template: string): string | null {
  return /\*([A-Za-z_]\w*)/.exec(template)?.[1] ?? null;
}
