import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { ImportedProject, ImportTargetAnswer } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { ACCESS_LEVELS, Forbidden, ImportRefused, NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import type { SettingsOf } from '@rookery/platform';
import { importSettings } from '../import.config';
import type { RemoteRepository } from '../sources/remote/remote-repository';
import { IdentityImportsClient } from './identity-imports.client';
import { ImportCredentials } from './import-credentials';
import { ImportRecords } from './import-records';
import type { FailureRow, ImportRow } from './import-records';
import { ImportStages } from './import-stages';
import type { StageRow } from './import-stages';
import { RemoteLookup } from './remote-lookup';

/** Source: reference identity-and-import 6.3. */
export interface ImportRequest {
  readonly personal_access_token: string;
  readonly repo_id: number;
  readonly target_namespace: string;
  readonly new_name?: string | undefined;
  readonly remote_hostname?: string | undefined;
  readonly optional_stages?: Readonly<Record<string, unknown>> | undefined;
  readonly timeout_strategy?: 'optimistic' | 'pessimistic' | undefined;
  readonly pagination_limit?: number | undefined;
}

/** An import with its project. */
export interface ShownImport {
  readonly project: ImportedProject;
  readonly row: ImportRow;
}

/**
 * Shape: no row for a project that was not imported; `error`, `failures` and `stages` (null) are hidden from some callers.
 */
export interface ImportStatus {
  readonly project: ProjectScope;
  readonly row: ImportRow | null;
  readonly error: string | null;
  readonly failures: readonly FailureRow[];
  readonly stages: readonly StageRow[] | null;
}

const SOURCE = 'remote';
const PAGE_SIZE = 100;
const TARGET_PROBLEMS: Readonly<Record<Exclude<ImportTargetAnswer['outcome'], 'allowed'>, string>> = {
  missing: 'Namespace or group to import repository into does not exist.',
  forbidden: 'You are not allowed to import projects in this namespace.',
};

/** Starts, shows and cancels imports. Source: reference identity-and-import 6. */
@Injectable()
export class ImportsService {
  constructor(
    private readonly records: ImportRecords,
    private readonly stages: ImportStages,
    private readonly identity: IdentityImportsClient,
    private readonly remote: RemoteLookup,
    private readonly credentials: ImportCredentials,
    private readonly directory: Directory,
    @Inject(importSettings.token) private readonly settings: SettingsOf<typeof importSettings>,
  ) {}

  /** Creates a project and schedules its import. Errors: ImportRefused; Unavailable. */
  async start(viewer: SignedInViewer, request: ImportRequest): Promise<ShownImport> {
    if (!this.settings.sources.includes(SOURCE)) {
      throw new ImportRefused('disabled', 'errors', [`${SOURCE} import source is disabled`]);
    }
    const target = { user_id: viewer.userId, namespace: request.target_namespace };
    const url = await this.remote.addressOf(request.remote_hostname || null);
    const { outcome } = await this.identity.target(target);
    if (outcome !== 'allowed') throw unprocessable(TARGET_PROBLEMS[outcome]);
    const repository = await this.remote.find({ url, token: request.personal_access_token }, request.repo_id);
    return this.create(target, request, { repository, url });
  }

  /** Errors: ImportRefused if identity refuses the project. */
  private async create(
    target: { readonly user_id: number; readonly namespace: string },
    { personal_access_token: token, new_name: name, pagination_limit: pageSize, ...request }: ImportRequest,
    { repository, url }: { readonly repository: RemoteRepository; readonly url: string },
  ): Promise<ShownImport> {
    const importKey = randomUUID();
    const id = await this.records.add({
      ...{ importKey, userId: target.user_id, source: SOURCE, cloneUrl: repository.cloneUrl },
      ...{ upstreamName: repository.fullName, upstreamUrl: repository.webUrl, defaultBranch: repository.defaultBranch },
      ...{ apiUrl: url, pageSize: pageSize ?? PAGE_SIZE, isOptimistic: request.timeout_strategy === 'optimistic' },
      singleEndpointNotes: isSwitchedOn(request.optional_stages?.['single_endpoint_notes_import']),
      sealedCredential: this.credentials.seal(importKey, token),
    });
    const answer = await this.identity.createProject({
      ...target,
      ...{ import_key: importKey, import_type: SOURCE, import_url: repository.cloneUrl },
      ...{ name: name || repository.name, description: repository.description, is_private: repository.isPrivate },
      default_branch: repository.defaultBranch,
    });
    if (answer.outcome !== 'created') {
      await this.records.drop(id);
      throw unprocessable(answer.outcome === 'invalid' ? answer.problems.join(', ') : TARGET_PROBLEMS[answer.outcome]);
    }
    const row = await this.records.schedule(id, answer.project.id);
    if (!row) throw unprocessable('The import took too long to start.');
    return { project: answer.project, row };
  }

  /** Cancels an import. Errors: NotFound; Forbidden; Refused for an import that has ended. */
  async cancel(viewer: SignedInViewer, projectId: number): Promise<ShownImport> {
    const found = await this.records.ofProject(projectId);
    if (found?.source !== SOURCE) throw new NotFound();
    const project = await this.directory.project(projectId, viewer);
    // As for a project that was never imported, so that the answer does not reveal a hidden one.
    if (!project) throw new NotFound();
    if (!viewer.isAdmin && project.level < ACCESS_LEVELS.owner) {
      throw new Forbidden('Unauthorized access', { verbatim: true });
    }
    const row = await this.records.end(found.id, 'canceled');
    if (row) return { project: shownProject(project), row };
    const { state } = (await this.records.one(found.id)) ?? found;
    throw new Refused(`The import cannot be canceled because it is ${state}`, { verbatim: true });
  }

  /**
   * Returns the import of a project. Errors and failures contain names of branches and tags: only reporters and higher roles
   * get them.
   */
  async show(viewer: SignedInViewer, project: ProjectScope): Promise<ImportStatus> {
    const row = await this.records.ofProject(project.id);
    const seesDetails = viewer.isAdmin || project.level >= ACCESS_LEVELS.reporter;
    if (!row || !seesDetails) return { project, row, error: null, failures: [], stages: null };
    const [failures, stages] = await Promise.all([this.records.failures(row.id), this.stages.ofImport(row.id)]);
    return { project, row, error: row.error, failures, stages };
  }
}

/** Clients send flags as booleans, or as texts. */
function isSwitchedOn(value: unknown): boolean {
  return value === true || value === 'true' || value === '1';
}

function unprocessable(text: string): ImportRefused {
  return new ImportRefused('unprocessable', 'errors', text);
}

function shownProject({ id, name, fullPath, nameWithNamespace }: ProjectScope): ImportedProject {
  return { id, name, full_path: fullPath, name_with_namespace: nameWithNamespace };
}
