import type { SeededRandom } from '../playing/seeded-random';
import type { Asker, Gateway } from '../playing/world';
import type { Forest, Source, Visibility } from '../rules/forest';
import { selfAndAncestors, fullPathOf, fullPathOfGroup, keyOfSource } from '../rules/forest';
import { removedPerson } from '../rules/people';
import {
  VISIBILITIES,
  marked,
  withFormerPaths,
  withGroup,
  without,
  withProject,
  withSourceFields,
} from '../rules/forest-steps';
import { ROOT_QUESTION, changeQuestion } from './changes';
import type { Changes } from './changes';

/** Creates, renames and deletes groups and projects, and changes their visibility. */
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
    await this.changes.makeInForest(gateway, {
      kind: 'groups made',
      about: `the ${visibility} group ${path} is made ${parent === null ? 'at the top' : `in group ${parent}`}`,
      asker: 'root',
      question: parent === null ? ROOT_QUESTION : changeQuestion(`group ${parent}`, 0),
      method: 'POST',
      path: '/groups',
      json: { name: path, path, visibility, ...(parent === null ? {} : { parent_id: parent }) },
      retry: null,
      nextState: ({ status, body }) =>
        status === 201 ? withGroup(state, { id: body.id, parent, path, visibility }) : null,
    });
  }

  async createProject(random: SeededRandom, gateway: Gateway): Promise<void> {
    const { state } = this.changes.world;
    const home = random.pick([...state.groups.values()])!;
    const path = this.changes.world.name('egg');
    const visibility = random.percent(55) ? 'private' : atMost(random, home.visibility);
    const made = await this.changes.makeInForest(gateway, {
      kind: 'projects made',
      about: `the ${visibility} project ${path} is made in group ${home.id}`,
      asker: 'root',
      question: ROOT_QUESTION,
      method: 'POST',
      path: '/projects',
      json: { name: path, path, namespace_id: home.id, visibility },
      retry: null,
      nextState: ({ status, body }) =>
        status === 201 ? withProject(state, { id: body.id, group: home.id, path, visibility }) : null,
    });
    if (made?.status !== 201) return;
    this.changes.world.projects.add(made.body.id);
    await this.openIssue(gateway, made.body.id);
  }

  /** Opens an issue in a project just created, which the other services must find at once. */
  private async openIssue(gateway: Gateway, id: number): Promise<void> {
    const source = { kind: 'project', id } as const;
    const question = { service: 'collaboration', source, needs: 0, writes: true } as const;
    const plan = { method: 'POST', path: `/projects/${id}/issues`, json: { title: 'the first' } };
    const call = await this.changes.caller.ask({ asker: 'root', gateway, question, ...plan });
    if (call.status === 201) this.changes.world.withIssue.add(id);
  }

  async show(random: SeededRandom, gateway: Gateway, about: Source, by: Asker): Promise<void> {
    const { state } = this.changes.world;
    const [, parent] =
      about.kind === 'group' ? selfAndAncestors(state, about.entity.id) : [null, state.groups.get(about.entity.group)];
    const visibility = random.percent(75) ? atMost(random, parent?.visibility ?? 'public') : random.pick(VISIBILITIES)!;
    const isOther = visibility !== about.entity.visibility;
    await this.put(gateway, about, by, {
      kind: 'visibility',
      about: `becomes ${visibility}`,
      needs: about.kind === 'group' || isOther ? 50 : 40,
      json: { visibility },
      nextState: () => withSourceFields(state, about, { visibility }),
    });
  }

  async rename(gateway: Gateway, about: Source, by: Asker): Promise<void> {
    const { world } = this.changes;
    const { state } = world;
    const path = world.name('new');
    await this.put(gateway, about, by, {
      kind: 'renamed',
      about: `is called ${path}`,
      needs: about.kind === 'group' ? 50 : 40,
      json: { path },
      nextState: () => withSourceFields(withFormerPaths(state, about), about, { path }),
    });
  }

  /**
   * Deletes a group or project. The first call marks it: it gets another path, and its projects take no writes. The
   * second call removes it with its descendants and the bots that belong to them. The caller must have locked these
   * bots.
   */
  async remove(gateway: Gateway, about: Source): Promise<void> {
    const { id } = about.entity;
    const { state: before } = this.changes.world;
    const path = `/${about.kind}s/${id}`;
    const bots = this.changes.world.botsIn(about);
    await this.changes.makeInForest(gateway, {
      kind: 'marked',
      about: `${about.kind} ${id} is marked for deletion`,
      asker: 'root',
      question: changeQuestion(keyOfSource(about), 0),
      method: 'DELETE',
      path,
      retry: { method: 'DELETE', path },
      nextState: ({ status }, isRepeated) =>
        status === 202 || (isRepeated && status === 400) ? marked(before, about) : null,
    });
    const { state } = this.changes.world;
    const full = about.kind === 'group' ? fullPathOfGroup(state, id) : fullPathOf(state, about.entity);
    const removalPath = `${path}?permanently_remove=true&full_path=${encodeURIComponent(full)}`;
    await this.changes.makeInForest(gateway, {
      kind: 'removed',
      about: `${about.kind} ${id} is removed`,
      asker: 'root',
      question: changeQuestion(keyOfSource(about), 0),
      method: 'DELETE',
      path: removalPath,
      retry: { method: 'DELETE', path: removalPath },
      nextState: ({ status }, isRepeated) =>
        status === 202 || (isRepeated && status === 404) ? without(state, about) : null,
      alsoChanged: () => new Map(bots.map(({ id: bot, history }) => [bot, removedPerson(history.latest)])),
    });
  }

  private async put(
    gateway: Gateway,
    source: Source,
    asker: Asker,
    how: { kind: string; about: string; needs: number; json: object; nextState: () => Forest },
  ): Promise<void> {
    const { json } = how;
    const path = `/${source.kind}s/${source.entity.id}`;
    await this.changes.makeInForest(gateway, {
      kind: how.kind,
      about: `${keyOfSource(source)} ${how.about}`,
      asker,
      question: changeQuestion(keyOfSource(source), how.needs),
      method: 'PUT',
      path,
      json,
      retry: { method: 'PUT', path, json },
      nextState: ({ status }) => (status === 200 ? how.nextState() : null),
    });
  }
}

function atMost(random: SeededRandom, most: Visibility): Visibility {
  return random.pick(VISIBILITIES.slice(0, VISIBILITIES.indexOf(most) + 1))!;
}
