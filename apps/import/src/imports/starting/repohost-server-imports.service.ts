import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { repohostServerApiUrl, RepohostServerClient } from '../../sources/repohost-server/repohost-server-client';
import { UpstreamError } from '../../sources/upstream-error';
import type { UpstreamAccess } from '../../sources/upstream-repository';
import { UpstreamRequests } from '../../sources/upstream-requests';
import type { UpstreamProject } from '../../sources/upstream-project';
import type { ImportView } from '../imports.service';
import type { ImportOptions } from './import-starter';
import { repohostRefusal } from './repohost-refusals';
import { RepohostImportStarter } from './repohost-import-starter';

/** Source: reference identity-and-import 6.4. */
export interface RepohostServerImportRequest extends ImportOptions {
  readonly repohost_server_url: string;
  readonly repohost_server_username: string;
  readonly personal_access_token: string;
  readonly repohost_server_project: string;
  readonly repohost_server_repo: string;
  readonly target_namespace?: string | undefined;
}

const SOURCE = 'repohost_server';

/** Starts imports from repository servers with REST API 1.0. Source: reference identity-and-import 6.4. */
@Injectable()
export class RepohostServerImportsService {
  constructor(
    private readonly starts: RepohostImportStarter,
    private readonly server: RepohostServerClient,
    private readonly requests: UpstreamRequests,
  ) {}

  /** Creates a project and schedules its import. Errors: ImportRefused; Unavailable. */
  async start(viewer: SignedInViewer, request: RepohostServerImportRequest): Promise<ImportView> {
    this.starts.assertEnabled(SOURCE);
    const access = {
      url: await this.resolveApiUrl(request.repohost_server_url),
      credential: `${request.repohost_server_username}:${request.personal_access_token}`,
    };
    const place = { user_id: viewer.userId, namespace: request.target_namespace || viewer.username };
    const find = (): Promise<UpstreamProject> => this.requireRepository(access, request);
    return this.starts.startImport({ source: SOURCE, place, access, find }, request);
  }

  private async resolveApiUrl(server: string): Promise<string> {
    const url = repohostServerApiUrl(server);
    try {
      // In a query or fragment the path of the API would be lost, and any path of a listed host could be read.
      if (/[?#]/.test(server)) throw new UpstreamError('address', 'The address has a query.');
      await this.requests.checkAddress(url);
      return url;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      throw repohostRefusal('address', `Invalid URL: ${server}`);
    }
  }

  private async requireRepository(
    access: UpstreamAccess,
    { repohost_server_project: key, repohost_server_repo: slug }: RepohostServerImportRequest,
  ): Promise<UpstreamProject> {
    const found = await this.readRepository(access, key, slug);
    if (found !== null) return found;
    throw repohostRefusal('unprocessable', `Project ${key}/${slug} could not be found`);
  }

  private async readRepository(access: UpstreamAccess, key: string, slug: string): Promise<UpstreamProject | null> {
    try {
      return await this.server.findRepository(access, key, slug);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      throw repohostRefusal('unreachable', `Import failed due to a ${SOURCE} error: ${error.message}`);
    }
  }
}
