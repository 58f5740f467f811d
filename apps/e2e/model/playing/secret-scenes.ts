import type { Changes } from '../changing/changes';
import { SecretChanges } from '../changing/secret-changes';
import { above, homeOf, keyOf } from '../rules/forest';
import type { Focus } from './forest-scenes';
import type { SeededRandom } from './seeded-random';
import type { Asker, Gateway, Secret, World } from './world';

/** Bounds, so that one page of a list holds all of them. */
const MOST = { issues: 24, epics: 18, assignees: 3 };

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
      return this.openEpic(random, gateway);
    const secret = random.pick([...issues, ...epics].filter(({ isTaken }) => !isTaken));
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

  /** Mostly in a group below another one. */
  private async openEpic(random: SeededRandom, gateway: Gateway): Promise<void> {
    const groups = [...this.world.state.groups.values()];
    const nested = groups.filter(({ parent }) => parent !== null);
    const group = random.pick(random.percent(70) && nested.length > 0 ? nested : groups);
    if (group) await this.secrets.openEpic(random, gateway, group);
  }

  /** Mostly somebody for whom it counts: its author, an assignee, or a member of its place. */
  private reader(random: SeededRandom, { home, history }: Secret): Asker | undefined {
    const { author, assignees } = history.latest;
    const places = [keyOf(home), ...above(this.world.state, homeOf(this.world.state, keyOf(home))).map(groupKey)];
    const members = this.world.active.filter((person) =>
      places.some((place) => person.history.latest.memberships.has(place)),
    );
    const concerned = [author, ...assignees, ...members.map(({ id }) => id)];
    return this.as(random, random.percent(85) ? random.pick(concerned) : random.pick(this.world.active)?.id);
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
