import { assertAllUsed, InvalidWithSentences } from '@rookery/kernel';
import { Check, Column, Entity, ForeignKey, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Release } from '../release.entity';
import { describeReleaseLinkProblems } from './link-rules';

export const LINK_TYPES = ['other', 'runbook', 'image', 'package'] as const;
export type LinkType = (typeof LINK_TYPES)[number];

/** Fields of a link. Omitted fields keep their values on update. `filepath` is the old name of `direct_asset_path`. */
export interface ReleaseLinkInput {
  readonly name?: string;
  readonly url?: string;
  readonly direct_asset_path?: string | null;
  readonly filepath?: string | null;
  readonly link_type?: LinkType;
}

/** Link of a release to a file or page. Source: reference repositories 7.4. */
@Entity('release_links')
@Check('ck_release_links_link_type', `link_type in ('other', 'runbook', 'image', 'package')`)
@Unique('uq_release_links_name', ['releaseId', 'name'])
@Unique('uq_release_links_url', ['releaseId', 'url'])
@Unique('uq_release_links_filepath', ['releaseId', 'filepath'])
export class ReleaseLink {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_release_links',
  })
  id: number;
  @ForeignKey(() => Release, { name: 'fk_release_links_release_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  releaseId: number;
  @Column({ type: 'text' }) name: string;
  @Column({ type: 'text' }) url: string;
  /** Path of the permanent address, with a leading slash. */
  @Column({ type: 'text', nullable: true }) filepath: string | null;
  @Column({ type: 'text' }) linkType: LinkType;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  /** Errors: InvalidWithSentences. */
  static create(input: ReleaseLinkInput, now: Date): ReleaseLink {
    const link = new ReleaseLink();
    Object.assign(link, { name: '', url: '', filepath: null, linkType: 'other', createdAt: now });
    link.change(input, now);
    return link;
  }

  /** Errors: InvalidWithSentences. */
  change(input: ReleaseLinkInput, now: Date): void {
    const { name, url, direct_asset_path: path, filepath, link_type: linkType, ...rest } = input;
    assertAllUsed(rest);
    const wanted = path === undefined ? filepath : path;
    if (name !== undefined) this.name = name;
    if (url !== undefined) this.url = url;
    if (wanted !== undefined) this.filepath = wanted === '' ? null : wanted;
    if (linkType !== undefined) this.linkType = linkType;
    this.updatedAt = now;
    const sentences = describeReleaseLinkProblems(this);
    if (sentences.length > 0) throw new InvalidWithSentences(sentences);
  }
}
