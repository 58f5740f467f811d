import type { Changes } from '../changing/changes';
import { JobChanges } from '../changing/job-changes';
import type { Project } from '../rules/forest';
import { levelOf } from '../rules/reference-model';
import type { Focus } from './forest-scenes';
import type { SeededRandom } from './seeded-random';
import type { Gateway, Person, World } from './world';
import { isActive } from './world';

/** Running jobs of one person. */
const LIMIT = 2;
const DEVELOPER = 30;

/** Scenes that open and end jobs, whose tokens stand for the people who opened them. */
export class JobScenes {
  private readonly jobs: JobChanges;

  constructor(
    private readonly world: World,
    changes: Changes,
  ) {
    this.jobs = new JobChanges(changes);
  }

  async play(random: SeededRandom, gateway: Gateway, announce: (focus: Focus) => void): Promise<void> {
    const person = this.world.lockRandom(random, (state) => isActive(state) && state.kind === 'human' && !state.admin);
    if (!person) return;
    try {
      const running = runningJobs(person);
      const ended = random.percent(running.length >= LIMIT ? 100 : 45) ? random.pick(running) : undefined;
      if (ended !== undefined) {
        announce({ asker: { person, token: ended }, project: undefined, isOfJob: true });
        return await this.jobs.end(gateway, person, ended);
      }
      await this.open(random, gateway, person, announce);
    } finally {
      person.isLocked = false;
    }
  }

  private async open(
    random: SeededRandom,
    gateway: Gateway,
    person: Person,
    announce: (focus: Focus) => void,
  ): Promise<void> {
    const token = this.world.token(random, person);
    const project = random.pick(this.developedBy(person));
    if (token === undefined || !project) return;
    const opened = await this.jobs.open(gateway, { person, token }, project);
    if (opened !== null) announce({ asker: { person, token: opened }, project, isOfJob: true });
  }

  /** Projects in which the person may start pipelines. */
  private developedBy({ history }: Person): readonly Project[] {
    const { state } = this.world;
    return [...state.projects.values()].filter(
      (entity) => levelOf(history.latest, state, { kind: 'project', entity }) >= DEVELOPER,
    );
  }
}

function runningJobs({ history }: Person): readonly string[] {
  return [...history.latest.jobs].filter(([, { status }]) => status === 'running').map(([key]) => key);
}
