import { Gitlab } from '@gitbeaker/rest';
import { estate, mark } from '../support/estate';

/** Pipelines, statuses, triggers and job tokens with an unmodified public API client, through the gateway. */
describe('pipelines with a stock SDK', () => {
  const root = new Gitlab({ host: estate.baseUrl, token: estate.rootToken });
  const { Commits, Jobs, PipelineTriggerTokens, Pipelines, ProjectJobTokenScopes, Projects } = root;
  let projectId: number;
  let sha: string;

  beforeAll(async () => {
    projectId = (await Projects.create({ name: `pipelines-${mark}`, initializeWithReadme: true })).id;
    sha = (await Commits.all(projectId))[0]!.id;
  });

  it('creates a pipeline with variables, finds and cancels it', async () => {
    const variables = [{ key: 'LEVEL', value: '1', variable_type: 'env_var' }];
    const pipeline = await Pipelines.create(projectId, 'main', { variables } as never);
    expect(pipeline).toMatchObject({ ref: 'main', sha, status: 'created', source: 'api' });
    expect(await Pipelines.show(projectId, pipeline.id)).toEqual(pipeline);
    expect(await Pipelines.showLatest(projectId)).toEqual(pipeline);
    expect(await Pipelines.all(projectId, { ref: 'main' })).toMatchObject([{ id: pipeline.id }]);
    expect(await Pipelines.allVariables(projectId, pipeline.id)).toEqual(variables);
    expect(await Jobs.all(projectId, { pipelineId: pipeline.id })).toEqual([]);
    expect(await Pipelines.showTestReport(projectId, pipeline.id)).toMatchObject({ total_count: 0 });
    expect(await Pipelines.cancel(projectId, pipeline.id)).toMatchObject({ id: pipeline.id });
    await Pipelines.remove(projectId, pipeline.id);
    await expect(Pipelines.show(projectId, pipeline.id)).rejects.toThrow(/404/);
  });

  it('reports statuses of a commit, which make a pipeline', async () => {
    await Commits.editStatus(projectId, sha, 'running', { name: 'build', ref: 'main' });
    const status = await Commits.editStatus(projectId, sha, 'success', { name: 'build', ref: 'main' });
    expect(status).toMatchObject({ sha, name: 'build', status: 'success', ref: 'main' });
    expect(await Commits.allStatuses(projectId, sha)).toMatchObject([{ id: status.id, status: 'success' }]);
    expect(await Commits.show(projectId, sha)).toMatchObject({ status: 'success', last_pipeline: { sha } });
  });

  it('starts a pipeline by a trigger token', async () => {
    const token = await PipelineTriggerTokens.create(projectId, 'Hook');
    const edited = await PipelineTriggerTokens.edit(projectId, token.id, { description: 'Other' });
    expect(edited).toMatchObject({ id: token.id, description: 'Other' });
    expect(await PipelineTriggerTokens.all(projectId)).toMatchObject([{ id: token.id }]);
    const pipeline = await PipelineTriggerTokens.trigger(projectId, 'main', token.token, { variables: { A: 'b' } });
    expect(pipeline).toMatchObject({ ref: 'main', source: 'trigger' });
    expect(await Pipelines.allVariables(projectId, pipeline.id)).toMatchObject([
      { key: 'A', value: 'b' },
      { key: 'TRIGGER_PAYLOAD' },
    ]);
    await PipelineTriggerTokens.remove(projectId, token.id);
    await expect(PipelineTriggerTokens.show(projectId, token.id)).rejects.toThrow(/404/);
  });

  it('reads and changes the scope of job tokens', async () => {
    expect(await ProjectJobTokenScopes.show(projectId)).toMatchObject({ inbound_enabled: true });
    await ProjectJobTokenScopes.edit(projectId, false);
    expect(await ProjectJobTokenScopes.show(projectId)).toMatchObject({ inbound_enabled: false });
  });
});
