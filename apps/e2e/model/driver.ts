import { setTimeout as pause } from 'node:timers/promises';
import { Changes } from './changes';
import type { Caller } from './caller';
import { PeopleChanges } from './people-changes';
import type { Source } from './people-changes';
import { Reads } from './reads';
import type { Project, SourceKey } from './reference-model';
import { above, find } from './reference-model';
import type { SeededRandom } from './seeded-random';
import { TreeChanges } from './tree-changes';
import type { Asker, Gateway, Person, Tree, World } from './world';

/** Whom and what a change concerns: who reads at the same time, and just after it, and what. */
interface Focus {
  readonly asker: Asker | undefined;
  readonly tree: Tree;
  readonly project: Project | undefined;
}

const PEOPLE = 10;
const TREES = 3;
/** Bounds, so that the same few things change again and again. */
const MOST = { people: 14, tokens: 4, trees: 4, groups: 6, projects: 8 };

/** Plays scenes: a change with reads around it, or reads by anybody of anything. */
export class Driver {
  readonly changes: Changes;
  private readonly people: PeopleChanges;
  private readonly trees: TreeChanges;
  private readonly reads: Reads;

  constructor(
    private readonly world: World,
    caller: Caller,
    private readonly gateways: readonly Gateway[],
  ) {
    this.changes = new Changes(world, caller);
    this.people = new PeopleChanges(this.changes);
    this.trees = new TreeChanges(this.changes);
    this.reads = new Reads(world, caller, gateways);
  }

  /** Somebody to begin with. */
  async prepare(random: SeededRandom): Promise<void> {
    const gateway = this.gateways[0]!;
    for (let count = 0; count < TREES; count += 1) {
      const tree = await this.trees.createTree(random, gateway);
      if (!tree) throw new Error('no group could be made');
      for (let below = 0; below < 2; below += 1) await this.trees.createSubgroup(random, gateway, tree);
      for (let below = 0; below < 4; below += 1) await this.trees.createProject(random, gateway, tree);
    }
    for (let count = 0; count < PEOPLE; count += 1) {
      const person = await this.people.create(random, gateway);
      const source = this.source(random, person ?? undefined);
      if (person && source) await this.people.add(random, gateway, person, source, 'root');
    }
  }

  /** One scene. */
  async play(random: SeededRandom): Promise<void> {
    const gateway = random.pick(this.gateways)!;
    const dice = random.below(100);
    if (dice < 30) return this.personScene(random, gateway);
    if (dice < 42) return this.treeScene(random, gateway);
    await this.reads.any(random);
  }

  private async personScene(random: SeededRandom, gateway: Gateway): Promise<void> {
    if (this.world.active.length < PEOPLE) await this.people.create(random, gateway);
    const person = this.world.take(random, this.world.active);
    const source = this.source(random, person);
    if (!person) return;
    try {
      const tree = source?.tree ?? random.pick(this.world.standing);
      const token = this.world.token(random, person);
      const focus = tree && {
        asker: token === undefined ? undefined : { person, token },
        tree,
        project: projectOf(random, source),
      };
      await this.around(random, gateway, focus, () => this.personChange(random, gateway, person, source, token));
    } finally {
      person.isTaken = false;
    }
  }

  private async personChange(
    random: SeededRandom,
    gateway: Gateway,
    person: Person,
    source: Source | undefined,
    token: string | undefined,
  ): Promise<void> {
    const { tokens } = person.history.latest;
    const alive = [...tokens.values()].filter((one) => one.alive).length;
    if (alive === 0) return this.people.createToken(random, gateway, person);
    if (source && random.percent(74)) return this.memberChange(random, gateway, person, source);
    const isAlive = token !== undefined && tokens.get(token)!.alive;
    if (isAlive && random.percent(40)) return this.people.endToken(random, gateway, person, token);
    if (isAlive && random.percent(40)) return this.people.rotateToken(random, gateway, person, token);
    if (random.percent(25)) return this.people.block(gateway, person);
    if (alive < MOST.tokens) return this.people.createToken(random, gateway, person);
    if (this.world.active.length < MOST.people) await this.people.create(random, gateway);
  }

  private memberChange(random: SeededRandom, gateway: Gateway, person: Person, source: Source): Promise<void> {
    const old = person.history.latest.memberships.get(`${source.kind} ${source.id}`);
    const isLeaving = random.percent(12);
    const leaver = isLeaving ? this.asker(random, person) : undefined;
    const by =
      leaver ?? (random.percent(35) ? this.asker(random, random.pick(this.world.active)) : undefined) ?? 'root';
    if (leaver) return this.people.remove(random, gateway, person, source, by);
    if (old === undefined || old.over || random.percent(8)) return this.people.add(random, gateway, person, source, by);
    return random.percent(50)
      ? this.people.remove(random, gateway, person, source, by)
      : this.people.update(random, gateway, person, source, by);
  }

  private async treeScene(random: SeededRandom, gateway: Gateway): Promise<void> {
    const { world } = this;
    if (world.standing.length < TREES) await this.trees.createTree(random, gateway);
    const tree = world.take(random, world.standing);
    if (!tree) return;
    try {
      const project = random.pick([...tree.history.latest.projects.values()]);
      const focus = { asker: this.reads.asker(random), tree, project };
      await this.around(random, gateway, focus, () => this.treeChange(random, gateway, tree));
    } finally {
      tree.isTaken = false;
    }
  }

  private async treeChange(random: SeededRandom, gateway: Gateway, tree: Tree): Promise<void> {
    const { groups, projects } = tree.history.latest;
    if (projects.size < 2) return this.trees.createProject(random, gateway, tree);
    const by = (random.percent(30) ? this.asker(random, random.pick(this.world.active)) : undefined) ?? 'root';
    const dice = random.below(100);
    if (dice < 40) return void (await this.trees.show(random, gateway, tree, by));
    if (dice < 58) return void (await this.trees.rename(random, gateway, tree, by));
    if (dice < 78 && projects.size < MOST.projects) return this.trees.createProject(random, gateway, tree);
    if (dice < 86 && groups.size < MOST.groups) return this.trees.createSubgroup(random, gateway, tree);
    const isWhole = random.percent(10);
    const gone = isWhole
      ? find(tree.history.latest, { kind: 'group', id: tree.root })!
      : this.trees.any(random, tree.history.latest);
    if (gone.kind === 'project' || gone.thing.parent !== null || isWhole) await this.trees.remove(gateway, tree, gone);
  }

  /** Reads while the change is under way, and as soon as it has been answered: there a wrong answer is likeliest. */
  private async around(
    random: SeededRandom,
    gateway: Gateway,
    focus: Focus | undefined,
    change: () => Promise<void>,
  ): Promise<void> {
    const changing = change();
    const during = Array.from({ length: random.below(3) }, async () => {
      await pause(random.below(12));
      await this.look(random, random.pick(this.gateways)!, focus);
    });
    await changing;
    const after = Array.from({ length: 1 + random.below(3) }, () => {
      return this.look(random, random.percent(65) ? gateway : random.pick(this.gateways)!, focus);
    });
    await Promise.all([...during, ...after]);
  }

  private async look(random: SeededRandom, gateway: Gateway, focus: Focus | undefined): Promise<void> {
    if (!focus?.asker) return this.reads.any(random);
    await this.reads.about(
      random,
      gateway,
      focus.asker,
      focus.tree,
      focus.project ?? this.world.project(random, focus.tree),
    );
  }

  private asker(random: SeededRandom, person: Person | undefined): Asker | undefined {
    const token = person && this.world.token(random, person);
    return person && token !== undefined ? { person, token } : undefined;
  }

  /** Where somebody is, or may come to. */
  private source(random: SeededRandom, person: Person | undefined): Source | undefined {
    const tree = random.pick(this.world.standing);
    if (!person || !tree) return undefined;
    const held = [...person.history.latest.memberships.keys()].flatMap((key) => this.standingSource(key));
    const known = random.percent(45) ? random.pick(held) : undefined;
    if (known) return known;
    const { kind, thing } = this.trees.any(random, tree.history.latest);
    return { tree, kind, id: thing.id };
  }

  private standingSource(key: SourceKey): Source[] {
    const [kind, id] = key.split(' ') as ['group' | 'project', string];
    const reference = { kind, id: Number(id) };
    const tree = this.world.standing.find((one) => find(one.history.latest, reference) !== null);
    return tree ? [{ tree, ...reference }] : [];
  }
}

/** A project whose readers the change concerns. */
function projectOf(random: SeededRandom, source: Source | undefined): Project | undefined {
  if (!source) return undefined;
  const state = source.tree.history.latest;
  if (source.kind === 'project') return state.projects.get(source.id);
  const below = [...state.projects.values()].filter((one) =>
    above(state, one.group).some(({ id }) => id === source.id),
  );
  return random.pick(below);
}
