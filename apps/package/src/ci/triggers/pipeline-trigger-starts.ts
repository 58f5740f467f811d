import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, Invalid, NotFound, Refused, Unauthorized } from '@rookery/kernel';
import type { Clock, Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { JobTokens } from '../jobs/job-tokens';
import { PipelineStarts } from '../pipelines/pipeline-starts';
import type { PipelineStart } from '../pipelines/pipeline-starts';
import { PipelineRunPermissions } from '../pipelines/pipeline-run-permissions';
import type { RunnableProject } from '../pipelines/pipeline-run-permissions';
import type { VariableRow } from '../pipelines/pipeline-variables';
import type { PipelineRow } from '../pipelines/pipelines.queries';
import { digestToken } from '../pipelines/token-digest';

/** A request to start a pipeline by a token. */
export interface TriggeredStart {
  readonly id: number | string;
  readonly ref: string;
  readonly token: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  readonly inputs?: Readonly<Record<string, unknown>> | undefined;
}

/** The holder of a token: the user as whom the pipeline runs, and the project, or null if the token does not open it. */
interface TriggerHolder extends Pick<PipelineStart, 'source' | 'userId' | 'upstreamJobId' | 'also'> {
  readonly project: RunnableProject | null;
}

const BY_DIGEST = statement<{ digest: Buffer; now: Date }, { id: number; project_id: number; owner_id: number }>(
  'pipeline_triggers_by_token',
  `select id, project_id, owner_id from pipeline_triggers
   where digest = :digest and (expires_at is null or expires_at > :now::timestamptz)`,
);
const MARK_USED = statement<{ id: number; now: Date }, never>(
  'pipeline_triggers_mark_used',
  'update pipeline_triggers set last_used = :now::timestamptz where id = :id::bigint',
);

/** Starts pipelines for the holders of trigger tokens and job tokens. Source: reference identity-and-import 7.2. */
@Injectable()
export class PipelineTriggerStarts {
  constructor(
    private readonly database: Database,
    private readonly jobTokens: JobTokens,
    private readonly users: PipelineRunPermissions,
    private readonly starts: PipelineStarts,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Starts a pipeline as the owner of the token; `caller` is the client that sent it.
   * Errors: Refused for variables that are no texts; NotFound for an unknown token, for a trigger token of another project
   * and for the token of a job that the project does not admit; Unauthorized for a job that does not run; Invalid under `base`.
   */
  async startPipeline(start: TriggeredStart, caller: Viewer): Promise<PipelineRow> {
    const variables = createTriggerVariables(start);
    const holder = await this.findTokenHolder(start, caller);
    if (!holder?.project) throw new NotFound('');
    const { project, ...rest } = holder;
    if (!project.canRun) throw new Invalid({ base: ['Insufficient permissions to create a new pipeline'] });
    // The caller has no rights of their own that would be checked again.
    const recheck = async (): Promise<void> => {
      if (!(await this.findTokenHolder(start, caller))?.project?.canRun) throw new NotFound('');
    };
    return this.starts.startPipeline(project, {
      ...rest,
      ref: start.ref,
      variables,
      inputs: start.inputs ?? {},
      recheck,
    });
  }

  private async findTokenHolder({ token, id: named }: TriggeredStart, caller: Viewer): Promise<TriggerHolder | null> {
    if (this.jobTokens.isJobToken(token)) return this.findJobTokenHolder(token, named, caller);
    const [trigger] = await this.database.run(BY_DIGEST, { digest: digestToken(token), now: this.clock.now() });
    if (!trigger) return null;
    const { id, project_id: projectId, owner_id: userId } = trigger;
    const also = async (tx: Tx): Promise<void> => {
      await tx.run(MARK_USED, { id, now: this.clock.now() });
    };
    const project = await this.users.findRunnableProject(projectId, userId);
    return {
      project: project && isReferencedProject(project, named) ? project : null,
      userId,
      source: 'trigger',
      also,
    };
  }

  private async findJobTokenHolder(
    token: string,
    projectReference: number | string,
    caller: Viewer,
  ): Promise<TriggerHolder | null> {
    const job = await this.jobTokens.findJobInAnyState(token);
    if (!job) return null;
    const { user_id: userId, project_id } = job;
    if (userId === null) return null;
    if (!job.is_running) throw new Unauthorized('Job is not running');
    const project = await this.users.projectForJob(projectReference, { project_id, user_id: userId }, caller);
    return { project, userId, source: 'pipeline', upstreamJobId: job.id };
  }
}

/** Whether the path of the request names this project. */
function isReferencedProject({ id, fullPath }: RunnableProject, idOrPath: number | string): boolean {
  return typeof idOrPath === 'number' ? idOrPath === id : idOrPath.toLowerCase() === fullPath.toLowerCase();
}

/** Returns the variables of a request, with the request itself as `TRIGGER_PAYLOAD`. Errors: Refused. */
function createTriggerVariables({ id, ref, variables = {}, inputs }: TriggeredStart): readonly VariableRow[] {
  const own = Object.entries(variables).map(([key, value]): VariableRow => {
    if (typeof value !== 'string')
      throw new Refused('variables needs to be a map of key-valued strings', { verbatim: true });
    return { key, value, variable_type: 'env_var' };
  });
  const payload = JSON.stringify({ ref, id: String(id), variables, ...(inputs ? { inputs } : {}) });
  return [...own, { key: 'TRIGGER_PAYLOAD', value: payload, variable_type: 'file' }];
}
