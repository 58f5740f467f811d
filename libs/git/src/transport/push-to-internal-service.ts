import type { RefName } from '../names/ref-name';
import type { Repository } from '../repository/repository';
import { withAuthorization } from './authorization';

/** Push to one of our own services. */
export interface InternalServicePush {
  /** Address of the repository, of our own configuration and without credentials. */
  readonly url: string;
  /** Value of the `Authorization` header. */
  readonly authorization: string;
  readonly refs: readonly RefName[];
  /** Whether a ref may be moved to any commit. */
  readonly replaced?: (ref: RefName) => boolean;
  /** Longest time for all refs. */
  readonly maxMs: number;
  readonly signal?: AbortSignal;
}

/** Refs of one push, so that neither the list of arguments nor the receiver's limit of refs is exceeded. */
const CHUNK = 500;

/**
 * Pushes refs of a scratch repository to one of our own services over HTTP, under the same names. Refs that the receiver
 * has already are no change, so a push that was interrupted can be repeated. Other refs than replaced ones
 * are never moved backwards.
 * Errors: GitError, `remote` if the receiver refuses.
 */
export async function pushToInternalService(repository: Repository, push: InternalServicePush): Promise<void> {
  const deadline = Date.now() + push.maxMs;
  for (let first = 0; first < push.refs.length; first += CHUNK) {
    const refspecs = push.refs
      .slice(first, first + CHUNK)
      .map((ref) => `${push.replaced?.(ref) ? '+' : ''}${ref}:${ref}`);
    await withAuthorization(push.authorization, (authorization) =>
      repository.run({
        args: ['push', '--quiet', '--no-verify', '--no-recurse-submodules', '--', push.url, ...refspecs],
        config: [
          ['protocol.https.allow', 'always'],
          ['protocol.http.allow', 'always'],
          ['http.followRedirects', 'false'],
          ['http.proxy', ''],
          ['http.saveCookies', 'false'],
          ...authorization,
        ],
        variables: { GIT_ALLOW_PROTOCOL: 'https:http' },
        lane: 'transport',
        limits: { ms: Math.max(1, deadline - Date.now()), idleMs: push.maxMs },
        signal: push.signal,
      }),
    );
  }
}
