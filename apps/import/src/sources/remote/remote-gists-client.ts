import { Injectable } from '@nestjs/common';
import { SourceError } from '../source-error';
import { cleaned } from '../upstream-fields';
import { SMALL_BYTES } from '../upstream-repository';
import type { UpstreamAccess, UpstreamPage } from '../upstream-repository';
import { jsonIn, UpstreamRequests } from '../upstream-requests';
import { readPage, requestTo } from './remote-client';
import { gistIn } from './remote-gists';
import type { RemoteGist, RemoteGistFile } from './remote-gists';

const PAGE_SIZE = 100;
/** Largest answer with one gist, whose files have 1 MiB each at most. Units: bytes. */
const GIST_BYTES = 16 * 1024 * 1024;

/** Client for gists of hosts with REST API v3. Source: reference identity-and-import 6.9. */
@Injectable()
export class RemoteGistsClient {
  constructor(private readonly requests: UpstreamRequests) {}

  /** Checks the credential. Errors: SourceError. */
  async checkCredential(access: UpstreamAccess): Promise<void> {
    await this.requests.get(requestTo(access, `${access.url}/user`, SMALL_BYTES));
  }

  /** Returns the address of the first page of the user's gists. */
  firstPage({ url }: UpstreamAccess): string {
    return `${url}/gists?per_page=${PAGE_SIZE}`;
  }

  /** Errors: SourceError. */
  page(access: UpstreamAccess, address: string, signal: AbortSignal): Promise<UpstreamPage> {
    return readPage(this.requests, access, address, signal);
  }

  /** Completes a gist of a list with the contents of its files. Errors: SourceError. */
  async complete(access: UpstreamAccess, listed: RemoteGist, signal: AbortSignal): Promise<RemoteGist> {
    const address = `${access.url}/gists/${encodeURIComponent(listed.id)}`;
    const answer = await this.requests.send({ ...requestTo(access, address, GIST_BYTES), signal });
    const whole = answer.status === 200 ? gistIn(jsonIn(answer, [access.credential])) : null;
    const files: RemoteGistFile[] = [];
    for (const file of listed.files) {
      const content = whole?.files.find(({ name }) => name === file.name)?.content ?? null;
      files.push({ ...file, content: content ?? (await this.read(access, file, signal)) });
    }
    return { ...listed, files };
  }

  /** Reads a file at an address that the host names. Only the host itself gets the credential. */
  private async read(access: UpstreamAccess, { rawUrl: url }: RemoteGistFile, signal: AbortSignal): Promise<string> {
    const isHost = URL.canParse(url) && new URL(url).origin === new URL(access.url).origin;
    const request = { ...requestTo(access, url, GIST_BYTES), signal };
    const answer = await this.requests.get(isHost ? request : { ...request, headers: {} });
    if (answer.body.includes(access.credential)) throw new SourceError('other', 'The answer repeats the credential.');
    return cleaned(answer.body.toString());
  }
}
