import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { Role, Viewer, Visibility } from '@rookery/kernel';
import type { SeededService, RoleCase } from '@rookery/testing';

export type Kind = 'project' | 'group';
export type Source = DirectoryProject | DirectoryNamespace;
/** A project or group with labels or milestones. `path` is the path of their list. */
export interface Place {
  readonly kind: Kind;
  readonly id: number;
  readonly path: string;
  readonly owner: Viewer;
}

/** Helpers for projects and groups with labels or milestones, and users with different roles in them. */
export function planningPlaces(service: () => SeededService, noun: 'labels' | 'milestones') {
  async function viewerIn(source: Pick<Source, 'id'>, role: Role): Promise<Viewer> {
    const user = await service().seed.user();
    await service().seed.member(user, source as Source, role);
    return service().seed.viewer(user);
  }
  const seeded = (kind: Kind, visibility: Visibility): Promise<Source> =>
    kind === 'project' ? service().seed.project({ visibility }) : service().seed.group({ visibility });
  const pathOf = (kind: Kind, { id }: Pick<Source, 'id'>): string => `/api/v4/${kind}s/${id}/${noun}`;
  const at = (kind: Kind, source: Pick<Source, 'id'>, owner: Viewer): Place => ({
    kind,
    id: source.id,
    path: pathOf(kind, source),
    owner,
  });
  async function standingIn(source: Source, standing: RoleCase): Promise<Viewer> {
    const { seed } = service();
    if (standing === 'anonymous') return seed.anonymous();
    const user = await seed.user({ admin: standing === 'admin', external: standing === 'external' });
    if (!['admin', 'external', 'outsider'].includes(standing)) await seed.member(user, source, standing as Role);
    return seed.viewer(user);
  }
  return {
    viewerIn,
    seeded,
    at,
    standingIn,
    /** Returns a client for the viewer at the newest directory version. */
    as: (viewer: Viewer) => service().app.as({ ...viewer, directory: service().seed.anonymous().directory }),
    async placeOf(kind: Kind, visibility: Visibility = 'public'): Promise<Place> {
      const source = await seeded(kind, visibility);
      return at(kind, source, await viewerIn(source, 'owner'));
    },
    /** For `visibility`: a new place of this visibility, and a viewer with this role case in it. */
    async listedBy(kind: Kind, level: Visibility, standing: RoleCase) {
      const source = await seeded(kind, level);
      return { viewer: await standingIn(source, standing), path: pathOf(kind, source) };
    },
    /** For `registerRefusalOrderTests`: the refused viewers of a private place by reason, and an allowed one. */
    async refusedAt({ kind, id, owner }: Place) {
      const { seed } = service();
      const reader = await viewerIn({ id, ...(kind === 'group' ? { traversal_ids: [id] } : {}) }, 'guest');
      const outsider = seed.viewer(await seed.user());
      const allowed = { ...owner, directory: outsider.directory };
      return { anonymous: seed.anonymous(), outsider, reader, allowed };
    },
  };
}
