import { Controller } from '@nestjs/common';
import { ability, anyone, created, Endpoint, JsonText, one, page, project } from '@rookery/api-v4';
import type { Call, JsonPage, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import { issueLinkPolicy } from './issue-link.policy';
import { issueLinkShape, linkedIssueShape } from './issue-link.shape';
import { CreateIssueLink, ListIssueLinks, IdentifyIssueLink } from './issue-links.dto';
import { IssueLinksQueries } from './issue-links.queries';
import type { IssueKey } from './issue-links.queries';
import { IssueLinksService } from './issue-links.service';

const link = issueLinkShape.presenter;
const below = { source: 'reference work-tracking 9.1', within: project('id', 'copy') } as const;
const mayLink = ability(
  'issue_link.manage',
  ({ viewer, within }: WriteCall<object>) => issueLinkPolicy.mayLink(viewer, within),
  {
    signedIn: true,
  },
);

type ReadCall<P, V extends Viewer = Viewer> = Call<P, ProjectScope, V>;
type WriteCall<P> = ReadCall<P, SignedInViewer>;

/** Routes of the links of an issue. */
@Controller('projects/:id/issues/:issue_iid/links')
export class IssueLinksController {
  constructor(
    private readonly queries: IssueLinksQueries,
    private readonly links: IssueLinksService,
  ) {}

  @Endpoint('GET', '', {
    ...below,
    about: 'Lists the linked issues of an issue that the caller sees, oldest link first.',
    may: anyone(),
    params: ListIssueLinks,
    answers: page(linkedIssueShape.presenter),
  })
  list(call: ReadCall<ListIssueLinks>): Promise<JsonPage> {
    return this.queries.list(call.viewer, toIssueKey(call), call.page);
  }

  @Endpoint('GET', ':link_id', {
    ...below,
    about: 'Shows a link with both of its issues.',
    may: anyone(),
    params: IdentifyIssueLink,
    answers: one(link),
    fails: [404],
  })
  async show(call: ReadCall<IdentifyIssueLink>): Promise<JsonText> {
    return new JsonText((await this.queries.findLink(call.viewer, toIssueKey(call), call.params.link_id)).json);
  }

  @Endpoint('POST', '', {
    ...below,
    about: 'Links an issue with another one of any project.',
    may: mayLink,
    params: CreateIssueLink,
    answers: created(link),
    fails: [404, 409, 422],
  })
  async create(call: WriteCall<CreateIssueLink>): Promise<JsonText> {
    const { target_project_id: projectRef, target_issue_iid: iid, link_type: linkType } = call.params;
    return new JsonText(await this.links.create(call.viewer, toIssueKey(call), { projectRef, iid, linkType }));
  }

  @Endpoint('DELETE', ':link_id', {
    ...below,
    about: 'Deletes a link and returns it.',
    may: mayLink,
    params: IdentifyIssueLink,
    answers: one(link),
    fails: [404],
  })
  async remove(call: WriteCall<IdentifyIssueLink>): Promise<JsonText> {
    return new JsonText(await this.links.remove(call.viewer, toIssueKey(call), call.params.link_id));
  }
}

function toIssueKey({ params, within }: ReadCall<ListIssueLinks>): IssueKey {
  return { project: within, iid: params.issue_iid };
}
