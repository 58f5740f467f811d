import type { Changes } from '../changing/changes';
import { SecretChanges } from '../changing/secret-changes';
import { above, find, homeOf, keyOf } from '../rules/forest';
import { levelOf, sees } from '../rules/reference-model';
import type { Focus } from './forest-scenes';
import type { SeededRandom } from './seeded-random';
import type { Asker, Gateway, Person, Secret, World } from './world';

/** Bounds, so that one page of a list holds all of them. */
const MOST = { issues: 24, epics: 18, assignees: 3 };
const PLANNER = 15;

/** What is done to issues and epics that are confidential now and then, and who is to notice. */
export class SecretScenes {
  private readonly secrets: SecretChanges;

  constructor(
    private readonly world: World,
    changes: Changes,
  ) {
    this.secrets = new SecretChanges(changes);
  }

  async play(random: SeededRandom, gateway: Gateway, tell: (focus: Focus) => void): Promise<void> {
    const { issues, epics } = this.standing();
    if (random.percent(issues.length < MOST.issues / 2 ? 40 : 6) && issues.length < MOST.issues)
      return this.openIssue(random, gateway);
    if (random.percent(epics.length < MOST.epics / 2 ? 40 : 6) && epics.length < MOST.epics)
      return this.openEpic(random, gateway, tell);
    const kind = random.percent(40) && issues.length > 0 ? issues : epics;
    const secret = random.pick(kind.filter(({ isTaken }) => !isTaken));
    if (!secret) return;
    secret.isTaken = true;
    try {
      tell({ asker: this.reader(random, secret), project: undefined, secret });
      await this.change(random, gateway, secret);
    } finally {
      secret.isTaken = false;
    }
  }

  private change(random: SeededRandom, gateway: Gateway, secret: Secret): Promise<void> {
    const dice = random.below(100);
    if (dice < 4) return this.secrets.remove(gateway, secret);
    if (dice < 40 && secret.kind === 'issue') {
      const people = Array.from({ length: random.below(MOST.assignees + 1) }, () => random.pick(this.world.active)!);
      return this.secrets.assign(gateway, secret, [...new Set(people)]);
    }
    return this.secrets.setConfidential(random, gateway, secret);
  }

  private async openIssue(random: SeededRandom, gateway: Gateway): Promise<void> {
    const project = random.pick([...this.world.state.projects.values()]);
    const author = random.percent(65) ? this.as(random, random.pick(this.world.active)?.id) : undefined;
    if (project) await this.secrets.openIssue(random, gateway, project, author ?? 'root');
  }

  /** Mostly in a group below another one; it is looked at as soon as it is there. */
  private async openEpic(random: SeededRandom, gateway: Gateway, tell: (focus: Focus) => void): Promise<void> {
    const groups = [...this.world.state.groups.values()];
    const nested = groups.filter(({ parent }) => parent !== null);
    const group = random.pick(random.percent(70) && nested.length > 0 ? nested : groups);
    if (!group) return;
    await this.secrets.openEpic(random, gateway, group);
    const secret = this.world.secrets.findLast(({ kind, home }) => kind === 'epic' && home.id === group.id);
    if (secret) tell({ asker: this.reader(random, secret), project: undefined, secret });
  }

  /** Mostly somebody for whom it counts: from whom its confidentiality keeps it, or who knows of it all the same. */
  private reader(random: SeededRandom, secret: Secret): Asker | undefined {
    const concerned = secret.kind === 'epic' ? this.concernedByEpic(random, secret) : this.concernedByIssue(secret);
    const { active } = this.world;
    return this.as(
      random,
      random.percent(85) ? (random.pick(concerned) ?? random.pick(active)?.id) : random.pick(active)?.id,
    );
  }

  /** Its author, an assignee, or a member of its place. */
  private concernedByIssue({ home, history }: Secret): readonly number[] {
    const { author, assignees } = history.latest;
    return [author, ...assignees, ...this.members(home).map(({ id }) => id)];
  }

  /** Roles alone decide: mostly those who see its group and are no planner there, else its members. */
  private concernedByEpic(random: SeededRandom, { home }: Secret): readonly number[] {
    const { state, active } = this.world;
    const group = find(state, home);
    const lesser = active.filter(
      ({ history: { latest } }) => group && sees(latest, state, group) && levelOf(latest, state, group) < PLANNER,
    );
    const isLesser = lesser.length > 0 && random.percent(85);
    return (isLesser ? lesser : this.members(home)).map(({ id }) => id);
  }

  private members(home: Secret['home']): readonly Person[] {
    const { state, active } = this.world;
    const places = [keyOf(home), ...above(state, homeOf(state, keyOf(home))).map(groupKey)];
    return active.filter((person) => places.some((place) => person.history.latest.memberships.has(place)));
  }

  private standing(): { readonly issues: readonly Secret[]; readonly epics: readonly Secret[] } {
    const { state, secrets } = this.world;
    const there = secrets.filter(({ home, history }) => !history.latest.gone && homeOf(state, keyOf(home)) !== null);
    return {
      issues: there.filter(({ kind }) => kind === 'issue'),
      epics: there.filter(({ kind }) => kind === 'epic'),
    };
  }

  private as(random: SeededRandom, id: number | undefined): Asker | undefined {
    const person = this.world.people.find((one) => one.id === id);
    const token = person && this.world.token(random, person);
    return person && token !== undefined ? { person, token } : undefined;
  }
}

const groupKey = ({ id }: { readonly id: number }) => keyOf({ kind: 'group', id });
