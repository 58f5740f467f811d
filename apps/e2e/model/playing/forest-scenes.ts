import type { Changes } from '../changing/changes';
import { ForestChanges } from '../changing/forest-changes';
import { MergeRequestChanges } from '../changing/merge-request-changes';
import { Moves } from '../changing/moves';
import { Shares } from '../changing/shares';
import type { Forest, Project, SourceKey, Source } from '../rules/forest';
import { selfAndAncestors, isWithin, keyOf, keyOfSource, rootOf, sourceOf } from '../rules/forest';
import type { SeededRandom } from './seeded-random';
import type { Asker, Gateway, Person, Secret, World } from './world';

/** The caller and target that a change concerns: the driver reads as this caller during and just after the change. */
export interface Focus {
  readonly asker: Asker | undefined;
  readonly project: Project | undefined;
  /** An issue or epic whose confidentiality changes. */
  readonly secret?: Secret;
  /** Whether the asker's token is that of a job of the project. */
  readonly isOfJob?: true;
}
type Announce = (focus: Focus) => void;

const TREES = 3;
/** Projects with code at the beginning; each of them gets a private fork. */
const WITH_CODE = 5;
/** Upper bounds, so that the same few groups and projects change again and again. */
const LIMITS = { groups: 16, projects: 22, shares: 14 };

/** Scenes that change groups and projects. The caller must hold the forest. */
export class ForestScenes {
  private readonly forest: ForestChanges;
  private readonly shares: Shares;
  private readonly moves: Moves;
  private readonly requests: MergeRequestChanges;

  constructor(
    private readonly world: World,
    changes: Changes,
  ) {
    this.forest = new ForestChanges(changes);
    this.shares = new Shares(changes);
    this.moves = new Moves(changes);
    this.requests = new MergeRequestChanges(changes);
  }

  /** Creates the initial groups and projects. */
  async prepare(random: SeededRandom, gateway: Gateway): Promise<void> {
    for (let count = 0; count < TREES; count += 1) await this.forest.createTree(random, gateway);
    for (let count = 0; count < 2 * TREES; count += 1) await this.forest.createSubgroup(random, gateway);
    for (let count = 0; count < 4 * TREES; count += 1) await this.forest.createProject(random, gateway);
    const groups = [...this.world.state.groups.keys()];
    for (const project of [...this.world.state.projects.values()].slice(0, WITH_CODE))
      if (await this.requests.open(gateway, project.id))
        await this.requests.fork(gateway, project, random.pick(groups)!);
  }

  async play(random: SeededRandom, gateway: Gateway, announce: Announce): Promise<void> {
    const { state, roots } = this.world;
    if (roots.length < TREES) return this.forest.createTree(random, gateway);
    if (state.projects.size < 2 * TREES) return this.forest.createProject(random, gateway);
    const dice = random.below(100);
    if (dice < 22) return this.share(random, gateway, announce);
    if (dice < 36) return this.unshare(random, gateway, announce);
    if (dice < 56) return this.move(random, gateway, announce);
    if (dice < 64 && state.projects.size < LIMITS.projects) return this.forest.createProject(random, gateway);
    if (dice < 70 && state.groups.size < LIMITS.groups) return this.forest.createSubgroup(random, gateway);
    const about = this.any(random);
    announce({ asker: this.activePerson(random), project: this.projectIn(random, keyOfSource(about)) });
    if (dice < 84) return this.forest.show(random, gateway, about, this.actor(random));
    if (dice < 93) return this.forest.rename(gateway, about, this.actor(random));
    // Trees are rarely deleted.
    const isTop = about.kind === 'group' && about.entity.parent === null;
    if (isTop && !random.percent(15)) return;
    // Bots are deleted with their group or project.
    await this.world.withLocked(this.world.botsIn(about), () => this.forest.remove(gateway, about));
  }

  /** Picks a project or group. */
  any(random: SeededRandom): Source {
    const project = random.percent(55) ? random.pick([...this.world.state.projects.values()]) : undefined;
    if (project) return { kind: 'project', entity: project };
    return { kind: 'group', entity: random.pick([...this.world.state.groups.values()])! };
  }

  /** Picks a project at or below the source. */
  projectIn(random: SeededRandom, key: SourceKey | undefined): Project | undefined {
    const { state } = this.world;
    return random.pick([...state.projects.values()].filter((one) => key && isAt(state, one, key)));
  }

  private async share(random: SeededRandom, gateway: Gateway, announce: Announce): Promise<void> {
    const { state } = this.world;
    if (state.shares.length >= LIMITS.shares) return this.unshare(random, gateway, announce);
    const source = keyOfSource(this.any(random));
    // Mostly a group with members: the share changes nothing for other people.
    const all = [...state.groups.keys()];
    const peopled = all.filter((id) => this.membersOf(id).length > 0);
    const group = random.pick(peopled.length > 0 && random.percent(80) ? peopled : all)!;
    announce({ asker: this.memberOf(random, group), project: this.projectIn(random, source) });
    await this.shares.give(random, gateway, source, group, this.actor(random));
  }

  private async unshare(random: SeededRandom, gateway: Gateway, announce: Announce): Promise<void> {
    const share = random.pick(this.world.state.shares);
    if (!share) return;
    announce({ asker: this.memberOf(random, share.group), project: this.projectIn(random, share.source) });
    const person = random.percent(35) ? this.world.lockRandom(random) : undefined;
    try {
      await this.shares.end(gateway, share, this.as(random, person) ?? 'root');
    } finally {
      if (person) person.isLocked = false;
    }
  }

  /** Moves a group or project, mostly into another tree; reads as a member of the old or new place. */
  private async move(random: SeededRandom, gateway: Gateway, announce: Announce): Promise<void> {
    const { state } = this.world;
    const about = this.any(random);
    const from = about.kind === 'project' ? about.entity.group : about.entity.id;
    const others = [...state.groups.keys()].filter((id) => rootOf(state, id) !== rootOf(state, from));
    const isToTop = about.kind === 'group' && about.entity.parent !== null && random.percent(30);
    const to = isToTop ? null : random.pick(random.percent(70) ? others : [...state.groups.keys()]);
    const isLastTree = about.kind === 'group' && about.entity.parent === null && this.world.roots.length <= TREES;
    if (to === undefined || isLastTree) return this.forest.createTree(random, gateway);
    const asker = this.memberOf(random, to === null || random.percent(50) ? from : to);
    announce({ asker, project: this.projectIn(random, keyOfSource(about)) });
    await this.moves.move(gateway, about, to, to === null ? 'root' : this.actor(random));
  }

  /** Picks a member of the group or of a group above it; any active person if there is none. */
  private memberOf(random: SeededRandom, group: number): Asker | undefined {
    return this.as(random, random.pick(this.membersOf(group))) ?? this.activePerson(random);
  }

  private membersOf(group: number): Person[] {
    const keys = selfAndAncestors(this.world.state, group).map(({ id }) => keyOf({ kind: 'group', id }));
    return this.world.active.filter(({ history }) => {
      return keys.some((key) => history.latest.memberships.get(key)?.isExpired === false);
    });
  }

  private actor(random: SeededRandom): Asker {
    return (random.percent(30) ? this.activePerson(random) : undefined) ?? 'root';
  }

  private activePerson(random: SeededRandom): Asker | undefined {
    return this.as(random, random.pick(this.world.active));
  }

  private as(random: SeededRandom, person: Person | undefined) {
    const token = person && this.world.token(random, person);
    return person && token !== undefined ? { person, token } : undefined;
  }
}

function isAt(forest: Forest, { id }: Project, key: SourceKey): boolean {
  const source = sourceOf(key);
  if (source.kind === 'project') return source.id === id;
  return isWithin(forest, keyOf({ kind: 'project', id }), source.id);
}
