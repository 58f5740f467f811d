import { Injectable } from '@nestjs/common';
import { Instance } from '@rookery/instance';
import { Refused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { NamespacesService } from '../namespaces/namespaces.service';
import { ProjectsService } from '../projects/projects.service';
import { TreeRemovalService } from './tree-removal.service';

/** What is asked for when a group or project is deleted. */
export interface RemovalRequest {
  readonly permanently_remove?: boolean;
  readonly full_path?: string;
}

interface Marked {
  readonly id: number;
  readonly full_path: string;
  readonly marked_for_deletion_on: string | null;
}

type Kind = 'group' | 'project';
const TABLES = { group: 'namespaces', project: 'projects' } as const;
const NOUNS = { group: 'Group', project: 'Project' } as const;

/**
 * Delayed deletion of groups and projects: the first call marks, removal follows when the period is over or when it
 * is asked for with the full path. Source: reference identity-and-import 2.6, 10.2.
 */
@Injectable()
export class DeletionMarksService {
  private readonly rows: Readonly<Record<Kind, NamespacesService | ProjectsService>>;

  constructor(
    groups: NamespacesService,
    projects: ProjectsService,
    private readonly trees: TreeRemovalService,
    private readonly instance: Instance,
  ) {
    this.rows = { group: groups, project: projects };
  }

  /** Errors: Refused for a second call without the flag, the flag without a mark, or a wrong path. */
  async request(tx: Tx, kind: Kind, thing: Marked, asked: RemovalRequest, actorId: number | null): Promise<void> {
    if (this.instance.setting('deletion_adjourned_period') === 0) return this.trees.remove(tx, kind, thing.id, actorId);
    const isMarked = thing.marked_for_deletion_on !== null;
    if (!asked.permanently_remove) {
      if (isMarked) throw new Refused(`${NOUNS[kind]} has been already marked for deletion`, { verbatim: true });
      return this.rows[kind].mark(tx, thing.id);
    }
    if (!isMarked) throw new Refused(`${NOUNS[kind]} must be marked for deletion first.`, { verbatim: true });
    if (asked.full_path?.toLowerCase() !== thing.full_path.toLowerCase()) {
      const text = `\`full_path\` is incorrect. You must enter the complete path for the ${kind}.`;
      throw new Refused(text, { verbatim: true });
    }
    return this.trees.remove(tx, kind, thing.id, actorId);
  }

  /** Takes the mark away. Errors: Refused when there is none. */
  async restore(tx: Tx, kind: Kind, thing: Pick<Marked, 'id' | 'marked_for_deletion_on'>): Promise<void> {
    if (thing.marked_for_deletion_on === null) {
      throw new Refused(`${NOUNS[kind]} has not been marked for deletion`, { verbatim: true });
    }
    await this.rows[kind].unmark(tx, thing.id);
  }

  /** What was marked at least the period ago. */
  async due(tx: Tx, kind: Kind): Promise<number[]> {
    const rows = await tx.query<{ id: number }>(
      `select id from ${TABLES[kind]} where marked_for_deletion_on <= (now() at time zone 'UTC')::date - $1::int
       order by id limit 100 for update skip locked`,
      [this.instance.setting('deletion_adjourned_period')],
    );
    return rows.map((row) => row.id);
  }
}
