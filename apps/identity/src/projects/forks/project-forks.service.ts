import { Injectable } from '@nestjs/common';
import { projectForked } from '@rookery/contracts';
import type { SignedInViewer, Visibility } from '@rookery/kernel';
import { Conflict, Invalid, NotFound, VISIBILITY_LEVELS } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import type { Picture } from '../../avatars/picture';
import { mayPutProjectsIn, ProjectLocksService } from '../changing/project-places.service';
import type { ProjectHome, LocatedProject } from '../changing/project-places.service';
import { translateProjectUniqueViolations, ProjectsService } from '../projects.service';
import type { ProjectDraft } from '../projects.service';
import { copyStorageFigures } from '../../statistics/project-statistics';
import { projectTextLengthProblems, problemsOfProject } from '../changing/project-rules';
import type { ProjectRecord } from '../project.entity';
import { forkedColumns, readProjectSettingOrDefault } from './forked-columns';
import { mayFork } from './fork.policy';

const TARGET = 'Target Namespace';

/** Fields for creating a fork. Source: reference identity-and-import 10.2. */
export interface NewFork {
  readonly name?: string;
  readonly path?: string;
  readonly description?: string | null;
  readonly visibility?: Visibility;
  /** The only branch to copy, which becomes the default branch. Blank or absent: all branches. */
  readonly branches?: string;
}

/** Forks of projects. Source: reference identity-and-import 10.2. */
@Injectable()
export class ProjectForksService {
  constructor(
    private readonly work: Work,
    private readonly places: ProjectLocksService,
    private readonly projects: ProjectsService,
  ) {}

  /**
   * Forks a project. `targetId` is null for the caller's own namespace. Errors: NotFound for a project that may not be
   * forked, and for a namespace in which the caller may not create projects; Conflict with the problems by field.
   */
  async forkProject(
    viewer: SignedInViewer,
    source: { readonly id: number; readonly level: number },
    targetId: number | null,
    wish: NewFork,
  ): Promise<number> {
    try {
      return await translateProjectUniqueViolations(() =>
        this.work.run((tx) => this.insertFork(tx, viewer, source, targetId, wish)),
      );
    } catch (error) {
      throw error instanceof Invalid ? new Conflict(error.fields) : error;
    }
  }

  private async insertFork(
    tx: Tx,
    viewer: SignedInViewer,
    source: { readonly id: number; readonly level: number },
    targetId: number | null,
    params: NewFork,
  ): Promise<number> {
    const namespaceId = targetId ?? (await this.places.ownNamespace(tx, viewer.userId));
    if (namespaceId === null) throw new NotFound(TARGET);
    const { placed, target } = await this.places.withTarget(tx, viewer, source.id, namespaceId);
    await this.checkForkTarget(tx, viewer, { placed, level: source.level }, target);
    const draft = this.createForkDraft(placed.project, target, params);
    await this.validateFork(tx, target, draft);

    const options = { creatorId: viewer.userId, actorId: viewer.userId };
    const id = await this.projects.insertProject(tx, target, draft, options);
    const picture = await this.findProjectPicture(tx, source.id);
    if (picture) await this.projects.setPictureAndTopics(tx, id, { avatar: picture });
    const facts = { project_id: id, source_project_id: source.id, namespace_id: target.id, creator_id: viewer.userId };
    const branch = draft.forkedBranch ?? undefined;
    const data = { ...facts, forked_at: new Date().toISOString(), ...(branch === undefined ? {} : { branch }) };
    await copyStorageFigures(tx, source.id, id);
    tx.emit(projectForked.of({ aggregateId: id, actorId: viewer.userId, data }));
    return id;
  }

  private async checkForkTarget(
    tx: Tx,
    viewer: SignedInViewer,
    { placed: { project, home }, level }: { readonly placed: LocatedProject; readonly level: number },
    target: ProjectHome,
  ): Promise<void> {
    const { visibility } = project;
    const features = {
      forking: readProjectSettingOrDefault(project, 'forking_access_level'),
      repository: readProjectSettingOrDefault(project, 'repository_access_level'),
    };
    if (!mayFork(viewer, { visibility, level, ...features })) throw new NotFound('');
    if (!mayPutProjectsIn(viewer, target)) throw new NotFound(TARGET);
    if (viewer.isAdmin || target.root_id === home.root_id) return;
    const [root] = await tx.query<{ keeps: boolean | null }>(
      `select (settings ->> 'prevent_forking_outside_group')::boolean as keeps from namespaces where id = $1`,
      [home.root_id],
    );
    if (root?.keeps) throw new NotFound(TARGET);
  }

  private createForkDraft(source: ProjectRecord, target: ProjectHome, params: NewFork): ProjectDraft {
    return {
      ...forkedColumns(source),
      forkedFromProjectId: source.id,
      forkNetworkId: source.fork_network_id ?? source.id,
      ...(params.branches ? { forkedBranch: params.branches, defaultBranch: params.branches } : {}),
      // Every request for the fork's repository gets the whole of it, so there is nothing to wait for.
      importStatus: 'finished',
      name: params.name || source.name,
      path: params.path || source.path,
      description: params.description === undefined ? source.description : params.description,
      visibility: lowestVisibility(
        source.visibility,
        target.kind === 'group' ? target.visibility : 'public',
        params.visibility,
      ),
    };
  }

  private async validateFork(tx: Tx, target: ProjectHome, draft: ProjectDraft): Promise<void> {
    const { description = null, defaultBranch = null } = draft;
    const problems = {
      ...problemsOfProject(draft, target),
      ...projectTextLengthProblems({ description, default_branch: defaultBranch ?? undefined }),
      ...(await this.projects.projectLimitProblems(tx, target)),
    };
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const taken = await this.projects.takenFieldProblems(tx, target.id, draft);
    if (Object.keys(taken).length > 0) throw new Invalid(taken);
  }

  private async findProjectPicture(tx: Tx, projectId: number): Promise<Picture | null> {
    const [picture] = await tx.query<Picture>(`select filename, bytes from avatars where project_id = $1`, [projectId]);
    return picture ?? null;
  }
}

/** Returns the most restricted visibility; skips undefined ones. */
function lowestVisibility(first: Visibility, ...others: readonly (Visibility | undefined)[]): Visibility {
  return others.reduce<Visibility>(
    (least, other) => (other !== undefined && VISIBILITY_LEVELS[other] < VISIBILITY_LEVELS[least] ? other : least),
    first,
  );
}
