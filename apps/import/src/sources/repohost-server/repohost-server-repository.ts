import { toFields, parseList, parseText } from '../upstream-fields';
import { addressWithoutUser, isAddress, isName, isText } from '../upstream-project';
import type { UpstreamProject } from '../upstream-project';

/** Refs of the heads of pull requests. */
export const REPOHOST_SERVER_HEADS = 'refs/pull-requests/*/from';

/**
 * Reads a repository from the answer of an upstream host. Returns null if a required field is missing or has another
 * type.
 * Source: reference identity-and-import 6.10.
 */
export function parseRepository(answer: unknown): UpstreamProject | null {
  const { slug, name, description, project, public: isPublic, links } = toFields(answer);
  const { key, public: isProjectPublic } = toFields(project);
  const cloneUrl = parseCloneUrl(toFields(links)['clone']);
  const fullName = `${isText(key) ? key : ''}/${isText(slug) ? slug : ''}`;
  if (!isText(key) || !isText(slug) || !isName(fullName) || cloneUrl === null) return null;
  const web = toFields(parseList(toFields(links)['self'])[0])['href'];
  return {
    ...{ name: isText(name) ? name : slug, fullName, cloneUrl, defaultBranch: null },
    isPrivate: isPublic !== true && isProjectPublic !== true,
    description: parseText(description),
    webUrl: isAddress(web) ? web : null,
  };
}

function parseCloneUrl(links: unknown): string | null {
  const http = parseList(links).find((link) => /^https?$/.test(String(toFields(link)['name'])));
  return addressWithoutUser(toFields(http)['href']);
}

/** Returns the name of a branch; null for another answer. */
export function parseBranch(answer: unknown): string | null {
  return parseText(toFields(answer)['displayId']);
}
