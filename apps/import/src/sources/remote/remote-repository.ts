import { isUrlWithoutCredentials, isUpstreamRepositoryName, isStorableUpstreamText } from '../upstream-project';
import type { UpstreamProject } from '../upstream-project';

/** A repository of an upstream host. Units: `bytes` as the host estimates it. */
export interface RemoteRepository extends UpstreamProject {
  readonly id: number;
  readonly bytes: number;
}

/** Refs of the heads of pull requests. */
export const REMOTE_HEADS = 'refs/pull/*/head';
const KIB = 1024;

/**
 * Reads a repository from the answer of an upstream host. Returns null if a required field is missing or has another
 * type.
 * Source: reference identity-and-import 6.9.
 */
export function parseRemoteRepository(answer: unknown): RemoteRepository | null {
  if (typeof answer !== 'object' || answer === null) return null;
  const fields = answer as Readonly<Record<string, unknown>>;
  const { id, name, full_name: fullName, private: isPrivate, clone_url: cloneUrl, size } = fields;
  if (!Number.isSafeInteger(id) || typeof isPrivate !== 'boolean') return null;
  if (!isStorableUpstreamText(name) || !isUpstreamRepositoryName(fullName) || !isUrlWithoutCredentials(cloneUrl))
    return null;
  const web = fields['html_url'];
  return {
    id: id as number,
    ...{ name, fullName, isPrivate, cloneUrl },
    description: isStorableUpstreamText(fields['description']) ? fields['description'] : null,
    webUrl: isUrlWithoutCredentials(web) ? web : null,
    defaultBranch: isStorableUpstreamText(fields['default_branch']) ? fields['default_branch'] : null,
    bytes: typeof size === 'number' && size > 0 ? size * KIB : 0,
  };
}
