import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Role } from '@rookery/kernel';
import { anonymousViewer, makeViewer } from '@rookery/testing';
import type { RoleCase } from '@rookery/testing';
import type { IdentityApp, Person } from './app';

const people = new WeakMap<IdentityApp, Map<RoleCase, Promise<Person>>>();

/** One user per role; groups and projects are new, so that no user has two roles in one. */
function personFor(identity: IdentityApp, standing: RoleCase): Promise<Person> {
  const known = people.get(identity) ?? new Map<RoleCase, Promise<Person>>();
  people.set(identity, known);
  const over = standing === 'external' ? { external: true } : {};
  const person = known.get(standing) ?? identity.person(`stands-as-${standing}`, over);
  known.set(standing, person);
  return person;
}

/** Returns a user with this role in a group or project, for the shared suite `visibility`. */
export async function standpoint(
  identity: IdentityApp,
  standing: RoleCase,
  where: `/api/v4/${'groups' | 'projects'}/${number}`,
  path: string,
) {
  if (standing === 'anonymous') return { viewer: anonymousViewer(), path };
  if (standing === 'admin') return { viewer: makeViewer({ userId: 1, username: 'root', isAdmin: true }), path };
  const { id, username } = await personFor(identity, standing);
  const isExternal = standing === 'external';
  if (standing !== 'outsider' && !isExternal) {
    const access_level = ACCESS_LEVELS[standing as Role];
    await identity.root.post(`${where}/members`).send({ user_id: id, access_level }).expect(201);
  }
  return { viewer: makeViewer({ userId: id, username, isExternal }), path };
}
