import { Injectable } from '@nestjs/common';
import { InstanceSettings } from '@rookery/instance';
import { Refused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { NamespacesService } from '../namespaces/namespaces.service';
import { ProjectsService } from '../projects/projects.service';
import { TreeRemovalService } from './tree-removal.service';

/** Parameters for deleting a group or project. */
export interface RemovalRequest {
  readonly permanently_remove?: boolean;
  readonly full_path?: string;
}

interface MarkableRow {
  readonly id: number;
  readonly full_path: string;
  readonly marked_for_deletion_on: string | null;
}

type MarkableKind = 'group' | 'project';
const TABLES = { group: 'namespaces', project: 'projects' } as const;
const NOUNS = { group: 'Group', project: 'Project' } as const;

/**
 * Delayed deletion of groups and projects. The first call marks the row. It is removed when the period is over, or by a
 * second call with the flag and the full path. A marked one gives its path free (`deletion-names.ts`). Source: reference identity-and-import 2.6, 10.2.
 */
@Injectable()
export class DeletionMarksService {
  private readonly rows: Readonly<Record<MarkableKind, NamespacesService | ProjectsService>>;

  constructor(
    groups: NamespacesService,
    projects: ProjectsService,
    private readonly trees: TreeRemovalService,
    private readonly instance: InstanceSettings,
  ) {
    this.rows = { group: groups, project: projects };
  }

  /**
   * Marks a group or project, or removes a marked one. Returns true if it was marked, so that the caller renames it.
   * Errors: Refused for a second call without the flag, the flag without a mark, or a wrong path.
   */
  async requestDeletion(
    tx: Tx,
    kind: MarkableKind,
    row: MarkableRow,
    asked: RemovalRequest,
    actorId: number | null,
  ): Promise<boolean> {
    if (this.instance.setting('deletion_adjourned_period') === 0) return this.removeAtOnce(tx, kind, row.id, actorId);
    const isMarked = row.marked_for_deletion_on !== null;
    if (!asked.permanently_remove) {
      if (isMarked) throw new Refused(`${NOUNS[kind]} has been already marked for deletion`, { verbatim: true });
      await this.rows[kind].markForDeletion(tx, row.id);
      return true;
    }
    if (!isMarked) throw new Refused(`${NOUNS[kind]} must be marked for deletion first.`, { verbatim: true });
    if (asked.full_path?.toLowerCase() !== row.full_path.toLowerCase()) {
      const text = `\`full_path\` is incorrect. You must enter the complete path for the ${kind}.`;
      throw new Refused(text, { verbatim: true });
    }
    return this.removeAtOnce(tx, kind, row.id, actorId);
  }

  private async removeAtOnce(tx: Tx, kind: MarkableKind, id: number, actorId: number | null): Promise<false> {
    await this.trees.remove(tx, kind, id, actorId);
    return false;
  }

  /** Removes the mark; the caller gives the former names back. Errors: Refused if the row is not marked. */
  async restoreRow(tx: Tx, kind: MarkableKind, row: Pick<MarkableRow, 'id' | 'marked_for_deletion_on'>): Promise<void> {
    if (row.marked_for_deletion_on === null) {
      throw new Refused(`${NOUNS[kind]} has not been marked for deletion`, { verbatim: true });
    }
    await this.rows[kind].unmarkForDeletion(tx, row.id);
  }

  /**
   * Locks groups or projects whose deletion period is over, and returns their ids. Bounds: 100; locked rows are
   * skipped.
   */
  async lockDue(tx: Tx, kind: MarkableKind): Promise<number[]> {
    const rows = await tx.query<{ id: number }>(
      `select id from ${TABLES[kind]} where marked_for_deletion_on <= (now() at time zone 'UTC')::date - $1::int
       order by id limit 100 for update skip locked`,
      [this.instance.setting('deletion_adjourned_period')],
    );
    return rows.map((row) => row.id);
  }
}
