import type { Changes } from '../changing/changes';
import { ForestChanges } from '../changing/forest-changes';
import { Moves } from '../changing/moves';
import { Shares } from '../changing/shares';
import type { Forest, Project, SourceKey, Thing } from '../rules/forest';
import { above, isWithin, keyOf, keyOfThing, rootOf, sourceOf } from '../rules/forest';
import type { SeededRandom } from './seeded-random';
import type { Asker, Gateway, Person, Secret, World } from './world';

/** Whom and what a change concerns: who reads meanwhile and just after it, and what. */
export interface Focus {
  readonly asker: Asker | undefined;
  readonly project: Project | undefined;
  /** An issue or epic that is hidden or shown. */
  readonly secret?: Secret;
}
type Tell = (focus: Focus) => void;

const TREES = 3;
/** Bounds, so that the same few things change again and again. */
const MOST = { groups: 16, projects: 22, shares: 14 };

/** What is done to groups and projects, and who is to notice. Shape: the caller holds the forest. */
export class ForestScenes {
  private readonly forest: ForestChanges;
  private readonly shares: Shares;
  private readonly moves: Moves;

  constructor(
    private readonly world: World,
    changes: Changes,
  ) {
    this.forest = new ForestChanges(changes);
    this.shares = new Shares(changes);
    this.moves = new Moves(changes);
  }

  /** Something to begin with. */
  async prepare(random: SeededRandom, gateway: Gateway): Promise<void> {
    for (let count = 0; count < TREES; count += 1) await this.forest.createTree(random, gateway);
    for (let count = 0; count < 2 * TREES; count += 1) await this.forest.createSubgroup(random, gateway);
    for (let count = 0; count < 4 * TREES; count += 1) await this.forest.createProject(random, gateway);
  }

  async play(random: SeededRandom, gateway: Gateway, tell: Tell): Promise<void> {
    const { state, roots } = this.world;
    if (roots.length < TREES) return this.forest.createTree(random, gateway);
    if (state.projects.size < 2 * TREES) return this.forest.createProject(random, gateway);
    const dice = random.below(100);
    if (dice < 22) return this.share(random, gateway, tell);
    if (dice < 36) return this.unshare(random, gateway, tell);
    if (dice < 56) return this.move(random, gateway, tell);
    if (dice < 64 && state.projects.size < MOST.projects) return this.forest.createProject(random, gateway);
    if (dice < 70 && state.groups.size < MOST.groups) return this.forest.createSubgroup(random, gateway);
    const about = this.any(random);
    tell({ asker: this.anybody(random), project: this.projectIn(random, keyOfThing(about)) });
    if (dice < 84) return this.forest.show(random, gateway, about, this.actor(random));
    if (dice < 93) return this.forest.rename(gateway, about, this.actor(random));
    // Whole trees go seldom.
    const isTop = about.kind === 'group' && about.thing.parent === null;
    if (isTop && !random.percent(15)) return;
    // Their bots go with them.
    await this.world.taking(this.world.botsIn(about), () => this.forest.remove(gateway, about));
  }

  /** A project, or a group. */
  any(random: SeededRandom): Thing {
    const project = random.percent(55) ? random.pick([...this.world.state.projects.values()]) : undefined;
    if (project) return { kind: 'project', thing: project };
    return { kind: 'group', thing: random.pick([...this.world.state.groups.values()])! };
  }

  /** Some project at or below the source. */
  projectIn(random: SeededRandom, key: SourceKey | undefined): Project | undefined {
    const { state } = this.world;
    return random.pick([...state.projects.values()].filter((one) => key && isAt(state, one, key)));
  }

  private async share(random: SeededRandom, gateway: Gateway, tell: Tell): Promise<void> {
    const { state } = this.world;
    if (state.shares.length >= MOST.shares) return this.unshare(random, gateway, tell);
    const source = keyOfThing(this.any(random));
    // Mostly a group that somebody is a member of: else nobody notices.
    const all = [...state.groups.keys()];
    const peopled = all.filter((id) => this.membersOf(id).length > 0);
    const group = random.pick(peopled.length > 0 && random.percent(80) ? peopled : all)!;
    tell({ asker: this.memberOf(random, group), project: this.projectIn(random, source) });
    await this.shares.give(random, gateway, source, group, this.actor(random));
  }

  private async unshare(random: SeededRandom, gateway: Gateway, tell: Tell): Promise<void> {
    const share = random.pick(this.world.state.shares);
    if (!share) return;
    tell({ asker: this.memberOf(random, share.group), project: this.projectIn(random, share.source) });
    const person = random.percent(35) ? this.world.take(random) : undefined;
    try {
      await this.shares.end(gateway, share, this.as(random, person) ?? 'root');
    } finally {
      if (person) person.isTaken = false;
    }
  }

  /** To any place, mostly in another tree: those who had a level there notice, and those who have one here. */
  private async move(random: SeededRandom, gateway: Gateway, tell: Tell): Promise<void> {
    const { state } = this.world;
    const about = this.any(random);
    const from = about.kind === 'project' ? about.thing.group : about.thing.id;
    const others = [...state.groups.keys()].filter((id) => rootOf(state, id) !== rootOf(state, from));
    const isToTop = about.kind === 'group' && about.thing.parent !== null && random.percent(30);
    const to = isToTop ? null : random.pick(random.percent(70) ? others : [...state.groups.keys()]);
    const isLastTree = about.kind === 'group' && about.thing.parent === null && this.world.roots.length <= TREES;
    if (to === undefined || isLastTree) return this.forest.createTree(random, gateway);
    const asker = this.memberOf(random, to === null || random.percent(50) ? from : to);
    tell({ asker, project: this.projectIn(random, keyOfThing(about)) });
    await this.moves.move(gateway, about, to, to === null ? 'root' : this.actor(random));
  }

  /** Somebody with a membership in the group or above it, when there is anybody. */
  private memberOf(random: SeededRandom, group: number): Asker | undefined {
    return this.as(random, random.pick(this.membersOf(group))) ?? this.anybody(random);
  }

  private membersOf(group: number): Person[] {
    const keys = above(this.world.state, group).map(({ id }) => keyOf({ kind: 'group', id }));
    return this.world.active.filter(({ history }) => {
      return keys.some((key) => history.latest.memberships.get(key)?.over === false);
    });
  }

  private actor(random: SeededRandom): Asker {
    return (random.percent(30) ? this.anybody(random) : undefined) ?? 'root';
  }

  private anybody(random: SeededRandom): Asker | undefined {
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
