import { project, projectByJoinedPath } from '@rookery/api-v4';
import type { Refusals, RenderedError } from '@rookery/api-v4';
import { BASIC_REFUSALS } from '../../packages/packages.permission';

/** Refusals as Conan reads them. Source: reference packages-and-admin 4.13. */
export const CONAN_REFUSALS: Refusals = { ...BASIC_REFUSALS, renderedAs: toErrorListRefusal, isErrorList: true };

/**
 * Conan registries. `base` is the path below `/api/v4`. In the registry of the instance, the user of a recipe is the
 * full path of its project with `+` for each slash.
 */
export const CONAN_REGISTRIES = {
  project: { base: '/projects/:id/packages/conan', within: project() },
  instance: { base: '/packages/conan', within: projectByJoinedPath('package_username', '+') },
} as const;
export type ConanRegistryKind = keyof typeof CONAN_REGISTRIES;

/** Shared options of the routes of a recipe. */
export function conanRecipeRouteOptions(kind: ConanRegistryKind) {
  const { within } = CONAN_REGISTRIES[kind];
  return { within, refusals: CONAN_REFUSALS, source: 'reference packages-and-admin 4.13' } as const;
}

/** Returns the path of a recipe for a version of the protocol. */
export function recipePath(kind: ConanRegistryKind, protocol: 'v1' | 'v2'): string {
  const { base } = CONAN_REGISTRIES[kind];
  return `${base}/${protocol}/conans/:package_name/:package_version/:package_username/:package_channel`;
}

function toErrorListRefusal(refusal: RenderedError): RenderedError {
  if (refusal.body === null) return refusal;
  const { message, error, error_description } = JSON.parse(refusal.body) as Readonly<Record<string, unknown>>;
  // Libraries read the scopes that a token lacks.
  if (error === 'insufficient_scope') return refusal;
  const text = [message, error_description, error].find((one) => typeof one === 'string') ?? JSON.stringify(message);
  const errors = [{ status: refusal.status, message: text }];
  return { ...refusal, body: JSON.stringify({ errors }) };
}
