import { Injectable } from '@nestjs/common';
import { basicCredential } from '../basic-credential';
import { UpstreamError } from '../upstream-error';
import { toFields } from '../upstream-fields';
import type { UpstreamProject } from '../upstream-project';
import { MAX_ITEMS, PAGE_BYTES, SMALL_BYTES } from '../upstream-repository';
import type { UpstreamAccess, UpstreamPage, UpstreamRepository } from '../upstream-repository';
import { isRateLimitedAnswer, parseUpstreamJson, assertUpstreamSuccess, UpstreamRequests } from '../upstream-requests';
import type { UpstreamRequest } from '../upstream-requests';
import { parseRepohostServerBranchName, parseRepohostServerRepository } from './repohost-server-repository';

const API_PATH = '/rest/api/1.0';
/** Objects of these kinds do not exist, or the credential does not reach them. */
const UNREACHED: ReadonlySet<number> = new Set([403, 404]);

/** Returns the address of the API of a server, without a trailing slash. */
export function repohostServerApiUrl(server: string): string {
  return `${server.replace(/\/+$/, '')}${API_PATH}`;
}

/** Client for repository servers with REST API 1.0. Source: reference identity-and-import 6.10. */
@Injectable()
export class RepohostServerClient {
  constructor(private readonly requests: UpstreamRequests) {}

  /** Reads a repository. Returns null if the server answers 404. Errors: UpstreamError. */
  async findRepository(access: UpstreamAccess, project: string, slug: string): Promise<UpstreamProject | null> {
    const address = repositoryApiAddress(access, `${project}/${slug}`);
    const answer = await this.requests.send(createRequest(access, address, SMALL_BYTES));
    if (answer.status === 404) return null;
    const { secrets } = basicCredential(access.credential);
    assertUpstreamSuccess(answer, secrets);
    const found = parseRepohostServerRepository(parseUpstreamJson(answer, secrets));
    if (found === null) throw new UpstreamError('other', `The answer is not a repository. (HTTP ${answer.status})`);
    return { ...found, defaultBranch: await this.readDefaultBranch(access, found.fullName) };
  }

  /** `name` is the key of the project and the slug of the repository. */
  open(access: UpstreamAccess, name: string): UpstreamRepository {
    const base = repositoryApiAddress(access, name);
    return {
      host: new URL(access.url).host,
      firstPage: (path, pageSize) => `${base}${path}${path.includes('?') ? '&' : '?'}limit=${pageSize}`,
      page: (address, signal) => this.readPage(access, address, signal),
      object: async (path, signal) =>
        objectOrNull(await this.readJsonOrNull({ ...createRequest(access, `${base}${path}`, PAGE_BYTES), signal })),
    };
  }

  /** An empty repository has no branch. */
  private async readDefaultBranch(access: UpstreamAccess, name: string): Promise<string | null> {
    const address = `${repositoryApiAddress(access, name)}/branches/default`;
    return parseRepohostServerBranchName(await this.readJsonOrNull(createRequest(access, address, SMALL_BYTES)));
  }

  private async readPage(access: UpstreamAccess, address: string, signal: AbortSignal): Promise<UpstreamPage> {
    const { secrets } = basicCredential(access.credential);
    const answer = await this.requests.get({ ...createRequest(access, address, PAGE_BYTES), signal });
    const { status } = answer;
    const { values: items, isLastPage, nextPageStart } = toFields(parseUpstreamJson(answer, secrets));
    if (!Array.isArray(items))
      throw new UpstreamError('other', `The answer is not a list. (HTTP ${status})`, { status });
    if (items.length > MAX_ITEMS) throw new UpstreamError('other', 'The page of the host is too long.', { status });
    return { items, next: isLastPage === false ? nextPageAddress(address, nextPageStart) : null, pauseUntil: null };
  }

  /** Returns the JSON value of an answer; null for an object that the credential does not reach. */
  private async readJsonOrNull(request: UpstreamRequest): Promise<unknown> {
    const { secrets } = request;
    const answer = await this.requests.send(request);
    if (UNREACHED.has(answer.status) && !isRateLimitedAnswer(answer)) return null;
    if (answer.status === 204) return null;
    assertUpstreamSuccess(answer, secrets);
    return parseUpstreamJson(answer, secrets);
  }
}

function objectOrNull(value: unknown): object | null {
  return typeof value === 'object' && !Array.isArray(value) ? value : null;
}

/** Errors: UpstreamError for a place that is no number. */
function nextPageAddress(address: string, start: unknown): string {
  if (!Number.isSafeInteger(start) || (start as number) < 0) {
    throw new UpstreamError('address', 'Invalid pagination URL.');
  }
  const next = new URL(address);
  next.searchParams.set('start', String(start));
  return next.href;
}

function repositoryApiAddress({ url }: UpstreamAccess, name: string): string {
  const [project, slug] = name.split('/', 2).map(encodeURIComponent);
  return `${url}/projects/${project}/repos/${slug}`;
}

function createRequest({ credential }: UpstreamAccess, url: string, bodyBytes: number): UpstreamRequest {
  const { authorization, secrets } = basicCredential(credential);
  const headers = { authorization, accept: 'application/json' };
  return { url, secrets, headers, limits: { bodyBytes } };
}
