import type { PresentContext } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import type { DirectoryUserRow } from '@rookery/directory';

interface RowWithUserId {
  readonly user_id: number | null;
}
type UsersById = ReadonlyMap<number, DirectoryUserRow>;

/** Loads the users of rows, for `findUserOfRow`. */
export function loadUsers(rows: readonly RowWithUserId[], ctx: PresentContext): Promise<UsersById> {
  return ctx.get(Directory).findUsers(rows.flatMap(({ user_id: user }) => (user === null ? [] : [user])));
}

/** Returns the user of a row; null for a deleted user. */
export function findUserOfRow({ user_id: user }: RowWithUserId, users: UsersById): DirectoryUserRow | null {
  return user === null ? null : (users.get(user) ?? null);
}
