/**
 * Who may do what, told in the plainest way: a state of a person, a state of a tree of groups, and one rule after the
 * other. States are values; a change makes another one. Source: requirements 2 §3; ADR 0034, 0040.
 */
export type Visibility = 'private' | 'internal' | 'public';
export type SourceKey = `${'group' | 'project'} ${number}`;

/** Shape: `over` when it ended on the day on which it was given. */
export interface Membership {
  readonly level: number;
  readonly over: boolean;
}
export interface Token {
  readonly scope: 'api' | 'read_api';
  /** The first token of a chain of rotations. */
  readonly family: string;
  readonly alive: boolean;
}
export interface PersonState {
  readonly blocked: boolean;
  readonly external: boolean;
  readonly tokens: ReadonlyMap<string, Token>;
  readonly memberships: ReadonlyMap<SourceKey, Membership>;
}

export interface Group {
  readonly id: number;
  readonly parent: number | null;
  readonly path: string;
  readonly visibility: Visibility;
}
export interface Project {
  readonly id: number;
  readonly group: number;
  readonly path: string;
  readonly visibility: Visibility;
}
/** Shape: what was deleted is not in it; `former` holds full paths that projects left. */
export interface TreeState {
  readonly groups: ReadonlyMap<number, Group>;
  readonly projects: ReadonlyMap<number, Project>;
  readonly former: ReadonlyMap<string, number>;
}
export const NO_TREE: TreeState = { groups: new Map(), projects: new Map(), former: new Map() };

export type Reference = { readonly kind: 'group' | 'project' } & ({ readonly id: number } | { readonly path: string });

/** What a call asks for. Shape: `needs` a level in the source, 0 when it suffices to see it. */
export interface Question {
  readonly service: 'identity' | 'collaboration' | 'package';
  readonly source: Reference | null;
  readonly needs: number;
  readonly writes: boolean;
  /** Former paths of projects lead on. */
  readonly leadsOn?: boolean;
  /** Whether a list of the caller's own projects holds the source: 'allow' when it does, else 404. */
  readonly lists?: boolean;
  readonly member?: {
    readonly action: 'add' | 'update' | 'remove';
    readonly old: Membership | undefined;
    readonly grant: number;
    readonly isSelf: boolean;
  };
}

export type Verdict = 'allow' | 301 | 401 | 403 | 404;
export type Asker = PersonState | 'root' | 'anonymous';

/** What the token alone says: null when its holder may come in. */
export function refusalAtDoor(person: PersonState, token: string): 401 | 403 | null {
  if (person.tokens.get(token)?.alive !== true) return 401;
  return person.blocked ? 403 : null;
}

/** What may be answered to somebody whose token was good. Shape: several where either belongs to the state. */
export function verdicts(question: Question, tree: TreeState, asker: Asker, token: string | null): readonly Verdict[] {
  const person = typeof asker === 'string' ? null : asker;
  if (person && question.writes && person.tokens.get(token ?? '')?.scope === 'read_api') return [403];
  if (question.source === null) return ['allow'];
  // A copy knows who is blocked; identity, asked by a service whose copy is late, shows such a person nothing.
  if (person?.blocked && question.service !== 'identity') return [403, 404];
  return [within(question, question.source, tree, asker)];
}

function within(question: Question, source: Reference, tree: TreeState, asker: Asker): Verdict {
  const found = find(tree, source);
  if (!found) return question.leadsOn ? ledOn(source, tree, asker) : 404;
  const level = levelOf(asker, tree, found);
  if (question.lists) return level >= 10 ? 'allow' : 404;
  if (!sees(asker, found.thing.visibility, level)) return 404;
  return question.member ? aboutMember(question.member, asker, level, question.needs) : enough(level, question.needs);
}

function enough(level: number, needs: number): Verdict {
  return level >= needs ? 'allow' : 403;
}

function ledOn(source: Reference, tree: TreeState, asker: Asker): Verdict {
  const id = 'path' in source ? tree.former.get(source.path) : undefined;
  const found = id === undefined ? null : find(tree, { kind: 'project', id });
  return found && sees(asker, found.thing.visibility, levelOf(asker, tree, found)) ? 301 : 404;
}

function aboutMember(
  { action, old, grant, isSelf }: NonNullable<Question['member']>,
  asker: Asker,
  level: number,
  needs: number,
): Verdict {
  const isLeaving = action === 'remove' && isSelf;
  if (!isLeaving && level < needs) return 403;
  if (action !== 'add' && (old === undefined || old.over)) return 404;
  if (isLeaving || asker === 'root') return 'allow';
  if (action !== 'add' && (old?.level ?? 0) > level) return 403;
  return action === 'remove' || grant <= level ? 'allow' : 403;
}

export function sees(asker: Asker, visibility: Visibility, level: number): boolean {
  if (asker === 'root' || visibility === 'public' || level >= 10) return true;
  return visibility === 'internal' && asker !== 'anonymous' && !asker.external;
}

type Found = { readonly kind: 'group'; readonly thing: Group } | { readonly kind: 'project'; readonly thing: Project };

/** The highest of the memberships of the thing and of all groups above it. */
export function levelOf(asker: Asker, tree: TreeState, found: Found): number {
  if (asker === 'root') return 50;
  if (asker === 'anonymous') return 0;
  const home = found.kind === 'project' ? found.thing.group : found.thing.id;
  const keys: SourceKey[] = above(tree, home).map((group): SourceKey => `group ${group.id}`);
  if (found.kind === 'project') keys.push(`project ${found.thing.id}`);
  const held = keys.map((key) => asker.memberships.get(key)).filter((member) => member && !member.over);
  return Math.max(0, ...held.map((member) => member!.level));
}

/** Shape: from the group itself to its root. */
export function above(tree: TreeState, id: number | null): readonly Group[] {
  const group = id === null ? undefined : tree.groups.get(id);
  return group ? [group, ...above(tree, group.parent)] : [];
}

export function fullPathOfGroup(tree: TreeState, id: number): string {
  return above(tree, id)
    .map((group) => group.path)
    .reverse()
    .join('/');
}

export function fullPathOf(tree: TreeState, project: Project): string {
  return `${fullPathOfGroup(tree, project.group)}/${project.path}`;
}

export function find(tree: TreeState, ref: Reference): Found | null {
  if (ref.kind === 'project') {
    const all = [...tree.projects.values()];
    const thing = 'id' in ref ? tree.projects.get(ref.id) : all.find((one) => fullPathOf(tree, one) === ref.path);
    return thing ? { kind: 'project', thing } : null;
  }
  const all = [...tree.groups.values()];
  const thing = 'id' in ref ? tree.groups.get(ref.id) : all.find((one) => fullPathOfGroup(tree, one.id) === ref.path);
  return thing ? { kind: 'group', thing } : null;
}

/** Is the source of a membership the group or anything below it? */
export function isWithin(tree: TreeState, key: SourceKey, group: number): boolean {
  const [kind, id] = key.split(' ') as ['group' | 'project', string];
  const home = kind === 'group' ? Number(id) : (tree.projects.get(Number(id))?.group ?? null);
  return above(tree, home).some((one) => one.id === group);
}

/** Shape: the same map with one entry set, or taken out. */
export function withEntry<K, V>(map: ReadonlyMap<K, V>, key: K, value: V | undefined): ReadonlyMap<K, V> {
  const next = new Map(map);
  if (value === undefined) next.delete(key);
  else next.set(key, value);
  return next;
}
