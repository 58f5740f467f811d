import { BotChanges } from '../changing/bot-changes';
import type { Maker } from '../changing/bot-changes';
import type { Changes } from '../changing/changes';
import { PeopleChanges } from '../changing/people-changes';
import { TokenChanges } from '../changing/token-changes';
import type { Project, Thing } from '../rules/forest';
import { find, keyOfThing, sourceOf } from '../rules/forest';
import { opens } from '../rules/people';
import { levelOf } from '../rules/reference-model';
import type { Focus } from './forest-scenes';
import type { SeededRandom } from './seeded-random';
import type { Gateway, Person, World } from './world';
import { isActive, isOfToken } from './world';

/** Bounds: bots that still do something, and working tokens of one account. */
const MOST = { bots: 9, tokens: 3 };

/** Owners make bots and renew their tokens, and become external and internal again. */
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

  async play(random: SeededRandom, gateway: Gateway, tell: (focus: Focus) => void): Promise<void> {
    const living = this.world.bots.filter((bot) => !isOfToken(bot) || goodTokens(bot) > 0);
    const dice = random.below(100);
    if (living.length === 0 || (dice < 35 && living.length < MOST.bots)) return this.make(random, gateway, tell);
    if (dice < 70) return this.turn(random, gateway, tell);
    await this.changeTokens(random, gateway, random.pick(living)!, tell);
  }

  /** A service account with a token, or a token of a group or project with its bot. */
  private async make(random: SeededRandom, gateway: Gateway, tell: (focus: Focus) => void): Promise<void> {
    const by = this.takeMaker(random, (person) => this.managed(person).length > 0);
    if (!by) return;
    try {
      await this.world.inForest(async () => {
        const managed = this.managed(by.person);
        const top = random.pick(managed.filter(isTop));
        const thing = random.pick(managed) ?? this.anything(random);
        if (!top || random.percent(50)) {
          const bot = await this.bots.createBot(random, gateway, keyOfThing(thing), by);
          if (bot) tell(this.focusOn(random, bot));
          return;
        }
        const account = await this.bots.createAccount(gateway, top.thing.id, by);
        if (account) await this.world.taking([account], () => this.issue(random, gateway, account, by));
        if (account) tell(this.focusOn(random, account));
      });
    } finally {
      by.person.isTaken = false;
    }
  }

  /** Somebody becomes external, or is it no more, and their bots with them. */
  private async turn(random: SeededRandom, gateway: Gateway, tell: (focus: Focus) => void): Promise<void> {
    const isMaker = random.percent(85);
    const person = this.world.take(
      random,
      (state, one) => isActive(state) && state.kind === 'human' && (!isMaker || this.world.botsOf(one).length > 0),
    );
    if (!person) return;
    try {
      const bots = this.world.botsOf(person);
      await this.world.taking(bots, async () => {
        tell(this.focusOn(random, random.pick(bots) ?? person));
        await this.people.setExternal(gateway, person, !person.history.latest.external);
      });
    } finally {
      person.isTaken = false;
    }
  }

  /** By an owner, now and then by somebody else, by the bot itself or by root. */
  private async changeTokens(
    random: SeededRandom,
    gateway: Gateway,
    bot: Person,
    tell: (focus: Focus) => void,
  ): Promise<void> {
    const home = find(this.world.state, sourceOf(bot.home!.key));
    const by = this.takeMaker(random, (person) => person !== bot && home !== null && this.manages(person, home));
    if (!by) return;
    try {
      await this.world.taking([bot, ...this.world.botsOf(bot).filter((one) => one !== by.person)], async () => {
        tell(this.focusOn(random, bot));
        await this.changeToken(random, gateway, bot, by);
      });
    } finally {
      by.person.isTaken = false;
    }
  }

  private async changeToken(random: SeededRandom, gateway: Gateway, bot: Person, by: Maker): Promise<void> {
    const token = this.world.token(random, bot);
    const isGood = token !== undefined && bot.history.latest.tokens.get(token)!.is !== 'revoked';
    if (!isOfToken(bot) && (!isGood || (goodTokens(bot) < MOST.tokens && random.percent(35))))
      return this.issue(random, gateway, bot, by);
    if (!isGood) return;
    const dice = random.below(100);
    if (dice < 20) return this.tokens.rotate(random, gateway, bot, token);
    if (dice < 85 || isOfToken(bot)) return this.bots.rotate(gateway, bot, token, by);
    await this.bots.revoke(gateway, bot, token, by);
  }

  /** Shape: the account is taken. Whom a token without an answer binds, nobody knows. */
  private async issue(random: SeededRandom, gateway: Gateway, account: Person, by: Maker): Promise<void> {
    if ((await this.bots.issue(random, gateway, account, by)) === null) this.world.forget(account);
  }

  /** Mostly somebody who may, by a token that lets them in: a dead one ends its family where tokens are replaced. */
  private takeMaker(random: SeededRandom, may: (person: Person) => boolean): Maker | null {
    const isAny = random.percent(10);
    const opening = ({ history: { latest } }: Person): string[] =>
      [...latest.tokens].flatMap(([key, token]) => (opens(latest, token) ? [key] : []));
    const isMaker = (one: Person): boolean => !isOfToken(one) && opening(one).length > 0 && (isAny || may(one));
    const person = this.world.take(random, (_, one) => isMaker(one));
    return person ? { person, token: random.pick(opening(person))! } : null;
  }

  private managed(person: Person): Thing[] {
    const { groups, projects } = this.world.state;
    const all: Thing[] = [
      ...[...groups.values()].map((thing) => ({ kind: 'group', thing }) as const),
      ...[...projects.values()].map((thing) => ({ kind: 'project', thing }) as const),
    ];
    return all.filter((thing) => this.manages(person, thing));
  }

  private manages(person: Person, thing: Thing): boolean {
    return levelOf(person.history.latest, this.world.state, thing) >= (thing.kind === 'group' ? 50 : 40);
  }

  private anything(random: SeededRandom): Thing {
    return { kind: 'group', thing: random.pick([...this.world.state.groups.values()])! };
  }

  /** What only those see who are not external is where it shows. */
  private focusOn(random: SeededRandom, bot: Person): Focus {
    const token = this.world.token(random, bot);
    const isOpen = (project: Project): boolean => {
      const thing = { kind: 'project', thing: project } as const;
      return project.visibility === 'internal' && levelOf(bot.history.latest, this.world.state, thing) === 0;
    };
    const project = random.pick([...this.world.state.projects.values()].filter(isOpen));
    return { asker: token === undefined ? undefined : { person: bot, token }, project };
  }
}

function isTop(about: Thing): boolean {
  return about.kind === 'group' && about.thing.parent === null;
}

function goodTokens({ history }: Person): number {
  return [...history.latest.tokens.values()].filter(({ is }) => is === 'good').length;
}
