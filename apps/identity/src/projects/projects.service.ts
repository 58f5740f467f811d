import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { projectCreated } from '@rookery/contracts';
import type { Visibility } from '@rookery/kernel';
import { ACCESS_LEVELS, Invalid, keepFieldsWithProblems } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { prepareStatement, violatesConstraint } from '@rookery/persistence';
import { AvatarsService } from '../avatars/avatars.service';
import { ChangeLog } from '../directory/change-log';
import { MembershipsService } from '../members/memberships.service';
import { visibilityRankSql } from '../namespaces/paths/namespace-trees.service';
import { SiblingPathsService } from '../namespaces/paths/sibling-paths.service';
import { ProjectTopicsService } from '../topics/project-topics.service';
import type { RelatedFields } from './changing/project-input';
import { Project } from './project.entity';
import type { ProjectHome, LocatedProject } from './changing/project-places.service';
import { takenProjectFieldProblems } from './changing/project-rules';

/** Minimum interval between writes of a project's last activity. Units: minutes. */
const ACTIVITY_STEP = 10;

const TOUCH = prepareStatement(
  'projects_touch',
  `with last as (select id, max(at) as at from unnest($1::bigint[], $2::timestamptz[]) as seen(id, at) group by id),
     stale as (select p.id, last.at from projects p join last on last.id = p.id
       where p.last_activity_at < last.at - interval '${ACTIVITY_STEP} minutes' order by p.id for no key update of p)
   update projects p set last_activity_at = stale.at from stale where p.id = stale.id`,
);

/** Sets default branches that a first push decided. */
const NOTE_BRANCHES = prepareStatement(
  'projects_note_default_branches',
  `with last as (select distinct on (id) id, branch, changed from unnest($1::bigint[], $2::text[], $3::boolean[])
       with ordinality as pushed (id, branch, changed, place) order by id, changed desc, place desc),
     stale as (select p.id, last.branch from projects p join last on last.id = p.id
       where p.default_branch is null or (last.changed and p.default_branch <> last.branch)
       order by p.id for no key update of p)
   update projects p set default_branch = stale.branch from stale where p.id = stale.id returning p.id`,
);

/** The branch of `HEAD` after a push. `hasChanged` is true if the push replaced a branch that does not exist. */
export interface PushedBranch {
  readonly projectId: number;
  readonly branch: string;
  readonly hasChanged: boolean;
}

/** A validated project that can be inserted. */
export interface ProjectDraft extends Partial<Project> {
  readonly name: string;
  readonly path: string;
  readonly visibility: Project['visibility'];
}
export interface ProjectOptions {
  readonly creatorId: number;
  readonly actorId: number;
}

/**
 * Rows of projects with dependent data: path, avatar, topics, the membership of the namespace's user, change log,
 * event.
 */
@Injectable()
export class ProjectsService {
  constructor(
    private readonly log: ChangeLog,
    private readonly paths: SiblingPathsService,
    private readonly memberships: MembershipsService,
    private readonly topics: ProjectTopicsService,
    private readonly avatars: AvatarsService,
  ) {}

  /**
   * Returns problems by field for values that are taken in the namespace. The result is empty if all values are free.
   */
  async takenFieldProblems(
    tx: Tx,
    namespaceId: number,
    wanted: { readonly name?: string; readonly path?: string },
  ): Promise<Record<string, string[]>> {
    const [row] = (await tx.query(
      `select exists (select 1 from projects where namespace_id = $1 and lower(name) = lower($2)) as name,
         exists (select 1 from sibling_paths where parent_id = $1 and path = lower($3)) as path`,
      [namespaceId, wanted.name ?? null, wanted.path ?? null],
    )) as [{ name: boolean; path: boolean }];
    return takenProjectFieldProblems(row.name, row.path);
  }

  /**
   * Returns why a personal namespace cannot have another project: it has reached its limit, or its user is external.
   * External users may have projects in groups only. Returns problems by field; empty if there are none.
   */
  async projectLimitProblems(tx: Tx, home: ProjectHome): Promise<Record<string, string[]>> {
    if (home.owner_id === null) return {};
    const [row] = (await tx.query(
      `select case when u.external and not u.admin then 0 else u.projects_limit end as most,
         (select count(*)::int from projects where namespace_id = $2) as has
       from users u where u.id = $1`,
      [home.owner_id, home.id],
    )) as [{ most: number; has: number }];
    if (row.has < row.most) return {};
    const none = 'Personal project creation is not allowed. Please contact your administrator with questions';
    const full = `Your project limit is ${row.most} projects! Please contact your administrator to increase it`;
    return { limit_reached: [row.most === 0 ? none : full] };
  }

  /**
   * Inserts a project. Errors: Invalid when the path was taken meanwhile; the violation of the unique index on names.
   */
  async insertProject(tx: Tx, home: ProjectHome, draft: ProjectDraft, options: ProjectOptions): Promise<number> {
    const now = new Date();
    const { identifiers } = await tx.manager.insert(Project, {
      ...draft,
      namespaceId: home.id,
      creatorId: options.creatorId,
      runnersToken: `GR1348941${randomBytes(15).toString('base64url')}`,
      createdAt: now,
      updatedAt: now,
      lastActivityAt: now,
    });
    const id = Number(identifiers[0]!['id']);
    await this.takePath(tx, home, id, draft.path);
    if (home.owner_id !== null) await this.addNamespaceUser(tx, home.owner_id, options.actorId, id);
    const facts = { project_id: id, namespace_id: home.id, creator_id: options.creatorId };
    const begins = draft.initializeWithReadme ? { initialize_with_readme: true } : {};
    const source = draft.importType ? { imported_from: draft.importType } : {};
    const prepared = draft.importType === 'git' && draft.importKey ? { import_key: draft.importKey } : {};
    const data = { ...facts, created_at: now.toISOString(), ...begins, ...source, ...prepared };
    tx.emit(projectCreated.of({ aggregateId: id, actorId: options.actorId, data }));
    return id;
  }

  /** Takes the path below the namespace and ends redirects from it. Errors: Invalid when it is taken. */
  async takePath(tx: Tx, home: Pick<ProjectHome, 'id' | 'full_path'>, projectId: number, path: string): Promise<void> {
    if (!(await this.paths.takePath(tx, home.id, path, { projectId })))
      throw new Invalid(takenProjectFieldProblems(false, true));
    await this.paths.endRedirect(tx, `${home.full_path}/${path}`);
    this.log.recordChange(tx, 'project', projectId);
  }

  /** Moves a project to another namespace or path. The former full path redirects. Errors: Invalid when it is taken. */
  async changePath(
    tx: Tx,
    from: LocatedProject,
    home: Pick<ProjectHome, 'id' | 'full_path'>,
    path: string,
  ): Promise<void> {
    await this.paths.redirectProject(tx, from.fullPath, from.project.id);
    await this.takePath(tx, home, from.project.id, path);
  }

  /** Gives a located project another name and path, each unless another project or group has it. */
  async renameIfFree(tx: Tx, from: LocatedProject, wanted: { name: string; path: string }): Promise<void> {
    const { project, home } = from;
    const taken = await this.takenFieldProblems(tx, home.id, wanted);
    const name = taken['name'] && wanted.name !== project.name ? project.name : wanted.name;
    const path = taken['path'] && wanted.path !== project.path ? project.path : wanted.path;
    await tx.query('update projects set name = $2, path = $3, updated_at = now() where id = $1', [
      project.id,
      name,
      path,
    ]);
    if (path !== project.path) await this.changePath(tx, from, home, path);
    this.log.recordChange(tx, 'project', project.id);
  }

  /** Makes the user of a personal namespace a member of a project in it. Source: reference identity-and-import 10.2. */
  async addNamespaceUser(tx: Tx, userId: number, actorId: number, projectId: number): Promise<void> {
    const person = { userId, source: { kind: 'project', id: projectId }, level: ACCESS_LEVELS.owner, actorId } as const;
    await this.memberships.grantMembership(tx, person, { isAnnounced: false });
  }

  problemsOfPicture({ avatar }: RelatedFields): Record<string, string[]> {
    return keepFieldsWithProblems({ avatar: this.avatars.findProblems(avatar) });
  }

  /**
   * Updates avatar and topics if they were sent. The caller has locked the project and records the change. Errors:
   * Invalid for invalid names of topics.
   */
  async setPictureAndTopics(tx: Tx, id: number, { avatar, topics }: RelatedFields): Promise<void> {
    const avatarUrl = await this.avatars.changeAvatar(tx, 'project', id, avatar);
    if (avatarUrl !== undefined) await tx.manager.update(Project, id, { avatarUrl });
    if (topics !== undefined) await this.topics.assignTopics(tx, id, topics);
  }

  /** Lowers the visibility of projects in these namespaces to at most the given one. */
  async lowerVisibility(tx: Tx, namespaceIds: readonly number[], visibility: Visibility): Promise<void> {
    const rows = await tx.query<{ id: number }>(
      `with above as (
         select id from projects
         where namespace_id = any($1) and ${visibilityRankSql('visibility')} > ${visibilityRankSql('$2::text')}
         order by id for no key update)
       update projects set visibility = $2, updated_at = now() where id in (select id from above) returning id`,
      [namespaceIds, visibility],
    );
    this.log.recordChange(tx, 'project', ...rows.map((row) => row.id));
  }

  /** Stores the default branches that first pushes decided. Source: reference repositories 1.5. */
  async noteDefaultBranches(tx: Tx, pushed: readonly PushedBranch[]): Promise<void> {
    const rows = await tx.prepared<{ id: number }>(NOTE_BRANCHES, [
      pushed.map(({ projectId }) => projectId),
      pushed.map(({ branch }) => branch),
      pushed.map(({ hasChanged }) => hasChanged),
    ]);
    for (const { id } of rows) this.log.recordChange(tx, 'project', id);
  }

  /** Updates the last activity of these projects. */
  async touchActivity(tx: Tx, seen: readonly { readonly projectId: number; readonly at: string }[]): Promise<void> {
    if (seen.length === 0) return;
    await tx.prepared(TOUCH, [seen.map((one) => one.projectId), seen.map((one) => one.at)]);
  }

  /** Source: reference identity-and-import 2.6, 10.2. */
  async setArchived(tx: Tx, id: number, archived: boolean): Promise<void> {
    await tx.query(`update projects set archived = $2, updated_at = now() where id = $1`, [id, archived]);
    this.log.recordChange(tx, 'project', id);
  }

  async markForDeletion(tx: Tx, id: number): Promise<void> {
    await tx.query(
      `update projects set marked_for_deletion_on = (now() at time zone 'UTC')::date, marked_for_deletion_at = now(),
         updated_at = now() where id = $1`,
      [id],
    );
    this.log.recordChange(tx, 'project', id);
  }

  async unmarkForDeletion(tx: Tx, id: number): Promise<void> {
    await tx.query(
      `update projects set marked_for_deletion_on = null, marked_for_deletion_at = null, updated_at = now() where id = $1`,
      [id],
    );
    this.log.recordChange(tx, 'project', id);
  }

  /** Deletes the row. The caller has recorded the change. */
  async remove(tx: Tx, id: number): Promise<void> {
    await tx.query(`delete from projects where id = $1`, [id]);
  }

  /**
   * Deletes the rows of all projects in these namespaces and returns their ids. The caller has already recorded the
   * change.
   */
  async removeInNamespaces(tx: Tx, namespaceIds: readonly number[]): Promise<number[]> {
    const rows = await tx.query<{ id: number }>(`delete from projects where namespace_id = any($1) returning id`, [
      namespaceIds,
    ]);
    return rows.map((row) => row.id);
  }

  /**
   * Replaces the creator of at most `limit` projects. `toId` is null for no creator. Returns the number of changed
   * projects.
   */
  async changeCreator(tx: Tx, fromId: number, toId: number | null, limit: number): Promise<number> {
    const rows = await tx.query<{ id: number }>(
      `update projects set creator_id = $2 where id in (
         select id from projects where creator_id = $1 order by id limit $3 for no key update) returning id`,
      [fromId, toId, limit],
    );
    this.log.recordChange(tx, 'project', ...rows.map((row) => row.id));
    return rows.length;
  }
}

/** Converts a unique violation of a concurrent change to an API error. */
export async function translateProjectUniqueViolations<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    const fields = toTakenNameOrPathProblems(error);
    throw fields ? new Invalid(fields) : error;
  }
}

function toTakenNameOrPathProblems(error: unknown): Record<string, string[]> | null {
  if (violatesConstraint(error, 'uq_projects_namespace_id_name')) return takenProjectFieldProblems(true, false);
  return violatesConstraint(error, 'uq_projects_namespace_id_path') ? takenProjectFieldProblems(false, true) : null;
}
