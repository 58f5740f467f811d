import type { ImportedObject, UnimportedObject } from '@rookery/contracts';
import { raiseInternalId, statement } from '@rookery/persistence';
import type { Parent, Tx } from '@rookery/persistence';
import {
  addImportedObjects,
  checkImportObjects,
  findImportedObjectIds,
  omitAlreadyImportedObjects,
} from '../../../base/imported-objects/imported-objects';
import { linkImportedLabels } from '../../../planning/labels/imported-labels';
import { wrapMentionsInCode } from '../../../talk/mentions/quoted-mentions';
import { checkTitleAndDescription, countDescriptionTasks } from '../issue.entity';
import { issueKind } from '../issue.kind';

type ProjectParent = Extract<Parent, { readonly kind: 'project' }>;
type ImportedIssue = ImportedObject<'issue'>;

/** Longest title. Units: characters. Hosts allow one more. */
const MAX_TITLE = 255;
/** Maximum number of labels of an issue. Source: reference work-tracking 9.1. */
const MAX_LABELS = 500;
const USED = 'Its number is used by another issue.';

const ADD = statement<{ project: number; source: string; rows: string }, { id: number; iid: number }>(
  'issues_import',
  `insert into issues (project_id, iid, author_id, title, description, state, discussion_locked, task_count,
     completed_task_count, milestone_id, imported_from, created_at, updated_at, closed_at)
   select :project::bigint, i.iid, i.author_id, i.title, i.description, i.state, i.is_locked, i.task_count,
     i.completed_task_count, m.id, :source, i.created_at, i.updated_at, i.closed_at
   from jsonb_to_recordset(:rows::jsonb) as i (iid bigint, author_id bigint, title text, description text, state text,
       is_locked boolean, task_count integer, completed_task_count integer, milestone_id bigint, created_at timestamptz,
       updated_at timestamptz, closed_at timestamptz)
     left join milestones m on m.id = i.milestone_id and m.project_id = :project::bigint
   order by i.iid on conflict do nothing returning id, iid`,
);
const ASSIGN = statement<{ issues: readonly number[]; users: readonly number[]; places: readonly number[] }, never>(
  'issues_assign_imported',
  `insert into issue_assignees (issue_id, user_id, position)
   select a.issue_id, a.user_id, a.position
   from unnest(:issues::bigint[], :users::bigint[], :places::integer[]) as a (issue_id, user_id, position)
   on conflict do nothing`,
);

/**
 * Adds issues of an imported project with their upstream numbers, authors, states and times. Publishes no event, so they
 * cause no to-do, no e-mail and no entry in the feed. Returns those that break a rule, or whose number is in use.
 */
export async function importIssues(
  tx: Tx,
  project: ProjectParent,
  source: string,
  objects: readonly ImportedIssue[],
): Promise<readonly UnimportedObject[]> {
  const of = { project: project.id, kind: 'issue' } as const;
  const { valid, failed } = checkImportObjects(objects, normalizeIssue);
  const found = await omitAlreadyImportedObjects(tx, of, valid, ({ number }) => number);
  const issues = found.map(({ object }) => object);
  const numbers = issues.flatMap(({ milestone }) => milestone ?? []);
  const milestones = await findImportedObjectIds(tx, { project: project.id, kind: 'milestone' }, numbers);
  const rows = issues.map((issue) => toIssueRow(issue, milestones));
  const added = await tx.run(ADD, { project: project.id, source, rows: JSON.stringify(rows) });
  const ids = new Map(added.map(({ id, iid }) => [iid, id]));
  await addImportedObjects(
    tx,
    of,
    added.map(({ id, iid }) => ({ upstreamId: iid, id })),
  );
  if (added.length > 0) await raiseInternalId(tx, 'issues', project.id, Math.max(...ids.keys()));
  const written = issues.flatMap((issue) => (ids.has(issue.number) ? [{ issue, id: ids.get(issue.number)! }] : []));
  await insertImportedAssignees(tx, written);
  await linkImportedLabels(
    tx,
    issueKind,
    project,
    written.map(({ issue, id }) => ({ id, labels: issue.labels })),
  );
  const refused = found.filter(({ object }) => !ids.has(object.number));
  return [...failed, ...refused.map(({ index }) => ({ index, message: USED }))];
}

/** Errors: Invalid by field. */
function normalizeIssue(given: ImportedIssue): ImportedIssue {
  const title = [...given.title.trim()].slice(0, MAX_TITLE).join('');
  const description = given.description === null ? null : wrapMentionsInCode(given.description);
  return { ...given, ...checkTitleAndDescription({ title, description }), labels: given.labels.slice(0, MAX_LABELS) };
}

function toIssueRow(issue: ImportedIssue, milestones: ReadonlyMap<number, number>) {
  const { number: iid, author_id, title, description, state, created_at, updated_at } = issue;
  const { taskCount: task_count, completedTaskCount: completed_task_count } = countDescriptionTasks(description);
  return {
    ...{ iid, author_id, title, description, state, task_count, completed_task_count, created_at, updated_at },
    // Hosts may omit the time of a closed issue.
    closed_at: state === 'closed' ? (issue.closed_at ?? updated_at) : null,
    is_locked: issue.is_locked || null,
    milestone_id: issue.milestone === null ? null : (milestones.get(issue.milestone) ?? null),
  };
}

async function insertImportedAssignees(
  tx: Tx,
  issues: readonly { readonly issue: ImportedIssue; readonly id: number }[],
): Promise<void> {
  const rows = issues.flatMap(({ issue, id }) => issue.assignee_ids.map((user, at) => ({ id, user, at: at + 1 })));
  if (rows.length === 0) return;
  await tx.run(ASSIGN, {
    issues: rows.map(({ id }) => id),
    users: rows.map(({ user }) => user),
    places: rows.map(({ at }) => at),
  });
}
