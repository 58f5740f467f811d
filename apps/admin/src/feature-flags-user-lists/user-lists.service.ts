import { Inject, Injectable } from '@nestjs/common';
import { featureFlagUserListCreated, featureFlagUserListDeleted, featureFlagUserListUpdated } from '@rookery/contracts';
import type { EventDefinition } from '@rookery/contracts';
import { CLOCK, Conflict, InvalidAsSaid } from '@rookery/kernel';
import type { Clock, Page, PageRequest } from '@rookery/kernel';
import type { AllFilters, By, Collection, Tx } from '@rookery/persistence';
import { collection, containing, Work } from '@rookery/persistence';
import { touchFeatureFlags } from '../feature-flags-clients/feature-flags-clients.service';
import { UserList } from './user-list.entity';
import type { UserListInput } from './user-list.entity';

export interface UserListFilters {
  readonly search?: string;
}

/** All words, wherever they stand. */
const FILTERS: AllFilters<UserListFilters> = {
  search: (text, bind) => {
    const words = text.split(/\s+/).filter((word) => word !== '');
    return words.length > 0 && `row.name ilike all(${bind(words.map(containing))}::text[])`;
  },
};

const announce =
  (event: EventDefinition & Pick<typeof featureFlagUserListCreated, 'of'>) =>
  (list: UserList, actorId: number | null) =>
    event.of({ aggregateId: list.id, actorId, data: { user_list_id: list.id, project_id: list.projectId } });

export const userLists = collection<UserList, UserListFilters>(UserList, {
  within: 'projectId',
  numbered: 'iid',
  filters: FILTERS,
  created: announce(featureFlagUserListCreated),
  changed: announce(featureFlagUserListUpdated),
  removed: announce(featureFlagUserListDeleted),
  taken: {
    uq_feature_flags_user_lists_name: () => new InvalidAsSaid(['Name has already been taken']),
    fk_feature_flag_strategies_user_list_id: () => new Conflict(['User list is associated with a strategy']),
  },
});

/** Units: bytes, as JSON writes them. One page holds the lists of a project, one document the users of its strategies. */
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
 * Users count as often as a strategy names them, in a list or by its parameters.
 * Errors: InvalidAsSaid when one answer about a project would tell more than it may.
 */
export async function checkXidsOf(tx: Tx, projectId: number): Promise<void> {
  const [sums] = await tx.query<{ of_lists: number; of_strategies: number }>(XIDS, [projectId]);
  const tooLong = sums!.of_lists > MOST_XIDS ? 'lists' : sums!.of_strategies > MOST_XIDS ? 'strategies' : null;
  if (tooLong) {
    throw new InvalidAsSaid([`User xids of all ${tooLong} of a project are too long (maximum is ${MOST_XIDS} bytes)`]);
  }
}

/** Lists of users of a project; clients of its feature flags hear of each change. */
@Injectable()
export class UserListsService {
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

  /** Errors: NotFound, as of all that take an iid. */
  show(projectId: number, iid: number): Promise<UserList> {
    return this.lists.find({ iid }, projectId);
  }

  /** Errors: InvalidAsSaid, also for a name that another list of the project has, and past what lists may hold. */
  create(projectId: number, input: Required<UserListInput>, actorId: number): Promise<UserList> {
    return this.lists.create(UserList.write(input, this.clock.now()), touching(projectId, actorId), (_, tx) =>
      checkXidsOf(tx, projectId),
    );
  }

  update(projectId: number, iid: number, input: UserListInput, actorId: number): Promise<UserList> {
    const change = (list: UserList) => list.change(input, this.clock.now());
    return this.lists.change({ iid }, change, touching(projectId, actorId), (_, tx) => checkXidsOf(tx, projectId));
  }

  /** Errors: Conflict while a strategy has the list. */
  async remove(projectId: number, iid: number, actorId: number): Promise<void> {
    await this.lists.remove({ iid }, touching(projectId, actorId));
  }
}

function touching(projectId: number, actorId: number): By {
  return { within: projectId, actorId, before: (tx) => touchFeatureFlags(tx, projectId) };
}
