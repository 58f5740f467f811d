import { Inject, Injectable } from '@nestjs/common';
import type { SettingsOf } from '@rookery/platform';
import { importSettings } from '../../import.config';
import { basicCredential } from '../basic-credential';
import { assertInsideApi } from '../page-addresses';
import { UpstreamError } from '../upstream-error';
import { toFields } from '../upstream-fields';
import type { UpstreamProject } from '../upstream-project';
import { MAX_ITEMS, PAGE_BYTES, SMALL_BYTES } from '../upstream-repository';
import type { UpstreamAccess, UpstreamPage, UpstreamRepository } from '../upstream-repository';
import { isRateLimitedAnswer, parseUpstreamJson, assertUpstreamSuccess, UpstreamRequests } from '../upstream-requests';
import type { UpstreamRequest } from '../upstream-requests';
import { parseRepohostRepository } from './repohost-repository';

/** Status of a list that the repository does not use, such as issues, and of a missing object. */
const MISSING = 404;
const UNREACHED: ReadonlySet<number> = new Set([403, MISSING]);

/** Client for the repository service with REST API 2.0. Source: reference identity-and-import 6.11. */
@Injectable()
export class RepohostClient {
  constructor(
    private readonly requests: UpstreamRequests,
    @Inject(importSettings.token) private readonly settings: SettingsOf<typeof importSettings>,
  ) {}

  /** Address of the API, without a trailing slash. */
  get url(): string {
    return this.settings.repohostApiUrl.replace(/\/+$/, '');
  }

  /** Checks the credential. Errors: UpstreamError, `credential` for a refused one. */
  async checkCredential(access: UpstreamAccess): Promise<void> {
    await this.requests.get(createRequest(access, `${access.url}/user`, SMALL_BYTES));
  }

  /** Reads a repository. `name` is `workspace/slug`. Returns null if the service answers 404. Errors: UpstreamError. */
  async findRepository(access: UpstreamAccess, name: string): Promise<UpstreamProject | null> {
    const answer = await this.requests.send(createRequest(access, repositoryApiAddress(access, name), SMALL_BYTES));
    const { status } = answer;
    if (status === MISSING) return null;
    const { secrets } = basicCredential(access.credential);
    assertUpstreamSuccess(answer, secrets);
    const found = parseRepohostRepository(parseUpstreamJson(answer, secrets));
    if (found === null)
      throw new UpstreamError('other', `The answer is not a repository. (HTTP ${status})`, { status });
    return found;
  }

  /** `name` is workspace and slug. */
  open(access: UpstreamAccess, name: string): UpstreamRepository {
    const base = repositoryApiAddress(access, name);
    return {
      host: new URL(access.url).host,
      firstPage: (path, pageSize) => `${base}${path}${path.includes('?') ? '&' : '?'}pagelen=${pageSize}`,
      page: (address, signal) => this.readPage(access, address, signal),
      object: (path, signal) => this.readObject(access, `${base}${path}`, signal),
    };
  }

  private async readPage(access: UpstreamAccess, address: string, signal: AbortSignal): Promise<UpstreamPage> {
    const answer = await this.requests.send({ ...createRequest(access, address, PAGE_BYTES), signal });
    const { status } = answer;
    if (status === MISSING) return { items: [], next: null, pauseUntil: null };
    const { secrets } = basicCredential(access.credential);
    assertUpstreamSuccess(answer, secrets);
    const { values: items, next } = toFields(parseUpstreamJson(answer, secrets));
    if (!Array.isArray(items))
      throw new UpstreamError('other', `The answer is not a list. (HTTP ${status})`, { status });
    if (items.length > MAX_ITEMS) throw new UpstreamError('other', 'The page of the host is too long.', { status });
    if (typeof next !== 'string') return { items, next: null, pauseUntil: null };
    assertInsideApi(next, access.url);
    return { items, next, pauseUntil: null };
  }

  private async readObject(access: UpstreamAccess, address: string, signal: AbortSignal): Promise<object | null> {
    const answer = await this.requests.send({ ...createRequest(access, address, PAGE_BYTES), signal });
    if (UNREACHED.has(answer.status) && !isRateLimitedAnswer(answer)) return null;
    const { secrets } = basicCredential(access.credential);
    assertUpstreamSuccess(answer, secrets);
    const found = parseUpstreamJson(answer, secrets);
    return typeof found === 'object' && !Array.isArray(found) ? found : null;
  }
}

function repositoryApiAddress({ url }: UpstreamAccess, name: string): string {
  return `${url}/repositories/${name.split('/').map(encodeURIComponent).join('/')}`;
}

function createRequest({ credential }: UpstreamAccess, url: string, bodyBytes: number): UpstreamRequest {
  const { authorization, secrets } = basicCredential(credential);
  const headers = { authorization, accept: 'application/json' };
  return { url, secrets, headers, limits: { bodyBytes } };
}
