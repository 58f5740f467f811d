import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { projectCreated } from '@rookery/contracts';
import { ACCESS_LEVELS, Invalid } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { violates } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { SiblingPaths } from '../paths/sibling-paths.repository';
import { Project } from '../projects/project.entity';
import type { Home, Placed } from './project-places';
import { takenProblems } from './project-rules';

/** A project that is ready to be written. */
export interface ProjectDraft extends Partial<Project> {
  readonly name: string;
  readonly path: string;
  readonly visibility: Project['visibility'];
}
export interface Making {
  readonly creatorId: number;
  readonly actorId: number;
  /** The first commit that is wished for, once there are repositories. Source: ADR 0118. */
  readonly initialize_with_readme: boolean | undefined;
}

/** Writing a project with all that hangs on its row: its path, its person's membership, the log, the event. */
@Injectable()
export class ProjectRows {
  constructor(
    private readonly log: ChangeLog,
    private readonly paths: SiblingPaths,
  ) {}

  /** What of this is taken in the namespace. Shape: problems by field, empty when it is free. */
  async taken(
    tx: Tx,
    namespaceId: number,
    wanted: { readonly name?: string; readonly path?: string },
  ): Promise<Record<string, string[]>> {
    const [row] = (await tx.query(
      `select exists (select 1 from projects where namespace_id = $1 and lower(name) = lower($2)) as name,
         exists (select 1 from sibling_paths where parent_id = $1 and path = lower($3)) as path`,
      [namespaceId, wanted.name ?? null, wanted.path ?? null],
    )) as [{ name: boolean; path: boolean }];
    return takenProblems(row.name, row.path);
  }

  /** Why the namespace of a person has no room for one more. Shape: problems by field, empty when it has. */
  async crowding(tx: Tx, home: Home): Promise<Record<string, string[]>> {
    if (home.owner_id === null) return {};
    const [row] = (await tx.query(
      `select u.projects_limit as most, (select count(*)::int from projects where namespace_id = $2) as has
       from users u where u.id = $1`,
      [home.owner_id, home.id],
    )) as [{ most: number; has: number }];
    if (row.has < row.most) return {};
    const none = 'Personal project creation is not allowed. Please contact your administrator with questions';
    const full = `Your project limit is ${row.most} projects! Please contact your administrator to increase it`;
    return { limit_reached: [row.most === 0 ? none : full] };
  }

  /** Errors: Invalid when the path was taken meanwhile; the unique index of the name in its own words. */
  async insert(tx: Tx, home: Home, draft: ProjectDraft, making: Making): Promise<number> {
    const now = new Date();
    const { identifiers } = await tx.manager.insert(Project, {
      ...draft,
      namespace_id: home.id,
      creator_id: making.creatorId,
      runners_token: `GR1348941${randomBytes(15).toString('base64url')}`,
      created_at: now,
      updated_at: now,
      last_activity_at: now,
    });
    const id = Number(identifiers[0]!['id']);
    await this.settle(tx, home, id, draft.path);
    if (home.owner_id !== null) await this.addPerson(tx, home.owner_id, making.actorId, id);
    const facts = { project_id: id, namespace_id: home.id, creator_id: making.creatorId };
    const { initialize_with_readme } = making;
    const data = { ...facts, created_at: now.toISOString(), initialize_with_readme };
    tx.emit(projectCreated.of({ aggregateId: id, actorId: making.actorId, data }));
    return id;
  }

  /** Takes the path below the namespace; what sits there now is meant by it. Errors: Invalid when it is taken. */
  async settle(tx: Tx, home: Pick<Home, 'id' | 'full_path'>, projectId: number, path: string): Promise<void> {
    if (!(await this.paths.take(tx, home.id, path, { projectId }))) throw new Invalid(takenProblems(false, true));
    await this.paths.endRedirect(tx, `${home.full_path}/${path}`);
    this.log.record(tx, 'project', projectId);
  }

  /** Gives a project another place or path; the former full path leads to it. Errors: Invalid when it is taken. */
  async resettle(tx: Tx, from: Placed, home: Pick<Home, 'id' | 'full_path'>, path: string): Promise<void> {
    await this.paths.redirectProject(tx, from.fullPath, from.project.id);
    await this.settle(tx, home, from.project.id, path);
  }

  /** The person of a personal namespace is a member of what lies there. Source: ADR 0064 (3). */
  async addPerson(tx: Tx, userId: number, actorId: number, projectId: number): Promise<void> {
    const [member] = (await tx.query(
      `insert into members (user_id, source_type, source_id, access_level, created_by_id) values ($1, 'project', $2, $3, $4)
       on conflict (source_type, source_id, user_id)
         do update set access_level = excluded.access_level, expires_on = null, updated_at = now()
       returning id`,
      [userId, projectId, ACCESS_LEVELS.owner, actorId],
    )) as [{ id: number }];
    this.log.record(tx, 'membership', member.id);
  }
}

/** Two at once: the index refuses the later one in its own words, which become those of the API. */
export async function namingTaken<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    const fields = takenFields(error);
    throw fields ? new Invalid(fields) : error;
  }
}

function takenFields(error: unknown): Record<string, string[]> | null {
  if (violates(error, 'uq_projects_namespace_id_name')) return takenProblems(true, false);
  return violates(error, 'uq_projects_namespace_id_path') ? takenProblems(false, true) : null;
}
