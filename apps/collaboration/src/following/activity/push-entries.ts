import { createHash } from 'node:crypto';
import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { ActivityEntry } from './activity-recorder';

/** Facts of a push in a feed. Source: reference repositories 1.6. */
export interface PushData {
  readonly commit_count: number;
  readonly action: 'created' | 'pushed' | 'removed';
  readonly ref_type: 'branch' | 'tag';
  readonly commit_from: string | null;
  readonly commit_to: string | null;
  readonly ref: string | null;
  readonly commit_title: string | null;
  /** Number of refs of a bulk entry. */
  readonly ref_count: number | null;
}

/** A completed push. */
export interface CompletedPush {
  readonly id: string;
  readonly data: {
    readonly push_id: number;
    readonly project_id: number;
    readonly user_id: number | null;
    /** ISO 8601. */
    readonly pushed_at: string;
  };
}

type PushRow = PushData & { readonly push_id: number };

/** Single refs first, then one row for all bulk refs of a type and action. Refs that feeds do not show are left out. */
const pushRows = prepareStatement(
  'activity_pushes',
  `with moved as (
     select u.push_id, u.is_bulk, coalesce(u.commit_count, 0) as commit_count, u.commit_title,
       case when u.new_id = repeat('0', 40) then 'removed' when u.old_id = repeat('0', 40) then 'created' else 'pushed' end
         as action,
       case when u.ref like 'refs/heads/%' then 'branch' else 'tag' end as ref_type,
       nullif(u.old_id, repeat('0', 40)) as commit_from, nullif(u.new_id, repeat('0', 40)) as commit_to,
       regexp_replace(u.ref, '^refs/(heads|tags)/', '') as ref
     from ref_updates u
     where u.push_id = any($1::bigint[]) and u.state = 'done' and (u.ref like 'refs/heads/%' or u.ref like 'refs/tags/%')
   )
   select push_id, commit_count, action, ref_type, commit_from, commit_to, ref, commit_title, null::integer as ref_count
   from moved where not is_bulk
   union all
   select push_id, 0, action, ref_type, null, null, null, null, count(*)::integer from moved where is_bulk
   group by push_id, action, ref_type
   order by push_id, ref_type, ref, action`,
);

/** Reads the entries of pushes. A push of a removed user has none. */
export async function readPushEntries(tx: Tx, events: readonly CompletedPush[]): Promise<ActivityEntry[]> {
  const rows = await tx.prepared<PushRow>(pushRows, [events.map(({ data }) => data.push_id)]);
  return events.flatMap(({ id, data }) => {
    const { project_id: projectId, user_id: authorId, pushed_at: at } = data;
    if (authorId === null) return [];
    const common = {
      projectId,
      authorId,
      action: 'pushed',
      targetType: null,
      targetId: null,
      noteable: null,
      at,
    } as const;
    return rows
      .filter((row) => row.push_id === data.push_id)
      .map(({ push_id: _, ...push }) => ({ ...common, eventId: pushActivityEntryId(id, push), push }));
  });
}

/** An id for each entry of an event, the same whenever the event arrives. */
function pushActivityEntryId(eventId: string, { ref_type: type, ref, action }: PushData): string {
  const hex = createHash('sha256')
    .update([eventId, type, ref ?? '', action].join('\0'))
    .digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
