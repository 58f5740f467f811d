import type { NoteableType } from '@rookery/contracts';
import { prepareStatement, statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { cachePerNoteableKind } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';

const insertSystemNotes = cachePerNoteableKind(({ table, type, writes }) =>
  prepareStatement(
    `${table}_notes_write_system`,
    `with written as (
      insert into notes (noteable_type, noteable_id, project_id, author_id, body, system, created_at, updated_at,
        referenced_type, referenced_id)
      select '${type}', $1::bigint, $2::bigint, $3::bigint, said.body, true, $5::timestamptz, $5::timestamptz, $6, $7::bigint
      from unnest($4::text[]) with ordinality as said (body, place) order by said.place
    )
    ${writes.update} system_notes_count = i.system_notes_count + cardinality($4::text[]) where i.id = $1::bigint`,
  ),
);

/**
 * Writes system notes on a noteable, in the given order, and adds them to its counter. Publishes no event, because system
 * notes cause no to-do, no e-mail and no activity. Source: reference work-tracking 2.7.
 */
export async function writeSystemNotes(
  tx: Tx,
  kind: NoteableKind,
  o: {
    readonly noteableId: number;
    /** Null for noteables of groups. */
    readonly projectId: number | null;
    readonly actorId: number;
    readonly bodies: readonly string[];
    readonly at: Date;
    /** The noteable that each body refers to. Readers who may not see it get a placeholder instead of the reference. */
    readonly referenced?: { readonly type: NoteableType; readonly id: number };
  },
): Promise<void> {
  if (o.bodies.length === 0) return;
  const referenced = [o.referenced?.type ?? null, o.referenced?.id ?? null];
  await tx.prepared(insertSystemNotes(kind), [o.noteableId, o.projectId, o.actorId, o.bodies, o.at, ...referenced]);
}

const insertNotesInThreads = cachePerNoteableKind(({ table, type, writes }) =>
  statement<ThreadNotesParams, never>(
    `${table}_notes_write_in_threads`,
    `with written as (
      insert into notes (noteable_type, noteable_id, project_id, author_id, body, system, thread_id, is_reply, created_at,
        updated_at)
      select '${type}', :noteable::bigint, :project::bigint, :actor::bigint, said.body, true, said.thread, true,
        :at::timestamptz, :at::timestamptz
      from unnest(:threads::bigint[], :bodies::text[]) as said (thread, body)
    )
    ${writes.update} system_notes_count = i.system_notes_count + cardinality(:threads::bigint[])
    where i.id = :noteable::bigint`,
  ),
);
interface ThreadNotesParams {
  readonly noteable: number;
  readonly project: number;
  readonly actor: number;
  readonly at: Date;
  readonly threads: readonly number[];
  readonly bodies: readonly string[];
}

/** Writes one system note in each of several threads of a noteable. Source: reference repositories 8.12. */
export async function writeSystemNotesInThreads(tx: Tx, kind: NoteableKind, notes: ThreadNotesParams): Promise<void> {
  if (notes.threads.length > 0) await tx.run(insertNotesInThreads(kind), notes);
}

/**
 * Maximum number of tasks or users listed one by one; more are written as a number, so that one request cannot write
 * thousands of notes.
 */
const LISTED_COUNT = 20;

/** Texts of the system notes for each change of a noteable. `word` is the kind's noun. */
export const systemNotes = {
  closed: 'closed',
  closedVia: (noun: 'merge request' | 'commit', reference: string): string => `closed via ${noun} ${reference}`,
  reopened: 'reopened',
  merged: 'merged',
  mergedByPush: 'merged manually',
  approved: 'approved this merge request',
  unapproved: 'unapproved this merge request',
  continuedIn: (reference: string): string => `created ${reference} to continue this discussion`,
  description: 'changed the description',
  confidential: (is: boolean, word: string): string =>
    is ? `made the ${word} confidential` : `made the ${word} visible to everyone`,
  locked: (is: boolean, word: string): string => (is ? `locked this ${word}` : `unlocked this ${word}`),

  /** `reference` is `group/project#7`, or `#7` within a project. */
  moved: (way: 'to' | 'from', reference: string): string => `moved ${way} ${reference}`,
  cloned: (way: 'to' | 'from', reference: string): string => `cloned ${way} ${reference}`,
  duplicateOf: (reference: string): string => `marked this issue as a duplicate of ${reference}`,
  hasDuplicate: (reference: string): string => `marked ${reference} as a duplicate of this issue`,
  epicIssue: (verb: 'added' | 'removed', reference: string): string => `${verb} issue ${reference}`,
  issueEpic: (verb: 'added' | 'removed', reference: string): string =>
    verb === 'added' ? `added to epic ${reference}` : `removed from epic ${reference}`,
  /** `as` is the relation of the referenced epic to the epic that has the note. */
  epicTree: (verb: 'added' | 'removed', as: 'child' | 'parent', reference: string): string =>
    verb === 'added' ? `added epic ${reference} as ${as} epic` : `removed ${as} epic ${reference}`,

  /** One note for each toggled task, or one note with the numbers if there are more than the limit. */
  tasks(toggled: readonly { readonly text: string; readonly done: boolean }[]): string[] {
    const word = (done: boolean): string => (done ? 'completed' : 'incomplete');
    if (toggled.length <= LISTED_COUNT) {
      return toggled.map(({ text, done }) => `marked the task **${text}** as ${word(done)}`);
    }
    const parts = [true, false].flatMap((done) => {
      const count = toggled.filter((task) => task.done === done).length;
      return count > 0 ? [`${count} ${count === 1 ? 'task' : 'tasks'} as ${word(done)}`] : [];
    });
    return [`marked ${parts.join(' and ')}`];
  },

  draft: (is: boolean): string => `marked this merge request as **${is ? 'draft' : 'ready'}**`,
  targetBranch: (from: string, to: string): string =>
    `changed target branch from ${formatCodeSpan(from)} to ${formatCodeSpan(to)}`,
  targetBranchRemoved: (removed: string, to: string): string =>
    `deleted the ${formatCodeSpan(removed)} branch. This merge request now targets the ${formatCodeSpan(to)} branch`,
  sourceBranch: (verb: 'deleted' | 'restored', name: string): string => `${verb} source branch ${formatCodeSpan(name)}`,
  autoMergeEnabled: (sha: string): string => `enabled an automatic merge when all merge checks for ${sha} pass`,
  autoMergeCanceled: 'canceled the automatic merge',
  autoMergeAborted: (reason: string): string => `aborted the automatic merge because ${reason}`,

  threadsResolved: 'resolved all threads',
  /** `number` counts the versions of the merge request; `url` is a path of the web. */
  lineChanged: (number: number, url: string): string => `changed this line in [version ${number} of the diff](${url})`,
  fileChanged: (number: number, url: string): string => `changed this file in [version ${number} of the diff](${url})`,

  /** Text about changed reviewers, or null if no reviewer changed. Usernames are without the at sign. */
  reviewers(added: readonly string[], removed: readonly string[]): string | null {
    const parts = [
      ...(added.length > 0 ? [`requested review from ${joinUsernames(added)}`] : []),
      ...(removed.length > 0 ? [`removed review request for ${joinUsernames(removed)}`] : []),
    ];
    return parts.length > 0 ? parts.join(' and ') : null;
  },

  /** Text about changed assignees, or null if no assignee changed. Usernames are without the at sign. */
  assignees(added: readonly string[], removed: readonly string[]): string | null {
    const parts = [
      ...(added.length > 0 ? [`assigned to ${joinUsernames(added)}`] : []),
      ...(removed.length > 0 ? [`unassigned ${joinUsernames(removed)}`] : []),
    ];
    return parts.length > 0 ? parts.join(' and ') : null;
  },

  /** Marks the part of the title that changed: `{-old-}` and `{+new+}`. */
  title(before: string, after: string): string {
    const old = [...before];
    const now = [...after];
    const shortest = Math.min(old.length, now.length);
    let start = 0;
    while (start < shortest && old[start] === now[start]) start++;
    let end = 0;
    while (end < shortest - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
    const marked = (text: readonly string[], open: string, close: string): string => {
      const middle = text.slice(start, text.length - end).join('');
      const mark = middle === '' ? '' : `${open}${middle}${close}`;
      return `${text.slice(0, start).join('')}${mark}${text.slice(text.length - end).join('')}`;
    };
    return `changed title from **${marked(old, '{-', '-}')}** to **${marked(now, '{+', '+}')}**`;
  },

  /** Text about a changed due date. `day` is `YYYY-MM-DD`, or null for a removed date. */
  dueDate(day: string | null): string {
    if (day === null) return 'removed due date';
    const [year, month, date] = day.split('-').map(Number) as [number, number, number];
    return `changed due date to ${MONTHS[month - 1]} ${date}, ${year}`;
  },
};

/** Name of a branch in a Markdown text. Branch names may contain backticks. */
function formatCodeSpan(name: string): string {
  const runs = name.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(0, ...runs.map((run) => run.length)) + 1);
  return fence.length === 1 ? `\`${name}\`` : `${fence} ${name} ${fence}`;
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

function joinUsernames(usernames: readonly string[]): string {
  if (usernames.length > LISTED_COUNT) return `${usernames.length} people`;
  const names = usernames.map((name) => `@${name}`);
  if (names.length <= 2) return names.join(' and ');
  return `${names.slice(0, -1).join(', ')}, and ${names.at(-1)}`;
}
