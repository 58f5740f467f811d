import { Controller } from '@nestjs/common';
import { created, Endpoint, group, JsonText, one, page } from '@rookery/api-v4';
import type { Call, GroupScope, JsonPage } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { mayReadEpics } from '../epics.controller';
import { epicIssueShape, servingIssueShape } from './epic-issue.shape';
import { CreateEpicIssue, ListEpicIssues, OneEpicIssue, ReorderEpicIssue } from './epic-issues.dto';
import { EpicIssuesQueries } from './epic-issues.queries';
import type { NamedEpic } from './epic-issues.queries';
import { EpicIssuesService } from './epic-issues.service';

const ALIAS = 'groups/:id/-/epics/:epic_iid/issues';
const below = {
  source: 'requirements 1 §4; reference work-tracking 5.6',
  within: group('id', 'copy'),
  may: mayReadEpics,
  fails: [404],
} as const;
const single = { ...below, aliases: [`${ALIAS}/:epic_issue_id`] } as const;

type IssuesCall<P> = Call<P, GroupScope, SignedInViewer>;

/** Issues that serve an epic. */
@Controller('groups/:id/epics/:epic_iid/issues')
export class EpicIssuesController {
  constructor(
    private readonly queries: EpicIssuesQueries,
    private readonly issues: EpicIssuesService,
  ) {}

  @Endpoint('GET', '', {
    ...below,
    aliases: [ALIAS],
    about: 'Lists the issues of an epic, as far as the caller sees them, in its order.',
    params: ListEpicIssues,
    answers: page(servingIssueShape.presenter),
  })
  list(call: IssuesCall<ListEpicIssues>): Promise<JsonPage> {
    return this.queries.page(call.viewer, named(call), call.page);
  }

  @Endpoint('POST', ':epic_issue_id', {
    ...single,
    about: 'Puts an issue of any project into an epic, before all others; one of another epic is taken from there.',
    params: CreateEpicIssue,
    answers: created(epicIssueShape.presenter),
    fails: [404, 409, 429],
  })
  async assign(call: IssuesCall<CreateEpicIssue>): Promise<JsonText> {
    return new JsonText(await this.issues.assign(call.viewer, named(call), call.params.epic_issue_id));
  }

  @Endpoint('PUT', ':epic_issue_id', {
    ...single,
    about: 'Puts an issue of an epic behind one and before another, and lists them.',
    params: ReorderEpicIssue,
    answers: page(servingIssueShape.presenter),
  })
  async reorder(call: IssuesCall<ReorderEpicIssue>): Promise<JsonPage> {
    const { epic_issue_id: linkId, move_before_id: before, move_after_id: after } = call.params;
    await this.issues.reorder(call.viewer, named(call), linkId, { before, after });
    return this.queries.page(call.viewer, named(call), call.page);
  }

  @Endpoint('DELETE', ':epic_issue_id', {
    ...single,
    about: 'Takes an issue out of an epic and answers what the link was.',
    params: OneEpicIssue,
    answers: one(epicIssueShape.presenter),
    fails: [404, 429],
  })
  async remove(call: IssuesCall<OneEpicIssue>): Promise<JsonText> {
    return new JsonText(await this.issues.remove(call.viewer, named(call), call.params.epic_issue_id));
  }
}

function named({ params, within }: IssuesCall<ListEpicIssues>): NamedEpic {
  return { group: within, iid: params.epic_iid };
}
