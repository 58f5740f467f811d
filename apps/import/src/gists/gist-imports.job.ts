import { Injectable } from '@nestjs/common';
import { EgressError } from '@rookery/egress';
import type { EgressReason } from '@rookery/egress';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import { ImportCredentials } from '../imports/import-credentials';
import { parseGist } from '../sources/remote/remote-gists';
import type { RemoteGist } from '../sources/remote/remote-gists';
import { GistTooLarge, RemoteGistsClient } from '../sources/remote/remote-gists-client';
import { UpstreamError } from '../sources/upstream-error';
import type { UpstreamAccess } from '../sources/upstream-repository';
import type { LeftOutGist } from './gist-import.entity';
import { GistImportRecords, importGists } from './gist-import-records';
import type { GistImportRow } from './gist-import-records';
import { ImportSnippetsClient } from './import-snippets-client';

/** Source: reference identity-and-import 6.9. */
const MAX_FILES = 10;
const TOO_MANY = `It has more than ${MAX_FILES} files.`;
const TOO_LARGE = 'Its files are too large.';
const UNREADABLE = 'The other host does not send it.';
const MALFORMED = { name: 'unknown', reason: 'The other host sent a malformed gist.' };
/** Longest reading of one page. Units: ms. */
const MAX_PAGE_MS = 1_800_000;
/** Failures that a repetition does not cure. */
const LASTING: ReadonlySet<EgressReason> = new Set(['malformed', 'redirected', 'name unknown', 'certificate']);
/** A host that sends more pages does not end. */
const MAX_PAGES = 1000;
/** Units: ms. */
const RETRY_MS = 5000;
/** Units: characters. */
const MAX_NAME = 255;

/**
 * Imports the gists of a user as personal snippets, page by page. A page that was interrupted runs again, and collaboration
 * writes each gist once. Source: reference identity-and-import 6.9.
 */
@Injectable()
export class GistImportsJob {
  constructor(
    private readonly records: GistImportRecords,
    private readonly credentials: ImportCredentials,
    private readonly client: RemoteGistsClient,
    private readonly snippets: ImportSnippetsClient,
  ) {}

  @Job(importGists)
  async run({ params, attempt, signal }: JobRun<typeof importGists>): Promise<void> {
    const row = await this.records.findImport(params.import_id);
    if (row?.state !== 'started') return;
    const credential = row.sealed_credential && this.credentials.open(row.import_key, row.sealed_credential);
    if (credential === null) return this.records.endImport(row.id, 'failed');
    try {
      await this.importRemainingPages(row, { url: row.api_url, credential }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof UpstreamError && error.retryAt) return this.records.postponeImport(row.id, error.retryAt);
      const isFinal = error instanceof UpstreamError && error.reason !== 'other';
      // Tries count from the last page on, so that a long import survives many short failures of its host.
      if (!isFinal && (await this.hasAdvancedSince(row)))
        return this.records.postponeImport(row.id, new Date(Date.now() + RETRY_MS));
      if (!isFinal && attempt < importGists.tries) throw error;
      await this.endImport(row.id, 'failed');
      if (!(error instanceof UpstreamError)) throw error;
    }
  }

  @Job('sweep-gist-imports', { cron: '41 * * * *' })
  sweep(): Promise<void> {
    return this.records.sweepImports();
  }

  private async hasAdvancedSince({ id, pages }: GistImportRow): Promise<boolean> {
    return ((await this.records.findImport(id))?.pages ?? 0) > pages;
  }

  private async importRemainingPages(first: GistImportRow, access: UpstreamAccess, signal: AbortSignal): Promise<void> {
    let row: GistImportRow | null = first;
    while (row !== null && (row.pages === 0 || row.next_page !== null)) {
      if (row.pages >= MAX_PAGES) throw new UpstreamError('address', 'The host sends too many pages.');
      const within = AbortSignal.any([signal, AbortSignal.timeout(MAX_PAGE_MS)]);
      row = await this.importNextPage(row, access, within).catch((error: unknown) => {
        if (within.aborted && !signal.aborted) throw new UpstreamError('address', 'The host is too slow.');
        throw error;
      });
    }
    if (row !== null) await this.endImport(row.id, 'finished');
  }

  /** Returns null for an import that has ended. */
  private async importNextPage(
    row: GistImportRow,
    access: UpstreamAccess,
    signal: AbortSignal,
  ): Promise<GistImportRow | null> {
    signal.throwIfAborted();
    const address = row.next_page ?? this.client.firstPage(access);
    const { items, next } = await this.client.readPage(access, address, signal);
    if (next === address) throw new UpstreamError('address', 'Invalid pagination URL.');
    const leftOut: LeftOutGist[] = [];
    for (const item of items) {
      const gist = parseGist(item);
      const problem = gist === null ? MALFORMED : await this.importGist(row, access, gist, signal);
      if (problem !== null) leftOut.push(problem);
    }
    return this.records.advanceImport(row, next, leftOut);
  }

  /** Sends the e-mail about gists that were left out before the import ends, so that it is not lost. */
  private async endImport(id: number, state: 'finished' | 'failed'): Promise<void> {
    const row = await this.records.findImport(id);
    if (row && row.left_out.length > 0) await this.snippets.notifyUser(row);
    await this.records.endImport(id, state);
  }

  /** Imports a gist as a snippet. Returns null if it became a snippet or has no files. */
  private async importGist(
    { user_id: userId }: GistImportRow,
    access: UpstreamAccess,
    listed: RemoteGist,
    signal: AbortSignal,
  ): Promise<LeftOutGist | null> {
    if (listed.files.length === 0) return null;
    const name = snippetTitleOf(listed);
    if (listed.files.length > MAX_FILES) return { name, reason: TOO_MANY };
    const gist = await this.readGistOrReason(access, listed, signal);
    if (typeof gist === 'string') return { name, reason: gist };
    const reason = await this.snippets.writeSnippet(userId, new URL(access.url).host, { ...gist, title: name });
    return reason === null ? null : { name, reason };
  }

  /** The reason why a gist cannot be read, as a text. Errors: UpstreamError for failures that can pass. */
  private async readGistOrReason(
    access: UpstreamAccess,
    gist: RemoteGist,
    signal: AbortSignal,
  ): Promise<RemoteGist | string> {
    try {
      return await this.client.completeGist(access, gist, signal);
    } catch (error) {
      if (error instanceof GistTooLarge) return TOO_LARGE;
      if (!(error instanceof UpstreamError) || error.reason === 'limit' || isTransientError(error)) throw error;
      return UNREADABLE;
    }
  }
}

/** Whether a repetition may succeed. */
function isTransientError({ reason, status, cause }: UpstreamError): boolean {
  if (cause instanceof EgressError && LASTING.has(cause.reason)) return false;
  return reason === 'other' && (status === null || status >= 500);
}

/** Source: reference identity-and-import 6.9. */
function snippetTitleOf({ description, files }: RemoteGist): string {
  const line = (description ?? '').replace(/[\s\p{C}]+/gu, ' ').trim();
  return (line === '' ? files[0]!.name : line).slice(0, MAX_NAME).replace(/\p{Cs}$/u, '');
}
