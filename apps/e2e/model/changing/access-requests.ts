import type { SeededRandom } from '../playing/seeded-random';
import type { PersonState } from '../rules/people';
import { withMembership, withRequest } from '../rules/people';
import type { Question } from '../rules/reference-model';
import { sourceOf } from '../rules/forest';
import type { SourceKey } from '../rules/forest';
import { changeQuestion, isSelf } from './changes';
import type { Change, Changes } from './changes';
import { managesAt } from './member-changes';
import type { MembershipChange } from './member-changes';

/** Creates, approves, denies and withdraws access requests. Source: reference identity-and-import 2.8. */
export class AccessRequests {
  constructor(private readonly changes: Changes) {}

  /**
   * Creates a request as the person. A request without an answer is withdrawn, since root cannot repeat it for them.
   */
  async ask(change: MembershipChange): Promise<void> {
    const state = change.person.history.latest;
    await this.changes.make({
      ...this.about(change, {}, 0),
      kind: 'requests',
      about: `${change.person.name} asks to be let into ${change.key}`,
      method: 'POST',
      path: requestsOf(change.key),
      retry: { method: 'DELETE', path: `${requestsOf(change.key)}/${change.person.id}` },
      nextState: ({ status }, isRepeated) =>
        status === 201 || isRepeated ? withRequest(state, change.key, !isRepeated) : null,
    });
  }

  async approve(random: SeededRandom, change: MembershipChange): Promise<void> {
    const state = change.person.history.latest;
    const isOpen = state.requests.has(change.key);
    const level = random.pick([undefined, 10, 20, 30, 40, 50]);
    const grant = level ?? 30;
    const path = `${requestsOf(change.key)}/${change.person.id}/approve`;
    const json = level === undefined ? {} : { access_level: level };
    await this.changes.make({
      ...this.about(change, {
        request: { action: 'approve', isOpen, grant, isSelf: isSelf(change.by, change.person) },
      }),
      kind: 'requests approved',
      about: `${change.person.name} is let into ${change.key} as ${grant}`,
      method: 'PUT',
      path,
      json,
      retry: { method: 'PUT', path, json },
      nextState: ({ status }, isRepeated) => {
        // The attempt without an answer approved it.
        const isDone = status === 201 || (isRepeated && status === 404 && isOpen);
        return isDone ? withMembership(state, change.key, { level: grant, isExpired: false }) : null;
      },
    });
  }

  /** Denies a request, or withdraws it if the caller made it. */
  async drop(change: MembershipChange): Promise<void> {
    const state = change.person.history.latest;
    const isOpen = state.requests.has(change.key);
    const path = `${requestsOf(change.key)}/${change.person.id}`;
    await this.changes.make({
      ...this.about(change, {
        request: { action: 'drop', isOpen, grant: 0, isSelf: isSelf(change.by, change.person) },
      }),
      kind: isSelf(change.by, change.person) ? 'requests withdrawn' : 'requests denied',
      about: `${change.person.name} asks no more to be let into ${change.key}`,
      method: 'DELETE',
      path,
      retry: { method: 'DELETE', path },
      nextState: ({ status }, isRepeated) =>
        status === 204 || (isRepeated && status === 404) ? withRequest(state, change.key, false) : null,
    });
  }

  private about(
    { gateway, person, key, by }: MembershipChange,
    more: Partial<Question>,
    needs = managesAt(key),
  ): Pick<Change<PersonState>, 'history' | 'asker' | 'gateway' | 'question'> {
    return { history: person.history, asker: by, gateway, question: changeQuestion(key, needs, more) };
  }
}

function requestsOf(key: SourceKey): string {
  const { kind, id } = sourceOf(key);
  return `/${kind}s/${id}/access_requests`;
}
