import type { Changes } from '../changing/changes';
import { SecretChanges } from '../changing/secret-changes';
import { selfAndAncestors, findSource, groupIdOf, keyOf } from '../rules/forest';
import { levelOf, canSee } from '../rules/reference-model';
import type { Focus } from './forest-scenes';
import type { SeededRandom } from './seeded-random';
import type { Asker, Gateway, Person, Secret, World } from './world';

/** Upper bounds, so that one page of a list holds all secrets. */
const LIMITS = { issues: 24, epics: 18, assignees: 3 };
const PLANNER = 15;

/** Scenes that change issues and epics that may be confidential. */
export class SecretScenes {
  private readonly secrets: SecretChanges;

  constructor(
    private readonly world: World,
    changes: Changes,
  ) {
    this.secrets = new SecretChanges(changes);
  }

  async play(random: SeededRandom, gateway: Gateway, announce: (focus: Focus) => void): Promise<void> {
    const { issues, epics } = this.existing();
    if (random.percent(issues.length < LIMITS.issues / 2 ? 40 : 6) && issues.length < LIMITS.issues)
      return this.openIssue(random, gateway);
    if (random.percent(epics.length < LIMITS.epics / 2 ? 40 : 6) && epics.length < LIMITS.epics)
      return this.openEpic(random, gateway, announce);
    const kind = random.percent(40) && issues.length > 0 ? issues : epics;
    const secret = random.pick(kind.filter(({ isLocked }) => !isLocked));
    if (!secret) return;
    secret.isLocked = true;
    try {
      announce({ asker: this.reader(random, secret), project: undefined, secret });
      await this.change(random, gateway, secret);
    } finally {
      secret.isLocked = false;
    }
  }

  private change(random: SeededRandom, gateway: Gateway, secret: Secret): Promise<void> {
    const dice = random.below(100);
    if (dice < 4) return this.secrets.remove(gateway, secret);
    if (dice < 40 && secret.kind === 'issue') {
      const people = Array.from({ length: random.below(LIMITS.assignees + 1) }, () => random.pick(this.world.active)!);
      return this.secrets.assign(gateway, secret, [...new Set(people)]);
    }
    return this.secrets.setConfidential(random, gateway, secret);
  }

  private async openIssue(random: SeededRandom, gateway: Gateway): Promise<void> {
    const project = random.pick([...this.world.state.projects.values()]);
    const author = random.percent(65) ? this.as(random, random.pick(this.world.active)?.id) : undefined;
    if (project) await this.secrets.openIssue(random, gateway, project, author ?? 'root');
  }

  /** Opens an epic, mostly in a subgroup; reads follow as soon as it exists. */
  private async openEpic(random: SeededRandom, gateway: Gateway, announce: (focus: Focus) => void): Promise<void> {
    const groups = [...this.world.state.groups.values()];
    const nested = groups.filter(({ parent }) => parent !== null);
    const group = random.pick(random.percent(70) && nested.length > 0 ? nested : groups);
    if (!group) return;
    await this.secrets.openEpic(random, gateway, group);
    const secret = this.world.secrets.findLast(({ kind, home }) => kind === 'epic' && home.id === group.id);
    if (secret) announce({ asker: this.reader(random, secret), project: undefined, secret });
  }

  /** Picks a reader, mostly one for whom confidentiality matters: it hides the secret, or another rule still shows it. */
  private reader(random: SeededRandom, secret: Secret): Asker | undefined {
    const concerned = secret.kind === 'epic' ? this.concernedByEpic(random, secret) : this.concernedByIssue(secret);
    const { active } = this.world;
    return this.as(
      random,
      random.percent(85) ? (random.pick(concerned) ?? random.pick(active)?.id) : random.pick(active)?.id,
    );
  }

  /** Ids of its author, assignees and the members of its project. */
  private concernedByIssue({ home, history }: Secret): readonly number[] {
    const { author, assignees } = history.latest;
    return [author, ...assignees, ...this.members(home).map(({ id }) => id)];
  }

  /** Only roles decide for epics: mostly people who see its group below the planner level, else its members. */
  private concernedByEpic(random: SeededRandom, { home }: Secret): readonly number[] {
    const { state, active } = this.world;
    const group = findSource(state, home);
    const belowPlanner = active.filter(
      ({ history: { latest } }) => group && canSee(latest, state, group) && levelOf(latest, state, group) < PLANNER,
    );
    const isBelowPlanner = belowPlanner.length > 0 && random.percent(85);
    return (isBelowPlanner ? belowPlanner : this.members(home)).map(({ id }) => id);
  }

  private members(home: Secret['home']): readonly Person[] {
    const { state, active } = this.world;
    const places = [keyOf(home), ...selfAndAncestors(state, groupIdOf(state, keyOf(home))).map(groupKey)];
    return active.filter((person) => places.some((place) => person.history.latest.memberships.has(place)));
  }

  private existing(): { readonly issues: readonly Secret[]; readonly epics: readonly Secret[] } {
    const { state, secrets } = this.world;
    const existing = secrets.filter(
      ({ home, history }) => !history.latest.isDeleted && groupIdOf(state, keyOf(home)) !== null,
    );
    return {
      issues: existing.filter(({ kind }) => kind === 'issue'),
      epics: existing.filter(({ kind }) => kind === 'epic'),
    };
  }

  private as(random: SeededRandom, id: number | undefined): Asker | undefined {
    const person = this.world.people.find((one) => one.id === id);
    const token = person && this.world.token(random, person);
    return person && token !== undefined ? { person, token } : undefined;
  }
}

const groupKey = ({ id }: { readonly id: number }) => keyOf({ kind: 'group', id });
