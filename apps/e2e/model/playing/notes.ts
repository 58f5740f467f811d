import type { Changes } from '../changing/changes';
import { addressOf } from '../changing/people-changes';
import { newPerson } from '../rules/people';
import type { SeededRandom } from './seeded-random';
import type { Asker, Gateway, Person } from './world';

/** Writes notes that mention people on the first issue of a project, which causes to-dos and e-mails. */
export class Notes {
  constructor(private readonly changes: Changes) {}

  /** Writes a note that mentions up to two random people, and `about` if given. */
  async write(random: SeededRandom, gateway: Gateway, by: Asker, project: number, about?: Person): Promise<void> {
    const { humans } = this.changes.world;
    const others = Array.from({ length: random.below(3) }, () => random.pick(humans)!);
    const named = new Set(about && humans.includes(about) ? [about, ...others] : others);
    await this.post(gateway, by, { project, internal: random.percent(20), named: [...named] });
  }

  /**
   * Mentions a new person in a public project. The effects of earlier notes have been delivered by the time this person
   * is notified. Returns the word of the note and the person.
   */
  async writeLast(gateway: Gateway): Promise<{ readonly word: string; readonly person: Person }> {
    const { changes } = this;
    const { world } = changes;
    const create = async (path: string, json: object): Promise<number> => {
      const { status, body } = await changes.retryUntilAnswered(gateway, { method: 'POST', path, json });
      if (status !== 201) throw new Error(`POST ${path}: ${status}`);
      return body.id as number;
    };
    const [username, path] = [world.name('last'), world.name('end')];
    const who = { username, name: username, email: addressOf(username), force_random_password: true };
    const person = world.addPerson(await create('/users', who), username, newPerson(false));
    const group = await create('/groups', { name: path, path, visibility: 'public' });
    const project = await create('/projects', { name: path, namespace_id: group, visibility: 'public' });
    await create(`/projects/${project}/issues`, { title: 'the last' });
    const word = world.name('note');
    await create(notesOf(project), { body: `${word} @${username}` });
    return { word, person };
  }

  /**
   * Writes a note. Internal notes require the reporter level, both for their author and for users who are notified of
   * them.
   */
  private async post(
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

/** Levels needed to read notes. Source: reference work-tracking 2.4. */
export const LEVELS = { internal: 20 };

function notesOf(project: number): string {
  return `/projects/${project}/issues/1/notes`;
}
