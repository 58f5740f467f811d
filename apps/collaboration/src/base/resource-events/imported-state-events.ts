import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { NoteableKind } from '../noteables/noteable-kinds';
import type { ResourceState } from './resource-event.entity';

/** A change of the state of an imported noteable. */
export interface ImportedStateEvent {
  readonly noteable_id: number;
  readonly user_id: number;
  readonly state: ResourceState;
  readonly created_at: string;
}

const ADD = statement<{ type: string; project: number; rows: string }, never>(
  'resource_state_events_import',
  `insert into resource_state_events (noteable_type, noteable_id, project_id, user_id, state, created_at)
   select :type, s.noteable_id, :project::bigint, s.user_id, s.state, s.created_at
   from jsonb_to_recordset(:rows::jsonb) as s (noteable_id bigint, user_id bigint, state text, created_at timestamptz)`,
);

/** Adds events of states to imported noteables. Their states stay as they are. */
export async function addImportedStateEvents(
  tx: Tx,
  { type }: Pick<NoteableKind, 'type'>,
  project: number,
  states: readonly ImportedStateEvent[],
): Promise<void> {
  if (states.length > 0) await tx.run(ADD, { type, project, rows: JSON.stringify(states) });
}
