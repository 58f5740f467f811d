import { Inject, Injectable } from '@nestjs/common';
import { ImportRefused } from '@rookery/kernel';
import type { SettingsOf } from '@rookery/platform';
import { importSettings } from '../../import.config';
import { remoteApiUrl, RemoteClient } from '../../sources/remote/remote-client';
import type { RemoteRepository } from '../../sources/remote/remote-repository';
import { UpstreamError } from '../../sources/upstream-error';
import type { UpstreamAccess } from '../../sources/upstream-repository';
import { UpstreamRequests } from '../../sources/upstream-requests';
import { describeSize } from './describe-size';

const SERVICE = 'remote';

/** Finds the repository that a user wants to import. Source: reference identity-and-import 6.3. */
@Injectable()
export class RemoteLookup {
  constructor(
    private readonly remote: RemoteClient,
    private readonly requests: UpstreamRequests,
    @Inject(importSettings.token) private readonly settings: SettingsOf<typeof importSettings>,
  ) {}

  /** Returns the address of the API of a host. `hostname` is null for the public service. Errors: ImportRefused. */
  async resolveAddress(hostname: string | null): Promise<string> {
    const url = remoteApiUrl(hostname);
    if (hostname === null) return url;
    // In a query or fragment the path of the API would be lost, and any path of a listed host could be read.
    if (/[?#]/.test(hostname)) throw invalidUrlRefusal(hostname);
    try {
      await this.requests.checkAddress(url);
      return url;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      throw invalidUrlRefusal(hostname);
    }
  }

  /** Errors: ImportRefused for a repository that cannot be read, or is too large. */
  async findRepository(access: UpstreamAccess, id: number): Promise<RemoteRepository> {
    const repository = await this.readRepository(access, id);
    const { repositoryBytes: limit } = this.settings;
    if (repository.bytes <= limit) return repository;
    const text = `"${repository.name}" size (${describeSize(repository.bytes)}) is larger than the limit of ${describeSize(limit)}.`;
    throw new ImportRefused('unprocessable', 'errors', text);
  }

  private async readRepository(access: UpstreamAccess, id: number): Promise<RemoteRepository> {
    try {
      return await this.remote.findRepository(access, id);
    } catch (error) {
      throw error instanceof UpstreamError ? toImportRefused(error) : error;
    }
  }
}

function invalidUrlRefusal(hostname: string): ImportRefused {
  return new ImportRefused('address', 'errors', `Invalid URL: ${hostname}`);
}

/** Returns the refusal for a host that did not answer as expected. */
export function toImportRefused({ reason, message }: UpstreamError): ImportRefused {
  if (reason === 'credential') {
    return new ImportRefused('credential', 'error', `Access denied to your ${SERVICE} account.`);
  }
  if (reason === 'limit') return new ImportRefused('limit', 'error', 'Too Many Requests');
  return new ImportRefused('unprocessable', 'errors', `Import failed due to a ${SERVICE} error: ${message}`);
}
