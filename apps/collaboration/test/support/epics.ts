import type { DirectoryNamespace } from '@rookery/contracts';
import type { Role, Viewer, Visibility } from '@rookery/kernel';
import type { SeededService, Standing } from '@rookery/testing';

export interface ShownEpic {
  readonly id: number;
  readonly iid: number;
  readonly group_id: number;
  readonly title: string;
  readonly labels: readonly unknown[];
  readonly updated_at: string;
  readonly references: { readonly short: string; readonly relative: string; readonly full: string };
}

/** Groups with epics, and people who stand in them one way or another. */
export function epicPlaces(service: () => SeededService) {
  const pathOf = ({ id }: Pick<DirectoryNamespace, 'id'>): string => `/api/v4/groups/${id}/epics`;
  /** Over the newest version of the directory, whenever the viewer was made. */
  const as = (viewer: Viewer) => service().app.as({ ...viewer, directory: service().seed.anonymous().directory });
  async function standing(group: DirectoryNamespace, how: Standing): Promise<Viewer> {
    const { seed } = service();
    if (how === 'anonymous') return seed.anonymous();
    const user = await seed.user({ admin: how === 'admin', external: how === 'external' });
    if (!['admin', 'external', 'outsider'].includes(how)) await seed.member(user, group, how as Role);
    return seed.viewer(user);
  }
  return {
    as,
    pathOf,
    standing,
    group: (over: { parent?: DirectoryNamespace; visibility?: Visibility; plan?: DirectoryNamespace['plan'] } = {}) =>
      service().seed.group({ plan: 'premium', ...over }),
    async open(viewer: Viewer, group: DirectoryNamespace, fields: object = {}): Promise<ShownEpic> {
      const sent = { title: 'A goal', ...fields };
      return (await as(viewer).post(pathOf(group)).send(sent).expect(201)).body as ShownEpic;
    },
  };
}
