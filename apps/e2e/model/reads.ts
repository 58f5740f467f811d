import type { Caller } from './caller';
import { fullPathOf, fullPathOfGroup } from './reference-model';
import type { Project, Question, Reference } from './reference-model';
import type { SeededRandom } from './seeded-random';
import type { Asker, Call, Gateway, Plan, Tree, World } from './world';

interface Place {
  readonly tree: Tree;
  readonly project: Project;
}
type Shape = Pick<Plan, 'method' | 'path' | 'question'> & { readonly json?: object };

/** What people read and write: each asks one of three services whether somebody may. */
export class Reads {
  private readonly gateways: readonly Gateway[];

  constructor(
    private readonly world: World,
    private readonly caller: Caller,
    gateways: readonly Gateway[],
  ) {
    this.gateways = gateways;
  }

  /** Somebody, somewhere. */
  async any(random: SeededRandom): Promise<void> {
    const gateway = random.pick(this.gateways)!;
    const asker = this.asker(random);
    const tree = random.pick(this.world.standing) ?? random.pick(this.world.trees);
    if (asker === undefined || tree === undefined) return;
    await this.about(random, gateway, asker, tree);
  }

  /** One call about something of the tree. Shape: `project` when it shall be about that one. */
  async about(
    random: SeededRandom,
    gateway: Gateway,
    asker: Asker,
    tree: Tree,
    project = this.world.project(random, tree),
  ): Promise<void> {
    if (typeof asker !== 'string' && random.percent(6)) return this.listed(gateway, asker);
    const shape =
      project && random.percent(88) ? this.ofProject(random, { tree, project }, asker) : this.ofGroup(random, tree);
    await this.caller.ask({ asker, gateway, tree, ...shape });
  }

  asker(random: SeededRandom): Asker | undefined {
    if (random.percent(4)) return 'anonymous';
    if (random.percent(3)) return 'root';
    const person = this.world.someone(random);
    const token = person && this.world.token(random, person);
    return person && token !== undefined ? { person, token } : undefined;
  }

  private ofProject(random: SeededRandom, place: Place, asker: Asker): Shape {
    const { id } = place.project;
    const issues = `/projects/${id}/issues`;
    const rules = `/projects/${id}/packages/protection/rules`;
    const source: Reference = { kind: 'project', id };
    const collaboration = { service: 'collaboration', source, needs: 0, writes: false } as const;
    const shapes: [number, () => Shape][] = [
      [12, () => get(`/projects/${id}`, { service: 'identity', source, needs: 0, writes: false })],
      [24, () => get(`${issues}?per_page=2`, collaboration)],
      [8, () => this.byPath(random, place)],
    ];
    if (this.world.withIssue.has(id)) shapes.push([10, () => get(`${issues}/1`, collaboration)]);
    if (asker === 'anonymous') return random.weighted(shapes)();
    const maintains = { service: 'package', source, needs: 40 } as const;
    const writes = { ...collaboration, writes: true };
    shapes.push(
      [6, () => get(`/projects/${id}/members?per_page=2`, { service: 'identity', source, needs: 0, writes: false })],
      [16, () => get(rules, { ...maintains, writes: false })],
      [6, () => ({ method: 'POST', path: rules, json: this.rule(), question: { ...maintains, writes: true } })],
      [5, () => ({ method: 'POST', path: issues, json: { title: TITLE }, question: writes })],
    );
    if (this.world.withIssue.has(id)) {
      const notes = `${issues}/1/notes`;
      shapes.push([8, () => get(`${notes}?per_page=2`, collaboration)]);
      shapes.push([8, () => ({ method: 'POST', path: notes, json: { body: TITLE }, question: writes })]);
    }
    return random.weighted(shapes)();
  }

  /** By a full path that it has, or had once. */
  private byPath(random: SeededRandom, { tree, project }: Place): Shape {
    const { history } = tree;
    const { state } = history.at(random.percent(70) ? history.length - 1 : random.below(history.length));
    const known = state.projects.get(project.id) ?? project;
    const full = fullPathOf(state, known);
    const source: Reference = { kind: 'project', path: full };
    const plain = { source, needs: 0, writes: false } as const;
    const path = `/projects/${encodeURIComponent(full)}`;
    return random.percent(50)
      ? get(path, { ...plain, service: 'identity', leadsOn: true })
      : get(`${path}/issues?per_page=2`, { ...plain, service: 'collaboration' });
  }

  private ofGroup(random: SeededRandom, tree: Tree): Shape {
    const state = tree.history.latest;
    const id = random.pick([...state.groups.keys()]) ?? tree.root;
    const byPath = random.percent(30) && state.groups.has(id);
    const full = fullPathOfGroup(state, id);
    const source: Reference = byPath ? { kind: 'group', path: full } : { kind: 'group', id };
    const ref = byPath ? encodeURIComponent(full) : id;
    return get(`/groups/${ref}?with_projects=false`, { service: 'identity', source, needs: 0, writes: false });
  }

  /** One answer with a decision about each project that there was when it was asked for. */
  private async listed(gateway: Gateway, asker: Asker): Promise<void> {
    const known = this.world.trees.flatMap((tree) =>
      [...tree.history.latest.projects.keys()].map((id) => ({ tree, id })),
    );
    const question: Question = { service: 'identity', source: null, needs: 0, writes: false };
    const path = '/projects?membership=true&simple=true&per_page=100';
    const call: Call = await this.caller.ask({ asker, gateway, tree: null, method: 'GET', path, question });
    if (call.status !== 200) return;
    const rows = call.body as readonly { readonly id: number }[];
    const ids = new Set(rows.map((row) => row.id));
    for (const { tree, id } of known) {
      if (!ids.has(id) && ids.size >= 100) continue;
      const source = { kind: 'project', id } as const;
      this.caller.note(call, ids.has(id) ? 'allow' : 404, { ...question, source, lists: true }, tree);
    }
  }

  private rule(): object {
    const pattern = `@model/${this.world.name('package')}*`;
    return { package_name_pattern: pattern, package_type: 'npm', minimum_access_level_for_push: 'maintainer' };
  }
}

const TITLE = 'asked by the model';

function get(path: string, question: Question): Shape {
  return { method: 'GET', path, question };
}
