import { Injectable } from '@nestjs/common';
import { InstanceSettings } from '@rookery/instance';
import type { SignedInViewer, Visibility } from '@rookery/kernel';
import { Invalid, NotFound, VISIBILITY_LEVELS } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { storeInitialCommitCount } from '../../statistics/project-statistics';
import { projectPathFrom } from '../../namespaces/paths/path-rules';
import { ImportByUrlClient } from '../importing/import-by-url.client';
import type { PreparedImport } from '../importing/import-by-url.client';
import type { NewProject } from './project-input';
import { mayPutProjectsIn, ProjectLocksService } from './project-places.service';
import type { ProjectHome } from './project-places.service';
import { translateProjectUniqueViolations, ProjectsService } from '../projects.service';
import { splitProjectChange, problemsOfProject } from './project-rules';

/** Default branch of a project that begins with a README, unless its creator names another. */
const FIRST_BRANCH = 'main';
const NOT_VALID = { namespace: ['is not valid'] };
/** Id of the only organization of an instance. */
const ORGANIZATION = 1;

/** Creation of projects. Source: reference identity-and-import 10.2. */
@Injectable()
export class ProjectCreationService {
  constructor(
    private readonly work: Work,
    private readonly places: ProjectLocksService,
    private readonly projects: ProjectsService,
    private readonly instance: InstanceSettings,
    private readonly imports: ImportByUrlClient,
  ) {}

  /** Errors: Invalid by field; NotFound for another organization. */
  create(viewer: SignedInViewer, params: NewProject): Promise<number> {
    const { userId } = viewer;
    return this.createWithPreparedImport(userId, params, (tx, prepared) =>
      this.insertProject(tx, viewer, userId, params, prepared),
    );
  }

  /**
   * Creates a project on behalf of a user, with that user's permissions and limits. Errors: as in `create`; NotFound
   * for the user.
   */
  createForUser(viewer: SignedInViewer, userId: number, params: NewProject): Promise<number> {
    return this.createWithPreparedImport(userId, params, async (tx, prepared) => {
      const [user] = await tx.query<{ username: string; admin: boolean; external: boolean }>(
        `select username, admin, external from users where id = $1`,
        [userId],
      );
      if (!user) throw new NotFound('User');
      const { username, admin: isAdmin, external: isExternal } = user;
      return this.insertProject(
        tx,
        { ...viewer, userId, username, isAdmin, isExternal },
        viewer.userId,
        params,
        prepared,
      );
    });
  }

  /**
   * Creates a project in a transaction. The import of a given URL is prepared before it, because that asks another service,
   * and forgotten if the project is refused.
   */
  private async createWithPreparedImport(
    userId: number,
    { import_url: url }: NewProject,
    insert: (tx: Tx, prepared: PreparedImport | null) => Promise<number>,
  ): Promise<number> {
    const prepared = url ? await this.imports.prepareImport(userId, url) : null;
    try {
      return await translateProjectUniqueViolations(() => this.work.run((tx) => insert(tx, prepared)));
    } catch (error) {
      // After other errors the project may exist.
      if (prepared && (error instanceof Invalid || error instanceof NotFound))
        await this.imports.forgetImport(prepared);
      throw error;
    }
  }

  private async insertProject(
    tx: Tx,
    maker: SignedInViewer,
    actorId: number,
    params: NewProject,
    prepared: PreparedImport | null,
  ): Promise<number> {
    const { namespace_id, organization_id, initialize_with_readme, import_url: _, ...sent } = params;
    if ((organization_id ?? ORGANIZATION) !== ORGANIZATION) throw new NotFound('Organization');
    const { shape, related, stored, problems: refused } = splitProjectChange(maker, sent);
    const home = await this.requireHome(tx, maker, namespace_id ?? null);
    const path = shape.path || projectPathFrom(shape.name ?? '');
    const name = shape.name || path;
    const visibility = shape.visibility ?? this.chooseDefaultVisibility(home);
    const problems = {
      ...problemsOfProject({ name, path, visibility }, home),
      ...refused,
      ...this.projects.problemsOfPicture(related),
      ...(await this.projects.projectLimitProblems(tx, home)),
    };
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const taken = await this.projects.takenFieldProblems(tx, home.id, { name, path });
    if (Object.keys(taken).length > 0) throw new Invalid(taken);

    // A first commit would be in the way of the imported ones.
    const begins = !prepared && initialize_with_readme === true;
    const first = begins ? { initializeWithReadme: true, defaultBranch: stored.defaultBranch ?? FIRST_BRANCH } : {};
    const draft = { ...stored, name, path, visibility, ...prepared, ...first };
    const id = await this.projects.insertProject(tx, home, draft, { creatorId: maker.userId, actorId });
    if (begins) await storeInitialCommitCount(tx, id);
    await this.projects.setPictureAndTopics(tx, id, related);
    return id;
  }

  /**
   * Errors: Invalid for an unknown namespace, or one in which the creator may not create projects. Source: reference
   * identity-and-import 10.2.
   */
  private async requireHome(tx: Tx, maker: SignedInViewer, namespaceId: number | null): Promise<ProjectHome> {
    const id = namespaceId ?? (await this.places.ownNamespace(tx, maker.userId));
    const home = id === null ? null : await this.places.lockNamespace(tx, maker, id);
    if (!home || !mayPutProjectsIn(maker, home)) throw new Invalid(NOT_VALID);
    return home;
  }

  private chooseDefaultVisibility(home: ProjectHome): Visibility {
    const wanted = this.instance.setting('default_project_visibility');
    return VISIBILITY_LEVELS[wanted] > VISIBILITY_LEVELS[home.visibility] ? home.visibility : wanted;
  }
}
