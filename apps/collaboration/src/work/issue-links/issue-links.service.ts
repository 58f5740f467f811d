import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { Conflict, Forbidden, NotFound, Unprocessable } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { prepareStatement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { issueKind } from '../issues/issue.kind';
import { planningPolicy } from '../../base/noteables/planning.policy';
import { createNoteableReader, canReadFeature } from '../../base/noteables/reader';
import type { LinkType } from './issue-link.entity';
import { issueLinkPolicy } from './issue-link.policy';
import { IssueLinksQueries } from './issue-links.queries';
import type { IssueKey } from './issue-links.queries';

/** $1 project, $2 number, $3-$5 the viewer. Locks the issue against deletion until the transaction ends. */
const lockVisibleIssue = prepareStatement(
  'issue_links_visible',
  `select i.id from issues i where i.project_id = $1::bigint and i.iid = $2::bigint and ${issueKind.visibleSql({
    viewer: '$3::bigint',
    isMember: '$4::boolean',
    readsConfidential: '$5::boolean',
  })} for key share of i`,
);
const insertLink = prepareStatement(
  'issue_links_insert',
  `insert into issue_links (source_id, target_id, link_type) values ($1::bigint, $2::bigint, $3)
   on conflict do nothing returning id`,
);
const deleteLink = prepareStatement('issue_links_remove', 'delete from issue_links where id = $1::bigint returning 1');

const NO_TARGET = 'No matching issue found. Make sure that you are adding a valid issue URL.';

/** The issue to link with the issue that the path names. */
export interface NewLink {
  readonly projectRef: number | string;
  readonly iid: number;
  readonly linkType: LinkType;
}

/** Creates and deletes links of issues. Methods return the link as JSON text. Source: reference work-tracking 9.1. */
@Injectable()
export class IssueLinksService {
  constructor(
    private readonly work: Work,
    private readonly directory: Directory,
    private readonly queries: IssueLinksQueries,
  ) {}

  /**
   * Creates a link. Errors: Forbidden if the plan has no such links or the caller has no role there; NotFound,
   * Unprocessable, Conflict.
   */
  async create(viewer: SignedInViewer, named: IssueKey, newLink: NewLink): Promise<string> {
    if (newLink.linkType !== 'relates_to' && !planningPolicy.isPaid(named.project.namespace)) {
      throw new Forbidden('Blocked issues not available for current license', { verbatim: true });
    }
    const target = { project: await this.targetProject(viewer, newLink.projectRef), iid: newLink.iid };
    const id = await this.work.run((tx) => this.linkIssues(tx, viewer, named, { target, linkType: newLink.linkType }));
    return (await this.queries.findLink(viewer, named, id)).json;
  }

  /** Finds the project of an issue to link. Errors: NotFound, Forbidden if the caller has no role there. */
  async targetProject(viewer: SignedInViewer, ref: number | string): Promise<ProjectScope> {
    const project = await this.directory.findProject(ref, viewer);
    if (!project) throw new NotFound('Project');
    if (!issueLinkPolicy.mayLink(viewer, project)) throw new Forbidden();
    return project;
  }

  /** Creates a link inside a transaction and returns its id. Errors: NotFound, Unprocessable, Conflict. */
  async linkIssues(
    tx: Tx,
    viewer: SignedInViewer,
    named: IssueKey,
    { target, linkType }: { readonly target: IssueKey; readonly linkType: LinkType },
  ): Promise<number> {
    const own = await lockIssueToLink(tx, viewer, named, new NotFound(issueKind.resource));
    // Answers the same for a hidden issue and a missing one.
    const other = await lockIssueToLink(tx, viewer, target, new NotFound(NO_TARGET, { verbatim: true }));
    if (own === other) throw new Unprocessable(`#${named.iid} cannot be added: cannot be related to itself`);
    const isReversed = linkType === 'is_blocked_by';
    const ends = isReversed ? [other, own] : [own, other];
    const [created] = await tx.prepared<{ id: number }>(insertLink, [...ends, isReversed ? 'blocks' : linkType]);
    if (!created) throw new Conflict('Issue(s) already assigned');
    return created.id;
  }

  /** Deletes a link and returns it. Errors: NotFound, Forbidden if the caller has no role at one of its ends. */
  async remove(viewer: SignedInViewer, named: IssueKey, linkId: number): Promise<string> {
    const { otherProjectId, json } = await this.queries.findLink(viewer, named, linkId);
    const project = await this.directory.findProject(otherProjectId, viewer);
    if (!project) throw new NotFound();
    if (!issueLinkPolicy.mayLink(viewer, project)) throw new Forbidden();
    const deleted = await this.work.run((tx) => tx.prepared(deleteLink, [linkId]));
    if (deleted.length === 0) throw new NotFound();
    return json;
  }
}

/** Locks an issue that is to be linked and returns its id. Errors: `notFoundError` if the viewer may not see it. */
async function lockIssueToLink(
  tx: Tx,
  viewer: SignedInViewer,
  issue: IssueKey,
  notFoundError: NotFound,
): Promise<number> {
  const { project, iid } = issue;
  const reader = createNoteableReader(viewer, project);
  if (!canReadFeature(issueKind.feature, project, reader)) throw notFoundError;
  const { viewerId, isMember, readsConfidential } = reader;
  const [row] = await tx.prepared<{ id: number }>(lockVisibleIssue, [
    project.id,
    iid,
    viewerId,
    isMember,
    readsConfidential,
  ]);
  if (!row) throw notFoundError;
  return row.id;
}
