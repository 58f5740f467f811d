import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { Invalid } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

const FIELD = 'notes_create_limit_allowlist';
/** No username is longer. Units: characters. */
const LONGEST = 255;

/**
 * People of a setting: sent and shown as usernames, kept as ids. So somebody who is renamed stays among them, nobody gets
 * in by taking a name, and who is gone is shown no more. Source: reference packages-and-admin 10.3.
 */
@Injectable()
export class UnlimitedPeople {
  constructor(
    private readonly directory: Directory,
    private readonly database: Database,
  ) {}

  /** Errors: Invalid for names that nobody has; Unavailable. */
  async idsOf(names: readonly string[], viewer: Viewer): Promise<readonly number[]> {
    if (names.some((name) => name.length > LONGEST)) {
      throw new Invalid({ [FIELD]: [`has an item that is too long (maximum is ${LONGEST} characters)`] });
    }
    await this.directory.fresh(viewer);
    const people = await this.directory.usersByUsername(names);
    const unknown = names.filter((name) => !people.has(name.toLowerCase()));
    if (unknown.length > 0) throw new Invalid({ [FIELD]: [`names nobody: ${unknown.join(', ')}`] });
    return [...new Set(names.map((name) => people.get(name.toLowerCase())!.id))];
  }

  /** Names as they are now, in the order of the ids. */
  async namesOf(ids: readonly number[], through: Pick<Tx, 'prepared'> = this.database): Promise<readonly string[]> {
    const people = await this.directory.users(ids, through);
    return ids.flatMap((id) => people.get(id)?.username ?? []);
  }
}
