import { History } from '../checking/history';
import type { SeededRandom } from '../playing/seeded-random';
import type { Asker, Gateway, Person, Secret } from '../playing/world';
import { ROOT_USER } from '../playing/world';
import type { Group, Project } from '../rules/forest';
import type { Question } from '../rules/reference-model';
import type { Secrecy, SecretQuestion } from '../rules/secrets';
import type { Changes } from './changes';

/** A word in the title of all secrets, so that lists can be searched for them. */
export const SECRET_WORD = 'hush';

/** Opens, assigns and deletes issues and epics, and changes their confidentiality. */
export class SecretChanges {
  constructor(private readonly changes: Changes) {}

  async openIssue(random: SeededRandom, gateway: Gateway, { id }: Project, by: Asker): Promise<void> {
    const home = { kind: 'project', id } as const;
    await this.open(random, gateway, { kind: 'issue', home, path: `/projects/${id}/issues`, by });
  }

  /** Opens an epic as root, so that it always succeeds. */
  async openEpic(random: SeededRandom, gateway: Gateway, { id }: Group): Promise<void> {
    const home = { kind: 'group', id } as const;
    await this.open(random, gateway, { kind: 'epic', home, path: `/groups/${id}/epics`, by: 'root' });
  }

  async setConfidential(random: SeededRandom, gateway: Gateway, secret: Secret): Promise<void> {
    const state = secret.history.latest;
    const confidential = !state.confidential;
    // A note with commands only is not stored.
    const isCommand = confidential && secret.kind === 'issue' && random.percent(30);
    const plain = { method: 'PUT', path: pathOf(secret), json: { confidential } };
    const command = { method: 'POST', path: notesOf(secret), json: { body: '/confidential' } };
    await this.change(gateway, secret, {
      kind: confidential ? 'hidden' : 'shown',
      about: confidential ? 'is made confidential' : 'is shown to everybody',
      request: isCommand ? command : plain,
      retry: plain,
      nextState: (status) => (status === 200 || status === 202 ? { ...state, confidential } : null),
    });
  }

  /** Sets the assignees; the answer omits people who may not read the project. */
  async assign(gateway: Gateway, secret: Secret, people: readonly Person[]): Promise<void> {
    const state = secret.history.latest;
    const request = { method: 'PUT', path: pathOf(secret), json: { assignee_ids: people.map(({ id }) => id) } };
    await this.change(gateway, secret, {
      kind: 'secrets assigned',
      about: `is assigned to ${people.map(({ name }) => name).join(', ') || 'nobody'}`,
      request,
      retry: request,
      nextState: (status, body) => {
        const assignees = (body as { readonly assignees?: readonly { readonly id: number }[] }).assignees;
        return status === 200 && assignees ? { ...state, assignees: assignees.map(({ id }) => id) } : null;
      },
    });
  }

  async remove(gateway: Gateway, secret: Secret): Promise<void> {
    const state = secret.history.latest;
    const request = { method: 'DELETE', path: pathOf(secret) };
    await this.change(gateway, secret, {
      kind: 'secrets removed',
      about: 'is deleted',
      request,
      retry: request,
      nextState: (status, _, isRepeated) =>
        status === 204 || (isRepeated && status === 404) ? { ...state, isDeleted: true } : null,
    });
  }

  private async open(
    random: SeededRandom,
    gateway: Gateway,
    { kind, home, path, by }: Pick<Secret, 'kind' | 'home'> & { readonly path: string; readonly by: Asker },
  ): Promise<void> {
    const { world, caller, made } = this.changes;
    const confidential = random.percent(60);
    const author = typeof by === 'object' ? by.person.id : ROOT_USER;
    const json = { title: `${SECRET_WORD} ${world.name('secret')}`, confidential };
    const question = { service: 'collaboration', source: home, needs: 0, writes: true } as const;
    const call = await caller.ask({ asker: by, gateway, method: 'POST', path, json, question });
    if (call.status !== 201) return;
    made.set('secrets opened', (made.get('secrets opened') ?? 0) + 1);
    const { id, iid } = call.body as { readonly id: number; readonly iid: number };
    const first: Secrecy = { confidential, author, assignees: [], isDeleted: false };
    const secret: Secret = { kind, home, id, iid, note: null, history: new History(first), isLocked: false };
    const note = await caller.ask({
      asker: 'root',
      gateway,
      question,
      method: 'POST',
      path: notesOf(secret),
      json: { body: `${SECRET_WORD} inside`, internal: true },
    });
    if (note.status === 201) secret.note = (note.body as { readonly id: number }).id;
    world.secrets.push(secret);
  }

  private async change(
    gateway: Gateway,
    secret: Secret,
    how: {
      readonly kind: string;
      readonly about: string;
      readonly request: { method: string; path: string; json?: object };
      readonly retry: { method: string; path: string; json?: object };
      readonly nextState: (status: number, body: unknown, isRepeated: boolean) => Secrecy | null;
    },
  ): Promise<void> {
    await this.changes.make({
      history: secret.history,
      kind: how.kind,
      about: `${secret.kind} ${secret.home.kind} ${secret.home.id} ${secret.iid} ${how.about}`,
      asker: 'root',
      gateway,
      question: questionOf(secret, 'root', { writes: true }),
      secret,
      ...how.request,
      retry: how.retry,
      nextState: ({ status, body }, isRepeated) => how.nextState(status, body, isRepeated),
    });
  }
}

/** Returns the caller's question about a secret. */
export function questionOf(
  { kind, home }: Secret,
  asker: Asker,
  { writes = false, ...more }: Partial<Pick<Question, 'writes'> & SecretQuestion> = {},
): Question {
  const reader = typeof asker === 'object' ? asker.person.id : asker === 'root' ? ROOT_USER : null;
  return { service: 'collaboration', source: home, needs: 0, writes, secret: { kind, reader, ...more } };
}

export function pathOf({ kind, home, iid }: Pick<Secret, 'kind' | 'home' | 'iid'>): string {
  return kind === 'issue' ? `/projects/${home.id}/issues/${iid}` : `/groups/${home.id}/epics/${iid}`;
}

/** Returns the path of its notes; the path of epic notes uses the epic's id, not its iid. */
export function notesOf({ kind, home, id, iid }: Secret): string {
  return kind === 'issue' ? `/projects/${home.id}/issues/${iid}/notes` : `/groups/${home.id}/epics/${id}/notes`;
}
