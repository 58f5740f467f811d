import { bool, choice, instant, int, nested, nullable, number, presenter, text } from '@rookery/api-v4';
import { userSummary } from '@rookery/directory';
import { PIPELINE_STATUSES } from '../pipelines/pipeline-statuses';
import { findUserOfRow, loadUsers } from '../pipelines/user-of-row.presenter';
import type { CommitStatusRow } from './commit-statuses.queries';

/** Source: reference identity-and-import 7.4. */
export const commitStatusPresenter = presenter<CommitStatusRow>('CommitStatus')
  .load(loadUsers)
  .fields({
    id: [int, (status) => status.id],
    sha: [text, (status) => status.sha, { about: 'Full id of the commit.' }],
    ref: [text, (status) => status.ref],
    status: [choice<string>(...PIPELINE_STATUSES), (status) => status.status],
    name: [text, (status) => status.name],
    target_url: [nullable(text), (status) => status.target_url, { about: 'Page of the outside CI.' }],
    description: [nullable(text), (status) => status.description],
    created_at: [instant, (status) => status.created_at],
    started_at: [nullable(instant), (status) => status.started_at, { about: 'When it was reported as running.' }],
    finished_at: [nullable(instant), (status) => status.finished_at, { about: 'When its end was reported.' }],
    allow_failure: [bool, () => false, { about: 'Always false: a failed status fails its pipeline.' }],
    coverage: [nullable(number), (status) => status.coverage, { about: 'Test coverage in percent.' }],
    pipeline_id: [int, (status) => status.pipeline_id, { about: 'Id of the pipeline.' }],
    author: [
      nullable(nested(userSummary)),
      findUserOfRow,
      { about: 'The user who reported it; null for a deleted user.' },
    ],
  });
