import type { Changes } from '../changing/changes';
import { ImpersonationChanges } from '../changing/impersonation-changes';
import { PeopleChanges } from '../changing/people-changes';
import type { Project } from '../rules/forest';
import type { PersonState } from '../rules/people';
import { canSee } from '../rules/reference-model';
import type { Focus } from './forest-scenes';
import type { SeededRandom } from './seeded-random';
import type { Gateway, Person, World } from './world';
import { isActive } from './world';

/** Bounds: administrators other than root, and tokens that administrators created for one person. */
const LIMITS = { administrators: 2, tokens: 3 };

/**
 * Scenes in which administrators impersonate others and create tokens for them, and are blocked, demoted, removed and
 * unblocked.
 */
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

  async play(random: SeededRandom, gateway: Gateway, announce: (focus: Focus) => void): Promise<void> {
    const administrators = this.world.active.filter(({ history }) => history.latest.admin);
    if (administrators.length < LIMITS.administrators) return this.promote(random, gateway, announce);
    const dice = random.below(100);
    if (dice < 40) return this.impersonate(random, gateway, announce);
    if (dice < 80) return this.change(random, gateway, announce, (state) => isActive(state));
    await this.change(random, gateway, announce, (state) => !isActive(state) && state.account !== 'removed');
  }

  private async promote(random: SeededRandom, gateway: Gateway, announce: (focus: Focus) => void): Promise<void> {
    const person = this.world.lockRandom(random, (state) => isActive(state) && state.kind === 'human' && !state.admin);
    if (!person) return;
    try {
      announce(this.focusOn(random, person));
      const holders = this.world.holdersOfTokensBy(person);
      await this.world.withLocked(holders, () => this.people.setAdmin(gateway, person, true));
    } finally {
      person.isLocked = false;
    }
  }

  /** Creates a token of any person, root and administrators included; sometimes a person without permission tries. */
  private async impersonate(random: SeededRandom, gateway: Gateway, announce: (focus: Focus) => void): Promise<void> {
    const isAdmin = random.percent(90);
    const by = this.world.lockRandom(
      random,
      (state) => isActive(state) && state.kind === 'human' && state.admin === isAdmin,
    );
    if (!by) return;
    try {
      const token = random.pick(ownTokens(by));
      const others = [this.world.root, ...this.world.humans].filter((one) => one !== by && !one.isLocked);
      const few = others.filter((one) => tokensGivenTo(one).length < LIMITS.tokens);
      const person = random.percent(20) ? few.find((one) => one === this.world.root) : random.pick(few);
      if (token === undefined || !person) return;
      await this.world.withLocked([person], () => this.impersonations.create(random, gateway, { person, by, token }));
      announce(this.focusOn(random, person, by));
    } finally {
      by.isLocked = false;
    }
  }

  /** Changes an administrator who created tokens of others, and reads as a holder of one. */
  private async change(
    random: SeededRandom,
    gateway: Gateway,
    announce: (focus: Focus) => void,
    may: (state: PersonState) => boolean,
  ): Promise<void> {
    const person = this.world.lockRandom(
      random,
      (state, one) => may(state) && this.world.holdersOfTokensBy(one).length > 0,
    );
    if (!person) return;
    try {
      const holders = this.world.holdersOfTokensBy(person);
      await this.world.withLocked(holders, async () => {
        announce(this.focusOn(random, random.pick(holders)!, person));
        await this.changeGiver(random, gateway, person, holders);
      });
    } finally {
      person.isLocked = false;
    }
  }

  private async changeGiver(
    random: SeededRandom,
    gateway: Gateway,
    person: Person,
    holders: readonly Person[],
  ): Promise<void> {
    const { account, admin } = person.history.latest;
    if (account !== 'active') {
      // With an impersonation token of an administrator, which must no longer be accepted.
      const way = random.pick(holders.filter(({ history }) => history.latest.admin));
      const token = way && random.pick(tokensGivenTo(way, person));
      if (way && token !== undefined && random.percent(50))
        return this.people.openAsImpersonator(gateway, person, { person: way, token });
      return this.people.open(gateway, person);
    }
    if (!admin) return this.people.setAdmin(gateway, person, true);
    const dice = random.below(100);
    if (dice < 50) return this.people.close(random, gateway, person);
    if (dice < 94 || this.world.humans.length < 8) return this.people.setAdmin(gateway, person, false);
    await this.people.remove(gateway, person);
  }

  /** Reads as the person, with a token that `by` created if given, on a project that is not public. */
  private focusOn(random: SeededRandom, person: Person, by?: Person): Focus {
    const { state } = this.world;
    const token = by ? random.pick(tokensGivenTo(person, by)) : this.world.token(random, person);
    const isTheirs = (project: Project): boolean =>
      project.visibility !== 'public' && canSee(person.history.latest, state, { kind: 'project', entity: project });
    const project = random.pick([...state.projects.values()].filter(isTheirs));
    return { asker: token === undefined ? undefined : { person, token }, project };
  }
}

/** Keys of the person's good tokens that an administrator created. */
function tokensGivenTo({ history }: Person, by?: Person): string[] {
  const tokens = [...history.latest.tokens].filter(([, { status, giver, issuer }]) => {
    return status === 'good' && giver !== undefined && (by === undefined || issuer === by.id);
  });
  return tokens.map(([key]) => key);
}

function ownTokens({ history }: Person): string[] {
  const tokens = [...history.latest.tokens].filter(([, { status, giver }]) => status === 'good' && !giver);
  return tokens.map(([key]) => key);
}
