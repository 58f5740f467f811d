import { toFields, parseList, parseText } from '../upstream-fields';
import {
  parseUrlWithoutCredentials,
  isUrlWithoutCredentials,
  isUpstreamRepositoryName,
  isStorableUpstreamText,
} from '../upstream-project';
import type { UpstreamProject } from '../upstream-project';

/** Refs of the heads of pull requests. */
export const REPOHOST_SERVER_HEADS = 'refs/pull-requests/*/from';

/**
 * Reads a repository from the answer of an upstream host. Returns null if a required field is missing or has another
 * type.
 * Source: reference identity-and-import 6.10.
 */
export function parseRepohostServerRepository(answer: unknown): UpstreamProject | null {
  const { slug, name, description, project, public: isPublic, links } = toFields(answer);
  const { key, public: isProjectPublic } = toFields(project);
  const cloneUrl = parseCloneUrl(toFields(links)['clone']);
  const fullName = `${isStorableUpstreamText(key) ? key : ''}/${isStorableUpstreamText(slug) ? slug : ''}`;
  if (
    !isStorableUpstreamText(key) ||
    !isStorableUpstreamText(slug) ||
    !isUpstreamRepositoryName(fullName) ||
    cloneUrl === null
  )
    return null;
  const web = toFields(parseList(toFields(links)['self'])[0])['href'];
  return {
    ...{ name: isStorableUpstreamText(name) ? name : slug, fullName, cloneUrl, defaultBranch: null },
    isPrivate: isPublic !== true && isProjectPublic !== true,
    description: parseText(description),
    webUrl: isUrlWithoutCredentials(web) ? web : null,
  };
}

function parseCloneUrl(links: unknown): string | null {
  const http = parseList(links).find((link) => /^https?$/.test(String(toFields(link)['name'])));
  return parseUrlWithoutCredentials(toFields(http)['href']);
}

/** Returns the name of a branch; null for another answer. */
export function parseRepohostServerBranchName(answer: unknown): string | null {
  return parseText(toFields(answer)['displayId']);
}
