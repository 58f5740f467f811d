import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { Conflict, Forbidden, NotFound, Unprocessable } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { prepared, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { issueKind } from '../issues/issue.kind';
import { planningPolicy } from '../../base/noteables/planning.policy';
import { readerOf, reads } from '../../base/noteables/reader';
import type { LinkType } from './issue-link.entity';
import { issueLinkPolicy } from './issue-link.policy';
import { IssueLinksQueries } from './issue-links.queries';
import type { NamedIssue } from './issue-links.queries';

/** $1 project, $2 number, $3-$5 who reads. It stays until the transaction ends. */
const visible = prepared(
  'issue_links_visible',
  `select i.id from issues i where i.project_id = $1::bigint and i.iid = $2::bigint and ${issueKind.visibleSql({
    viewer: '$3::bigint',
    isMember: '$4::boolean',
    readsConfidential: '$5::boolean',
  })} for key share of i`,
);
const insert = prepared(
  'issue_links_insert',
  `insert into issue_links (source_id, target_id, link_type) values ($1::bigint, $2::bigint, $3)
   on conflict do nothing returning id`,
);
const remove = prepared('issue_links_remove', 'delete from issue_links where id = $1::bigint returning 1');

const NO_TARGET = 'No matching issue found. Make sure that you are adding a valid issue URL.';

/** What is to be linked with the issue that the path names. */
export interface NewLink {
  readonly projectRef: number | string;
  readonly iid: number;
  readonly linkType: LinkType;
}

/** Linking issues; answers are the link as JSON text. Source: reference work-tracking 9.1. */
@Injectable()
export class IssueLinksService {
  constructor(
    private readonly work: Work,
    private readonly directory: Directory,
    private readonly queries: IssueLinksQueries,
  ) {}

  /** Errors: Forbidden where the plan has no such links or the caller no role there, NotFound, Unprocessable, Conflict. */
  async create(viewer: SignedInViewer, named: NamedIssue, wish: NewLink): Promise<string> {
    if (wish.linkType !== 'relates_to' && !planningPolicy.isPaid(named.project.namespace)) {
      throw new Forbidden('Blocked issues not available for current license', { verbatim: true });
    }
    const target = { project: await this.targetProject(viewer, wish.projectRef), iid: wish.iid };
    const id = await this.work.run((tx) => this.link(tx, viewer, named, { target, linkType: wish.linkType }));
    return (await this.queries.one(viewer, named, id)).json;
  }

  /** The project of an issue that is to be linked. Errors: NotFound, Forbidden where the caller has no role. */
  async targetProject(viewer: SignedInViewer, ref: number | string): Promise<ProjectScope> {
    const project = await this.directory.project(ref, viewer);
    if (!project) throw new NotFound('Project');
    if (!issueLinkPolicy.mayLink(viewer, project)) throw new Forbidden();
    return project;
  }

  /** Inside a transaction; answers the id of the link. Errors: NotFound, Unprocessable, Conflict. */
  async link(
    tx: Tx,
    viewer: SignedInViewer,
    named: NamedIssue,
    { target, linkType }: { readonly target: NamedIssue; readonly linkType: LinkType },
  ): Promise<number> {
    const own = await idOf(tx, viewer, named, new NotFound(issueKind.resource));
    // A hidden issue is told as a missing one.
    const other = await idOf(tx, viewer, target, new NotFound(NO_TARGET, { verbatim: true }));
    if (own === other) throw new Unprocessable(`#${named.iid} cannot be added: cannot be related to itself`);
    const isTurned = linkType === 'is_blocked_by';
    const ends = isTurned ? [other, own] : [own, other];
    const [made] = await tx.prepared<{ id: number }>(insert, [...ends, isTurned ? 'blocks' : linkType]);
    if (!made) throw new Conflict('Issue(s) already assigned');
    return made.id;
  }

  /** Answers the link as it was. Errors: NotFound, Forbidden where the caller has no role at one of its ends. */
  async remove(viewer: SignedInViewer, named: NamedIssue, linkId: number): Promise<string> {
    const { otherProjectId, json } = await this.queries.one(viewer, named, linkId);
    const project = await this.directory.project(otherProjectId, viewer);
    if (!project) throw new NotFound();
    if (!issueLinkPolicy.mayLink(viewer, project)) throw new Forbidden();
    const gone = await this.work.run((tx) => tx.prepared(remove, [linkId]));
    if (gone.length === 0) throw new NotFound();
    return json;
  }
}

/** Holds the issue while it is linked. Errors: `missing` when the viewer may know of none. */
async function idOf(tx: Tx, viewer: SignedInViewer, named: NamedIssue, missing: NotFound): Promise<number> {
  const { project, iid } = named;
  const reader = readerOf(viewer, project);
  if (!reads(issueKind.feature, project, reader)) throw missing;
  const { viewerId, isMember, readsConfidential } = reader;
  const [row] = await tx.prepared<{ id: number }>(visible, [project.id, iid, viewerId, isMember, readsConfidential]);
  if (!row) throw missing;
  return row.id;
}
