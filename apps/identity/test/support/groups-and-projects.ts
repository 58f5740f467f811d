import type { IdentityApp, Person } from './app';

export interface MadeGroup {
  readonly id: number;
  readonly path: string;
  readonly name: string;
  readonly full_path: string;
  readonly parent_id: number | null;
}
export interface MadeProject {
  readonly id: number;
  readonly name: string;
  readonly path: string;
  readonly path_with_namespace: string;
}

/** Creates groups and projects with unique names, and adds members. */
export function maker(identity: () => IdentityApp) {
  let serial = 0;
  const unique = (stem: string): string => `${stem}-${++serial}`;
  return {
    unique,
    person: (over: Readonly<Record<string, unknown>> = {}) => identity().person(unique('person'), over),
    async group(by: Person, over: Readonly<Record<string, unknown>> = {}): Promise<MadeGroup> {
      const path = unique('g');
      const body = { name: path, path, ...over };
      return (await by.client.post('/api/v4/groups').send(body).expect(201)).body as MadeGroup;
    },
    async project(by: Person, over: Readonly<Record<string, unknown>> = {}): Promise<MadeProject> {
      const body = { name: unique('p'), ...over };
      return (await by.client.post('/api/v4/projects').send(body).expect(201)).body as MadeProject;
    },
    join: (where: `/api/v4/${'groups' | 'projects'}/${number}`, person: Person, access_level: number) =>
      identity().root.post(`${where}/members`).send({ user_id: person.id, access_level }).expect(201),
  };
}

/** Returns the calendar day (UTC) so many days from now. */
export function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}
