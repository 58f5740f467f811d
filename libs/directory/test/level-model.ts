import type {
  DirectoryNamespace,
  DirectoryProject,
  DirectoryShare,
  DirectoryUser,
  DirectoryMembership,
} from '@rookery/contracts';
import { group, project, user } from './states';

export type Entry = readonly [
  'user' | 'namespace' | 'project' | 'membership' | 'share',
  { readonly id: number },
  'gone'?,
];
type LevelSource = readonly ['namespace' | 'project', number];

const LEVELS = [5, 10, 15, 20, 30, 40, 50];
const PAST = '2020-01-01';
const FUTURE = '2100-01-01';

/** Reference model of access levels, in the simplest code possible: loops over lists, one rule after the other. */
export class LevelModel {
  readonly users = new Map<number, DirectoryUser>();
  readonly namespaces = new Map<number, DirectoryNamespace>();
  readonly projects = new Map<number, DirectoryProject>();
  readonly memberships = new Map<number, DirectoryMembership>();
  readonly shares = new Map<number, DirectoryShare>();
  private nextId = 50_000;

  /** `random` returns an integer of at least 0 and less than its argument. */
  constructor(private readonly random: (below: number) => number) {}

  /** Creates users with namespaces, groups and projects, as the first version. */
  begin(): Entry[] {
    for (let id = 1; id <= 8; id++) {
      this.users.set(id, user(id, { external: id === 8 }));
      const own = { kind: 'user' as const, owner_id: id, visibility: 'public' as const };
      this.namespaces.set(100 + id, group(100 + id, own));
    }
    for (let id = 201; id <= 212; id++) this.namespaces.set(id, group(id));
    for (let id = 301; id <= 310; id++) this.projects.set(id, project(id, this.pick([...this.namespaces.keys()])));
    const all = [
      ...[...this.users.values()].map((state): Entry => ['user', state]),
      ...[...this.namespaces.values()].map((state): Entry => ['namespace', state]),
      ...[...this.projects.values()].map((state): Entry => ['project', state]),
    ];
    return all;
  }

  /** Makes one random change. Returns its entries in the change log. */
  step(): Entry[] {
    const changes = [
      () => this.addMembership(),
      () => this.addMembership(),
      () => this.removeGrant(this.memberships, 'membership'),
      () => this.shareWithGroup(),
      () => this.removeGrant(this.shares, 'share'),
      () => this.moveGroup(),
      () => this.moveProject(),
      () => this.toggleBlocked(),
      () => this.changeVisibility(),
    ];
    return this.pick(changes)();
  }

  /** Returns the access level by the rules of the reference. */
  level(userId: number, source: LevelSource): number {
    if (this.users.get(userId)?.state !== 'active') return 0;
    const [type, id] = source;
    const home = this.namespaces.get(type === 'namespace' ? id : this.projects.get(id)!.namespace_id)!;
    const places: LevelSource[] = home.traversal_ids.map((up): LevelSource => ['namespace', up]);
    if (type === 'project') places.push(source);
    let level = home.kind === 'user' && home.owner_id === userId ? 50 : 0;
    for (const place of places) {
      level = Math.max(level, this.directLevel(userId, place));
      for (const share of this.shares.values()) {
        if (share.source_type !== place[0] || share.source_id !== place[1] || share.expires_on === PAST) continue;
        for (const up of this.namespaces.get(share.group_id)!.traversal_ids) {
          level = Math.max(level, Math.min(share.access_level, this.directLevel(userId, ['namespace', up])));
        }
      }
    }
    return level;
  }

  /** Whether a user may see a project or group. External users may not see internal ones without a level. */
  sees(userId: number | null, source: LevelSource): boolean {
    const { visibility } = source[0] === 'project' ? this.projects.get(source[1])! : this.namespaces.get(source[1])!;
    if (visibility === 'public') return true;
    if (userId === null) return false;
    if (visibility === 'internal' && !this.users.get(userId)!.external) return true;
    return this.level(userId, source) >= 10;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.random(items.length)] as T;
  }

  private directLevel(userId: number, [type, id]: LevelSource): number {
    const held = [...this.memberships.values()].filter(
      (member) =>
        member.user_id === userId &&
        member.source_type === type &&
        member.source_id === id &&
        member.expires_on !== PAST,
    );
    return Math.max(0, ...held.map((member) => member.access_level));
  }

  private listGroups(): DirectoryNamespace[] {
    return [...this.namespaces.values()].filter((namespace) => namespace.kind === 'group');
  }

  private pickSource(): { source_type: 'namespace' | 'project'; source_id: number } {
    return this.random(2) === 0
      ? { source_type: 'namespace', source_id: this.pick(this.listGroups()).id }
      : { source_type: 'project', source_id: this.pick([...this.projects.keys()]) };
  }

  private addMembership(): Entry[] {
    const known = this.random(3) === 0 ? this.pick([...this.memberships.values()]) : undefined;
    const place = known ?? { id: this.nextId++, user_id: this.pick([...this.users.keys()]), ...this.pickSource() };
    const state = { ...place, access_level: this.pick(LEVELS), expires_on: this.pick([null, null, FUTURE, PAST]) };
    this.memberships.set(state.id, state);
    return [['membership', state]];
  }

  private shareWithGroup(): Entry[] {
    const place = { id: this.nextId++, ...this.pickSource(), group_id: this.pick(this.listGroups()).id };
    const state = {
      ...place,
      access_level: this.pick(LEVELS.slice(1)),
      expires_on: this.pick([null, null, FUTURE, PAST]),
    };
    this.shares.set(state.id, state);
    return [['share', state]];
  }

  private removeGrant(from: Map<number, { readonly id: number }>, kind: 'membership' | 'share'): Entry[] {
    const gone = this.pick([...from.values()]);
    if (!gone) return this.addMembership();
    from.delete(gone.id);
    return [[kind, gone, 'gone']];
  }

  private moveGroup(): Entry[] {
    const moved = this.pick(this.listGroups());
    const places = this.listGroups().filter((place) => !place.traversal_ids.includes(moved.id));
    const parent = this.random(3) === 0 ? undefined : this.pick(places);
    const depth = moved.traversal_ids.length - 1;
    const below = [...this.namespaces.values()].filter((namespace) => namespace.traversal_ids.includes(moved.id));
    return below.map((namespace): Entry => {
      const traversal_ids = [...(parent?.traversal_ids ?? []), ...namespace.traversal_ids.slice(depth)];
      const state = { ...namespace, parent_id: traversal_ids.at(-2) ?? null, traversal_ids };
      this.namespaces.set(state.id, state);
      return ['namespace', state];
    });
  }

  private moveProject(): Entry[] {
    const state = { ...this.pick([...this.projects.values()]), namespace_id: this.pick([...this.namespaces.keys()]) };
    this.projects.set(state.id, state);
    return [['project', state]];
  }

  private toggleBlocked(): Entry[] {
    const known = this.pick([...this.users.values()]);
    const state: DirectoryUser = { ...known, state: known.state === 'active' ? 'blocked' : 'active' };
    this.users.set(state.id, state);
    return [['user', state]];
  }

  private changeVisibility(): Entry[] {
    const visibility = this.pick(['private', 'private', 'internal', 'public'] as const);
    if (this.random(2) === 0) {
      const state = { ...this.pick([...this.projects.values()]), visibility };
      this.projects.set(state.id, state);
      return [['project', state]];
    }
    const state = { ...this.pick(this.listGroups()), visibility };
    this.namespaces.set(state.id, state);
    return [['namespace', state]];
  }
}
