import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { DirectoryUserRow } from '@rookery/directory';
import type { JsonPage, PageRequest, SignedInViewer, Viewer } from '@rookery/kernel';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { NoteableKinds } from '../../base/noteables/noteable-kinds';
import { createNoteableReader, canReadFeature } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';
import { ActivityFeeds, FEED_COUNT_LIMIT } from './feeds';
import type { ActivityFilter, Feed, FeedParams, FeedViewerParams } from './feeds';

const NOTHING: JsonPage = { json: '[]', total: 0, hasNext: false };

/** Reads feeds of activity. Source: requirements 1 §4 Events; reference work-tracking 7. */
@Injectable()
export class ActivityQueries {
  private readonly feeds: ActivityFeeds;

  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    kinds: NoteableKinds,
    @Inject(platformSettings.token) platform: SettingsOf<typeof platformSettings>,
  ) {
    this.feeds = new ActivityFeeds(kinds, platform.externalUrl);
  }

  /** Lists entries of the caller. */
  async listOwn(viewer: SignedInViewer, filter: ActivityFilter, page: PageRequest): Promise<JsonPage> {
    await this.directory.requireFresh(viewer);
    return this.readPage('author', { ...viewerValues(viewer), author: viewer.userId }, filter, page);
  }

  /** Lists entries of all users in the projects of which the caller is a member. */
  async ofMemberships(viewer: Viewer, filter: ActivityFilter, page: PageRequest): Promise<JsonPage> {
    if (viewer.userId === null) return NOTHING;
    await this.directory.requireFresh(viewer);
    return this.readPage('memberships', viewerValues(viewer), filter, page);
  }

  /**
   * Lists entries of a user that the caller may see; none if the profile is private. With `all`, lists entries in the
   * caller's own projects instead (reference work-tracking 7.1). Errors: NotFound for an unknown user.
   */
  async ofUser(
    viewer: Viewer,
    { ref, all }: { readonly ref: number | string; readonly all: boolean },
    filter: ActivityFilter,
    page: PageRequest,
  ): Promise<JsonPage> {
    await this.directory.requireFresh(viewer);
    const [user] = await this.directory.filterVisible(viewer, await this.findUsers(ref));
    if (!user) throw new NotFound('User');
    if (all) return this.ofMemberships(viewer, filter, page);
    if (user.privateProfile && !viewer.isAdmin && user.id !== viewer.userId) return NOTHING;
    return this.readPage('author', { ...viewerValues(viewer), author: user.id }, filter, page);
  }

  /** Lists entries of a project, by the access that was decided for the request. */
  ofProject(
    viewer: Viewer,
    project: ParentFacts & { readonly name: string },
    filter: ActivityFilter,
    page: PageRequest,
  ): Promise<JsonPage> {
    const reader = createNoteableReader(viewer, project);
    const values = {
      ...viewerValues(viewer),
      project: project.id,
      project_name: project.name,
      is_member: reader.isMember,
      reads_confidential: reader.readsConfidential,
      reads_internal: reader.readsInternal,
      reads_issues: canReadFeature('issues', project, reader),
      reads_merge_requests: canReadFeature('merge_requests', project, reader),
      reads_snippets: canReadFeature('snippets', project, reader),
    };
    return this.readPage('project', values, filter, page);
  }

  private async findUsers(ref: number | string): Promise<DirectoryUserRow[]> {
    const isId = typeof ref === 'number';
    return [...(isId ? await this.directory.findUsers([ref]) : await this.directory.usersByUsername([ref])).values()];
  }

  private async readPage<F extends Feed>(
    feed: F,
    values: FeedParams[F],
    filter: ActivityFilter,
    page: PageRequest,
  ): Promise<JsonPage> {
    const [row] = await this.database.run(this.feeds.pageStatement(feed, filter, page, values));
    if (row!.is_whole === false) return this.readPage('each_of_memberships', values, filter, page);
    return jsonPageOf(page, row!, FEED_COUNT_LIMIT);
  }
}

function viewerValues({ userId, isAdmin, isExternal }: Viewer): FeedViewerParams {
  return { viewer: userId, is_admin: isAdmin, is_external: isExternal };
}
