import { Injectable } from '@nestjs/common';
import type {
  ImportedProject,
  ImportProjectAnswer,
  ImportProjectRequest,
  ImportStateRequest,
  ImportTargetAnswer,
  ImportType,
} from '@rookery/contracts';
import { ACCESS_LEVELS, Invalid, maySee, VISIBILITY_LEVELS } from '@rookery/kernel';
import type { Viewer, Visibility } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { projectPathFrom } from '../../namespaces/paths/path-rules';
import { mayPutProjectsIn, ProjectLocksService } from '../changing/project-places.service';
import type { ProjectHome } from '../changing/project-places.service';
import { problemsOfProject, projectTextLengthProblems } from '../changing/project-rules';
import { ProjectsService, translateProjectUniqueViolations } from '../projects.service';
import type { ProjectDraft } from '../projects.service';
import { toProjectProblemSentences } from './import-problems';

type Importer = Pick<Viewer, 'userId' | 'isAdmin' | 'isExternal'> & { readonly userId: number };
type ImportTarget =
  | { readonly outcome: 'allowed'; readonly home: ProjectHome }
  | { readonly outcome: 'forbidden' | 'missing' };

/** Units: characters. Longer descriptions of upstream are cut. */
const MAX_DESCRIPTION = 2000;
/** Kind of imports by URL, which every user may start who may create projects. */
const BY_URL = 'git';

/** Creates projects for imports, and keeps the states of the imports. Source: reference identity-and-import 6. */
@Injectable()
export class ProjectImportsService {
  constructor(
    private readonly work: Work,
    private readonly places: ProjectLocksService,
    private readonly projects: ProjectsService,
  ) {}

  /**
   * Checks whether a user may import into a group, or into a personal namespace. `type` is the kind of the host; null
   * for one whose imports need the role of a maintainer.
   */
  checkTarget(userId: number, namespace: string, type: ImportType | null): Promise<ImportTargetAnswer['outcome']> {
    return this.work.run(async (tx) => {
      const importer = await this.findImporter(tx, userId);
      return importer ? (await this.findImportTarget(tx, importer, namespace, type)).outcome : 'forbidden';
    });
  }

  /** Creates the project of an import. A repeated request gets the same project. */
  async create(request: ImportProjectRequest): Promise<ImportProjectAnswer> {
    try {
      return await translateProjectUniqueViolations(() => this.work.run((tx) => this.createInTransaction(tx, request)));
    } catch (error) {
      if (error instanceof Invalid) return { outcome: 'invalid', problems: toProjectProblemSentences(error.fields) };
      throw error;
    }
  }

  /** Notes the state of an import. A final state stays. Returns whether a project has this import. */
  recordState({ import_key: key, state, error }: ImportStateRequest): Promise<boolean> {
    return this.work.run(async (tx) => {
      await tx.query(
        `update projects set import_status = $2, import_error = $3
         where import_key = $1 and import_status in ('scheduled', 'started')`,
        [key, state, error],
      );
      return (await this.findImportedProject(tx, key)) !== null;
    });
  }

  private async createInTransaction(tx: Tx, request: ImportProjectRequest): Promise<ImportProjectAnswer> {
    const made = await this.findImportedProject(tx, request.import_key);
    if (made) return { outcome: 'created', project: made };
    const importer = await this.findImporter(tx, request.user_id);
    const target = importer && (await this.findImportTarget(tx, importer, request.namespace, request.import_type));
    if (!target) return { outcome: 'forbidden' };
    if (target.outcome !== 'allowed') return { outcome: target.outcome };
    const draft = createImportDraft(request, target.home);
    await this.validateDraft(tx, target.home, draft);
    const { userId } = importer;
    const options = { creatorId: userId, actorId: userId };
    await this.projects.insertProject(tx, target.home, draft, options);
    return { outcome: 'created', project: (await this.findImportedProject(tx, request.import_key))! };
  }

  /** Errors: Invalid by field. */
  private async validateDraft(tx: Tx, home: ProjectHome, draft: ProjectDraft): Promise<void> {
    const problems = {
      ...problemsOfProject(draft, home),
      ...projectTextLengthProblems({ default_branch: draft.defaultBranch ?? '' }),
      ...(await this.projects.projectLimitProblems(tx, home)),
    };
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const taken = await this.projects.takenFieldProblems(tx, home.id, draft);
    if (Object.keys(taken).length > 0) throw new Invalid(taken);
  }

  /** Source: reference identity-and-import 6.3. */
  private async findImportTarget(
    tx: Tx,
    importer: Importer,
    fullPath: string,
    type: ImportType | null,
  ): Promise<ImportTarget> {
    const [found] = await tx.query<{ id: number }>(`select id from namespaces where lower(full_path) = lower($1)`, [
      fullPath,
    ]);
    const home = found ? await this.places.lockNamespace(tx, importer, found.id) : null;
    if (!home) return { outcome: 'missing' };
    const viewer = importer as Viewer;
    if (home.kind === 'group' && !maySee(viewer, home.visibility, home.level)) return { outcome: 'missing' };
    const hasRole =
      type === BY_URL || home.kind === 'user' || importer.isAdmin || home.level >= ACCESS_LEVELS.maintainer;
    return hasRole && mayPutProjectsIn(viewer, home) ? { outcome: 'allowed', home } : { outcome: 'forbidden' };
  }

  /** Returns null for a user who is not active. */
  private async findImporter(tx: Tx, userId: number): Promise<Importer | null> {
    const [user] = await tx.query<{ admin: boolean; external: boolean }>(
      `select admin, external from users where id = $1 and state = 'active'`,
      [userId],
    );
    return user ? { userId, isAdmin: user.admin, isExternal: user.external } : null;
  }

  private async findImportedProject(tx: Tx, importKey: string): Promise<ImportedProject | null> {
    const [row] = await tx.query<ImportedProject>(
      `select p.id, p.name, n.full_path || '/' || p.path as full_path, n.full_name || ' / ' || p.name as name_with_namespace
       from projects p join namespaces n on n.id = p.namespace_id where p.import_key = $1`,
      [importKey],
    );
    return row ?? null;
  }
}

function createImportDraft(request: ImportProjectRequest, home: ProjectHome): ProjectDraft {
  const wanted: Visibility = request.is_private ? 'private' : 'public';
  const isAbove = home.kind === 'group' && VISIBILITY_LEVELS[wanted] > VISIBILITY_LEVELS[home.visibility];
  return {
    name: request.name,
    path: projectPathFrom(request.name),
    description: request.description?.slice(0, MAX_DESCRIPTION) ?? null,
    visibility: isAbove ? home.visibility : wanted,
    defaultBranch: request.default_branch,
    importKey: request.import_key,
    importType: request.import_type,
    importUrl: request.import_url,
    importStatus: 'scheduled',
  };
}
