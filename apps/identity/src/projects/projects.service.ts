import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { projectCreated } from '@rookery/contracts';
import { groupLevelSql } from '@rookery/directory';
import type { SignedInViewer, Visibility } from '@rookery/kernel';
import { ACCESS_LEVELS, Forbidden, Invalid, NotFound, VISIBILITY_LEVELS } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { violates, Work } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { ChangeLog } from '../directory/change-log';
import { mayCreateProjectIn } from '../groups/group.policy';
import { identitySettings } from '../identity.config';
import { projectPathFrom } from '../paths/path-rules';
import { SiblingPaths } from '../paths/sibling-paths.repository';
import { RemovalService } from '../removal/removal.service';
import type { RemovalRequest } from '../removal/removal.service';
import { OWN_TABLES } from '../scope/reach-sql';
import { columnsOf, problemsOfProject, takenProblems } from './project-rules';
import { Project } from './project.entity';
import type { KnownProject, NewProject, ProjectChange } from './project-input';

interface Home {
  readonly id: number;
  readonly kind: 'group' | 'user';
  readonly owner_id: number | null;
  readonly full_path: string;
  readonly visibility: Visibility;
  readonly project_creation_level: string;
  readonly level: number;
}

const NOT_VALID = { namespace: ['is not valid'] };

/** Making, changing and deleting projects. Source: reference identity-and-import 10.2. */
@Injectable()
export class ProjectsService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly paths: SiblingPaths,
    private readonly removal: RemovalService,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  /** Errors: Invalid by field. */
  create(viewer: SignedInViewer, params: NewProject): Promise<number> {
    return this.namedFailures(() => this.work.run((tx) => this.insert(tx, viewer, params)));
  }

  /** Errors: Invalid by field; Forbidden for a change of visibility by less than an owner. */
  update(viewer: SignedInViewer, scope: KnownProject, params: ProjectChange): Promise<void> {
    return this.namedFailures(() => this.work.run((tx) => this.change(tx, viewer, scope, params)));
  }

  /** Shape: `unchanged` is asked with the time of the last change before anything happens. */
  async remove(
    viewer: SignedInViewer,
    scope: KnownProject,
    asked: RemovalRequest,
    unchanged: (at: Date) => void,
  ): Promise<void> {
    await this.work.run(async (tx) => {
      const project = await this.locked(tx, scope.id);
      unchanged(project.updated_at);
      const { id, marked_for_deletion_on } = project;
      const marked = { id, marked_for_deletion_on, full_path: scope.fullPath };
      await this.removal.request(tx, 'project', marked, asked, viewer.userId);
    });
  }

  private async insert(tx: Tx, viewer: SignedInViewer, params: NewProject): Promise<number> {
    const home = await this.home(tx, viewer, params.namespace_id ?? null);
    const path = params.path ?? projectPathFrom(params.name ?? '');
    const name = params.name ?? path;
    const visibility = params.visibility ?? this.defaultVisibility(home);
    const problems = problemsOfProject({ ...params, name, path, visibility }, home);
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    await this.refuseTaken(tx, home.id, { name, path });

    const now = new Date();
    const { identifiers } = await tx.manager.insert(Project, {
      ...columnsOf(params),
      namespace_id: home.id,
      creator_id: viewer.userId,
      name,
      path,
      visibility,
      runners_token: `GR1348941${randomBytes(15).toString('base64url')}`,
      created_at: now,
      updated_at: now,
      last_activity_at: now,
    });
    const id = Number(identifiers[0]!['id']);
    if (!(await this.paths.take(tx, home.id, path, { projectId: id }))) throw new Invalid(takenProblems(false, true));
    await this.paths.endRedirect(tx, `${home.full_path}/${path}`);
    this.log.record(tx, 'project', id);
    if (home.owner_id !== null) await this.addOwner(tx, home.owner_id, viewer.userId, id);
    const data = { project_id: id, namespace_id: home.id, creator_id: viewer.userId, created_at: now.toISOString() };
    tx.emit(projectCreated.of({ aggregateId: id, actorId: viewer.userId, data }));
    return id;
  }

  /** Where the project goes, locked against moving away meanwhile. Errors: Invalid when the viewer may not create there. */
  private async home(tx: Tx, viewer: SignedInViewer, namespaceId: number | null): Promise<Home> {
    const level = groupLevelSql({ user: '$1::bigint', namespace: 'n', tables: OWN_TABLES });
    const [home] = await tx.query<Home>(
      `select n.id, n.kind, n.owner_id, n.full_path, n.visibility, n.project_creation_level, ${level} as level
       from namespaces n where ${namespaceId === null ? 'n.owner_id = $1' : 'n.id = $2'} for share of n`,
      namespaceId === null ? [viewer.userId] : [viewer.userId, namespaceId],
    );
    if (!home) throw new Invalid(NOT_VALID);
    if (home.kind === 'group' && !mayCreateProjectIn(viewer, home.level, home.project_creation_level))
      throw new Invalid(NOT_VALID);
    if (home.kind === 'user' && home.owner_id !== viewer.userId && !viewer.isAdmin) throw new Invalid(NOT_VALID);
    if (home.owner_id !== null) await this.withinLimit(tx, home.owner_id, home.id);
    return home;
  }

  private async withinLimit(tx: Tx, ownerId: number, namespaceId: number): Promise<void> {
    const [row] = (await tx.query(
      `select projects_limit, (select count(*)::int from projects where namespace_id = $2) as has from users where id = $1`,
      [ownerId, namespaceId],
    )) as [{ projects_limit: number; has: number }];
    if (row.has < row.projects_limit) return;
    const none = 'Personal project creation is not allowed. Please contact your administrator with questions';
    const full = `Your project limit is ${row.projects_limit} projects! Please contact your administrator to increase it`;
    throw new Invalid({ limit_reached: [row.projects_limit === 0 ? none : full] });
  }

  private defaultVisibility(home: Home): Visibility {
    const wanted = this.settings.projectVisibility;
    return VISIBILITY_LEVELS[wanted] > VISIBILITY_LEVELS[home.visibility] ? home.visibility : wanted;
  }

  /** The person of a personal namespace is a member of what lies there. Source: reference identity-and-import 10.3. */
  private async addOwner(tx: Tx, userId: number, creatorId: number, projectId: number): Promise<void> {
    const [member] = (await tx.query(
      `insert into members (user_id, source_type, source_id, access_level, created_by_id)
       values ($1, 'project', $2, $3, $4) returning id`,
      [userId, projectId, ACCESS_LEVELS.owner, creatorId],
    )) as [{ id: number }];
    this.log.record(tx, 'membership', member.id);
  }

  private async change(tx: Tx, viewer: SignedInViewer, scope: KnownProject, params: ProjectChange): Promise<void> {
    const home = {
      full_path: scope.namespace.fullPath,
      kind: scope.namespace.kind,
      visibility: await this.homeVisibility(tx, scope),
    };
    const old = await this.locked(tx, scope.id);
    const [name, path, visibility] = [
      params.name ?? old.name,
      params.path ?? old.path,
      params.visibility ?? old.visibility,
    ];
    if (visibility !== old.visibility && !viewer.isAdmin && scope.level < ACCESS_LEVELS.owner) throw new Forbidden();
    const problems = problemsOfProject({ ...params, name, path, visibility }, home);
    if (visibility === old.visibility) delete problems['visibility_level'];
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const isRenamed = {
      name: name.toLowerCase() !== old.name.toLowerCase(),
      path: path.toLowerCase() !== old.path.toLowerCase(),
    };
    await this.refuseTaken(tx, old.namespace_id, {
      ...(isRenamed.name ? { name } : {}),
      ...(isRenamed.path ? { path } : {}),
    });

    const { settings, ...columns } = columnsOf(params);
    const changes = {
      ...columns,
      name,
      path,
      visibility,
      settings: { ...old.settings, ...settings },
      updated_at: new Date(),
    };
    await tx.manager.update(Project, scope.id, changes);
    if (path !== old.path) await this.move(tx, scope, old, path);
    this.log.record(tx, 'project', scope.id);
  }

  private async move(tx: Tx, scope: KnownProject, old: Project, path: string): Promise<void> {
    if (!(await this.paths.take(tx, old.namespace_id, path, { projectId: old.id })))
      throw new Invalid(takenProblems(false, true));
    await this.paths.redirectProject(tx, `${scope.namespace.fullPath}/${old.path}`, old.id);
    await this.paths.endRedirect(tx, `${scope.namespace.fullPath}/${path}`);
  }

  private async homeVisibility(tx: Tx, scope: KnownProject): Promise<Visibility> {
    const [row] = await tx.query<{ visibility: Visibility }>(
      `select visibility from namespaces where id = $1 for share`,
      [scope.namespace.id],
    );
    if (!row) throw new NotFound('Project');
    return row.visibility;
  }

  private async locked(tx: Tx, id: number): Promise<Project> {
    const [row] = await tx.query<Project>(`select * from projects where id = $1 for no key update`, [id]);
    if (!row) throw new NotFound('Project');
    return row;
  }

  private async refuseTaken(tx: Tx, namespaceId: number, wanted: { name?: string; path?: string }): Promise<void> {
    const [row] = (await tx.query(
      `select exists (select 1 from projects where namespace_id = $1 and lower(name) = lower($2)) as name,
         exists (select 1 from sibling_paths where parent_id = $1 and path = lower($3)) as path`,
      [namespaceId, wanted.name ?? null, wanted.path ?? null],
    )) as [{ name: boolean; path: boolean }];
    if (row.name || row.path) throw new Invalid(takenProblems(row.name, row.path));
  }

  /** Two at once: the index refuses the later one in its own words. */
  private async namedFailures<T>(use: () => Promise<T>): Promise<T> {
    try {
      return await use();
    } catch (error) {
      if (violates(error, 'uq_projects_namespace_id_name')) throw new Invalid(takenProblems(true, false));
      if (violates(error, 'uq_projects_namespace_id_path')) throw new Invalid(takenProblems(false, true));
      throw error;
    }
  }
}
