import type { SeededRandom } from '../playing/seeded-random';
import type { Asker, Gateway } from '../playing/world';
import type { Forest, Thing, Visibility } from '../rules/forest';
import { above, fullPathOf, fullPathOfGroup, keyOfThing } from '../rules/forest';
import { departed } from '../rules/people';
import { VISIBILITIES, withFormerPaths, withGroup, without, withProject, withThing } from '../rules/forest-steps';
import { ALONE, changing } from './changes';
import type { Changes } from './changes';

/** What happens to groups and projects where they stand: they are made, shown and hidden, renamed and deleted. */
export class ForestChanges {
  constructor(private readonly changes: Changes) {}

  async createTree(random: SeededRandom, gateway: Gateway): Promise<void> {
    const path = this.changes.world.name('nest');
    const visibility = random.weighted<Visibility>([
      [40, 'private'],
      [30, 'internal'],
      [30, 'public'],
    ]);
    await this.createGroup(gateway, null, path, visibility);
  }

  async createSubgroup(random: SeededRandom, gateway: Gateway): Promise<void> {
    const parent = random.pick([...this.changes.world.state.groups.values()])!;
    await this.createGroup(gateway, parent.id, this.changes.world.name('branch'), atMost(random, parent.visibility));
  }

  private async createGroup(gateway: Gateway, parent: number | null, path: string, visibility: Visibility) {
    const { state } = this.changes.world;
    await this.changes.ofForest(gateway, {
      kind: 'groups made',
      about: `the ${visibility} group ${path} is made ${parent === null ? 'at the top' : `in group ${parent}`}`,
      asker: 'root',
      question: parent === null ? ALONE : changing(`group ${parent}`, 0),
      method: 'POST',
      path: '/groups',
      json: { name: path, path, visibility, ...(parent === null ? {} : { parent_id: parent }) },
      again: null,
      becomes: ({ status, body }) =>
        status === 201 ? withGroup(state, { id: body.id, parent, path, visibility }) : null,
    });
  }

  async createProject(random: SeededRandom, gateway: Gateway): Promise<void> {
    const { state } = this.changes.world;
    const home = random.pick([...state.groups.values()])!;
    const path = this.changes.world.name('egg');
    const visibility = random.percent(55) ? 'private' : atMost(random, home.visibility);
    const made = await this.changes.ofForest(gateway, {
      kind: 'projects made',
      about: `the ${visibility} project ${path} is made in group ${home.id}`,
      asker: 'root',
      question: ALONE,
      method: 'POST',
      path: '/projects',
      json: { name: path, path, namespace_id: home.id, visibility },
      again: null,
      becomes: ({ status, body }) =>
        status === 201 ? withProject(state, { id: body.id, group: home.id, path, visibility }) : null,
    });
    if (made?.status !== 201) return;
    this.changes.world.projects.add(made.body.id);
    await this.openIssue(gateway, made.body.id);
  }

  /** A project made a moment ago must be found by the other services at once. */
  private async openIssue(gateway: Gateway, id: number): Promise<void> {
    const source = { kind: 'project', id } as const;
    const question = { service: 'collaboration', source, needs: 0, writes: true } as const;
    const plan = { method: 'POST', path: `/projects/${id}/issues`, json: { title: 'the first' } };
    const call = await this.changes.caller.ask({ asker: 'root', gateway, question, ...plan });
    if (call.status === 201) this.changes.world.withIssue.add(id);
  }

  async show(random: SeededRandom, gateway: Gateway, about: Thing, by: Asker): Promise<void> {
    const { state } = this.changes.world;
    const [, parent] =
      about.kind === 'group' ? above(state, about.thing.id) : [null, state.groups.get(about.thing.group)];
    const visibility = random.percent(75) ? atMost(random, parent?.visibility ?? 'public') : random.pick(VISIBILITIES)!;
    const isOther = visibility !== about.thing.visibility;
    await this.put(gateway, about, by, {
      kind: 'visibility',
      about: `becomes ${visibility}`,
      needs: about.kind === 'group' || isOther ? 50 : 40,
      json: { visibility },
      becomes: () => withThing(state, about, { visibility }),
    });
  }

  async rename(gateway: Gateway, about: Thing, by: Asker): Promise<void> {
    const { world } = this.changes;
    const { state } = world;
    const path = world.name('new');
    await this.put(gateway, about, by, {
      kind: 'renamed',
      about: `is called ${path}`,
      needs: about.kind === 'group' ? 50 : 40,
      json: { path },
      becomes: () => withThing(withFormerPaths(state, about), about, { path }),
    });
  }

  /**
   * The first call only marks, and nothing follows from it; the second removes with all that is below, and with the bots
   * that belong there. Shape: those are taken.
   */
  async remove(gateway: Gateway, about: Thing): Promise<void> {
    const { id } = about.thing;
    const { state } = this.changes.world;
    const path = `/${about.kind}s/${id}`;
    const bots = this.changes.world.botsIn(about);
    await this.changes.insist(gateway, { method: 'DELETE', path });
    const full = about.kind === 'group' ? fullPathOfGroup(state, id) : fullPathOf(state, about.thing);
    const finally_ = `${path}?permanently_remove=true&full_path=${encodeURIComponent(full)}`;
    await this.changes.ofForest(gateway, {
      kind: 'removed',
      about: `${about.kind} ${id} is removed`,
      asker: 'root',
      question: changing(keyOfThing(about), 0),
      method: 'DELETE',
      path: finally_,
      again: { method: 'DELETE', path: finally_ },
      becomes: ({ status }, isRepeated) =>
        status === 202 || (isRepeated && status === 404) ? without(state, about) : null,
      besides: () => new Map(bots.map(({ id: bot, history }) => [bot, departed(history.latest)])),
    });
  }

  private async put(
    gateway: Gateway,
    thing: Thing,
    asker: Asker,
    how: { kind: string; about: string; needs: number; json: object; becomes: () => Forest },
  ): Promise<void> {
    const { json } = how;
    const path = `/${thing.kind}s/${thing.thing.id}`;
    await this.changes.ofForest(gateway, {
      kind: how.kind,
      about: `${keyOfThing(thing)} ${how.about}`,
      asker,
      question: changing(keyOfThing(thing), how.needs),
      method: 'PUT',
      path,
      json,
      again: { method: 'PUT', path, json },
      becomes: ({ status }) => (status === 200 ? how.becomes() : null),
    });
  }
}

function atMost(random: SeededRandom, most: Visibility): Visibility {
  return random.pick(VISIBILITIES.slice(0, VISIBILITIES.indexOf(most) + 1))!;
}
