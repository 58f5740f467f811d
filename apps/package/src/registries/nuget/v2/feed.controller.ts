import { Controller } from '@nestjs/common';
import { createdMessage, Endpoint, file, noContent, streamedBody } from '@rookery/api-v4';
import type { Call, FileAnswer, NoParams, ProjectScope, StreamedCall } from '@rookery/api-v4';
import { InvalidParameters, NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { MAX_FILE_BYTES } from '../../../packages/package-files';
import {
  basicRegistry,
  publishesPackages,
  readsPackages,
  removesPackages,
} from '../../../packages/packages.permission';
import { NugetRemovals } from '../nuget-removals';
import { IdentifyNugetVersion } from '../nuget.dto';
import { NugetService } from '../nuget.service';
import { parseNugetFeedPackageKey, parseNugetFeedFilter, unquoteFeedText } from './feed-filter';
import { ShowNugetFeed } from './feed.dto';
import { nugetFeedEntryDocument, nugetFeedDocument, FEED_METADATA, nugetFeedServiceDocument } from './feed.presenter';
import type { FeedUrls } from './feed.presenter';
import { FeedQueries } from './feed.queries';
import type { FeedSearch } from './feed.queries';

const FEED = '/projects/:id/packages/nuget/v2';
const registry = { ...basicRegistry, source: 'reference packages-and-admin 4.9' } as const;
const reads = { ...registry, may: readsPackages } as const;
const ATOM = 'application/atom+xml';
const MAX_PAGE = 100;

/** The older protocol of NuGet, which NuGet 2 and Chocolatey speak. */
@Controller()
export class FeedController {
  constructor(
    private readonly versions: FeedQueries,
    private readonly nuget: NugetService,
    private readonly removals: NugetRemovals,
    private readonly links: Links,
  ) {}

  @Endpoint('GET', FEED, {
    ...reads,
    about: 'Shows the collections of a NuGet feed (version 2 of the protocol).',
    answers: file('application/xml'),
  })
  showService({ within }: Call<NoParams, ProjectScope>): FileAnswer {
    return documentAnswer(nugetFeedServiceDocument(this.feedUrls(within)), 'application/xml');
  }

  @Endpoint('GET', `${FEED}/:operation`, {
    ...reads,
    about: 'Finds versions of NuGet packages (version 2 of the protocol).',
    params: ShowNugetFeed,
    answers: file(ATOM, undefined, { 'application/xml': { type: 'string', description: 'The document `$metadata`.' } }),
    fails: [404],
  })
  async show({ within, viewer, params }: Call<ShowNugetFeed, ProjectScope>): Promise<FileAnswer> {
    if (params.operation === '$metadata') return documentAnswer(FEED_METADATA, 'application/xml');
    const urls = this.feedUrls(within);
    const key = parseNugetFeedPackageKey(params.operation);
    if (key)
      return documentAnswer(
        nugetFeedEntryDocument(urls, await this.versions.show(within, viewer, key.name, key.version)),
        ATOM,
      );
    const asked = parseSearch(params);
    const page = await this.versions.searchFeed(within, viewer, asked);
    const end = asked.skip + page.entries.length;
    const hasNext = params.$top === undefined && end < page.total;
    const next = hasNext ? `${urls.base}/${params.operation}?${nextPageQuery(params, end)}` : null;
    const isCounted = params.$inlinecount === 'allpages';
    return documentAnswer(
      nugetFeedDocument(urls, page, { title: withoutParentheses(params.operation), isCounted, next }),
      ATOM,
    );
  }

  @Endpoint('PUT', FEED, {
    ...registry,
    may: publishesPackages,
    body: streamedBody({ maxBytes: MAX_FILE_BYTES }),
    answers: createdMessage(),
    about: 'Pushes a NuGet package, as a form (version 2 of the protocol).',
    fails: [400, 409],
  })
  async push(call: StreamedCall<NoParams, ProjectScope, SignedInViewer>): Promise<void> {
    await this.nuget.pushPackage(call.within, call.viewer, call, 'nupkg');
  }

  @Endpoint('DELETE', `${FEED}/:package_name/:package_version`, {
    ...registry,
    may: removesPackages,
    about: 'Deletes a version of a NuGet package (version 2 of the protocol).',
    params: IdentifyNugetVersion,
    answers: noContent(),
    fails: [404],
  })
  async remove({ within, viewer, params }: Call<IdentifyNugetVersion, ProjectScope, SignedInViewer>): Promise<void> {
    await this.removals.removeVersion(within, viewer, params.package_name, params.package_version);
  }

  private feedUrls({ id }: ProjectScope): FeedUrls {
    const address = this.links.apiUrl(`projects/${id}/packages/nuget`);
    return { registry: address, base: `${address}/v2` };
  }
}

const withoutParentheses = (operation: string): string => operation.replace(/\(\)$/, '');

/** Errors: NotFound for an operation that feeds do not have; InvalidParameters. */
function parseSearch(params: ShowNugetFeed): FeedSearch {
  const page = { skip: params.$skip, top: Math.min(params.$top ?? MAX_PAGE, MAX_PAGE) };
  const filter = parseNugetFeedFilter(params.$filter);
  const isNewestFirst = /^Version desc\b/i.test(params.$orderby.trim());
  const all = { ...filter, ...page, isNewestFirst, q: '', prerelease: true };
  switch (withoutParentheses(params.operation)) {
    case 'FindPackagesById':
      if (!params.package_name) throw new InvalidParameters(['id is missing']);
      return { ...all, names: [unquoteFeedText(params.package_name)] };
    case 'Packages':
      return all;
    case 'Search':
      return { ...all, q: unquoteFeedText(params.searchTerm), prerelease: params.includePrerelease };
    default:
      throw new NotFound();
  }
}

/** The query of the next page. */
function nextPageQuery(params: ShowNugetFeed, skip: number): string {
  const { package_name: id, searchTerm, includePrerelease, $filter, $orderby, $inlinecount } = params;
  const sent = Object.entries({ id, searchTerm, $filter, $orderby, $inlinecount }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '',
  );
  const rest: [string, string][] = includePrerelease ? [['includePrerelease', 'true']] : [];
  return new URLSearchParams([...sent, ...rest, ['$skip', `${skip}`]]).toString();
}

function documentAnswer(text: string, mediaType: string): FileAnswer {
  const content = Buffer.from(text);
  return { stream: content, mediaType: `${mediaType}; charset=utf-8`, length: content.length };
}
