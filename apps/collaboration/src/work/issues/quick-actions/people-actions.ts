import type { Directory, DirectoryUserRow } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { ancestorIdsOf } from '../../../base/noteables/reader';
import type { ParentFacts } from '../../../base/noteables/reader';
import type { AssignedPeopleService } from '../../../planning/people/people';
import { parseArgument } from '../../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../../talk/mentions/quick-actions/parse-commands';

/** Users whom commands name, by their usernames in lower case. */
export interface UserLookup {
  readonly me: string;
  readonly users: ReadonlyMap<string, DirectoryUserRow>;
  /** Ids of those whom the caller may see. */
  readonly known: ReadonlySet<number>;
  /** Ids of those who can be assigned. */
  readonly eligible: ReadonlySet<number>;
}

/** Finds the users whom commands name. The arguments of `commands` are users. */
export async function findNamedUsers(
  tx: Tx,
  { directory, people }: { readonly directory: Directory; readonly people: AssignedPeopleService },
  { viewer, project }: { readonly viewer: SignedInViewer; readonly project: ParentFacts },
  commands: readonly Command[],
): Promise<UserLookup> {
  if (commands.length === 0) return { me: '', users: new Map(), known: new Set(), eligible: new Set() };
  const own = await directory.findUsers([viewer.userId], tx);
  const me = own.get(viewer.userId)?.username ?? '';
  const names = new Set(commands.flatMap(({ argument }) => parseArgument.people(argument, me)));
  const users = await directory.usersByUsername([...names], tx);
  const ids = [...users.values()].map(({ id }) => id);
  const known = await directory.filterVisible(viewer, [...users.values()], tx, ancestorIdsOf(project));
  const eligible = await people.filterEligible(viewer, project, ids, tx);
  return { me, users, known: new Set(known.map(({ id }) => id)), eligible: new Set(eligible.map(({ id }) => id)) };
}

/** Ways in which a command changes a list of people. `remove` without a name removes all. */
export type PeopleMode = 'add' | 'remove' | 'replace';

interface CommandedPeople {
  /** People before the commands of the text. */
  readonly original: readonly number[];
  /** People after the commands so far. */
  readonly current: readonly number[];
}

/**
 * Changes a list of people by a command. `names` mentions the named users. Returns null if the command names no user
 * that it can change.
 */
export function applyPeopleCommand(
  mode: PeopleMode,
  argument: string,
  { original, current }: CommandedPeople,
  people: UserLookup,
): { readonly after: readonly number[]; readonly names: string } | null {
  const isMeant = ({ id }: DirectoryUserRow): boolean =>
    mode === 'remove' ? people.known.has(id) || original.includes(id) : people.eligible.has(id);
  const named = parseArgument
    .people(argument, people.me)
    .flatMap((name) => people.users.get(name.toLowerCase()) ?? [])
    .filter(isMeant);
  if (mode === 'remove' && argument === '') return { after: [], names: '' };
  if (named.length === 0) return null;
  const ids = named.map(({ id }) => id);
  const after = {
    add: [...new Set([...current, ...ids])],
    remove: current.filter((id) => !ids.includes(id)),
    replace: ids,
  };
  return { after: after[mode], names: named.map(({ username }) => `@${username}`).join(' ') };
}
