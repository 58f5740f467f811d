import { AccessRequests } from '../changing/access-requests';
import type { Changes } from '../changing/changes';
import type { Deed } from '../changing/member-changes';
import { MemberChanges } from '../changing/member-changes';
import { PeopleChanges } from '../changing/people-changes';
import { TokenChanges } from '../changing/token-changes';
import type { SourceKey } from '../rules/forest';
import { homeOf, keyOfThing } from '../rules/forest';
import type { ForestScenes } from './forest-scenes';
import type { SeededRandom } from './seeded-random';
import type { Asker, Gateway, Person, World } from './world';

const PEOPLE = 10;
/** Bounds, so that the same few people change again and again. */
const MOST = { people: 14, tokens: 4 };

const isHuman = ({ history }: Person): boolean => history.latest.kind === 'human';

/** What is done to people and service accounts: their memberships and requests, their tokens, and whether they may come in at all. */
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
      const person = await this.come(random, gateway);
      const key = keyOfThing(this.forest.any(random));
      if (person) await this.members.add(random, { gateway, person, key, by: 'root' });
    }
  }

  /** Somebody new, now and then one who is let in later. Shape: null when there was no answer. */
  async come(random: SeededRandom, gateway: Gateway): Promise<Person | null> {
    const person = await this.people.create(random, gateway);
    if (!person) return null;
    person.isTaken = true;
    try {
      if (random.percent(25)) await this.people.deactivate(gateway, person);
      await this.tokens.create(random, gateway, person);
    } finally {
      person.isTaken = false;
    }
    return person;
  }

  /** Shape: true when there should be more people. */
  get isEmpty(): boolean {
    return this.world.active.filter(isHuman).length < PEOPLE && this.world.humans.length < 3 * PEOPLE;
  }

  /** Where somebody is or asks to be, or may come to. */
  place(random: SeededRandom, person: Person): SourceKey | undefined {
    const { memberships, requests } = person.history.latest;
    const { state } = this.world;
    const held = [...memberships.keys()].filter((key) => homeOf(state, key) !== null);
    const asked = [...requests].filter((key) => homeOf(state, key) !== null);
    const known = asked.length > 0 && random.percent(60) ? asked : held;
    if (known.length > 0 && random.percent(60)) return random.pick(known);
    return state.groups.size > 0 ? keyOfThing(this.forest.any(random)) : undefined;
  }

  /** One change of somebody who may come in. Shape: the caller has taken the person. */
  async play(
    random: SeededRandom,
    gateway: Gateway,
    { person, key, token }: { person: Person; key: SourceKey | undefined; token: string | undefined },
  ): Promise<void> {
    const { tokens } = person.history.latest;
    const good = [...tokens.values()].filter((one) => one.is === 'good').length;
    if (good === 0) return this.tokens.create(random, gateway, person);
    if (key && random.percent(68)) return this.memberChange(random, gateway, person, key);
    const dice = random.below(100);
    if (dice < 64) return this.tokenChange(random, gateway, person, token);
    if (dice < 82) return this.withThoseGivenTo(person, () => this.people.close(random, gateway, person));
    if (dice < 84 && isHuman(person) && this.world.humans.length > PEOPLE)
      return this.withThoseGivenTo(person, () => this.people.remove(gateway, person));
    if (good < MOST.tokens) return this.tokens.create(random, gateway, person);
    if (this.world.active.filter(isHuman).length < MOST.people) await this.come(random, gateway);
  }

  /** Somebody who was shut out comes back, or is told so once more. Shape: as above. */
  async playShutOut(random: SeededRandom, gateway: Gateway, person: Person, token: string | undefined): Promise<void> {
    if (random.percent(75)) return this.withThoseGivenTo(person, () => this.people.open(gateway, person));
    await this.tokenChange(random, gateway, person, token);
  }

  /** Those for whom an administrator gave out tokens notice when that one is shut out. */
  private withThoseGivenTo(person: Person, change: () => Promise<void>): Promise<void> {
    return this.world.taking(this.world.givenTokensBy(person), change);
  }

  private async tokenChange(
    random: SeededRandom,
    gateway: Gateway,
    person: Person,
    token: string | undefined,
  ): Promise<void> {
    const tokens = [...person.history.latest.tokens];
    const revoked = tokens.filter(([, one]) => one.is === 'revoked');
    const succeeded = revoked.filter(([, one]) =>
      tokens.some(([, other]) => other.family === one.family && other.is === 'good'),
    );
    const reused = random.pick(random.percent(80) ? succeeded : revoked);
    if (reused && random.percent(50)) return this.tokens.reuse(random, gateway, person, reused[0]);
    const chosen = token === undefined ? undefined : person.history.latest.tokens.get(token);
    if (token === undefined || !chosen || chosen.is === 'revoked') return;
    if (random.percent(65)) return this.tokens.rotate(random, gateway, person, token);
    await this.tokens.revoke(random, gateway, person, token);
  }

  private memberChange(random: SeededRandom, gateway: Gateway, person: Person, key: SourceKey): Promise<void> {
    const { memberships, requests } = person.history.latest;
    const self = this.as(random, person);
    const other = (random.percent(35) ? this.as(random, random.pick(this.world.active)) : undefined) ?? 'root';
    const deed: Deed = { gateway, person, key, by: other };
    const member = memberships.get(key);
    const isMember = member !== undefined && !member.over;
    if (self && random.percent(isMember ? 8 : 3)) return this.members.remove(random, { ...deed, by: self });
    if (requests.has(key) || random.percent(3)) return this.answer(random, deed, self);
    if (self && isHuman(person) && !isMember && random.percent(50)) return this.requests.ask({ ...deed, by: self });
    if (!isMember || random.percent(8)) return this.members.add(random, deed);
    return random.percent(50) ? this.members.remove(random, deed) : this.members.update(random, deed);
  }

  /** To somebody who asks; now and then one who does not is answered. */
  private answer(random: SeededRandom, deed: Deed, self: Asker | undefined): Promise<void> {
    const dice = random.below(100);
    if (dice < 55) return this.requests.approve(random, deed);
    if (dice < 70) return this.requests.drop(deed);
    if (dice < 82) return this.members.add(random, deed);
    return this.requests.drop({ ...deed, by: self ?? deed.by });
  }

  private as(random: SeededRandom, person: Person | undefined): Asker | undefined {
    const token = person && this.world.token(random, person);
    return person && token !== undefined ? { person, token } : undefined;
  }
}
