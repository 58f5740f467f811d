import { Injectable } from '@nestjs/common';
import { Egress, EgressError } from '@rookery/egress';
import type { EgressAnswer, EgressRequest } from '@rookery/egress';
import { SourceError } from '../source-error';
import { nextPageIn, pauseIn, retryTimeIn } from './remote-answers';
import { repositoryIn } from './remote-repository';
import type { RemoteRepository } from './remote-repository';

/** A host with REST API v3, and a credential for it. Shape: `url` has no trailing slash. */
export interface RemoteAccess {
  readonly url: string;
  readonly token: string;
}

/** A page of a list. Shape: `next` is the address of the next page. */
export interface RemotePage {
  readonly items: readonly unknown[];
  readonly next: string | null;
  /** Time until which the host should get no more requests; null if it may get them. */
  readonly pauseUntil: Date | null;
}

const PUBLIC_API = 'https://api.github.com';
const API_PATH = '/api/v3';
const MAX_QUOTED = 200;
const REPEATED = 'The answer repeats the credential.';
/**
 * Largest page of a list: 100 texts of the longest kind of the public service. Several times as much is in memory while it
 * is read. Units: bytes.
 */
const PAGE_BYTES = 16 * 1024 * 1024;
/** Largest answer with one object. Units: bytes. */
const OBJECT_BYTES = 1024 * 1024;
/** More than any page size that an import asks for. */
const MAX_ITEMS = 100;
/** Status of a list or object that the repository has switched off, such as issues. */
const GONE = 410;
const UNREACHED: ReadonlySet<number> = new Set([403, 404, GONE]);

/**
 * Returns the address of the API of a host. Shape: null is the public service; another host gets `/api/v3` unless its
 * path is one of an API. Source: reference identity-and-import 6.8.
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
  constructor(private readonly egress: Egress) {}

  /** Checks whether the address of a host may be called. Errors: SourceError `address`. */
  async check(url: string): Promise<void> {
    try {
      await this.egress.checkedAddresses(url);
    } catch (error) {
      throw error instanceof EgressError ? new SourceError('address', error.message, { cause: error }) : error;
    }
  }

  /** Reads a repository by its id. Errors: SourceError. */
  async repository(access: RemoteAccess, id: number): Promise<RemoteRepository> {
    const answer = await this.get(access, `/repositories/${id}`);
    // Names and descriptions are shown to other users.
    if (answer.body.includes(access.token)) throw new SourceError('other', REPEATED);
    const found = repositoryIn(parsed(answer.body));
    if (found === null) throw new SourceError('other', `The answer is not a repository. (HTTP ${answer.status})`);
    return found;
  }

  /**
   * Reads a page of a list. Shape: `address` begins with the address of the API. A list that the repository does not use is
   * empty. Errors: SourceError.
   */
  async page(access: RemoteAccess, address: string, signal: AbortSignal): Promise<RemotePage> {
    const answer = await this.send(address, access.token, { limits: { bodyBytes: PAGE_BYTES }, signal });
    if (answer.status === GONE) return { items: [], next: null, pauseUntil: null };
    refuseFailure(answer, access.token);
    const { status } = answer;
    if (answer.body.includes(access.token)) throw new SourceError('other', REPEATED, { status });
    const items = parsed(answer.body);
    if (!Array.isArray(items)) throw new SourceError('other', `The answer is not a list. (HTTP ${status})`, { status });
    if (items.length > MAX_ITEMS) throw new SourceError('other', 'The page of the host is too long.', { status });
    const isPublic = access.url === PUBLIC_API;
    return { items, next: nextPageIn(answer, access.url), pauseUntil: isPublic ? pauseIn(answer) : null };
  }

  /** Reads an object. Shape: as for `page`; null if the credential does not reach one. Errors: SourceError. */
  async object(access: RemoteAccess, address: string, signal: AbortSignal): Promise<object | null> {
    const answer = await this.send(address, access.token, { limits: { bodyBytes: OBJECT_BYTES }, signal });
    const { status } = answer;
    if (UNREACHED.has(status) && !isLimited(answer)) return null;
    refuseFailure(answer, access.token);
    if (answer.body.includes(access.token)) throw new SourceError('other', REPEATED, { status });
    const found = parsed(answer.body);
    return typeof found === 'object' && !Array.isArray(found) ? found : null;
  }

  private async get({ url, token }: RemoteAccess, path: string): Promise<EgressAnswer> {
    const answer = await this.send(`${url}${path}`, token);
    refuseFailure(answer, token);
    return answer;
  }

  private async send(url: string, token: string, o: Partial<EgressRequest> = {}): Promise<EgressAnswer> {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' };
    try {
      return await this.egress.request({ ...o, url, headers });
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      const reason = error.reason === 'address refused' ? 'address' : 'other';
      throw new SourceError(reason, error.message, { cause: error });
    }
  }
}

/** Errors: SourceError for another status than 200. */
function refuseFailure(answer: EgressAnswer, token: string): void {
  const { status } = answer;
  if (status === 200) return;
  if (status === 401) throw new SourceError('credential', 'The credential is not accepted.', { status });
  if (isLimited(answer)) {
    const retryAt = retryTimeIn(answer);
    throw new SourceError('limit', 'The rate of requests is limited.', { status, retryAt });
  }
  throw new SourceError('other', `${quoted(answer.body, token)} (HTTP ${status})`, { status });
}

/** Primary limits answer 403 without remaining requests, secondary ones 429, or 403 with `Retry-After`. */
function isLimited({ status, headers }: EgressAnswer): boolean {
  if (status === 429) return true;
  return status === 403 && (headers['x-ratelimit-remaining'] === '0' || headers['retry-after'] !== undefined);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}

/** The answer of the host in one short line. A host that repeats the credential does not show it to anyone. */
function quoted(body: Buffer, token: string): string {
  const text = body
    .toString()
    .replaceAll(token, '[credential]')
    .replace(/[\s\p{C}]+/gu, ' ');
  return text.trim().slice(0, MAX_QUOTED);
}
