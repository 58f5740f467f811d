import { toFields, isId, storableText, parseText, parseTime } from '../upstream-fields';
import type { UpstreamProtectedBranch, UpstreamRelease } from '../upstream-objects';
import { parseRemotePerson } from './remote-fields';

/** Drafts have no tag. */
export function isPublished(release: unknown): boolean {
  return toFields(release)['draft'] !== true;
}

export function parseRelease(item: unknown): UpstreamRelease | null {
  const fields = toFields(item);
  const { id, tag_name: tag } = fields;
  const createdAt = parseTime(fields['created_at']);
  if (!isId(id) || typeof tag !== 'string' || createdAt === null) return null;
  return {
    ...{ id, tag: storableText(tag), name: parseText(fields['name']), body: parseText(fields['body']), createdAt },
    ...{ author: parseRemotePerson(fields['author']), publishedAt: parseTime(fields['published_at']) },
  };
}

/** Returns the path of the protection of a branch; null for a malformed one. */
export function protectionPathOf(branch: unknown): string | null {
  const { name } = toFields(branch);
  return typeof name === 'string' && name !== ''
    ? `/branches/${encodeURIComponent(storableText(name))}/protection`
    : null;
}

export function parseProtectedBranch(item: unknown): UpstreamProtectedBranch | null {
  const fields = toFields(item);
  const { name, required_pull_request_reviews: reviews, allow_force_pushes: force } = fields;
  if (typeof name !== 'string' || name === '') return null;
  return {
    name: storableText(name),
    needsPullRequest: typeof reviews === 'object' && reviews !== null,
    allowsForcePush: toFields(force)['enabled'] === true,
  };
}
