import { REQUEST_WORD } from '../changing/merge-request-changes';
import type { Project } from '../rules/forest';
import type { Question } from '../rules/reference-model';
import type { Caller } from './caller';
import type { SeededRandom } from './seeded-random';
import type { Asker, Gateway, OpenedRequest, World } from './world';

const ANYWHERE: Question = { service: 'collaboration', source: null, needs: 0, writes: false };
const questionOf = (id: number): Question => ({
  ...ANYWHERE,
  source: { kind: 'project', id },
  needsReporterIfPrivate: true,
});

/**
 * Reads titles, commits and diffs of merge requests, also of those from private forks, and commits that are only in a fork.
 * Readers of the target see a merge request; no reader finds the other commits of the fork there.
 */
export class MergeRequestReads {
  constructor(
    private readonly world: World,
    private readonly caller: Caller,
  ) {}

  /** Makes one read, of the project if it has a merge request or is part of a fork. */
  async any(random: SeededRandom, gateway: Gateway, asker: Asker, project: Project | undefined): Promise<void> {
    const { requests, forkCommits } = this.world;
    if (asker !== 'anonymous' && random.percent(25)) return this.everywhere(random, gateway, asker);
    if (random.percent(30)) {
      const near = forkCommits.filter(({ fork, source }) => fork === project?.id || source === project?.id);
      const commit = random.pick(near.length > 0 ? near : forkCommits);
      if (commit) return this.commit(random, gateway, asker, commit);
    }
    const near = requests.filter((one) => one.project === project?.id);
    const request = random.pick(near.length > 0 ? near : requests);
    if (request) await this.one(random, gateway, asker, request);
  }

  private async one(random: SeededRandom, gateway: Gateway, asker: Asker, request: OpenedRequest): Promise<void> {
    const { project, iid, sha } = request;
    const below = random.pick(['', '/diffs', '/commits', '/changes', '/raw_diffs', '/versions', '/participants'])!;
    const paths = [
      `/projects/${project}/merge_requests/${iid}${below}`,
      `/projects/${project}/merge_requests/${iid}${below}`,
      `/projects/${project}/merge_requests?iids[]=${iid}`,
      `/projects/${project}/repository/commits/${sha}`,
      `/projects/${project}/repository/commits/${sha}/diff`,
    ];
    const path = random.pick(paths)!;
    await this.caller.ask({ asker, gateway, method: 'GET', path, question: questionOf(project) });
  }

  /** Reads a commit that is only in a fork: in the fork, or in the source, where it never is. */
  private async commit(
    random: SeededRandom,
    gateway: Gateway,
    asker: Asker,
    { fork, source, sha }: World['forkCommits'][number],
  ): Promise<void> {
    const isInFork = random.percent(50);
    const below = random.pick(['', '/diff', '/merge_requests', '/refs'])!;
    const path = `/projects/${isInFork ? fork : source}/repository/commits/${sha}${below}`;
    const question: Question = isInFork ? questionOf(fork) : { ...questionOf(source), isElsewhere: true };
    await this.caller.ask({ asker, gateway, method: 'GET', path, question });
  }

  /** Reads the instance-wide list: the caller must be allowed to see each row at the time of the call. */
  private async everywhere(random: SeededRandom, gateway: Gateway, asker: Exclude<Asker, 'anonymous'>): Promise<void> {
    const order = random.pick(['created_at', 'updated_at'])!;
    const path = `/merge_requests?scope=all&search=${REQUEST_WORD}&order_by=${order}&per_page=100`;
    const call = await this.caller.ask({ asker, gateway, method: 'GET', path, question: ANYWHERE });
    if (call.status !== 200) return;
    for (const { project_id: id } of call.body as readonly { readonly project_id: number }[])
      if (this.world.projects.has(id)) this.caller.note(call, 'allow', questionOf(id));
  }
}
