import { Injectable } from '@nestjs/common';
import { groupAccessLevelSql } from '@rookery/directory';
import type { Viewer, Visibility } from '@rookery/kernel';
import { Conflict, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { mayCreateProjectIn } from '../../namespaces/group.policy';
import { NamespaceTreesService } from '../../namespaces/paths/namespace-trees.service';
import type { ProjectRecord } from '../project.entity';
import { isGroupReadOnlySql } from '../../directory/change-states';
import { OWN_TABLES } from '../../directory/reach/reach-sql';

/** The present or future namespace of a project, with the caller's access level there. */
export interface ProjectHome {
  readonly id: number;
  readonly kind: 'group' | 'user';
  /** The user of a personal namespace. */
  readonly owner_id: number | null;
  readonly root_id: number;
  readonly full_path: string;
  readonly visibility: Visibility;
  readonly project_creation_level: string;
  readonly level: number;
  /** Whether its contents take no writes: it or a group above is marked for deletion. */
  readonly archived: boolean;
}
export interface LocatedProject {
  readonly project: ProjectRecord;
  readonly home: ProjectHome;
  readonly fullPath: string;
}

const LEVEL = groupAccessLevelSql({ user: '$2::bigint', namespace: 'n', tables: OWN_TABLES });
/** Maximum number of attempts when the project is moved concurrently. */
const MAX_TRIES = 5;

/**
 * Locks the namespaces of projects, then the project, while a project is created or changed. Namespaces above are
 * locked first.
 */
@Injectable()
export class ProjectLocksService {
  constructor(private readonly trees: NamespaceTreesService) {}

  /**
   * Locks a namespace and returns it, or null if it is unknown. A personal namespace is locked exclusively, because its
   * projects are counted.
   */
  async lockNamespace(tx: Tx, viewer: Pick<Viewer, 'userId'>, namespaceId: number): Promise<ProjectHome | null> {
    const [found] = await tx.query<{ kind: string }>(`select kind from namespaces where id = $1`, [namespaceId]);
    if (!found) return null;
    const [home] = await tx.query<ProjectHome>(
      `select n.id, n.kind, n.owner_id, n.traversal_ids[1] as root_id, n.full_path, n.visibility,
         n.project_creation_level, ${LEVEL} as level, ${isGroupReadOnlySql('n')} as archived
       from namespaces n where n.id = $1 for ${found.kind === 'user' ? 'no key update' : 'share'} of n`,
      [namespaceId, viewer.userId],
    );
    return home ?? null;
  }

  /** Returns null for bots, which have no personal namespace. */
  async ownNamespace(tx: Tx, userId: number): Promise<number | null> {
    const [own] = await tx.query<{ id: number }>(`select id from namespaces where owner_id = $1`, [userId]);
    return own?.id ?? null;
  }

  /** Locks a project and its namespace. Errors: NotFound for the project. */
  async lockProjectAndNamespace(tx: Tx, viewer: Pick<Viewer, 'userId'>, projectId: number): Promise<LocatedProject> {
    const { placed } = await this.lockProjectAndTarget(tx, viewer, projectId, null);
    return placed;
  }

  /**
   * Locks a project, its namespace, and the target namespace. Errors: NotFound for project or target; Conflict when the
   * project is moved repeatedly.
   */
  async withTarget(
    tx: Tx,
    viewer: Pick<Viewer, 'userId'>,
    projectId: number,
    targetId: number,
  ): Promise<{ placed: LocatedProject; target: ProjectHome }> {
    const { placed, target } = await this.lockProjectAndTarget(tx, viewer, projectId, targetId);
    if (!target) throw new NotFound('Namespace');
    return { placed, target };
  }

  private async lockProjectAndTarget(
    tx: Tx,
    viewer: Pick<Viewer, 'userId'>,
    projectId: number,
    targetId: number | null,
  ): Promise<{ placed: LocatedProject; target: ProjectHome | null }> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const [at] = await tx.query<{ namespace_id: number }>(`select namespace_id from projects where id = $1`, [
        projectId,
      ]);
      if (!at) throw new NotFound('Project');
      const homes = new Map<number, ProjectHome | null>();
      const ids = new Set([at.namespace_id, ...(targetId === null ? [] : [targetId])]);
      for (const id of await this.trees.inLockOrder(tx, [...ids]))
        homes.set(id, await this.lockNamespace(tx, viewer, id));
      const project = await this.lockProject(tx, projectId);
      const home = homes.get(project.namespace_id);
      // The project may have been moved between reading and locking.
      if (!home || project.namespace_id !== at.namespace_id) continue;
      const placed = { project, home, fullPath: `${home.full_path}/${project.path}` };
      return { placed, target: targetId === null ? null : (homes.get(targetId) ?? null) };
    }
    throw new Conflict('409 Conflict: Resource lock');
  }

  /** Locks only the project. Errors: NotFound. */
  async lockProject(tx: Tx, projectId: number): Promise<ProjectRecord> {
    const [project] = await tx.query<ProjectRecord>(`select * from projects where id = $1 for no key update`, [
      projectId,
    ]);
    if (!project) throw new NotFound('Project');
    return project;
  }
}

/**
 * Whether the viewer may create projects in this namespace or move them there. No user may if it is archived. Source: reference identity-and-import 10.2, 12; docs/reference/identity-and-import.md 2.6.
 */
export function mayPutProjectsIn(viewer: Viewer, home: ProjectHome): boolean {
  if (home.kind === 'user') return viewer.isAdmin || home.owner_id === viewer.userId;
  return !home.archived && mayCreateProjectIn(viewer, home.level, home.project_creation_level);
}
