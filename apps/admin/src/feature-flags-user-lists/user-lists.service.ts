import { Inject, Injectable } from '@nestjs/common';
import { featureFlagUserListCreated, featureFlagUserListDeleted, featureFlagUserListUpdated } from '@rookery/contracts';
import type { EventDefinition } from '@rookery/contracts';
import { CLOCK, Conflict, InvalidWithSentences } from '@rookery/kernel';
import type { Clock, Page, PageRequest } from '@rookery/kernel';
import type { AllFilters, WriteContext, Collection, Tx } from '@rookery/persistence';
import { defineCollection, likePattern, Work } from '@rookery/persistence';
import { incrementFeatureFlagsRevision } from '../feature-flags-clients/feature-flags-clients.service';
import { UserList } from './user-list.entity';
import type { UserListInput } from './user-list.entity';

export interface UserListFilters {
  readonly search?: string;
}

/** Each word must occur somewhere in the name. */
const FILTERS: AllFilters<UserListFilters> = {
  search: (text, bind) => {
    const words = text.split(/\s+/).filter((word) => word !== '');
    return words.length > 0 && `row.name ilike all(${bind(words.map(likePattern))}::text[])`;
  },
};

const userListEventBuilder =
  (event: EventDefinition & Pick<typeof featureFlagUserListCreated, 'of'>) =>
  (list: UserList, actorId: number | null) =>
    event.of({ aggregateId: list.id, actorId, data: { user_list_id: list.id, project_id: list.projectId } });

export const userLists = defineCollection<UserList, UserListFilters>(UserList, {
  within: 'projectId',
  numbered: 'iid',
  filters: FILTERS,
  created: userListEventBuilder(featureFlagUserListCreated),
  changed: userListEventBuilder(featureFlagUserListUpdated),
  removed: userListEventBuilder(featureFlagUserListDeleted),
  taken: {
    uq_feature_flags_user_lists_name: () => new InvalidWithSentences(['Name has already been taken']),
    fk_feature_flag_strategies_user_list_id: () => new Conflict(['User list is associated with a strategy']),
  },
});

/**
 * Maximum total size of user ids. Units: bytes, as JSON. Bounds a page of all lists of a project, and a client's
 * document with the users of all strategies.
 */
const MOST_XIDS = 16 * 1024 * 1024;
const XIDS = `select
  (select coalesce(sum(octet_length(to_json(l.user_xids)::text)), 0)::float8
   from feature_flags_user_lists l where l.project_id = $1) as of_lists,
  (select coalesce(sum(coalesce(octet_length(to_json(l.user_xids)::text), 0)
     + coalesce(octet_length((s.parameters -> 'userIds')::text), 0)), 0)::float8
   from feature_flags f join feature_flag_strategies s on s.feature_flag_id = f.id
     left join feature_flags_user_lists l on l.id = s.user_list_id
   where f.project_id = $1) as of_strategies`;

/**
 * Checks the total size of user ids in a project. A user counts once per strategy that names it, by list or by
 * parameters. Errors: InvalidWithSentences when an answer about the project would exceed the limit.
 */
export async function checkFeatureFlagUserXidsSize(tx: Tx, projectId: number): Promise<void> {
  const [sums] = await tx.query<{ of_lists: number; of_strategies: number }>(XIDS, [projectId]);
  const tooLong = sums!.of_lists > MOST_XIDS ? 'lists' : sums!.of_strategies > MOST_XIDS ? 'strategies' : null;
  if (tooLong) {
    throw new InvalidWithSentences([
      `User xids of all ${tooLong} of a project are too long (maximum is ${MOST_XIDS} bytes)`,
    ]);
  }
}

/** User lists of a project. Each change increments the revision that clients poll. */
@Injectable()
export class FeatureFlagsUserListsService {
  private readonly lists: Collection<UserList, UserListFilters>;

  constructor(
    work: Work,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.lists = userLists.on(work);
  }

  list(projectId: number, filters: UserListFilters, page: PageRequest): Promise<Page<UserList>> {
    return this.lists.list({ within: projectId, filters, page });
  }

  /** Errors: NotFound, as in all methods with an iid. */
  show(projectId: number, iid: number): Promise<UserList> {
    return this.lists.find({ iid }, projectId);
  }

  /**
   * Errors: InvalidWithSentences, also for a name that another list of the project has, and when the lists become too large.
   */
  create(projectId: number, input: Required<UserListInput>, actorId: number): Promise<UserList> {
    return this.lists.create(
      UserList.create(input, this.clock.now()),
      createFlagUserListWriteContext(projectId, actorId),
      (_, tx) => checkFeatureFlagUserXidsSize(tx, projectId),
    );
  }

  update(projectId: number, iid: number, input: UserListInput, actorId: number): Promise<UserList> {
    const change = (list: UserList) => list.change(input, this.clock.now());
    return this.lists.change({ iid }, change, createFlagUserListWriteContext(projectId, actorId), (_, tx) =>
      checkFeatureFlagUserXidsSize(tx, projectId),
    );
  }

  /** Errors: Conflict while a strategy uses the list. */
  async remove(projectId: number, iid: number, actorId: number): Promise<void> {
    await this.lists.remove({ iid }, createFlagUserListWriteContext(projectId, actorId));
  }
}

function createFlagUserListWriteContext(projectId: number, actorId: number): WriteContext {
  return { within: projectId, actorId, before: (tx) => incrementFeatureFlagsRevision(tx, projectId) };
}
