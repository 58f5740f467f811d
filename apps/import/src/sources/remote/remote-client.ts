import { Injectable } from '@nestjs/common';
import type { EgressAnswer } from '@rookery/egress';
import { UpstreamError } from '../upstream-error';
import { MAX_ITEMS, PAGE_BYTES, SMALL_BYTES } from '../upstream-repository';
import type { UpstreamAccess, UpstreamPage, UpstreamRepository } from '../upstream-repository';
import { isRateLimitedAnswer, parseUpstreamJson, assertUpstreamSuccess, UpstreamRequests } from '../upstream-requests';
import type { UpstreamRequest } from '../upstream-requests';
import { parseNextPage, parseRateLimitPauseEnd } from './remote-answers';
import { parseRemoteRepository } from './remote-repository';
import type { RemoteRepository } from './remote-repository';

const PUBLIC_API = 'https://api.github.com';
const API_PATH = '/api/v3';
/** Largest answer with one object. Units: bytes. */
const OBJECT_BYTES = 1024 * 1024;
/** Status of a list or object that the repository has switched off, such as issues. */
const GONE = 410;
const UNREACHED: ReadonlySet<number> = new Set([403, 404, GONE]);

/**
 * Returns the address of the API of a host. `hostname` is null for the public service. The address of another host gets
 * `/api/v3`, unless its path begins with `/api/`. Source: reference identity-and-import 6.8.
 */
export function remoteApiUrl(hostname: string | null): string {
  if (hostname === null) return PUBLIC_API;
  const trimmed = hostname.replace(/\/+$/, '');
  const path = URL.canParse(trimmed) ? new URL(trimmed).pathname : '/';
  return path.startsWith('/api/') ? trimmed : `${trimmed}${API_PATH}`;
}

/** Client for upstream hosts with REST API v3. Source: reference identity-and-import 6.9. */
@Injectable()
export class RemoteClient {
  constructor(private readonly requests: UpstreamRequests) {}

  /** Reads a repository by its id. Errors: UpstreamError. */
  async findRepository(access: UpstreamAccess, id: number): Promise<RemoteRepository> {
    const answer = await this.requests.get(createRequest(access, `${access.url}/repositories/${id}`, SMALL_BYTES));
    const found = parseRemoteRepository(parseUpstreamJson(answer, [access.credential]));
    if (found === null) throw new UpstreamError('other', `The answer is not a repository. (HTTP ${answer.status})`);
    return found;
  }

  /** Opens a repository. `name` is `owner/name`. */
  open(access: UpstreamAccess, name: string): UpstreamRepository {
    const base = `${access.url}/repos/${name.split('/').map(encodeURIComponent).join('/')}`;
    return {
      host: new URL(access.url).host,
      firstPage: (path, pageSize) => `${base}${path}${path.includes('?') ? '&' : '?'}per_page=${pageSize}`,
      page: (address, signal) => readRemotePage(this.requests, access, address, signal),
      object: (path, signal) => this.readObject(access, `${base}${path}`, signal),
    };
  }

  private async readObject(access: UpstreamAccess, address: string, signal: AbortSignal): Promise<object | null> {
    const answer = await this.requests.send({ ...createRequest(access, address, OBJECT_BYTES), signal });
    if (isMissingOrForbidden(answer)) return null;
    assertUpstreamSuccess(answer, [access.credential]);
    const found = parseUpstreamJson(answer, [access.credential]);
    return typeof found === 'object' && !Array.isArray(found) ? found : null;
  }
}

/** Reads a page of a list. A list that the repository does not use is empty. Errors: UpstreamError. */
export async function readRemotePage(
  requests: UpstreamRequests,
  access: UpstreamAccess,
  address: string,
  signal: AbortSignal,
): Promise<UpstreamPage> {
  const answer = await requests.send({ ...createRequest(access, address, PAGE_BYTES), signal });
  if (answer.status === GONE) return { items: [], next: null, pauseUntil: null };
  assertUpstreamSuccess(answer, [access.credential]);
  const { status } = answer;
  const items = parseUpstreamJson(answer, [access.credential]);
  if (!Array.isArray(items)) throw new UpstreamError('other', `The answer is not a list. (HTTP ${status})`, { status });
  if (items.length > MAX_ITEMS) throw new UpstreamError('other', 'The page of the host is too long.', { status });
  const isPublic = access.url === PUBLIC_API;
  return {
    items,
    next: parseNextPage(answer, access.url),
    pauseUntil: isPublic ? parseRateLimitPauseEnd(answer) : null,
  };
}

/** Returns a request with the credential. Units: `bodyBytes` of the largest answer. */
export function createRequest({ credential }: UpstreamAccess, url: string, bodyBytes: number): UpstreamRequest {
  const headers = { authorization: `Bearer ${credential}`, accept: 'application/vnd.github+json' };
  return { url, secrets: [credential], headers, limits: { bodyBytes } };
}

function isMissingOrForbidden(answer: EgressAnswer): boolean {
  return UNREACHED.has(answer.status) && !isRateLimitedAnswer(answer);
}
