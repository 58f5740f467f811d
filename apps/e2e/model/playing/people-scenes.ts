import { AccessRequests } from '../changing/access-requests';
import type { Changes } from '../changing/changes';
import type { MembershipChange } from '../changing/member-changes';
import { MemberChanges } from '../changing/member-changes';
import { PeopleChanges } from '../changing/people-changes';
import { TokenChanges } from '../changing/token-changes';
import type { SourceKey } from '../rules/forest';
import { groupIdOf, keyOfSource } from '../rules/forest';
import type { ForestScenes } from './forest-scenes';
import type { SeededRandom } from './seeded-random';
import type { Asker, Gateway, Person, World } from './world';

const PEOPLE = 10;
/** Upper bounds, so that the same few people change again and again. */
const LIMITS = { people: 14, tokens: 4 };

const isHuman = ({ history }: Person): boolean => history.latest.kind === 'human';

/** Scenes that change people and service accounts: memberships, access requests, tokens and account states. */
export class PeopleScenes {
  private readonly people: PeopleChanges;
  private readonly tokens: TokenChanges;
  private readonly members: MemberChanges;
  private readonly requests: AccessRequests;

  constructor(
    private readonly world: World,
    private readonly forest: ForestScenes,
    changes: Changes,
  ) {
    this.people = new PeopleChanges(changes);
    this.tokens = new TokenChanges(changes);
    this.members = new MemberChanges(changes);
    this.requests = new AccessRequests(changes);
  }

  async prepare(random: SeededRandom, gateway: Gateway): Promise<void> {
    for (let count = 0; count < PEOPLE; count += 1) {
      const person = await this.addPerson(random, gateway);
      const key = keyOfSource(this.forest.any(random));
      if (person) await this.members.add(random, { gateway, person, key, by: 'root' });
    }
  }

  /** Creates a person, sometimes a deactivated one. Returns null if there was no answer. */
  async addPerson(random: SeededRandom, gateway: Gateway): Promise<Person | null> {
    const person = await this.people.create(random, gateway);
    if (!person) return null;
    person.isLocked = true;
    try {
      if (random.percent(25)) await this.people.deactivate(gateway, person);
      await this.tokens.create(random, gateway, person);
    } finally {
      person.isLocked = false;
    }
    return person;
  }

  /** Reports whether more people are needed. */
  get needsPeople(): boolean {
    return this.world.active.filter(isHuman).length < PEOPLE && this.world.humans.length < 3 * PEOPLE;
  }

  /** Picks a source that the person is a member of or has requested access to, or any source. */
  place(random: SeededRandom, person: Person): SourceKey | undefined {
    const { memberships, requests } = person.history.latest;
    const { state } = this.world;
    const held = [...memberships.keys()].filter((key) => groupIdOf(state, key) !== null);
    const asked = [...requests].filter((key) => groupIdOf(state, key) !== null);
    const known = asked.length > 0 && random.percent(60) ? asked : held;
    if (known.length > 0 && random.percent(60)) return random.pick(known);
    return state.groups.size > 0 ? keyOfSource(this.forest.any(random)) : undefined;
  }

  /** Changes an active person. The caller must have locked the person. */
  async play(
    random: SeededRandom,
    gateway: Gateway,
    { person, key, token }: { person: Person; key: SourceKey | undefined; token: string | undefined },
  ): Promise<void> {
    const { tokens } = person.history.latest;
    const goodCount = [...tokens.values()].filter((one) => one.status === 'good').length;
    if (goodCount === 0) return this.tokens.create(random, gateway, person);
    if (key && random.percent(68)) return this.memberChange(random, gateway, person, key);
    const dice = random.below(100);
    if (dice < 64) return this.tokenChange(random, gateway, person, token);
    if (dice < 82) return this.withTokenHolders(person, () => this.people.close(random, gateway, person));
    if (dice < 84 && isHuman(person) && this.world.humans.length > PEOPLE)
      return this.withTokenHolders(person, () => this.people.remove(gateway, person));
    if (goodCount < LIMITS.tokens) return this.tokens.create(random, gateway, person);
    if (this.world.active.filter(isHuman).length < LIMITS.people) await this.addPerson(random, gateway);
  }

  /** Reactivates an inactive person, or changes one of their tokens. The caller must have locked the person. */
  async playInactive(random: SeededRandom, gateway: Gateway, person: Person, token: string | undefined): Promise<void> {
    if (random.percent(75)) return this.withTokenHolders(person, () => this.people.open(gateway, person));
    await this.tokenChange(random, gateway, person, token);
  }

  /** Locks the people for whom this administrator created tokens, because these depend on the administrator's account. */
  private withTokenHolders(person: Person, change: () => Promise<void>): Promise<void> {
    return this.world.withLocked(this.world.holdersOfTokensBy(person), change);
  }

  private async tokenChange(
    random: SeededRandom,
    gateway: Gateway,
    person: Person,
    token: string | undefined,
  ): Promise<void> {
    const tokens = [...person.history.latest.tokens];
    const revoked = tokens.filter(([, one]) => one.status === 'revoked');
    const succeeded = revoked.filter(([, one]) =>
      tokens.some(([, other]) => other.family === one.family && other.status === 'good'),
    );
    const reused = random.pick(random.percent(80) ? succeeded : revoked);
    if (reused && random.percent(50)) return this.tokens.reuse(random, gateway, person, reused[0]);
    const chosen = token === undefined ? undefined : person.history.latest.tokens.get(token);
    if (token === undefined || !chosen || chosen.status === 'revoked') return;
    if (random.percent(65)) return this.tokens.rotate(random, gateway, person, token);
    await this.tokens.revoke(random, gateway, person, token);
  }

  private memberChange(random: SeededRandom, gateway: Gateway, person: Person, key: SourceKey): Promise<void> {
    const { memberships, requests } = person.history.latest;
    const self = this.as(random, person);
    const other = (random.percent(35) ? this.as(random, random.pick(this.world.active)) : undefined) ?? 'root';
    const change: MembershipChange = { gateway, person, key, by: other };
    const member = memberships.get(key);
    const isMember = member !== undefined && !member.isExpired;
    if (self && random.percent(isMember ? 8 : 3)) return this.members.remove(random, { ...change, by: self });
    if (requests.has(key) || random.percent(3)) return this.answer(random, change, self);
    if (self && isHuman(person) && !isMember && random.percent(50)) return this.requests.ask({ ...change, by: self });
    if (!isMember || random.percent(8)) return this.members.add(random, change);
    return random.percent(50) ? this.members.remove(random, change) : this.members.update(random, change);
  }

  /** Answers an access request; sometimes one that does not exist. */
  private answer(random: SeededRandom, change: MembershipChange, self: Asker | undefined): Promise<void> {
    const dice = random.below(100);
    if (dice < 55) return this.requests.approve(random, change);
    if (dice < 70) return this.requests.drop(change);
    if (dice < 82) return this.members.add(random, change);
    return this.requests.drop({ ...change, by: self ?? change.by });
  }

  private as(random: SeededRandom, person: Person | undefined): Asker | undefined {
    const token = person && this.world.token(random, person);
    return person && token !== undefined ? { person, token } : undefined;
  }
}
