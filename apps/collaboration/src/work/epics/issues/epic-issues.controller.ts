import { Controller } from '@nestjs/common';
import { created, Endpoint, group, JsonText, one, page } from '@rookery/api-v4';
import type { Call, GroupScope, JsonPage } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { mayReadEpics } from '../epics.controller';
import { epicIssueShape, servingIssueShape } from './epic-issue.shape';
import { CreateEpicIssue, ListEpicIssues, IdentifyEpicIssue, ReorderEpicIssue } from './epic-issues.dto';
import { EpicIssuesQueries } from './epic-issues.queries';
import type { EpicKey } from './epic-issues.queries';
import { EpicIssuesService } from './epic-issues.service';

const ALIAS = 'groups/:id/-/epics/:epic_iid/issues';
const below = {
  source: 'requirements 1 §4; reference work-tracking 5.6',
  within: group('id', 'copy'),
  may: mayReadEpics,
  fails: [404],
} as const;
const single = { ...below, aliases: [`${ALIAS}/:epic_issue_id`] } as const;

type EpicIssuesCall<P> = Call<P, GroupScope, SignedInViewer>;

/** Routes of the issues of an epic. */
@Controller('groups/:id/epics/:epic_iid/issues')
export class EpicIssuesController {
  constructor(
    private readonly queries: EpicIssuesQueries,
    private readonly issues: EpicIssuesService,
  ) {}

  @Endpoint('GET', '', {
    ...below,
    aliases: [ALIAS],
    about: 'Lists the issues of an epic that the caller sees, in their order.',
    params: ListEpicIssues,
    answers: page(servingIssueShape.presenter),
  })
  list(call: EpicIssuesCall<ListEpicIssues>): Promise<JsonPage> {
    return this.queries.list(call.viewer, toEpicKey(call), call.page);
  }

  @Endpoint('POST', ':epic_issue_id', {
    ...single,
    about: 'Adds an issue of any project to an epic, as the first; it leaves its previous epic.',
    params: CreateEpicIssue,
    answers: created(epicIssueShape.presenter),
    fails: [404, 409, 429],
  })
  async assign(call: EpicIssuesCall<CreateEpicIssue>): Promise<JsonText> {
    return new JsonText(await this.issues.assign(call.viewer, toEpicKey(call), call.params.epic_issue_id));
  }

  @Endpoint('PUT', ':epic_issue_id', {
    ...single,
    about: 'Moves an issue of an epic between two others and lists the issues.',
    params: ReorderEpicIssue,
    answers: page(servingIssueShape.presenter),
  })
  async reorder(call: EpicIssuesCall<ReorderEpicIssue>): Promise<JsonPage> {
    const { epic_issue_id: linkId, move_before_id: before, move_after_id: after } = call.params;
    await this.issues.reorder(call.viewer, toEpicKey(call), linkId, { before, after });
    return this.queries.list(call.viewer, toEpicKey(call), call.page);
  }

  @Endpoint('DELETE', ':epic_issue_id', {
    ...single,
    about: 'Removes an issue from an epic and returns the deleted link.',
    params: IdentifyEpicIssue,
    answers: one(epicIssueShape.presenter),
    fails: [404, 429],
  })
  async remove(call: EpicIssuesCall<IdentifyEpicIssue>): Promise<JsonText> {
    return new JsonText(await this.issues.removeLink(call.viewer, toEpicKey(call), call.params.epic_issue_id));
  }
}

function toEpicKey({ params, within }: EpicIssuesCall<ListEpicIssues>): EpicKey {
  return { group: within, iid: params.epic_iid };
}
