import { Injectable } from '@nestjs/common';
import { EgressError } from '@rookery/egress';
import type { EgressAnswer } from '@rookery/egress';
import { UpstreamError } from '../upstream-error';
import { storableText } from '../upstream-fields';
import { SMALL_BYTES } from '../upstream-repository';
import type { UpstreamAccess, UpstreamPage } from '../upstream-repository';
import { parseUpstreamJson, assertUpstreamSuccess, UpstreamRequests } from '../upstream-requests';
import type { UpstreamRequest } from '../upstream-requests';
import { readRemotePage, createRequest } from './remote-client';
import { parseGist } from './remote-gists';
import type { RemoteGist, RemoteGistFile } from './remote-gists';

const PAGE_SIZE = 100;
/** Largest answer with one gist, and largest sum of its files, which are in memory together. Units: bytes. */
const GIST_BYTES = 8 * 1024 * 1024;
const FILES_BYTES = 4 * 1024 * 1024;

/** The files of a gist exceed what a snippet may have. */
export class GistTooLarge extends Error {}

/** Client for gists of hosts with REST API v3. Source: reference identity-and-import 6.9. */
@Injectable()
export class RemoteGistsClient {
  constructor(private readonly requests: UpstreamRequests) {}

  /** Checks the credential. Errors: UpstreamError. */
  async checkCredential(access: UpstreamAccess): Promise<void> {
    await this.requests.get(createRequest(access, `${access.url}/user`, SMALL_BYTES));
  }

  /** Returns the address of the first page of the user's gists. */
  firstPage({ url }: UpstreamAccess): string {
    return `${url}/gists?per_page=${PAGE_SIZE}`;
  }

  /** Errors: UpstreamError. */
  readPage(access: UpstreamAccess, address: string, signal: AbortSignal): Promise<UpstreamPage> {
    return readRemotePage(this.requests, access, address, signal);
  }

  /** Completes a listed gist with the contents of its files. Errors: UpstreamError; GistTooLarge. */
  async completeGist(access: UpstreamAccess, listed: RemoteGist, signal: AbortSignal): Promise<RemoteGist> {
    const address = `${access.url}/gists/${encodeURIComponent(listed.id)}`;
    const answer = await this.sendGistRequest({ ...createRequest(access, address, GIST_BYTES), signal });
    const whole = answer.status === 200 ? parseGist(parseUpstreamJson(answer, [access.credential])) : null;
    const files: RemoteGistFile[] = [];
    let left = FILES_BYTES;
    for (const file of listed.files) {
      const found = whole?.files.find(({ name }) => name === file.name)?.content ?? null;
      const content =
        found ??
        (await this.readGistFile({ ...createRequest(access, file.rawUrl, Math.max(1, left)), signal }, access));
      left -= Buffer.byteLength(content);
      if (left < 0) throw new GistTooLarge();
      files.push({ ...file, content });
    }
    return { ...listed, files };
  }

  /** Reads a file at an address that the host names. Only the host itself gets the credential. */
  private async readGistFile(request: UpstreamRequest, { url, credential }: UpstreamAccess): Promise<string> {
    const isHost = URL.canParse(request.url) && new URL(request.url).origin === new URL(url).origin;
    const answer = await this.sendGistRequest(isHost ? request : { ...request, headers: {} });
    assertUpstreamSuccess(answer, request.secrets);
    if (answer.body.includes(credential))
      throw new UpstreamError('other', 'The answer repeats the credential.', { status: answer.status });
    return storableText(answer.body.toString());
  }

  private async sendGistRequest(request: UpstreamRequest): Promise<EgressAnswer> {
    try {
      return await this.requests.send(request);
    } catch (error) {
      const { cause } = error as UpstreamError;
      throw cause instanceof EgressError && cause.reason === 'too large' ? new GistTooLarge() : error;
    }
  }
}
