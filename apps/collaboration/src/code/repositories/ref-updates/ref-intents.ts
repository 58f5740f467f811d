import { Injectable } from '@nestjs/common';
import type { RefUpdate } from '@rookery/git';
import { statement, Work } from '@rookery/persistence';
import type { PushSource } from './push.entity';

/**
 * Time for which the process of a push may settle it. git moves the refs within seconds of the intent; afterwards a
 * job settles what a dead process has left. Units: seconds.
 */
const LEASE_SECONDS = 300;

interface IntentParams {
  readonly projectId: number;
  readonly userId: number | null;
  readonly source: PushSource;
  readonly options: readonly string[];
  readonly refs: readonly string[];
  readonly oldIds: readonly string[];
  readonly newIds: readonly string[];
}

const intend = statement<IntentParams, { id: number }>(
  'pushes_intend',
  `with push as (
     insert into pushes (project_id, user_id, source, options, leased_until)
     values (:projectId::bigint, :userId::bigint, :source::text, :options::text[], now() + interval '${LEASE_SECONDS} seconds')
     returning id
   ), updates as (
     insert into ref_updates (push_id, ref, old_id, new_id)
     select push.id, u.ref, u.old_id, u.new_id
     from push, unnest(:refs::text[], :oldIds::text[], :newIds::text[]) as u (ref, old_id, new_id)
   )
   select id from push`,
);

/** Records ref updates before git executes them, so that none is lost when a process dies. Source: ADR 0185. */
@Injectable()
export class RefIntents {
  constructor(private readonly work: Work) {}

  /** Records a push. Returns its id. Errors: a database error if the repository was removed meanwhile. */
  async record(
    push: Pick<IntentParams, 'projectId' | 'userId' | 'source'> & Partial<Pick<IntentParams, 'options'>>,
    updates: readonly RefUpdate[],
  ): Promise<number> {
    const [row] = await this.work.run((tx) =>
      tx.run(intend, {
        options: [],
        ...push,
        refs: updates.map(({ ref }) => ref),
        oldIds: updates.map(({ oldId }) => oldId),
        newIds: updates.map(({ newId }) => newId),
      }),
    );
    return row!.id;
  }
}
