import { setTimeout as pause } from 'node:timers/promises';
import type { Changes } from './changes';
import { isUndecided } from './caller';
import type { Group, Project, Question, Reference, TreeState, Visibility } from './reference-model';
import { above, fullPathOf, fullPathOfGroup, NO_TREE, withEntry } from './reference-model';
import type { SeededRandom } from './seeded-random';
import type { Asker, Call, Gateway, Tree } from './world';

const VISIBILITIES: readonly Visibility[] = ['private', 'internal', 'public'];
const ALONE: Question = { service: 'identity', source: null, needs: 0, writes: true };
type Thing = { readonly kind: 'group'; readonly thing: Group } | { readonly kind: 'project'; readonly thing: Project };

/** What happens to groups and projects: they are made, shown and hidden, renamed and deleted. */
export class TreeChanges {
  constructor(private readonly changes: Changes) {}

  async createTree(random: SeededRandom, gateway: Gateway): Promise<Tree | null> {
    const { world, caller } = this.changes;
    const path = world.name('nest');
    const visibility = random.weighted<Visibility>([
      [40, 'private'],
      [30, 'internal'],
      [30, 'public'],
    ]);
    const json = { name: path, path, visibility };
    const call = await caller.ask({
      asker: 'root',
      gateway,
      tree: null,
      method: 'POST',
      path: '/groups',
      json,
      question: ALONE,
    });
    if (call.status !== 201) return null;
    const tree = world.addTree(call.body.id, path);
    const state = withGroup(NO_TREE, { id: call.body.id, parent: null, path, visibility });
    const { start, end } = call;
    tree.history.push({ start, end, state, gateway: gateway.name, about: `#${call.number} ${path} is made` });
    return tree;
  }

  async createSubgroup(random: SeededRandom, gateway: Gateway, tree: Tree): Promise<void> {
    const state = tree.history.latest;
    const parent = random.pick([...state.groups.values()])!;
    const path = this.changes.world.name('branch');
    const visibility = atMost(random, parent.visibility);
    await this.changes.make({
      ...this.inTree(tree, gateway, { kind: 'group', id: parent.id }),
      about: `the ${visibility} group ${path} is made in group ${parent.id}`,
      method: 'POST',
      path: '/groups',
      json: { name: path, path, parent_id: parent.id, visibility },
      again: null,
      becomes: ({ status, body }) =>
        status === 201 ? withGroup(state, { id: body.id, parent: parent.id, path, visibility }) : null,
    });
  }

  async createProject(random: SeededRandom, gateway: Gateway, tree: Tree): Promise<void> {
    const state = tree.history.latest;
    const home = random.pick([...state.groups.values()])!;
    const path = this.changes.world.name('egg');
    const visibility = random.percent(55) ? 'private' : atMost(random, home.visibility);
    const made = await this.changes.make({
      ...this.inTree(tree, gateway, null),
      about: `the ${visibility} project ${path} is made in group ${home.id}`,
      method: 'POST',
      path: '/projects',
      json: { name: path, path, namespace_id: home.id, visibility },
      again: null,
      becomes: ({ status, body }) =>
        status === 201 ? withProject(state, { id: body.id, group: home.id, path, visibility }) : null,
    });
    if (made?.status === 201) await this.openIssue(gateway, tree, made.body.id);
  }

  /** A project made a moment ago must be found by the other services at once. */
  private async openIssue(gateway: Gateway, tree: Tree, id: number): Promise<void> {
    const source: Reference = { kind: 'project', id };
    const question = { service: 'collaboration', source, needs: 0, writes: true } as const;
    const json = { title: 'the first' };
    const plan = {
      asker: 'root',
      gateway,
      tree,
      method: 'POST',
      path: `/projects/${id}/issues`,
      json,
      question,
    } as const;
    const call = await this.changes.caller.ask(plan);
    if (call.status === 201) this.changes.world.withIssue.add(id);
  }

  async show(random: SeededRandom, gateway: Gateway, tree: Tree, by: Asker): Promise<Thing | null> {
    const state = tree.history.latest;
    const about = this.any(random, state);
    const [, above_] =
      about.kind === 'group' ? above(state, about.thing.id) : [null, state.groups.get(about.thing.group)];
    const visibility = random.percent(75) ? atMost(random, above_?.visibility ?? 'public') : random.pick(VISIBILITIES)!;
    const isOther = visibility !== about.thing.visibility;
    const answer = await this.change(tree, gateway, about, {
      by,
      needs: about.kind === 'group' || isOther ? 50 : 40,
      json: { visibility },
      about: `${about.kind} ${about.thing.id} becomes ${visibility}`,
      becomes: () => withThing(state, about, { visibility }),
    });
    return answer && about;
  }

  async rename(random: SeededRandom, gateway: Gateway, tree: Tree, by: Asker): Promise<Thing | null> {
    const state = tree.history.latest;
    const about = this.any(random, state);
    const path = this.changes.world.name('new');
    const answer = await this.change(tree, gateway, about, {
      by,
      needs: about.kind === 'group' ? 50 : 40,
      json: { path },
      about: `${about.kind} ${about.thing.id} moves to ${path}`,
      becomes: () => withThing(withFormerPaths(state, about), about, { path }),
    });
    return answer && about;
  }

  /** The first call only marks, and nothing follows from it; the second removes with all that is below. */
  async remove(gateway: Gateway, tree: Tree, about: Thing): Promise<void> {
    const { id } = about.thing;
    const state = tree.history.latest;
    const path = `/${about.kind}s/${id}`;
    const source: Reference = { kind: about.kind, id };
    for (let attempt = 0; ; attempt += 1) {
      const marked = await this.changes.caller.ask({
        method: 'DELETE',
        path,
        ...this.inTree(tree, gateway, source),
      });
      if (!isUndecided(marked.status)) break;
      if (attempt === 100) throw new Error(`${path} cannot be marked for deletion: ${marked.status}`);
      await pause(100);
    }
    const full = about.kind === 'group' ? fullPathOfGroup(state, id) : fullPathOf(state, about.thing);
    const finally_ = `${path}?permanently_remove=true&full_path=${encodeURIComponent(full)}`;
    await this.changes.make({
      ...this.inTree(tree, gateway, source),
      about: `${about.kind} ${id} is removed`,
      method: 'DELETE',
      path: finally_,
      again: { method: 'DELETE', path: finally_ },
      becomes: ({ status }, isRepeated) =>
        status === 202 || (isRepeated && status === 404) ? without(state, about) : null,
    });
  }

  any(random: SeededRandom, state: TreeState): Thing {
    const project = random.percent(65) ? random.pick([...state.projects.values()]) : undefined;
    if (project) return { kind: 'project', thing: project };
    return { kind: 'group', thing: random.pick([...state.groups.values()])! };
  }

  private change(
    tree: Tree,
    gateway: Gateway,
    { kind, thing }: Thing,
    how: { by: Asker; needs: number; json: object; about: string; becomes: () => TreeState },
  ): Promise<Call | null> {
    const path = `/${kind}s/${thing.id}`;
    const source: Reference = { kind, id: thing.id };
    const question: Question = { service: 'identity', source, needs: how.needs, writes: true };
    return this.changes.make({
      ...this.inTree(tree, gateway, source),
      asker: how.by,
      question,
      about: how.about,
      method: 'PUT',
      path,
      json: how.json,
      again: { method: 'PUT', path, json: how.json },
      becomes: ({ status }) => (status === 200 ? how.becomes() : null),
    });
  }

  private inTree(tree: Tree, gateway: Gateway, source: Reference | null) {
    const question: Question = { service: 'identity', source, needs: 0, writes: true };
    return { history: tree.history, asker: 'root' as Asker, gateway, question, tree };
  }
}

function atMost(random: SeededRandom, most: Visibility): Visibility {
  return random.pick(VISIBILITIES.slice(0, VISIBILITIES.indexOf(most) + 1))!;
}

function withGroup(state: TreeState, group: Group): TreeState {
  return { ...state, groups: withEntry(state.groups, group.id, group) };
}

function withProject(state: TreeState, project: Project): TreeState {
  return { ...state, projects: withEntry(state.projects, project.id, project) };
}

function withThing(
  state: TreeState,
  { kind, thing }: Thing,
  over: { path?: string; visibility?: Visibility },
): TreeState {
  if (kind === 'project') return withProject(state, { ...thing, ...over });
  return withGroup(state, { ...thing, ...over });
}

/** All projects that a renaming moves away from where they are. */
function withFormerPaths(state: TreeState, { kind, thing }: Thing): TreeState {
  const former = new Map(state.former);
  for (const project of state.projects.values()) {
    const moves =
      kind === 'project' ? project.id === thing.id : above(state, project.group).some(({ id }) => id === thing.id);
    if (moves) former.set(fullPathOf(state, project), project.id);
  }
  return { ...state, former };
}

function without(state: TreeState, { kind, thing }: Thing): TreeState {
  if (kind === 'project') return { ...state, projects: withEntry(state.projects, thing.id, undefined) };
  const stays = (group: number): boolean => !above(state, group).some(({ id }) => id === thing.id);
  return {
    ...state,
    groups: new Map([...state.groups].filter(([id]) => stays(id))),
    projects: new Map([...state.projects].filter(([, project]) => stays(project.group))),
  };
}
