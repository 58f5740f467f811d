import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { ImportedProject } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { ACCESS_LEVELS, Forbidden, NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { ImportRecords } from './import-records';
import type { FailureRow, ImportRow } from './import-records';
import { ImportStageRecords } from './import-stages';
import type { StageRow } from './import-stages';

/** An import with its project. */
export interface ImportView {
  readonly project: ImportedProject;
  readonly row: ImportRow;
}

/**
 * Status of the import of a project. `row` is null for a project that was not imported. Callers below reporter get no
 * `error`, no `failures`, and null for `stages`.
 */
export interface ImportStatus {
  readonly project: ProjectScope;
  readonly row: ImportRow | null;
  readonly error: string | null;
  readonly failures: readonly FailureRow[];
  readonly stages: readonly StageRow[] | null;
}

const SOURCE = 'remote';

/** Shows and cancels imports. Source: reference identity-and-import 6. */
@Injectable()
export class ImportsService {
  constructor(
    private readonly records: ImportRecords,
    private readonly stages: ImportStageRecords,
    private readonly directory: Directory,
  ) {}

  /** Cancels an import. Errors: NotFound; Forbidden; Refused for an import that has ended. */
  async cancel(viewer: SignedInViewer, projectId: number): Promise<ImportView> {
    const found = await this.records.ofProject(projectId);
    if (found?.source !== SOURCE) throw new NotFound();
    const project = await this.directory.findProject(projectId, viewer);
    // As for a project that was never imported, so that the answer does not reveal a hidden one.
    if (!project) throw new NotFound();
    if (!viewer.isAdmin && project.level < ACCESS_LEVELS.owner) {
      throw new Forbidden('Unauthorized access', { verbatim: true });
    }
    const row = await this.records.endImport(found.id, 'canceled');
    if (row) return { project: toImportedProject(project), row };
    const { state } = (await this.records.findImport(found.id)) ?? found;
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
    const [failures, stages] = await Promise.all([this.records.listFailures(row.id), this.stages.ofImport(row.id)]);
    return { project, row, error: row.error, failures, stages };
  }
}

function toImportedProject({ id, name, fullPath, nameWithNamespace }: ProjectScope): ImportedProject {
  return { id, name, full_path: fullPath, name_with_namespace: nameWithNamespace };
}
