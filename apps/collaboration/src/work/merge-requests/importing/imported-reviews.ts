import type { ImportedObject, UnimportedObject } from '@rookery/contracts';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import {
  addImportedObjects,
  checkImportObjects,
  findImportedObjectIds,
  omitAlreadyImportedObjects,
} from '../../../base/imported-objects/imported-objects';
import { toImportedNoteBody, sortImportedNotesByTime } from '../../../talk/notes/imported-notes';
import { insertImportedNotes, NoteCapacity, reserveNoteIds } from '../../../talk/notes/imported-note-rows';
import type { NotesImport } from '../../../talk/notes/imported-note-rows';

type ImportedReview = ImportedObject<'review'>;

interface ReviewParams {
  readonly requests: readonly number[];
  readonly users: readonly number[];
  readonly states: readonly string[];
  readonly times: readonly string[];
}
const GIVEN = `(select * from unnest(:requests::bigint[], :users::bigint[], :states::text[], :times::timestamptz[])
  with ordinality as g (request, user_id, state, at, place))`;
/** The last review of a user that approves, asks for changes or is dismissed decides; comments change nothing. */
const APPROVE = statement<ReviewParams, never>(
  'merge_request_approvals_import',
  `with last as (
     select distinct on (g.request, g.user_id) g.* from ${GIVEN} g where g.state <> 'commented'
     order by g.request, g.user_id, g.place desc
   ), gone as (
     delete from merge_request_approvals a using last
     where last.state <> 'approved' and a.merge_request_id = last.request and a.user_id = last.user_id
   )
   insert into merge_request_approvals (merge_request_id, user_id, approved_at)
   select request, user_id, at from last where state = 'approved' order by request, user_id on conflict do nothing`,
);
const REVIEW = statement<ReviewParams, never>(
  'merge_request_reviewers_import',
  `insert into merge_request_reviewers as r (merge_request_id, user_id, position, state)
   select last.request, last.user_id, 1000 + row_number() over (partition by last.request order by last.place),
     case last.state when 'approved' then 'approved' when 'changes_requested' then 'requested_changes' else 'reviewed' end
   from (select distinct on (g.request, g.user_id) g.* from ${GIVEN} g
     order by g.request, g.user_id, g.state = 'commented', g.place desc) last
   order by last.request, last.user_id
   on conflict (merge_request_id, user_id) do update set state = excluded.state
     where excluded.state <> 'reviewed' or r.state = 'unreviewed'`,
);

const TITLES: Readonly<Record<ImportedReview['state'], string>> = {
  approved: 'Approved',
  changes_requested: 'Changes requested',
  commented: 'Commented',
  dismissed: 'Dismissed',
};

/**
 * Adds reviews of imported merge requests: a note each, approvals and the states of reviewers. Publishes no event. Returns
 * those that break a rule, and those whose merge request was not imported. Source: reference identity-and-import 6.6.
 */
export async function importReviews(
  tx: Tx,
  notesImport: NotesImport,
  objects: readonly ImportedReview[],
): Promise<readonly UnimportedObject[]> {
  const of = { project: notesImport.projectId, kind: 'review' } as const;
  const { valid, failed } = checkImportObjects(objects, (given) => ({ ...given, body: renderReviewBody(given) }));
  const found = sortImportedNotesByTime(await omitAlreadyImportedObjects(tx, of, valid, ({ id }) => id));
  const numbers = found.map(({ object }) => object.merge_request);
  const requests = await findImportedObjectIds(tx, { project: notesImport.projectId, kind: 'merge_request' }, numbers);
  const room = await NoteCapacity.lockNoteables(tx, notesImport, [...requests.values()]);
  const problems: UnimportedObject[] = [];
  const reviews = found.flatMap(({ index, object }) => {
    const message = room.takePlace(requests.get(object.merge_request));
    if (message === null) return [{ ...object, noteable_id: requests.get(object.merge_request)! }];
    problems.push({ index, message });
    return [];
  });
  const ids = await reserveNoteIds(tx, reviews.length);
  const rows = reviews.map((review, at) => ({
    ...{ ...review, id: ids[at]!, thread_id: null, is_reply: false, updated_at: review.created_at },
  }));
  await insertImportedNotes(tx, notesImport, rows);
  await addImportedObjects(
    tx,
    of,
    rows.map(({ id }, at) => ({ upstreamId: reviews[at]!.id, id })),
  );
  const params = {
    requests: reviews.map((review) => review.noteable_id),
    users: reviews.map((review) => review.author_id),
    states: reviews.map((review) => review.state),
    times: reviews.map((review) => review.created_at),
  };
  await tx.run(APPROVE, params);
  await tx.run(REVIEW, params);
  return [...failed, ...problems];
}

/** Errors: Invalid. */
function renderReviewBody({ state, body }: ImportedReview): string {
  const title = `**Review:** ${TITLES[state]}`;
  return toImportedNoteBody(body === null || body.trim() === '' ? title : `${title}\n\n${body}`);
}
