import type { Question } from '../rules/reference-model';
import type { Caller } from './caller';
import type { SeededRandom } from './seeded-random';
import type { Asker, Gateway, World } from './world';

type SignedIn = Exclude<Asker, 'root' | 'anonymous'>;

/** Reads with the tokens of jobs. Source: reference identity-and-import 4.10. */
export class JobReads {
  constructor(
    private readonly world: World,
    private readonly caller: Caller,
  ) {}

  /** Makes one read with a token, mostly of a running job. */
  async any(random: SeededRandom, gateway: Gateway): Promise<void> {
    const all = this.world.people.flatMap((person) =>
      [...person.history.latest.jobs].map(([token, { status }]) => ({ person, token, status })),
    );
    const running = all.filter(({ status }) => status === 'running');
    const asker = random.pick(running.length > 0 && random.percent(80) ? running : all);
    if (asker) await this.one(random, gateway, asker);
  }

  /** Asks for the job of the token, or for the packages of its project. */
  async one(random: SeededRandom, gateway: Gateway, { person, token }: SignedIn): Promise<void> {
    const job = person.history.latest.jobs.get(token);
    if (!job) return;
    const source = { kind: 'project', id: job.project } as const;
    const question: Question = { service: 'package', source, needs: 0, writes: false, needsReporterIfPrivate: true };
    const ownJob: Question = { service: 'identity', source, needs: 0, writes: false, job: 'shown' };
    const shape = random.percent(30)
      ? { path: '/job', question: ownJob }
      : { path: `/projects/${job.project}/packages?per_page=1`, question };
    await this.caller.ask({ asker: { person, token }, gateway, method: 'GET', ...shape });
  }
}
