import type { NoteableType } from '@rookery/contracts';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { perKind } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';

const write = perKind(({ table, type, writes }) =>
  prepared(
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
 * Writes system notes on a thing, in this order, and counts them. They raise no to-do, no e-mail and no activity, so no
 * event announces them. Source: reference work-tracking 2.7.
 */
export async function writeSystemNotes(
  tx: Tx,
  kind: NoteableKind,
  o: {
    readonly noteableId: number;
    /** Null for things of groups. */
    readonly projectId: number | null;
    readonly actorId: number;
    readonly bodies: readonly string[];
    readonly at: Date;
    /** What the last word of each refers to, or what became a duplicate: whoever may not see that is not told it. */
    readonly referenced?: { readonly type: NoteableType; readonly id: number };
  },
): Promise<void> {
  if (o.bodies.length === 0) return;
  const referenced = [o.referenced?.type ?? null, o.referenced?.id ?? null];
  await tx.prepared(write(kind), [o.noteableId, o.projectId, o.actorId, o.bodies, o.at, ...referenced]);
}

/** What one change tells one by one; more is told as a number, or one request could write thousands of notes. */
const NAMED_ONE_BY_ONE = 20;

/** The texts that the API shows for each change of a thing. Shape: `word` as its kind has it. */
export const systemNotes = {
  closed: 'closed',
  reopened: 'reopened',
  description: 'changed the description',
  confidential: (is: boolean, word: string): string =>
    is ? `made the ${word} confidential` : `made the ${word} visible to everyone`,
  locked: (is: boolean, word: string): string => (is ? `locked this ${word}` : `unlocked this ${word}`),

  /** Shape: `group/project#7`, or `#7` within a project. */
  moved: (way: 'to' | 'from', reference: string): string => `moved ${way} ${reference}`,
  cloned: (way: 'to' | 'from', reference: string): string => `cloned ${way} ${reference}`,
  duplicateOf: (reference: string): string => `marked this issue as a duplicate of ${reference}`,
  hasDuplicate: (reference: string): string => `marked ${reference} as a duplicate of this issue`,
  epicIssue: (verb: 'added' | 'removed', reference: string): string => `${verb} issue ${reference}`,
  issueEpic: (verb: 'added' | 'removed', reference: string): string =>
    verb === 'added' ? `added to epic ${reference}` : `removed from epic ${reference}`,
  /** Shape: `as` says what the named epic is to the one that the note stands on. */
  epicTree: (verb: 'added' | 'removed', as: 'child' | 'parent', reference: string): string =>
    verb === 'added' ? `added epic ${reference} as ${as} epic` : `removed ${as} epic ${reference}`,

  /** A note a box, or one for all where there are many. */
  tasks(toggled: readonly { readonly text: string; readonly done: boolean }[]): string[] {
    const word = (done: boolean): string => (done ? 'completed' : 'incomplete');
    if (toggled.length <= NAMED_ONE_BY_ONE) {
      return toggled.map(({ text, done }) => `marked the task **${text}** as ${word(done)}`);
    }
    const parts = [true, false].flatMap((done) => {
      const count = toggled.filter((task) => task.done === done).length;
      return count > 0 ? [`${count} ${count === 1 ? 'task' : 'tasks'} as ${word(done)}`] : [];
    });
    return [`marked ${parts.join(' and ')}`];
  },

  /** Shape: names without the at sign; null when nothing changed. */
  assignees(added: readonly string[], removed: readonly string[]): string | null {
    const parts = [
      ...(added.length > 0 ? [`assigned to ${sentence(added)}`] : []),
      ...(removed.length > 0 ? [`unassigned ${sentence(removed)}`] : []),
    ];
    return parts.length > 0 ? parts.join(' and ') : null;
  },

  /** The changed middle is marked: `{-old-}` and `{+new+}`. */
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

  /** Shape: `YYYY-MM-DD` or null. */
  dueDate(day: string | null): string {
    if (day === null) return 'removed due date';
    const [year, month, date] = day.split('-').map(Number) as [number, number, number];
    return `changed due date to ${MONTHS[month - 1]} ${date}, ${year}`;
  },
};

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

function sentence(usernames: readonly string[]): string {
  if (usernames.length > NAMED_ONE_BY_ONE) return `${usernames.length} people`;
  const names = usernames.map((name) => `@${name}`);
  if (names.length <= 2) return names.join(' and ');
  return `${names.slice(0, -1).join(', ')}, and ${names.at(-1)}`;
}
