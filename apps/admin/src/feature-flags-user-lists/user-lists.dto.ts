import { Search, Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import type { UserListInput } from './user-list.entity';
import type { UserListFilters } from './user-lists.service';

/** One client library sends `user_x_ids`. Source: reference packages-and-admin 13. */
const IDS = {
  about: 'Comma-separated external user ids. An empty text means none.',
  alias: 'user_x_ids',
} as const;

export class ListUserLists implements ExactInput<UserListFilters, ListUserLists> {
  @Search({ about: 'Words that the name must contain, in any order, ignoring case.' }) search?: string;
}

/** Source: requirements 3 §4 Feature flag user lists; reference packages-and-admin 9.1. */
export class CreateUserList implements ExactInput<UserListInput, CreateUserList> {
  @Text() name: string;
  @Text(IDS) user_xids: string;
}

export class IdentifyUserList {
  @Text({ in: 'path' }) iid: string;
}

export class UpdateUserList extends IdentifyUserList implements ExactInput<UserListInput, UpdateUserList, 'iid'> {
  @Text({ optional: true }) name?: string;
  @Text({ ...IDS, optional: true }) user_xids?: string;
}
