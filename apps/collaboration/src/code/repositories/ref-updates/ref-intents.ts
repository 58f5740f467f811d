import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { RefUpdate, Repository } from '@rookery/git';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { PushLimits } from './push-limits';
import type { PushSource } from './push.entity';

/**
 * Time for which the process of a push may settle it. git moves the refs within seconds of the intent; afterwards a
 * job settles what a dead process has left. Units: seconds.
 */
const LEASE_SECONDS = 300;

interface PushIntentParams {
  readonly projectId: number;
  readonly userId: number | null;
  readonly source: PushSource;
  readonly options: readonly string[];
  readonly refs: readonly string[];
  readonly oldIds: readonly string[];
  readonly newIds: readonly string[];
  readonly storedBytes: number;
}

type NewPush = Pick<PushIntentParams, 'projectId' | 'userId' | 'source'> & Partial<Pick<PushIntentParams, 'options'>>;

/** New objects of a push. Units: bytes on disk. */
export interface NewObjects {
  readonly project: ProjectScope;
  readonly bytes: number;
}

const insertPushIntent = statement<PushIntentParams, { id: number }>(
  'pushes_intend',
  `with push as (
     insert into pushes (project_id, user_id, source, options, stored_bytes, leased_until)
     values (:projectId::bigint, :userId::bigint, :source::text, :options::text[], :storedBytes::bigint,
       now() + interval '${LEASE_SECONDS} seconds')
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
  constructor(
    private readonly work: Work,
    private readonly limits: PushLimits,
  ) {}

  /** Records a push. Returns its id. Errors: a database error if the repository was removed meanwhile. */
  recordUpdates(push: NewPush, updates: readonly RefUpdate[]): Promise<number> {
    return this.work.run((tx) => writePushIntent(tx, push, updates, 0));
  }

  /**
   * Records a push if the quotas of the project have room for its objects. Returns its id, or the refusal.
   * Errors: GitError; a database error if the repository was removed meanwhile.
   */
  async recordWithinQuota(
    repository: Repository,
    { project, bytes }: NewObjects,
    push: Omit<NewPush, 'projectId'>,
    updates: readonly RefUpdate[],
  ): Promise<{ readonly id: number } | { readonly refusal: string }> {
    const owned = { ...push, projectId: project.id };
    if (bytes === 0 || !this.limits.hasQuota(project)) return { id: await this.recordUpdates(owned, updates) };
    return this.work.run(async (tx) => {
      const refusal = await this.limits.refusalOfSize(tx, repository, { project, bytes });
      return refusal === null ? { id: await writePushIntent(tx, owned, updates, bytes) } : { refusal };
    });
  }
}

async function writePushIntent(
  tx: Tx,
  push: NewPush,
  updates: readonly RefUpdate[],
  storedBytes: number,
): Promise<number> {
  const [row] = await tx.run(insertPushIntent, {
    options: [],
    ...push,
    storedBytes,
    refs: updates.map(({ ref }) => ref),
    oldIds: updates.map(({ oldId }) => oldId),
    newIds: updates.map(({ newId }) => newId),
  });
  return row!.id;
}
