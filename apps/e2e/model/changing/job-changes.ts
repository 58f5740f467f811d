import type { Asker, Gateway, Person } from '../playing/world';
import type { Project } from '../rules/forest';
import { withJob } from '../rules/people';
import type { Question } from '../rules/reference-model';
import type { Changes } from './changes';

/** The default branch is protected: developers start no pipelines there. */
const BRANCH = 'jobs';
const README = { branch: 'main', content: 'Model', commit_message: 'Model' };

/** Opens jobs of outside runners and ends them. Source: reference identity-and-import 4.10, 7.5. */
export class JobChanges {
  /** Projects with a commit, which pipelines need. */
  private readonly begun = new Set<number>();

  constructor(private readonly changes: Changes) {}

  /** Opens a job of a new pipeline. Returns the name of its token; null if there is none. */
  async open(gateway: Gateway, asker: Exclude<Asker, string>, { id }: Project): Promise<string | null> {
    await this.begin(gateway, id);
    const { person } = asker;
    const source = { kind: 'project', id } as const;
    const question: Question = { service: 'package', source, needs: 30, writes: true, job: 'changed' };
    const caller = this.changes.caller;
    const path = `/projects/${id}/pipeline?ref=${BRANCH}`;
    const pipeline = await caller.ask({ asker, gateway, method: 'POST', path, question });
    if (pipeline.status !== 201) return null;
    const key = this.changes.world.name('j');
    await this.changes.make({
      ...{ history: person.history, asker, gateway, question, retry: null, kind: 'jobs opened' },
      about: `${person.name} opens a job with the token ${key} in the project ${id}`,
      method: 'POST',
      path: `/projects/${id}/pipelines/${pipeline.body.id}/jobs`,
      json: { name: key },
      nextState: ({ status, body }) => {
        if (status !== 201) return null;
        person.secrets.set(key, { id: body.id, secret: body.token });
        return withJob(person.history.latest, key, { project: id, status: 'running' });
      },
    });
    return person.history.latest.jobs.has(key) ? key : null;
  }

  /** Ends a job, as its runner. */
  async end(gateway: Gateway, person: Person, key: string): Promise<void> {
    const { id, secret } = person.secrets.get(key)!;
    const ending = { method: 'PUT', path: `/jobs/${id}`, json: { token: secret, state: 'success' } };
    const state = person.history.latest;
    const job = state.jobs.get(key)!;
    await this.changes.make({
      ...{ history: person.history, asker: { person, token: key }, gateway, kind: 'jobs ended' },
      question: {
        service: 'package',
        source: { kind: 'project', id: job.project },
        needs: 30,
        writes: true,
        job: 'changed',
      },
      about: `the job of ${person.name} with the token ${key} ends`,
      ...{ ...ending, retry: ending },
      // A job that has ended has no valid token. A repeated call is also 403 while the job's user may not run pipelines.
      nextState: ({ status }, isRepeated) =>
        status === 200 || (isRepeated && status === 401) ? withJob(state, key, { ...job, status: 'ended' }) : null,
    });
  }

  private async begin(gateway: Gateway, project: number): Promise<void> {
    if (this.begun.has(project)) return;
    const source = { kind: 'project', id: project } as const;
    const question: Question = { service: 'collaboration', source, needs: 0, writes: true };
    const path = `/projects/${project}/repository/files/README.md`;
    await this.changes.retryUntilAnswered(gateway, { method: 'POST', path, json: README, question });
    const branch = `/projects/${project}/repository/branches?branch=${BRANCH}&ref=main`;
    const { status } = await this.changes.retryUntilAnswered(gateway, { method: 'POST', path: branch, question });
    // A project that is marked for deletion is read-only.
    if (status !== 403) this.begun.add(project);
  }
}
