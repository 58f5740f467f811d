import type { SeededRandom } from '../playing/seeded-random';
import type { PersonState } from '../rules/people';
import { withMember, withRequest } from '../rules/people';
import type { Question } from '../rules/reference-model';
import { sourceOf } from '../rules/forest';
import type { SourceKey } from '../rules/forest';
import { changing, isSelf } from './changes';
import type { Change, Changes } from './changes';
import { managesAt } from './member-changes';
import type { Deed } from './member-changes';

/** People ask to be let in, are let in or not, or think better of it. Source: reference identity-and-import 2.8. */
export class AccessRequests {
  constructor(private readonly changes: Changes) {}

  /** Shape: by the person. What came of an attempt without an answer is taken back, since root cannot ask for them. */
  async ask(deed: Deed): Promise<void> {
    const state = deed.person.history.latest;
    await this.changes.make({
      ...this.about(deed, {}, 0),
      kind: 'requests',
      about: `${deed.person.name} asks to be let into ${deed.key}`,
      method: 'POST',
      path: requestsOf(deed.key),
      again: { method: 'DELETE', path: `${requestsOf(deed.key)}/${deed.person.id}` },
      becomes: ({ status }, isRepeated) =>
        status === 201 || isRepeated ? withRequest(state, deed.key, !isRepeated) : null,
    });
  }

  async approve(random: SeededRandom, deed: Deed): Promise<void> {
    const state = deed.person.history.latest;
    const isOpen = state.requests.has(deed.key);
    const level = random.pick([undefined, 10, 20, 30, 40, 50]);
    const grant = level ?? 30;
    const path = `${requestsOf(deed.key)}/${deed.person.id}/approve`;
    const json = level === undefined ? {} : { access_level: level };
    await this.changes.make({
      ...this.about(deed, { request: { action: 'approve', isOpen, grant, isSelf: isSelf(deed.by, deed.person) } }),
      kind: 'requests approved',
      about: `${deed.person.name} is let into ${deed.key} as ${grant}`,
      method: 'PUT',
      path,
      json,
      again: { method: 'PUT', path, json },
      becomes: ({ status }, isRepeated) => {
        // Answered by the attempt without an answer.
        const isDone = status === 201 || (isRepeated && status === 404 && isOpen);
        return isDone ? withMember(state, deed.key, { level: grant, over: false }) : null;
      },
    });
  }

  /** Denied, or withdrawn by who asked. */
  async drop(deed: Deed): Promise<void> {
    const state = deed.person.history.latest;
    const isOpen = state.requests.has(deed.key);
    const path = `${requestsOf(deed.key)}/${deed.person.id}`;
    await this.changes.make({
      ...this.about(deed, { request: { action: 'drop', isOpen, grant: 0, isSelf: isSelf(deed.by, deed.person) } }),
      kind: isSelf(deed.by, deed.person) ? 'requests withdrawn' : 'requests denied',
      about: `${deed.person.name} asks no more to be let into ${deed.key}`,
      method: 'DELETE',
      path,
      again: { method: 'DELETE', path },
      becomes: ({ status }, isRepeated) =>
        status === 204 || (isRepeated && status === 404) ? withRequest(state, deed.key, false) : null,
    });
  }

  private about(
    { gateway, person, key, by }: Deed,
    more: Partial<Question>,
    needs = managesAt(key),
  ): Pick<Change<PersonState>, 'history' | 'asker' | 'gateway' | 'question'> {
    return { history: person.history, asker: by, gateway, question: changing(key, needs, more) };
  }
}

function requestsOf(key: SourceKey): string {
  const { kind, id } = sourceOf(key);
  return `/${kind}s/${id}/access_requests`;
}
