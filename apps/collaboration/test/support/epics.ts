import type { DirectoryNamespace } from '@rookery/contracts';
import type { Role, Viewer, Visibility } from '@rookery/kernel';
import type { SeededService, SeededUser, RoleCase } from '@rookery/testing';

export interface ShownEpic {
  readonly id: number;
  readonly iid: number;
  readonly group_id: number;
  readonly title: string;
  readonly labels: readonly unknown[];
  readonly updated_at: string;
  readonly references: { readonly short: string; readonly relative: string; readonly full: string };
}

/** Helpers for groups with epics and users with different roles in them. */
export function epicPlaces(service: () => SeededService) {
  const pathOf = ({ id }: Pick<DirectoryNamespace, 'id'>): string => `/api/v4/groups/${id}/epics`;
  /** Returns the viewer at the newest directory version. */
  const newest = (viewer: Viewer): Viewer => ({ ...viewer, directory: service().seed.anonymous().directory });
  const as = (viewer: Viewer) => service().app.as(newest(viewer));
  const who = (user: SeededUser): Viewer => newest(service().seed.viewer(user));
  async function standing(group: DirectoryNamespace, how: RoleCase): Promise<Viewer> {
    const { seed } = service();
    if (how === 'anonymous') return seed.anonymous();
    const user = await seed.user({ admin: how === 'admin', external: how === 'external' });
    if (!['admin', 'external', 'outsider'].includes(how)) await seed.member(user, group, how as Role);
    return seed.viewer(user);
  }
  return {
    as,
    who,
    pathOf,
    standing,
    group: (over: { parent?: DirectoryNamespace; visibility?: Visibility; plan?: DirectoryNamespace['plan'] } = {}) =>
      service().seed.group({ plan: 'premium', ...over }),
    /** Returns the bodies of the notes at a path that the viewer can read, oldest first. */
    async bodiesOf(viewer: Viewer, path: string): Promise<string[]> {
      const { body } = await as(viewer).get(path).query({ sort: 'asc' }).expect(200);
      return (body as { readonly body: string }[]).map((note) => note.body);
    },
    async open(viewer: Viewer, group: DirectoryNamespace, fields: object = {}): Promise<ShownEpic> {
      const sent = { title: 'A goal', ...fields };
      return (await as(viewer).post(pathOf(group)).send(sent).expect(201)).body as ShownEpic;
    },
  };
}
