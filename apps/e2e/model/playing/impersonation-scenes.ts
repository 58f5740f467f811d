import type { Changes } from '../changing/changes';
import { ImpersonationChanges } from '../changing/impersonation-changes';
import { PeopleChanges } from '../changing/people-changes';
import type { Project } from '../rules/forest';
import type { PersonState } from '../rules/people';
import { sees } from '../rules/reference-model';
import type { Focus } from './forest-scenes';
import type { SeededRandom } from './seeded-random';
import type { Gateway, Person, World } from './world';
import { isActive } from './world';

/** Bounds: administrators besides root, and tokens that were given out for one person. */
const FEW = { administrators: 2, tokens: 3 };

/** Administrators act as others and give them tokens, and are shut out, demoted, removed and let in again. */
export class ImpersonationScenes {
  private readonly impersonations: ImpersonationChanges;
  private readonly people: PeopleChanges;

  constructor(
    private readonly world: World,
    changes: Changes,
  ) {
    this.impersonations = new ImpersonationChanges(changes);
    this.people = new PeopleChanges(changes);
  }

  async play(random: SeededRandom, gateway: Gateway, tell: (focus: Focus) => void): Promise<void> {
    const officers = this.world.active.filter(({ history }) => history.latest.admin);
    if (officers.length < FEW.administrators) return this.appoint(random, gateway, tell);
    const dice = random.below(100);
    if (dice < 40) return this.impersonate(random, gateway, tell);
    if (dice < 80) return this.change(random, gateway, tell, (state) => isActive(state));
    await this.change(random, gateway, tell, (state) => !isActive(state) && state.standing !== 'gone');
  }

  private async appoint(random: SeededRandom, gateway: Gateway, tell: (focus: Focus) => void): Promise<void> {
    const person = this.world.take(random, (state) => isActive(state) && state.kind === 'human' && !state.admin);
    if (!person) return;
    try {
      tell(this.focusOn(random, person));
      const holders = this.world.givenTokensBy(person);
      await this.world.taking(holders, () => this.people.setAdmin(gateway, person, true));
    } finally {
      person.isTaken = false;
    }
  }

  /** As, or for, anybody, also administrators and root; now and then somebody tries who may not. */
  private async impersonate(random: SeededRandom, gateway: Gateway, tell: (focus: Focus) => void): Promise<void> {
    const isOfficer = random.percent(90);
    const by = this.world.take(
      random,
      (state) => isActive(state) && state.kind === 'human' && state.admin === isOfficer,
    );
    if (!by) return;
    try {
      const token = random.pick(ownTokens(by));
      const others = [this.world.root, ...this.world.humans].filter((one) => one !== by && !one.isTaken);
      const few = others.filter((one) => given(one).length < FEW.tokens);
      const person = random.percent(20) ? few.find((one) => one === this.world.root) : random.pick(few);
      if (token === undefined || !person) return;
      await this.world.taking([person], () => this.impersonations.create(random, gateway, { person, by, token }));
      tell(this.focusOn(random, person, by));
    } finally {
      by.isTaken = false;
    }
  }

  /** Of somebody who gave out tokens, whose holders notice. */
  private async change(
    random: SeededRandom,
    gateway: Gateway,
    tell: (focus: Focus) => void,
    may: (state: PersonState) => boolean,
  ): Promise<void> {
    const person = this.world.take(random, (state, one) => may(state) && this.world.givenTokensBy(one).length > 0);
    if (!person) return;
    try {
      const holders = this.world.givenTokensBy(person);
      await this.world.taking(holders, async () => {
        tell(this.focusOn(random, random.pick(holders)!, person));
        await this.changeOffice(random, gateway, person, holders);
      });
    } finally {
      person.isTaken = false;
    }
  }

  private async changeOffice(
    random: SeededRandom,
    gateway: Gateway,
    person: Person,
    holders: readonly Person[],
  ): Promise<void> {
    const { standing, admin } = person.history.latest;
    if (standing !== 'active') {
      // By a token as an administrator: it is good no more.
      const way = random.pick(holders.filter(({ history }) => history.latest.admin));
      const token = way && random.pick(given(way, person));
      if (way && token !== undefined && random.percent(50))
        return this.people.escape(gateway, person, { person: way, token });
      return this.people.open(gateway, person);
    }
    if (!admin) return this.people.setAdmin(gateway, person, true);
    const dice = random.below(100);
    if (dice < 50) return this.people.close(random, gateway, person);
    if (dice < 94 || this.world.humans.length < 8) return this.people.setAdmin(gateway, person, false);
    await this.people.remove(gateway, person);
  }

  /** Whoever is holders as, by a token of who acts, and something that not everybody sees. */
  private focusOn(random: SeededRandom, person: Person, by?: Person): Focus {
    const { state } = this.world;
    const token = by ? random.pick(given(person, by)) : this.world.token(random, person);
    const isTheirs = (project: Project): boolean =>
      project.visibility !== 'public' && sees(person.history.latest, state, { kind: 'project', thing: project });
    const project = random.pick([...state.projects.values()].filter(isTheirs));
    return { asker: token === undefined ? undefined : { person, token }, project };
  }
}

/** Tokens of the person that an administrator gave out, and by which most act as them. */
function given({ history }: Person, by?: Person): string[] {
  const tokens = [...history.latest.tokens].filter(([, { is, giver, issuer }]) => {
    return is === 'good' && giver !== undefined && (by === undefined || issuer === by.id);
  });
  return tokens.map(([key]) => key);
}

function ownTokens({ history }: Person): string[] {
  const tokens = [...history.latest.tokens].filter(([, { is, giver }]) => is === 'good' && !giver);
  return tokens.map(([key]) => key);
}
