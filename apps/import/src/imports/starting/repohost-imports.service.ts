import { Injectable } from '@nestjs/common';
import type { ImportRefused, SignedInViewer } from '@rookery/kernel';
import { RepohostClient } from '../../sources/repohost/repohost-client';
import { SourceError } from '../../sources/source-error';
import type { UpstreamProject } from '../../sources/upstream-project';
import type { UpstreamAccess } from '../../sources/upstream-repository';
import type { ShownImport } from '../imports.service';
import { NewImports } from './new-imports';
import type { ImportOptions, ImportPlan } from './new-imports';
import { refuseTarget, repohostRefusal } from './repohost-refusals';

/** Source: reference identity-and-import 6.5. */
export interface RepohostImportRequest extends ImportOptions {
  readonly cloudrepo_username: string;
  readonly cloudrepo_app_password: string;
  readonly repo_path: string;
  readonly target_namespace: string;
}

const SOURCE = 'repohost';
/** The service sends no larger pages of pull requests. */
const PAGE_SIZE = 50;

/** Starts imports from the repository service with REST API 2.0. Source: reference identity-and-import 6.5. */
@Injectable()
export class RepohostImportsService {
  constructor(
    private readonly imports: NewImports,
    private readonly service: RepohostClient,
  ) {}

  /** Creates a project and schedules its import. Errors: ImportRefused; Unavailable. */
  async start(viewer: SignedInViewer, request: RepohostImportRequest): Promise<ShownImport> {
    if (!this.imports.isEnabled(SOURCE)) {
      throw repohostRefusal('disabled', [`${SOURCE} import source is disabled`]);
    }
    const place = { user_id: viewer.userId, namespace: request.target_namespace };
    const outcome = await this.imports.target(place);
    if (outcome !== 'allowed') throw refuseTarget({ outcome });
    const { url } = this.service;
    const credential = `${request.cloudrepo_username}:${request.cloudrepo_app_password}`;
    const upstream = await this.find({ url, credential }, nameIn(request.repo_path));
    const plan: ImportPlan = {
      ...{ source: SOURCE, place, upstream, apiUrl: url, credential },
      ...{ pageSize: PAGE_SIZE, singleEndpointNotes: false },
    };
    const started = await this.imports.start(plan, request);
    if ('outcome' in started) throw refuseTarget(started);
    return started;
  }

  private async find(access: UpstreamAccess, name: string): Promise<UpstreamProject> {
    const found = await this.read(access, name);
    if (found === null) throw repohostRefusal('unprocessable', `Project ${name} could not be found`);
    return found;
  }

  private async read(access: UpstreamAccess, name: string): Promise<UpstreamProject | null> {
    try {
      await this.service.checkCredential(access);
      return await this.service.repository(access, name);
    } catch (error) {
      throw error instanceof SourceError ? refusalOf(error) : error;
    }
  }
}

function nameIn(path: string): string {
  return path.includes('/') ? path : path.replace('___', '/');
}

function refusalOf({ reason, message }: SourceError): ImportRefused {
  if (reason === 'credential') {
    return repohostRefusal('credential', `Unable to authorize with ${SOURCE}. Check your credentials`);
  }
  return repohostRefusal('unreachable', `Import failed due to an error: ${message}`);
}
