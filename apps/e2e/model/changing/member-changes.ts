import type { SeededRandom } from '../playing/seeded-random';
import type { Asker, Gateway, Person } from '../playing/world';
import type { SourceKey } from '../rules/forest';
import { isWithin, sourceOf } from '../rules/forest';
import type { PersonState } from '../rules/people';
import { withMember, withoutMembers } from '../rules/people';
import type { Question } from '../rules/reference-model';
import { changing, isSelf } from './changes';
import type { Change, Changes } from './changes';
import { anyGrant, said } from './grants';

/** Whose membership is changed, where, and by whom. */
export interface Deed {
  readonly gateway: Gateway;
  readonly person: Person;
  readonly key: SourceKey;
  readonly by: Asker;
}

/** People join groups and projects, rise and leave. */
export class MemberChanges {
  constructor(private readonly changes: Changes) {}

  async add(random: SeededRandom, deed: Deed): Promise<void> {
    const state = deed.person.history.latest;
    const { level, over, expires_at } = anyGrant(random);
    const old = state.memberships.get(deed.key);
    const path = membersOf(deed.key);
    const json = { user_id: deed.person.id, access_level: level, expires_at };
    await this.changes.make({
      ...this.about(deed, { action: 'add', grant: level }),
      kind: 'members added',
      about: `${deed.person.name} joins ${deed.key} as ${said({ level, over })}`,
      method: 'POST',
      path,
      json,
      again: { method: 'POST', path, json },
      becomes: ({ status }, isRepeated) => {
        const isMade = status === 201 || (isRepeated && status === 409 && (old === undefined || old.over));
        return isMade ? withMember(state, deed.key, { level, over }) : null;
      },
    });
  }

  async update(random: SeededRandom, deed: Deed): Promise<void> {
    const state = deed.person.history.latest;
    const { level, over, expires_at } = anyGrant(random);
    const path = `${membersOf(deed.key)}/${deed.person.id}`;
    const json = { access_level: level, expires_at };
    await this.changes.make({
      ...this.about(deed, { action: 'update', grant: level }),
      kind: 'members changed',
      about: `${deed.person.name} becomes ${said({ level, over })} in ${deed.key}`,
      method: 'PUT',
      path,
      json,
      again: { method: 'PUT', path, json },
      becomes: ({ status }, isRepeated) => {
        if (status === 200) return withMember(state, deed.key, { level, over });
        // Ended by the attempt without an answer.
        return isRepeated && status === 404 && over ? withoutMembers(state, (key) => key === deed.key) : null;
      },
    });
  }

  /** What lies below a group depends on the forest, which therefore is held meanwhile. */
  remove(random: SeededRandom, deed: Deed): Promise<void> {
    const keepsBelow = random.percent(50) || sourceOf(deed.key).kind === 'project';
    return keepsBelow ? this.end(deed, false) : this.changes.world.inForest(() => this.end(deed, true));
  }

  private async end(deed: Deed, isWithAllBelow: boolean): Promise<void> {
    const state = deed.person.history.latest;
    const { id } = sourceOf(deed.key);
    const forest = this.changes.world.state;
    const path = `${membersOf(deed.key)}/${deed.person.id}?skip_subresources=${!isWithAllBelow}`;
    const isGone = (key: SourceKey): boolean => key === deed.key || (isWithAllBelow && isWithin(forest, key, id));
    await this.changes.make({
      ...this.about(deed, { action: 'remove', grant: 0 }),
      kind: 'members removed',
      about: `${deed.person.name} leaves ${deed.key}${isWithAllBelow ? ' and all below' : ''}`,
      method: 'DELETE',
      path,
      again: { method: 'DELETE', path },
      becomes: ({ status }, isRepeated) =>
        status === 204 || (isRepeated && status === 404) ? withoutMembers(state, isGone) : null,
    });
  }

  private about(
    { gateway, person, key, by }: Deed,
    member: Pick<NonNullable<Question['member']>, 'action' | 'grant'>,
  ): Pick<Change<PersonState>, 'history' | 'asker' | 'gateway' | 'question'> {
    const old = person.history.latest.memberships.get(key);
    const question = changing(key, managesAt(key), { member: { ...member, old, isSelf: isSelf(by, person) } });
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
