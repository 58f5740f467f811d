import { Injectable } from '@nestjs/common';
import type { ImportRefused, SignedInViewer } from '@rookery/kernel';
import { RepohostClient } from '../../sources/repohost/repohost-client';
import { UpstreamError } from '../../sources/upstream-error';
import type { UpstreamProject } from '../../sources/upstream-project';
import type { UpstreamAccess } from '../../sources/upstream-repository';
import type { ImportView } from '../imports.service';
import type { ImportOptions } from './import-starter';
import { repohostRefusal } from './repohost-refusals';
import { RepohostImportStarter } from './repohost-import-starter';

/** Source: reference identity-and-import 6.5. */
export interface RepohostImportRequest extends ImportOptions {
  readonly cloudrepo_username: string;
  readonly cloudrepo_app_password: string;
  readonly repo_path: string;
  readonly target_namespace: string;
}

const SOURCE = 'repohost';

/** Starts imports from the repository service with REST API 2.0. Source: reference identity-and-import 6.5. */
@Injectable()
export class RepohostImportsService {
  constructor(
    private readonly starts: RepohostImportStarter,
    private readonly service: RepohostClient,
  ) {}

  /** Creates a project and schedules its import. Errors: ImportRefused; Unavailable. */
  async start(viewer: SignedInViewer, request: RepohostImportRequest): Promise<ImportView> {
    this.starts.assertEnabled(SOURCE);
    const { repo_path: path, target_namespace: namespace } = request;
    const access = {
      url: this.service.url,
      credential: `${request.cloudrepo_username}:${request.cloudrepo_app_password}`,
    };
    const find = (): Promise<UpstreamProject> => this.requireRepository(access, restoreSlashInRepositoryName(path));
    return this.starts.startImport(
      { source: SOURCE, place: { user_id: viewer.userId, namespace }, access, find },
      request,
    );
  }

  private async requireRepository(access: UpstreamAccess, name: string): Promise<UpstreamProject> {
    const found = await this.readRepository(access, name);
    if (found === null) throw repohostRefusal('unprocessable', `Project ${name} could not be found`);
    return found;
  }

  private async readRepository(access: UpstreamAccess, name: string): Promise<UpstreamProject | null> {
    try {
      await this.service.checkCredential(access);
      return await this.service.findRepository(access, name);
    } catch (error) {
      throw error instanceof UpstreamError ? toRefusal(error) : error;
    }
  }
}

function restoreSlashInRepositoryName(path: string): string {
  return path.includes('/') ? path : path.replace('___', '/');
}

function toRefusal({ reason, message }: UpstreamError): ImportRefused {
  if (reason === 'credential') {
    return repohostRefusal('credential', `Unable to authorize with ${SOURCE}. Check your credentials`);
  }
  return repohostRefusal('unreachable', `Import failed due to an error: ${message}`);
}
