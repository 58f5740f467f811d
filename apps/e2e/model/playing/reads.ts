import type { Caller } from './caller';
import { selfAndAncestors, fullPathOf, fullPathOfGroup } from '../rules/forest';
import type { Project, Reference } from '../rules/forest';
import type { Question } from '../rules/reference-model';
import type { SeededRandom } from './seeded-random';
import type { Notes } from './notes';
import { FeedReads } from './feed-reads';
import { MergeRequestReads } from './merge-request-reads';
import type { Asker, Call, Gateway, Plan, World } from './world';

type Shape = Pick<Plan, 'method' | 'path' | 'question'> & { readonly json?: object };

/** Reads and writes by people. Each call asks one of three services for a permission decision. */
export class Reads {
  private readonly feeds: FeedReads;
  private readonly requests: MergeRequestReads;

  constructor(
    private readonly world: World,
    private readonly caller: Caller,
    private readonly notes: Notes,
    private readonly gateways: readonly Gateway[],
  ) {
    this.feeds = new FeedReads(world, caller);
    this.requests = new MergeRequestReads(world, caller);
  }

  /** Makes a random call as a random caller. */
  async any(random: SeededRandom): Promise<void> {
    const gateway = random.pick(this.gateways)!;
    const asker = this.asker(random);
    if (asker !== undefined) await this.about(random, gateway, asker, this.world.project(random));
  }

  /** Makes one call about the project, a group above it, or any group. */
  async about(random: SeededRandom, gateway: Gateway, asker: Asker, project: Project | undefined): Promise<void> {
    if (asker !== 'anonymous' && random.percent(9)) return this.feeds.any(random, gateway, asker);
    // Lists by access level use memberships, and administrators have permissions without memberships.
    const holds = typeof asker !== 'string' && !asker.person.history.latest.admin;
    if (holds && random.percent(7)) return this.listed(random, gateway, asker);
    if (project && random.percent(10)) return this.ofNotes(random, gateway, asker, project);
    if (random.percent(14)) return this.requests.any(random, gateway, asker, project);
    const shape =
      project && random.percent(82) ? this.ofProject(random, project, asker) : this.ofGroup(random, project, asker);
    if (shape) await this.caller.ask({ asker, gateway, ...shape });
  }

  asker(random: SeededRandom): Asker | undefined {
    if (random.percent(4)) return 'anonymous';
    if (random.percent(3)) return 'root';
    const person = this.world.randomPerson(random);
    const token = person && this.world.token(random, person);
    return person && token !== undefined ? { person, token } : undefined;
  }

  /** Reads the feed of a project, or writes a note in it. */
  private ofNotes(random: SeededRandom, gateway: Gateway, asker: Asker, { id }: Project): Promise<void> {
    const isWritable = asker !== 'anonymous' && this.world.withIssue.has(id);
    if (isWritable && random.percent(65)) return this.notes.write(random, gateway, asker, id);
    return this.feeds.ofProject(gateway, asker, id);
  }

  private ofProject(random: SeededRandom, project: Project, asker: Asker): Shape {
    const { id } = project;
    const issues = `/projects/${id}/issues`;
    const rules = `/projects/${id}/packages/protection/rules`;
    const source: Reference = { kind: 'project', id };
    const collaboration = { service: 'collaboration', source, needs: 0, writes: false } as const;
    const shapes: [number, () => Shape][] = [
      [12, () => get(`/projects/${id}`, { service: 'identity', source, needs: 0, writes: false })],
      [24, () => get(`${issues}?per_page=2`, collaboration)],
      [8, () => this.byPath(random, project)],
    ];
    if (this.world.withIssue.has(id)) shapes.push([10, () => get(`${issues}/1`, collaboration)]);
    if (asker === 'anonymous') return random.weighted(shapes)();
    const maintains = { service: 'package', source, needs: 40 } as const;
    const writes = { ...collaboration, writes: true };
    shapes.push(
      [6, () => get(`/projects/${id}/members?per_page=2`, { service: 'identity', source, needs: 0, writes: false })],
      [22, () => get(rules, { ...maintains, writes: false })],
      [
        6,
        () => get(`/projects/${id}/access_requests?per_page=2`, { ...maintains, service: 'identity', writes: false }),
      ],
      [6, () => ({ method: 'POST', path: rules, json: this.rule(), question: { ...maintains, writes: true } })],
      [5, () => ({ method: 'POST', path: issues, json: { title: TITLE }, question: writes })],
    );
    if (this.world.withIssue.has(id)) {
      const notes = `${issues}/1/notes`;
      shapes.push([8, () => get(`${notes}?per_page=2`, collaboration)]);
    }
    return random.weighted(shapes)();
  }

  /** Addresses the project by its current full path or a former one. */
  private byPath(random: SeededRandom, project: Project): Shape {
    const history = this.world.forest;
    const earlier = history.at(random.percent(70) ? history.length - 1 : random.below(history.length)).state;
    const state = earlier.projects.has(project.id) ? earlier : this.world.state;
    const full = fullPathOf(state, state.projects.get(project.id) ?? project);
    const source: Reference = { kind: 'project', path: full };
    const plain = { source, needs: 0, writes: false } as const;
    const path = `/projects/${encodeURIComponent(full)}`;
    return random.percent(50)
      ? get(path, { ...plain, service: 'identity' })
      : get(`${path}/issues?per_page=2`, { ...plain, service: 'collaboration' });
  }

  private ofGroup(random: SeededRandom, project: Project | undefined, asker: Asker): Shape | null {
    const { state } = this.world;
    const near = selfAndAncestors(state, project?.group ?? null);
    const id = random.pick(near.length > 0 && random.percent(75) ? near : [...state.groups.values()])?.id;
    if (id === undefined) return null;
    const byPath = random.percent(30);
    const full = fullPathOfGroup(state, id);
    const source: Reference = byPath ? { kind: 'group', path: full } : { kind: 'group', id };
    const ref = byPath ? encodeURIComponent(full) : id;
    const question = { service: 'identity', source, writes: false } as const;
    return asker !== 'anonymous' && random.percent(35)
      ? get(`/groups/${ref}/access_requests?per_page=2`, { ...question, needs: 50 })
      : get(`/groups/${ref}?with_projects=false`, { ...question, needs: 0 });
  }

  /** Reads a list and records a decision for each project or group that existed when the call began. */
  private async listed(random: SeededRandom, gateway: Gateway, asker: Asker): Promise<void> {
    const kind = random.percent(65) ? 'project' : 'group';
    const known = [...this.world.state[`${kind}s`].keys()];
    const needs = random.pick([10, 20, 30, 40, 50])!;
    const question: Question = { service: 'identity', source: null, needs, writes: false };
    const least = kind === 'project' && needs === 10 ? 'membership=true' : `min_access_level=${needs}`;
    const path = `/${kind}s?${least}&simple=true&per_page=100`;
    const call: Call = await this.caller.ask({ asker, gateway, method: 'GET', path, question });
    if (call.status !== 200) return;
    const rows = call.body as readonly { readonly id: number }[];
    const ids = new Set(rows.map((row) => row.id));
    for (const id of known) {
      if (!ids.has(id) && ids.size >= 100) continue;
      this.caller.note(call, ids.has(id) ? 'allow' : 404, { ...question, source: { kind, id }, isListRow: true });
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
