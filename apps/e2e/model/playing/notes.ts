import type { Changes } from '../changing/changes';
import { addressOf } from '../changing/people-changes';
import { newcomer } from '../rules/people';
import type { SeededRandom } from './seeded-random';
import type { Asker, Gateway, Person } from './world';

/** How to-dos and e-mails come about: somebody writes on the first issue of a project, and names people. */
export class Notes {
  constructor(private readonly changes: Changes) {}

  /** Names somebody whom something was just done to, or anybody. */
  async tell(random: SeededRandom, gateway: Gateway, by: Asker, project: number, about?: Person): Promise<void> {
    const { humans } = this.changes.world;
    const others = Array.from({ length: random.below(3) }, () => random.pick(humans)!);
    const named = new Set(about && humans.includes(about) ? [about, ...others] : others);
    await this.write(gateway, by, { project, internal: random.percent(20), named: [...named] });
  }

  /**
   * Somebody new is named where everybody may read: what was to be told before was told when they hear of it.
   * Shape: the word by which they do, and who they are.
   */
  async tellLast(gateway: Gateway): Promise<{ readonly word: string; readonly person: Person }> {
    const { changes } = this;
    const { world } = changes;
    const made = async (path: string, json: object): Promise<number> => {
      const { status, body } = await changes.insist(gateway, { method: 'POST', path, json });
      if (status !== 201) throw new Error(`POST ${path}: ${status}`);
      return body.id as number;
    };
    const [username, path] = [world.name('last'), world.name('end')];
    const who = { username, name: username, email: addressOf(username), force_random_password: true };
    const person = world.addPerson(await made('/users', who), username, newcomer(false));
    const group = await made('/groups', { name: path, path, visibility: 'public' });
    const project = await made('/projects', { name: path, namespace_id: group, visibility: 'public' });
    await made(`/projects/${project}/issues`, { title: 'the last' });
    const word = world.name('note');
    await made(notesOf(project), { body: `${word} @${username}` });
    return { word, person };
  }

  /** Shape: internal ones are for reporters and above, to write and to be told of. */
  private async write(
    gateway: Gateway,
    by: Asker,
    { project, internal, named }: { project: number; internal: boolean; named: readonly Person[] },
  ): Promise<void> {
    const { world, caller } = this.changes;
    const word = world.name('note');
    const body = [word, ...named.map(({ name }) => `@${name}`)].join(' ');
    const source = { kind: 'project', id: project } as const;
    const call = await caller.ask({
      asker: by,
      gateway,
      method: 'POST',
      path: notesOf(project),
      json: internal ? { body, internal } : { body },
      question: { service: 'collaboration', source, needs: internal ? LEVELS.internal : 0, writes: true },
    });
    world.notes.set(word, { call, project, internal });
  }
}

/** Levels that it takes to be told. Source: reference work-tracking 2.4. */
export const LEVELS = { internal: 20 };

function notesOf(project: number): string {
  return `/projects/${project}/issues/1/notes`;
}
