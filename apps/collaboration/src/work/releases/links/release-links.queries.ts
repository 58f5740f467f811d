import { Injectable } from '@nestjs/common';
import { InvalidWithSentences, NotFound } from '@rookery/kernel';
import { defineCollection, Database, statement, Work } from '@rookery/persistence';
import type { Collection } from '@rookery/persistence';
import { ReleaseLink } from './release-link.entity';

const createTakenFieldErrorFactory = (field: string) => () =>
  new InvalidWithSentences([`${field} has already been taken`]);

/** Links of releases, the newest first. */
export const releaseLinks = defineCollection(ReleaseLink, {
  within: 'releaseId',
  order: { createdAt: 'DESC', id: 'DESC' },
  taken: {
    uq_release_links_name: createTakenFieldErrorFactory('Name'),
    uq_release_links_url: createTakenFieldErrorFactory('Url'),
    uq_release_links_filepath: createTakenFieldErrorFactory('Filepath'),
  },
});

/** Fields of a link that answers show. */
export type ReleaseLinkFields = Pick<ReleaseLink, 'id' | 'releaseId' | 'name' | 'url' | 'filepath' | 'linkType'>;

const linksOf = statement<{ ids: readonly number[] }, ReleaseLinkFields>(
  'release_links_of_releases',
  `select id, release_id as "releaseId", name, url, filepath, link_type as "linkType" from release_links
   where release_id = any(:ids::bigint[]) order by created_at desc, id desc`,
);

/** Reads links of releases. Source: reference repositories 7.4. */
@Injectable()
export class ReleaseLinksQueries {
  private readonly links: Collection<ReleaseLink>;

  constructor(
    work: Work,
    private readonly database: Database,
  ) {
    this.links = releaseLinks.on(work);
  }

  /** Returns the links of several releases, by release. */
  async listByRelease(releaseIds: readonly number[]): Promise<ReadonlyMap<number, readonly ReleaseLinkFields[]>> {
    const rows = releaseIds.length === 0 ? [] : await this.database.run(linksOf, { ids: releaseIds });
    const ofRelease = (id: number): readonly ReleaseLinkFields[] => rows.filter((row) => row.releaseId === id);
    return new Map(releaseIds.map((id) => [id, ofRelease(id)]));
  }

  /** Returns the link of a release with this path. `path` has no leading slash. Errors: NotFound. */
  async atPath(releaseId: number, path: string): Promise<ReleaseLink> {
    const [link] = await this.links.listAll({ within: releaseId, where: { filepath: `/${path}` } });
    if (!link) throw new NotFound();
    return link;
  }
}
