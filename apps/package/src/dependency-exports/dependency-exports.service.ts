import { Injectable } from '@nestjs/common';
import type { GroupScope, ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { Jobs } from '@rookery/jobs';
import { Forbidden, NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, statement, Work } from '@rookery/persistence';
import type { ExportType } from './dependency-export.entity';
import { canReadDependencies } from './dependency-exports.policy';
import { DependencyExportsQueries } from './dependency-exports.queries';
import type { ExportRow } from './dependency-exports.queries';
import { generateDependencyExport } from './dependency-jobs';

/** A request for an export. */
export interface ExportRequest {
  readonly export_type: ExportType;
  readonly send_email: boolean;
}

const PROJECT_OF = statement<{ pipeline: number }, { project_id: number }>(
  'dependency_exports_project_of_pipeline',
  'select project_id from pipelines where id = :pipeline::bigint',
);

/** Creates and shows exports of dependency lists. Source: reference packages-and-admin 6.2. */
@Injectable()
export class DependencyExportsService {
  constructor(
    private readonly work: Work,
    private readonly database: Database,
    private readonly exports: DependencyExportsQueries,
    private readonly directory: Directory,
    private readonly jobs: Jobs,
  ) {}

  create(source: ProjectScope | GroupScope, viewer: SignedInViewer, request: ExportRequest): Promise<ExportRow> {
    const parent = source.kind === 'project' ? { projectId: source.id } : { groupId: source.id };
    return this.addExport(parent, viewer, request);
  }

  /** Errors: NotFound for a pipeline of a project that the caller may not see; Forbidden. */
  async createOfPipeline(pipelineId: number, viewer: SignedInViewer, request: ExportRequest): Promise<ExportRow> {
    await this.directory.requireFresh(viewer);
    const [pipeline] = await this.database.run(PROJECT_OF, { pipeline: pipelineId });
    const project = pipeline && (await this.directory.findProject(pipeline.project_id, viewer));
    if (!project) throw new NotFound('Pipeline');
    if (!canReadDependencies(viewer, project)) throw new Forbidden();
    return this.addExport({ projectId: project.id, pipelineId }, viewer, request);
  }

  /**
   * Returns an export to its author. Errors: NotFound; Forbidden for other callers, and for an author who may not read
   * the dependencies any more.
   */
  async show(id: number, viewer: SignedInViewer): Promise<ExportRow> {
    await this.directory.requireFresh(viewer);
    const found = await this.exports.findExport(id);
    if (!found) throw new NotFound('');
    if (found.author_id !== viewer.userId || !(await this.mayReadDependenciesOf(found, viewer))) throw new Forbidden();
    return found;
  }

  private async mayReadDependenciesOf({ project_id, group_id }: ExportRow, viewer: SignedInViewer): Promise<boolean> {
    const source =
      project_id === null
        ? await this.directory.findGroup(group_id!, viewer)
        : await this.directory.findProject(project_id, viewer);
    return source !== null && canReadDependencies(viewer, source);
  }

  private addExport(
    parent: { readonly projectId?: number; readonly groupId?: number; readonly pipelineId?: number },
    { userId: authorId }: SignedInViewer,
    { export_type: exportType, send_email: sendEmail }: ExportRequest,
  ): Promise<ExportRow> {
    const { projectId = null, groupId = null, pipelineId = null } = parent;
    return this.work.run(async (tx) => {
      const row = await this.exports.addExport(tx, { projectId, groupId, pipelineId, authorId, exportType, sendEmail });
      await this.jobs.enqueue(tx, generateDependencyExport, { export_id: row.id });
      return row;
    });
  }
}
