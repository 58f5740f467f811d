import type { SeededRandom } from '../playing/seeded-random';
import type { Asker, Gateway, Person } from '../playing/world';
import type { SourceKey } from '../rules/forest';
import { isWithin, sourceOf } from '../rules/forest';
import type { PersonState } from '../rules/people';
import { withMembership, withoutMemberships } from '../rules/people';
import type { Question } from '../rules/reference-model';
import { changeQuestion, isSelf } from './changes';
import type { Change, Changes } from './changes';
import { randomGrant, describeGrant } from './grants';

/** Target and caller of a membership change. */
export interface MembershipChange {
  readonly gateway: Gateway;
  readonly person: Person;
  readonly key: SourceKey;
  readonly by: Asker;
}

/** Adds, updates and removes members of groups and projects. */
export class MemberChanges {
  constructor(private readonly changes: Changes) {}

  async add(random: SeededRandom, change: MembershipChange): Promise<void> {
    const state = change.person.history.latest;
    const { level, isExpired, expires_at } = randomGrant(random);
    const old = state.memberships.get(change.key);
    const path = membersOf(change.key);
    const json = { user_id: change.person.id, access_level: level, expires_at };
    await this.changes.make({
      ...this.about(change, { action: 'add', grant: level }),
      kind: 'members added',
      about: `${change.person.name} joins ${change.key} as ${describeGrant({ level, isExpired })}`,
      method: 'POST',
      path,
      json,
      retry: { method: 'POST', path, json },
      nextState: ({ status }, isRepeated) => {
        const isMade = status === 201 || (isRepeated && status === 409 && (old === undefined || old.isExpired));
        return isMade ? withMembership(state, change.key, { level, isExpired }) : null;
      },
    });
  }

  async update(random: SeededRandom, change: MembershipChange): Promise<void> {
    const state = change.person.history.latest;
    const { level, isExpired, expires_at } = randomGrant(random);
    const path = `${membersOf(change.key)}/${change.person.id}`;
    const json = { access_level: level, expires_at };
    await this.changes.make({
      ...this.about(change, { action: 'update', grant: level }),
      kind: 'members changed',
      about: `${change.person.name} becomes ${describeGrant({ level, isExpired })} in ${change.key}`,
      method: 'PUT',
      path,
      json,
      retry: { method: 'PUT', path, json },
      nextState: ({ status }, isRepeated) => {
        if (status === 200) return withMembership(state, change.key, { level, isExpired });
        // The attempt without an answer set an expiry of today, which ended the membership.
        return isRepeated && status === 404 && isExpired
          ? withoutMemberships(state, (key) => key === change.key)
          : null;
      },
    });
  }

  /** Removes a member. Holds the forest if descendants are included, because they depend on it. */
  remove(random: SeededRandom, change: MembershipChange): Promise<void> {
    const keepsBelow = random.percent(50) || sourceOf(change.key).kind === 'project';
    return keepsBelow ? this.end(change, false) : this.changes.world.withForest(() => this.end(change, true));
  }

  private async end(change: MembershipChange, isWithAllBelow: boolean): Promise<void> {
    const state = change.person.history.latest;
    const { id } = sourceOf(change.key);
    const forest = this.changes.world.state;
    const path = `${membersOf(change.key)}/${change.person.id}?skip_subresources=${!isWithAllBelow}`;
    const isGone = (key: SourceKey): boolean => key === change.key || (isWithAllBelow && isWithin(forest, key, id));
    await this.changes.make({
      ...this.about(change, { action: 'remove', grant: 0 }),
      kind: 'members removed',
      about: `${change.person.name} leaves ${change.key}${isWithAllBelow ? ' and all below' : ''}`,
      method: 'DELETE',
      path,
      retry: { method: 'DELETE', path },
      nextState: ({ status }, isRepeated) =>
        status === 204 || (isRepeated && status === 404) ? withoutMemberships(state, isGone) : null,
    });
  }

  private about(
    { gateway, person, key, by }: MembershipChange,
    member: Pick<NonNullable<Question['member']>, 'action' | 'grant'>,
  ): Pick<Change<PersonState>, 'history' | 'asker' | 'gateway' | 'question'> {
    const old = person.history.latest.memberships.get(key);
    const question = changeQuestion(key, managesAt(key), { member: { ...member, old, isSelf: isSelf(by, person) } });
    return { history: person.history, asker: by, gateway, question };
  }
}

/** Owners manage the members of groups, maintainers those of projects. */
export function managesAt(key: SourceKey): number {
  return sourceOf(key).kind === 'group' ? 50 : 40;
}

function membersOf(key: SourceKey): string {
  const { kind, id } = sourceOf(key);
  return `/${kind}s/${id}/members`;
}
