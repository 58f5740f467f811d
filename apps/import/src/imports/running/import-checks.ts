import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { IdentityImportsClient } from '../identity-imports.client';
import { ImportRecords } from '../import-records';
import type { ImportRow } from '../import-records';

/** The import ended while a stage ran. */
export class ImportEnded extends Error {}

/** The user who started the import may not import into the namespace any more. */
export class ImportPermissionLost extends Error {
  constructor() {
    super('The user who started the import may not create projects in this namespace any more.');
    this.name = 'ImportPermissionLost';
  }
}

/** Checks of a running import, before its first stage and after each page. Source: reference identity-and-import 6.1. */
@Injectable()
export class ImportChecks {
  constructor(
    private readonly records: ImportRecords,
    private readonly directory: Directory,
    private readonly identity: IdentityImportsClient,
  ) {}

  /**
   * Errors: ImportEnded for an import that was cancelled or deleted meanwhile; ImportPermissionLost if its user has lost the role
   * in the namespace of the project, or is not active any more; Unavailable.
   */
  async checkImport({ id, user_id, project_id: projectId, source }: ImportRow): Promise<void> {
    if ((await this.records.findImport(id))?.state !== 'started') throw new ImportEnded();
    const project = (await this.directory.findProjects([projectId!])).get(projectId!);
    // The copy of the directory may not have the project yet, and loses it when it is deleted, which ends the import.
    if (!project) return;
    const namespace = project.fullPath.slice(0, project.fullPath.lastIndexOf('/'));
    const { outcome } = await this.identity.findTarget({ user_id, namespace, import_type: source });
    if (outcome !== 'allowed') throw new ImportPermissionLost();
  }
}
