import { Injectable } from '@nestjs/common';
import { ImportRefused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import type { ImportView } from '../imports.service';
import { ImportStarter } from './import-starter';
import type { ImportOptions, ImportPlan } from './import-starter';
import { RemoteLookup } from './remote-lookup';
import { describeImportProblem } from './target-problems';

/** Source: reference identity-and-import 6.3. */
export interface RemoteImportRequest extends ImportOptions {
  readonly personal_access_token: string;
  readonly repo_id: number;
  readonly target_namespace: string;
  readonly remote_hostname?: string | undefined;
  readonly optional_stages?:
    | { readonly attachments_import?: boolean; readonly single_endpoint_notes_import?: boolean }
    | undefined;
  readonly pagination_limit?: number | undefined;
}

const SOURCE = 'remote';
const PAGE_SIZE = 100;
const FORBIDDEN = 'You are not allowed to import projects in this namespace.';

/** Starts imports from hosts with REST API v3. Source: reference identity-and-import 6.3. */
@Injectable()
export class RemoteImportsService {
  constructor(
    private readonly imports: ImportStarter,
    private readonly remote: RemoteLookup,
  ) {}

  /** Creates a project and schedules its import. Errors: ImportRefused; Unavailable. */
  async start(viewer: SignedInViewer, request: RemoteImportRequest): Promise<ImportView> {
    if (!this.imports.isEnabled(SOURCE)) {
      throw new ImportRefused('disabled', 'errors', [`${SOURCE} import source is disabled`]);
    }
    const place = { user_id: viewer.userId, namespace: request.target_namespace };
    const url = await this.remote.resolveAddress(request.remote_hostname || null);
    const outcome = await this.imports.findTarget(place);
    if (outcome !== 'allowed') throw refusalOfProblem({ outcome });
    const { personal_access_token: credential } = request;
    const upstream = await this.remote.findRepository({ url, credential }, request.repo_id);
    const plan: ImportPlan = {
      ...{ source: SOURCE, place, upstream, apiUrl: url, credential },
      pageSize: request.pagination_limit ?? PAGE_SIZE,
      singleEndpointNotes: request.optional_stages?.single_endpoint_notes_import ?? false,
      withAttachments: request.optional_stages?.attachments_import ?? false,
    };
    const started = await this.imports.startImport(plan, request);
    if ('outcome' in started) throw refusalOfProblem(started);
    return started;
  }
}

function refusalOfProblem(problem: Parameters<typeof describeImportProblem>[0]): ImportRefused {
  return new ImportRefused('unprocessable', 'errors', describeImportProblem(problem, FORBIDDEN));
}
