import { Inject, Injectable } from '@nestjs/common';
import type { ImportObjectsAnswer, ImportObjectsRequest, UnimportedObject } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import type { ProjectFacts } from '@rookery/directory';
import { NotFound } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { ObjectImporters } from '../../base/imported-objects/object-importers';
import type { PreparedObjects } from '../../base/imported-objects/object-importers';
import { delayProjectMoveEffects } from '../../base/noteables/planning-place';
import { importLabels } from '../../planning/labels/imported-labels';
import { importMilestones } from '../../planning/milestones/imported-milestones';
import { importNotes } from '../../talk/notes/imported-notes';
import { notesSettings } from '../../talk/notes/notes.config';
import type { NotesSettings } from '../../talk/notes/notes.config';
import { IssueCountsService } from '../issues/counting/issue-counts.service';
import { importIssues } from '../issues/importing/imported-issues';
import { issueKind } from '../issues/issue.kind';
import { importReviews } from '../merge-requests/importing/imported-reviews';
import { mergeRequestKind } from '../merge-requests/merge-request.kind';
import { importNoteableChanges } from './imported-changes';

/** Locks the project against removal, and against another run of the same import. */
const LOCK = statement<{ project: number }, { id: number; locked: unknown }>(
  'project_imports_lock',
  `select p.id, pg_advisory_xact_lock(hashtextextended('import into ' || p.id, 0)) as locked
   from directory_projects p where p.id = :project::bigint for key share of p`,
);

/** Writes objects of imports. Source: reference identity-and-import 6.6; ADR 0195. */
@Injectable()
export class ProjectImportsService {
  constructor(
    private readonly work: Work,
    private readonly directory: Directory,
    private readonly counts: IssueCountsService,
    private readonly importers: ObjectImporters,
    @Inject(notesSettings.token) private readonly notes: NotesSettings,
  ) {}

  /** Writes objects of one kind in one transaction. Errors: NotFound for a missing or archived project; Unavailable. */
  async writeObjects(request: ImportObjectsRequest): Promise<ImportObjectsAnswer> {
    const { project_id: id } = request;
    await this.directory.assertCurrent();
    const prepared = await this.prepareObjects(request);
    const failed = await this.work.run(async (tx) => {
      await delayProjectMoveEffects(tx, [id]);
      const [locked] = await tx.run(LOCK, { project: id });
      const project = requireWritableProject(locked && (await this.directory.findProjects([id], tx)).get(id));
      return prepared ? prepared.write(tx, project) : this.writeInTransaction(tx, project, request);
    });
    await prepared?.finish?.();
    return { failed };
  }

  /** Returns null for kinds that this service writes. */
  private async prepareObjects({
    project_id: id,
    kind,
    ...request
  }: ImportObjectsRequest): Promise<PreparedObjects | null> {
    const importer = this.importers.findImporter(kind);
    if (importer === null) return null;
    const project = requireWritableProject((await this.directory.findProjects([id])).get(id));
    return importer.prepare(project, { importType: request.import_type, objects: request.objects });
  }

  private async writeInTransaction(
    tx: Tx,
    project: ProjectFacts,
    request: ImportObjectsRequest,
  ): Promise<readonly UnimportedObject[]> {
    const { import_type: source } = request;
    if (isOfKind(request, 'label')) return importLabels(tx, project, request.objects);
    if (isOfKind(request, 'milestone')) return importMilestones(tx, project, request.objects);
    if (isOfKind(request, 'issue')) {
      const failed = await importIssues(tx, project, source, request.objects);
      await this.counts.recountIssues(tx, [project.id]);
      return failed;
    }
    const facts = { projectId: project.id, source, mostComments: this.notes.commentsPerNoteable };
    const onMergeRequests = { ...facts, kind: mergeRequestKind, on: 'merge_request' } as const;
    if (isOfKind(request, 'review')) return importReviews(tx, onMergeRequests, request.objects);
    const onIssues = { ...onMergeRequests, kind: issueKind, on: 'issue' } as const;
    if (isOfKind(request, 'issue_event')) {
      const left = await importNoteableChanges(tx, project, onIssues, request.objects);
      return [...left, ...(await importNoteableChanges(tx, project, onMergeRequests, request.objects))];
    }
    if (!isOfKind(request, 'note')) return [];
    const failed = await importNotes(tx, onIssues, request.objects);
    return [...failed, ...(await importNotes(tx, onMergeRequests, request.objects))];
  }
}

/** Errors: NotFound for a missing or archived project. */
function requireWritableProject(project: ProjectFacts | undefined): ProjectFacts {
  if (!project || project.archived) throw new NotFound('Project');
  return project;
}

function isOfKind<K extends ImportObjectsRequest['kind']>(
  request: ImportObjectsRequest,
  kind: K,
): request is ImportObjectsRequest<K> & ImportObjectsRequest {
  return request.kind === kind;
}
