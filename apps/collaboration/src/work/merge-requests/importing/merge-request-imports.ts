import { Injectable } from '@nestjs/common';
import type { ImportedObject, UnimportedObject } from '@rookery/contracts';
import type { ProjectFacts } from '@rookery/directory';
import { isObjectId } from '@rookery/git';
import { Invalid } from '@rookery/kernel';
import { raiseInternalId, statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import {
  addImportedObjects,
  checkImportObjects,
  findImportedObjectIds,
  omitAlreadyImportedObjects,
} from '../../../base/imported-objects/imported-objects';
import { ObjectImporters } from '../../../base/imported-objects/object-importers';
import type { ObjectImporter, PreparedObjects, ReceivedObjects } from '../../../base/imported-objects/object-importers';
import { linkImportedLabels } from '../../../planning/labels/imported-labels';
import { wrapMentionsInCode } from '../../../talk/mentions/quoted-mentions';
import { checkTitleAndDescription, countDescriptionTasks } from '../../issues/issue.entity';
import { MergeRequestRecorder } from '../closing/merge-request-recorder';
import { isDraftTitle } from '../merge-request.entity';
import { mergeRequestKind } from '../merge-request.kind';
import { ImportedMergeRequestBranches, findInvalidBranchField } from './imported-branches';
import type { ImportedSources } from './imported-branches';

type ImportedMergeRequest = ImportedObject<'merge_request'>;

/** Longest title. Units: characters. Hosts allow one more. */
const MAX_TITLE = 255;
/** Maximum number of labels of a merge request. Source: reference work-tracking 9.1. */
const MAX_LABELS = 500;
const USED = 'Its number or its branches are used by another merge request.';

const ADD = statement<{ project: number; source: string; rows: string }, { id: number; iid: number }>(
  'merge_requests_import',
  `insert into merge_requests (project_id, iid, author_id, title, description, state, draft, discussion_locked,
     source_project_id, source_branch, target_branch, milestone_id, closed_at, merged_at, merged_by_id, merge_commit_sha,
     head_sha, base_sha, start_sha, files_count, commits_count, task_count, completed_task_count, imported_from, created_at,
     updated_at)
   select :project::bigint, i.iid, i.author_id, i.title, i.description, i.state, i.draft, i.is_locked, i.source_project_id,
     i.source_branch, i.target_branch, m.id, i.closed_at, i.merged_at, i.merged_by_id, i.merge_commit_sha, i.head, i.base,
     i.start, i.files, i.commits, i.task_count, i.completed_task_count, :source, i.created_at, i.updated_at
   from jsonb_to_recordset(:rows::jsonb) as i (iid bigint, author_id bigint, title text, description text, state text,
       draft boolean, is_locked boolean, source_project_id bigint, source_branch text, target_branch text,
       milestone_id bigint, closed_at timestamptz, merged_at timestamptz, merged_by_id bigint, merge_commit_sha text,
       head text, base text, start text, files integer, commits integer, task_count integer, completed_task_count integer,
       created_at timestamptz, updated_at timestamptz)
     left join milestones m on m.id = i.milestone_id and m.project_id = :project::bigint
   order by i.iid on conflict do nothing returning id, iid`,
);
interface PeopleParams {
  readonly requests: readonly number[];
  readonly users: readonly number[];
  readonly places: readonly number[];
}
const ASSIGN = statement<PeopleParams, never>(
  'merge_requests_assign_imported',
  `insert into merge_request_assignees (merge_request_id, user_id, position)
   select a.request, a.user_id, a.position
   from unnest(:requests::bigint[], :users::bigint[], :places::integer[]) as a (request, user_id, position)
   on conflict do nothing`,
);
const ASK_REVIEW = statement<PeopleParams, never>(
  'merge_requests_review_imported',
  `insert into merge_request_reviewers (merge_request_id, user_id, position)
   select a.request, a.user_id, a.position
   from unnest(:requests::bigint[], :users::bigint[], :places::integer[]) as a (request, user_id, position)
   on conflict do nothing`,
);
interface AddedMergeRequest {
  readonly id: number;
  readonly given: ImportedMergeRequest;
}

/**
 * Adds merge requests of an imported project with their upstream numbers, authors, states and times. Publishes no event, so
 * they cause no to-do, no e-mail and no entry in the feed.
 */
@Injectable()
export class MergeRequestImports implements ObjectImporter<'merge_request'> {
  constructor(
    importers: ObjectImporters,
    private readonly records: MergeRequestRecorder,
    private readonly branches: ImportedMergeRequestBranches,
  ) {
    importers.declare('merge_request', this);
  }

  /** Reads the commits of merge requests, before the transaction that writes them. Errors: Unavailable, TooLarge. */
  async prepare(
    project: ProjectFacts,
    { importType, objects }: ReceivedObjects<'merge_request'>,
  ): Promise<PreparedObjects> {
    const sources = await this.branches.prepareSources(project, objects);
    return {
      write: (tx, current) => this.writeMergeRequests(tx, current, { importType, sources }, objects),
      finish: () =>
        this.branches.publishHeads(
          project,
          objects.map(({ number }) => number),
        ),
    };
  }

  private async writeMergeRequests(
    tx: Tx,
    project: ProjectFacts,
    { importType: source, sources }: { readonly importType: string; readonly sources: ImportedSources },
    objects: readonly ImportedMergeRequest[],
  ): Promise<readonly UnimportedObject[]> {
    const of = { project: project.id, kind: 'merge_request' } as const;
    const { valid, failed } = checkImportObjects(objects, normalizeMergeRequest);
    const found = await omitAlreadyImportedObjects(tx, of, valid, ({ number }) => number);
    const numbers = found.flatMap(({ object }) => object.milestone ?? []);
    const milestones = await findImportedObjectIds(tx, { project: project.id, kind: 'milestone' }, numbers);
    const rows = found.map(({ object }) => toMergeRequestRow(object, sources, milestones));
    const added = await tx.run(ADD, { project: project.id, source, rows: JSON.stringify(rows) });
    const ids = new Map(added.map(({ id, iid }) => [iid, id]));
    await addImportedObjects(
      tx,
      of,
      added.map(({ id, iid }) => ({ upstreamId: iid, id })),
    );
    if (added.length > 0) await raiseInternalId(tx, 'merge_requests', project.id, Math.max(...ids.keys()));
    const written = found.flatMap(({ object: given }) =>
      ids.has(given.number) ? [{ given, id: ids.get(given.number)! }] : [],
    );
    await this.insertRelatedRows(tx, project, written, sources);
    const refused = found.filter(({ object }) => !ids.has(object.number));
    return [...failed, ...refused.map(({ index }) => ({ index, message: USED }))];
  }

  private async insertRelatedRows(
    tx: Tx,
    project: ProjectFacts,
    written: readonly AddedMergeRequest[],
    sources: ImportedSources,
  ): Promise<void> {
    for (const { id, given } of written) {
      const version = sources.get(given.number)?.version ?? null;
      await this.records.recordImported(tx, { id, ...given }, version, new Date(given.created_at));
    }
    await tx.run(ASSIGN, toAssigneeOrReviewerParams(written, 'assignee_ids'));
    await tx.run(ASK_REVIEW, toAssigneeOrReviewerParams(written, 'reviewer_ids'));
    const labelled = written.map(({ id, given }) => ({ id, labels: given.labels }));
    await linkImportedLabels(tx, mergeRequestKind, project, labelled);
  }
}

/** Errors: Invalid by field. */
function normalizeMergeRequest(given: ImportedMergeRequest): ImportedMergeRequest {
  const invalid = findInvalidBranchField(given);
  if (invalid !== null) throw new Invalid({ [invalid.replace('_', ' ')]: ['is invalid'] });
  const title = [...given.title.trim()].slice(0, MAX_TITLE).join('');
  const description = given.description === null ? null : wrapMentionsInCode(given.description);
  return { ...given, ...checkTitleAndDescription({ title, description }), labels: given.labels.slice(0, MAX_LABELS) };
}

function toMergeRequestRow(
  given: ImportedMergeRequest,
  sources: ImportedSources,
  milestones: ReadonlyMap<number, number>,
) {
  const { number: iid, author_id, title, description, state, created_at, updated_at, target_branch } = given;
  const { taskCount: task_count, completedTaskCount: completed_task_count } = countDescriptionTasks(description);
  const source = sources.get(iid);
  const version = source?.version;
  return {
    ...{ iid, author_id, title, description, state, target_branch, task_count, completed_task_count },
    ...{ created_at, updated_at, draft: isDraftTitle(title), is_locked: given.is_locked || null },
    ...{ source_branch: source?.branch ?? given.source_branch, source_project_id: source?.projectId ?? null },
    ...{ head: version?.headSha ?? null, base: version?.baseSha ?? null, start: version?.startSha ?? null },
    ...{ files: version?.filesCount ?? null, commits: version?.commitsCount ?? 0 },
    // Hosts may omit the time of a closed merge request.
    closed_at: state === 'closed' ? (given.closed_at ?? updated_at) : null,
    merged_at: state === 'merged' ? (given.merged_at ?? updated_at) : null,
    merged_by_id: state === 'merged' ? given.merged_by_id : null,
    merge_commit_sha: state === 'merged' ? mergeCommitSha(given, source) : null,
    milestone_id: given.milestone === null ? null : (milestones.get(given.milestone) ?? null),
  };
}

/** Returns the id of the merge commit; null for an abbreviated id of a commit that the repository lacks. */
function mergeCommitSha(
  { merge_commit_sha: sha }: ImportedMergeRequest,
  source: { readonly mergeCommitSha: string | null } | undefined,
): string | null {
  return source?.mergeCommitSha ?? (isObjectId(sha ?? '') ? sha : null);
}

function toAssigneeOrReviewerParams(
  written: readonly AddedMergeRequest[],
  field: 'assignee_ids' | 'reviewer_ids',
): PeopleParams {
  const rows = written.flatMap(({ id, given }) => given[field].map((user, at) => ({ id, user, place: at + 1 })));
  return {
    requests: rows.map(({ id }) => id),
    users: rows.map(({ user }) => user),
    places: rows.map(({ place }) => place),
  };
}
