import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { Invalid } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

const FIELD = 'notes_create_limit_allowlist';
/** Maximum length of a username. Units: characters. */
const LONGEST = 255;

/**
 * Users whose notes the note limit does not count. The API sends and shows usernames; the setting stores ids. So a
 * renamed user stays on the list, taking over a username gives no exemption, and deleted users are not shown. Source:
 * reference packages-and-admin 10.3.
 */
@Injectable()
export class NoteLimitAllowlist {
  constructor(
    private readonly directory: Directory,
    private readonly database: Database,
  ) {}

  /** Converts usernames to ids. Errors: Invalid for unknown usernames; Unavailable. */
  async findUserIds(names: readonly string[], viewer: Viewer): Promise<readonly number[]> {
    if (names.some((name) => name.length > LONGEST)) {
      throw new Invalid({ [FIELD]: [`has an item that is too long (maximum is ${LONGEST} characters)`] });
    }
    await this.directory.requireFresh(viewer);
    const people = await this.directory.usersByUsername(names);
    const unknown = names.filter((name) => !people.has(name.toLowerCase()));
    if (unknown.length > 0) throw new Invalid({ [FIELD]: [`names nobody: ${unknown.join(', ')}`] });
    return [...new Set(names.map((name) => people.get(name.toLowerCase())!.id))];
  }

  /** Returns the current usernames in the order of the ids. Deleted users are left out. */
  async findUsernames(
    ids: readonly number[],
    through: Pick<Tx, 'prepared'> = this.database,
  ): Promise<readonly string[]> {
    const people = await this.directory.findUsers(ids, through);
    return ids.flatMap((id) => people.get(id)?.username ?? []);
  }
}
