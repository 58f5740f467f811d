import { ability } from '@rookery/api-v4';
import type { GroupScope, ProjectScope, Refusals, RenderedError } from '@rookery/api-v4';
import { NotFound, Unauthorized } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { canReadPackages } from '../../packages/packages.policy';

/** Undefined for the registry of the instance. */
export type NpmScope = ProjectScope | GroupScope | undefined;

/** In groups and in the instance the statements leave out what the caller may not read. */
export const readsNpmPackages = ability<unknown, NpmScope>(
  'may read npm packages',
  ({ viewer, within }) => within?.kind !== 'project' || canReadPackages(viewer, within),
);

/**
 * Adds the text under `error`, which is the only key that npm clients show, and leaves out the challenge, because clients
 * would show that in place of the text. Source: reference packages-and-admin 4.4.
 */
function withErrorText({ status, headers, body }: RenderedError): RenderedError {
  const { 'www-authenticate': _, ...others } = headers;
  const { message, error, error_description } = JSON.parse(body ?? '{}') as Readonly<Record<string, unknown>>;
  // Libraries read the scopes that a token lacks.
  if (error === 'insufficient_scope') return { status, headers, body };
  const text = [error_description, error, message].find((one) => typeof one === 'string') as string | undefined;
  if (text === undefined) return { status, headers: others, body };
  const shown = typeof message === 'string' ? message : text;
  return { status, headers: others, body: JSON.stringify({ message: shown, error: errorTextOf(text) }) };
}

/** The text without its status: `404 Package Not Found` is `Package not found`. */
function errorTextOf(text: string): string {
  const [, after = text] = /^\d{3} (?:(?:Bad request|Forbidden|Unauthorized) - )?(.+)$/s.exec(text) ?? [];
  return after.replace(/ Not Found$/, ' not found');
}

/** Refusals of npm routes. An anonymous caller is refused with 401 where they see no project or group. */
export function npmRefusals(resource: 'Project' | 'Group'): Refusals {
  return {
    anonymousAs: () => new Unauthorized(),
    parentAs: ({ userId }: Viewer) => (userId === null ? new Unauthorized() : new NotFound(resource)),
    renderedAs: withErrorText,
  };
}
