import { existsSync, readdirSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { GitConfig } from '../process/environment';
import { GitError, invalidGitArgument } from '../process/git-error';
import type { Repository } from '../repository/repository';
import { withAuthorization } from './authorization';

/** Fetch from a server that a user named, into a scratch repository. */
export interface RemoteFetch {
  /** Without user name and password. */
  readonly url: string;
  /** Addresses that the caller has checked; git connects to no other. */
  readonly addresses: readonly string[];
  readonly credentials?: { readonly user: string; readonly password: string };
  /** Allows plain http. Default false. */
  readonly mayUseHttp?: boolean;
  /** Largest pack. Units: bytes. */
  readonly maxBytes: number;
  readonly maxMs: number;
  /** Pattern of the server's refs for heads of merge requests, which become `refs/imports/<number>`. Default: none. */
  readonly heads?: string | undefined;
  readonly signal?: AbortSignal;
}

/** Refs that are copied, with the heads of merge requests. Everything else of the server stays there. */
const REFSPECS = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'] as const;
const LOW_SPEED_BYTES = 1000;
const LOW_SPEED_SECONDS = 60;

/** git's value for a history without a limit. */
const WHOLE_HISTORY = 2 ** 31 - 1;

const TOO_LARGE = new GitError('too large', 'The remote repository is larger than the limit.');

const UNFIT = /[\u0000-\u0020\u007f"\\<>^`{|}]/;
/** curl reads a leading `-`, `+` or `*` of a pinned name as a command, and then asks DNS for the name. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_][a-z0-9._-]*)$/;

/**
 * Fetches branches, tags and heads of merge requests from a server. Redirects are off, so that no other address is
 * asked; no proxy, submodule, bundle or credential helper is used. Credentials are in a private file that ends with the
 * call.
 * Errors: GitError `remote`, `corrupt`, `timed out`, `too large`, `invalid`.
 * Source: ADR 0183.
 */
export async function fetchRemote(repository: Repository, fetch: RemoteFetch): Promise<void> {
  const url = requireRemoteFetchUrl(fetch);
  const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'];
  // Servers without git's own protocol (plain files) cannot answer a depth. git would take their files without fsck,
  // and `maxBytes` would bound each of them instead of all.
  const depth = `--depth=${WHOLE_HISTORY}`;
  const options = [
    '--no-recurse-submodules',
    '--no-show-forced-updates',
    depth,
    '--',
    url.href,
    ...REFSPECS,
    ...refspecsOfImportedHeads(fetch),
  ];
  const fetching = withAuthorization(basicAuthorizationHeader(fetch), (authorization) =>
    repository.run({
      args: [...args, ...options],
      config: [...createRemoteFetchConfig(url, fetch), ...authorization],
      variables: { GIT_ALLOW_PROTOCOL: fetch.mayUseHttp ? 'https:http' : 'https' },
      lane: 'transport',
      limits: { ms: fetch.maxMs, idleMs: fetch.maxMs, fileBytes: fetch.maxBytes },
      signal: fetch.signal,
    }),
  );
  await fetching.catch((error: unknown) => {
    throw wasPackIndexingAborted(error) && hasPackAtLimit(repository, fetch) ? TOO_LARGE : error;
  });
  if (existsSync(join(repository.directory, 'shallow'))) {
    throw new GitError('remote', 'The remote repository does not have its whole history.');
  }
}

function refspecsOfImportedHeads({ heads }: RemoteFetch): readonly string[] {
  return heads === undefined ? [] : [`+${heads}:refs/imports/*`];
}

/** git reports a reader of packs that was ended by the limit in the same words as a damaged pack. */
function wasPackIndexingAborted(error: unknown): boolean {
  return error instanceof GitError && /invalid index-pack output/.test(error.stderr);
}

function hasPackAtLimit(repository: Repository, { maxBytes }: RemoteFetch): boolean {
  const packs = join(repository.directory, 'objects', 'pack');
  return readdirSync(packs).some((name) => statSync(join(packs, name)).size >= maxBytes);
}

function requireRemoteFetchUrl({ url: text, mayUseHttp, addresses }: RemoteFetch): URL {
  const url = URL.canParse(text) && !UNFIT.test(text) ? new URL(text) : null;
  const isAllowed = url?.protocol === 'https:' || (mayUseHttp === true && url?.protocol === 'http:');
  if (!url || !isAllowed) throw invalidGitArgument('The address of the repository is not one of https.');
  if (url.username !== '' || url.password !== '') throw invalidGitArgument('The address holds credentials.');
  if (url.search !== '' || url.hash !== '') throw invalidGitArgument('The address of the repository has a query.');
  if (!HOST.test(url.hostname)) throw invalidGitArgument('The name of the server is invalid.');
  if (addresses.length === 0 || !addresses.every((address) => isIP(address) > 0)) {
    throw invalidGitArgument('The server has no address that may be asked.');
  }
  return url;
}

function createRemoteFetchConfig(url: URL, { mayUseHttp, addresses }: RemoteFetch): GitConfig {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const pinned = addresses.map((address) => (isIP(address) === 6 ? `[${address}]` : address)).join(',');
  return [
    ['protocol.https.allow', 'always'],
    ...(mayUseHttp ? [['protocol.http.allow', 'always'] as const] : []),
    // In version 2 a server can name addresses of packs (packfile-uris), which git 2.39 asks although it did not request
    // them, without the pinned addresses.
    ['protocol.version', '0'],
    ['http.followRedirects', 'false'],
    ['http.curloptResolve', `${url.hostname}:${port}:${pinned}`],
    ['http.proxy', ''],
    ['http.sslVerify', 'true'],
    ['http.lowSpeedLimit', String(LOW_SPEED_BYTES)],
    ['http.lowSpeedTime', String(LOW_SPEED_SECONDS)],
    ['http.saveCookies', 'false'],
    ['fetch.unpackLimit', '1'],
  ];
}

function basicAuthorizationHeader({ credentials }: RemoteFetch): string | null {
  if (!credentials) return null;
  return `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`;
}
