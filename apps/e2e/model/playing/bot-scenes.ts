import { BotChanges } from '../changing/bot-changes';
import type { Issuer } from '../changing/bot-changes';
import type { Changes } from '../changing/changes';
import { PeopleChanges } from '../changing/people-changes';
import { TokenChanges } from '../changing/token-changes';
import type { Project, Source } from '../rules/forest';
import { findSource, keyOfSource, sourceOf } from '../rules/forest';
import { isAccepted } from '../rules/people';
import { levelOf } from '../rules/reference-model';
import type { Focus } from './forest-scenes';
import type { SeededRandom } from './seeded-random';
import type { Gateway, Person, World } from './world';
import { isActive, isTokenBot } from './world';

/** Upper bounds: bots with access, and working tokens of one account. */
const LIMITS = { bots: 9, tokens: 3 };

/** Scenes in which owners create bots and renew their tokens, and become external and internal again. */
export class BotScenes {
  private readonly bots: BotChanges;
  private readonly people: PeopleChanges;
  private readonly tokens: TokenChanges;

  constructor(
    private readonly world: World,
    changes: Changes,
  ) {
    this.bots = new BotChanges(changes);
    this.people = new PeopleChanges(changes);
    this.tokens = new TokenChanges(changes);
  }

  async play(random: SeededRandom, gateway: Gateway, announce: (focus: Focus) => void): Promise<void> {
    const living = this.world.bots.filter((bot) => !isTokenBot(bot) || goodTokens(bot) > 0);
    const dice = random.below(100);
    if (living.length === 0 || (dice < 35 && living.length < LIMITS.bots)) return this.make(random, gateway, announce);
    if (dice < 70) return this.toggleExternal(random, gateway, announce);
    await this.changeTokens(random, gateway, random.pick(living)!, announce);
  }

  /** Creates a service account with a token, or a token of a group or project with its bot. */
  private async make(random: SeededRandom, gateway: Gateway, announce: (focus: Focus) => void): Promise<void> {
    const by = this.takeMaker(random, (person) => this.managed(person).length > 0);
    if (!by) return;
    try {
      await this.world.withForest(async () => {
        const managed = this.managed(by.person);
        const top = random.pick(managed.filter(isTop));
        const source = random.pick(managed) ?? this.anyGroup(random);
        if (!top || random.percent(50)) {
          const bot = await this.bots.createBot(random, gateway, keyOfSource(source), by);
          if (bot) announce(this.focusOn(random, bot));
          return;
        }
        const account = await this.bots.createAccount(gateway, top.entity.id, by);
        if (account) await this.world.withLocked([account], () => this.issue(random, gateway, account, by));
        if (account) announce(this.focusOn(random, account));
      });
    } finally {
      by.person.isLocked = false;
    }
  }

  /** Makes a user external or internal; their bots follow. */
  private async toggleExternal(
    random: SeededRandom,
    gateway: Gateway,
    announce: (focus: Focus) => void,
  ): Promise<void> {
    const isMaker = random.percent(85);
    const person = this.world.lockRandom(
      random,
      (state, one) => isActive(state) && state.kind === 'human' && (!isMaker || this.world.botsOf(one).length > 0),
    );
    if (!person) return;
    try {
      const bots = this.world.botsOf(person);
      await this.world.withLocked(bots, async () => {
        announce(this.focusOn(random, random.pick(bots) ?? person));
        await this.people.setExternal(gateway, person, !person.history.latest.external);
      });
    } finally {
      person.isLocked = false;
    }
  }

  /** Changes tokens of a bot, mostly as an owner, sometimes as another user, the bot itself or root. */
  private async changeTokens(
    random: SeededRandom,
    gateway: Gateway,
    bot: Person,
    announce: (focus: Focus) => void,
  ): Promise<void> {
    const home = findSource(this.world.state, sourceOf(bot.home!.key));
    const by = this.takeMaker(random, (person) => person !== bot && home !== null && this.manages(person, home));
    if (!by) return;
    try {
      await this.world.withLocked([bot, ...this.world.botsOf(bot).filter((one) => one !== by.person)], async () => {
        announce(this.focusOn(random, bot));
        await this.changeToken(random, gateway, bot, by);
      });
    } finally {
      by.person.isLocked = false;
    }
  }

  private async changeToken(random: SeededRandom, gateway: Gateway, bot: Person, by: Issuer): Promise<void> {
    const token = this.world.token(random, bot);
    const isGood = token !== undefined && bot.history.latest.tokens.get(token)!.status !== 'revoked';
    if (!isTokenBot(bot) && (!isGood || (goodTokens(bot) < LIMITS.tokens && random.percent(35))))
      return this.issue(random, gateway, bot, by);
    if (!isGood) return;
    const dice = random.below(100);
    if (dice < 20) return this.tokens.rotate(random, gateway, bot, token);
    if (dice < 85 || isTokenBot(bot)) return this.bots.rotate(gateway, bot, token, by);
    await this.bots.revoke(gateway, bot, token, by);
  }

  /**
   * Issues a token. The caller must have locked the account. The account is forgotten if no answer came, because then
   * its external flag is unknown.
   */
  private async issue(random: SeededRandom, gateway: Gateway, account: Person, by: Issuer): Promise<void> {
    if ((await this.bots.issue(random, gateway, account, by)) === null) this.world.forget(account);
  }

  /**
   * Locks an issuer, mostly one with permission, with a token that is accepted: a revoked token would end its family where
   * tokens are rotated.
   */
  private takeMaker(random: SeededRandom, may: (person: Person) => boolean): Issuer | null {
    const isAny = random.percent(10);
    const opening = ({ history: { latest } }: Person): string[] =>
      [...latest.tokens].flatMap(([key, token]) => (isAccepted(latest, token) ? [key] : []));
    const isMaker = (one: Person): boolean => !isTokenBot(one) && opening(one).length > 0 && (isAny || may(one));
    const person = this.world.lockRandom(random, (_, one) => isMaker(one));
    return person ? { person, token: random.pick(opening(person))! } : null;
  }

  private managed(person: Person): Source[] {
    const { groups, projects } = this.world.state;
    const all: Source[] = [
      ...[...groups.values()].map((entity) => ({ kind: 'group', entity }) as const),
      ...[...projects.values()].map((entity) => ({ kind: 'project', entity }) as const),
    ];
    return all.filter((source) => this.manages(person, source));
  }

  private manages(person: Person, source: Source): boolean {
    return levelOf(person.history.latest, this.world.state, source) >= (source.kind === 'group' ? 50 : 40);
  }

  private anyGroup(random: SeededRandom): Source {
    return { kind: 'group', entity: random.pick([...this.world.state.groups.values()])! };
  }

  /** Focuses on internal projects without a membership: external users cannot see them, so the flag decides there. */
  private focusOn(random: SeededRandom, bot: Person): Focus {
    const token = this.world.token(random, bot);
    const isOpen = (project: Project): boolean => {
      const source = { kind: 'project', entity: project } as const;
      return project.visibility === 'internal' && levelOf(bot.history.latest, this.world.state, source) === 0;
    };
    const project = random.pick([...this.world.state.projects.values()].filter(isOpen));
    return { asker: token === undefined ? undefined : { person: bot, token }, project };
  }
}

function isTop(about: Source): boolean {
  return about.kind === 'group' && about.entity.parent === null;
}

function goodTokens({ history }: Person): number {
  return [...history.latest.tokens.values()].filter(({ status }) => status === 'good').length;
}
