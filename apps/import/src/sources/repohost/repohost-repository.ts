import { toFields, parseList, parseText } from '../upstream-fields';
import {
  parseUrlWithoutCredentials,
  isUrlWithoutCredentials,
  isUpstreamRepositoryName,
  isStorableUpstreamText,
} from '../upstream-project';
import type { UpstreamProject } from '../upstream-project';

/**
 * Reads a repository from the answer of the service. Returns null if a needed field is missing or has another type.
 * Source: reference identity-and-import 6.11.
 */
export function parseRepohostRepository(answer: unknown): UpstreamProject | null {
  const { full_name: fullName, name, description, is_private: isPrivate, links, mainbranch } = toFields(answer);
  const cloneUrl = parseCloneUrl(toFields(links)['clone']);
  if (
    !isUpstreamRepositoryName(fullName) ||
    !fullName.includes('/') ||
    typeof isPrivate !== 'boolean' ||
    cloneUrl === null
  )
    return null;
  const web = toFields(toFields(links)['html'])['href'];
  return {
    ...{
      name: isStorableUpstreamText(name) ? name : fullName.slice(fullName.indexOf('/') + 1),
      fullName,
      cloneUrl,
      isPrivate,
    },
    description: parseText(description),
    webUrl: isUrlWithoutCredentials(web) ? web : null,
    defaultBranch: parseText(toFields(mainbranch)['name']),
  };
}

function parseCloneUrl(links: unknown): string | null {
  const http = parseList(links).find((link) => /^https?$/.test(String(toFields(link)['name'])));
  return parseUrlWithoutCredentials(toFields(http)['href']);
}
