import { Invalid, lengthProblems, assertAllUsed, keepFieldsWithProblems, webAddressProblems } from '@rookery/kernel';
import { Check, Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

export const SELECTIVE_SYNC_TYPES = ['namespaces', 'shards'] as const;
export type SelectiveSyncType = (typeof SELECTIVE_SYNC_TYPES)[number];

/** Fields of a geo site. On update omitted fields keep their values; on creation they have defaults. */
export interface GeoSiteInput {
  readonly name?: string;
  readonly url?: string;
  /** Blank, null, or equal to the URL: the URL is used. */
  readonly internal_url?: string | null;
  readonly enabled?: boolean;
  readonly files_max_capacity?: number;
  readonly repos_max_capacity?: number;
  readonly verification_max_capacity?: number;
  readonly container_repositories_max_capacity?: number;
  readonly sync_object_storage?: boolean;
  /** Blank or null: everything is synchronized. */
  readonly selective_sync_type?: string | null;
  readonly selective_sync_shards?: readonly string[];
  readonly selective_sync_namespace_ids?: readonly number[];
  readonly minimum_reverification_interval?: number;
  readonly blob_download_timeout?: number;
}

/** Whether a name is that of the site that answers the request. */
export type IsCurrent = (name: string) => boolean;

const LONGEST_NAME = 255;
/** Leaves room for paths below it. */
const LONGEST_URL = 1024;
const LONGEST_TIMEOUT_S = 86_400;

/** An estate that is one of several with the same contents, or will be. Source: requirements 3 §2 Geo site. */
@Entity('geo_sites')
@Check('ck_geo_sites_name', 'char_length(name) <= 255')
@Check('ck_geo_sites_selective_sync_type', `selective_sync_type in ('namespaces', 'shards')`)
@Index('uq_geo_sites_name', { synchronize: false })
@Index('uq_geo_sites_is_primary', ['isPrimary'], { unique: true, where: 'is_primary' })
export class GeoSite {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_geo_sites',
  })
  id: number;
  @Column({ type: 'text' }) name: string;
  /** Has a trailing slash, like the internal one. */
  @Column({ type: 'text' }) url: string;
  /** null: the URL is used. */
  @Column({ type: 'text', nullable: true }) internalUrl: string | null;
  @Column({ type: 'boolean' }) isPrimary: boolean;
  @Column({ type: 'boolean' }) enabled: boolean;
  @Column({ type: 'integer' }) filesMaxCapacity: number;
  @Column({ type: 'integer' }) reposMaxCapacity: number;
  @Column({ type: 'integer' }) verificationMaxCapacity: number;
  @Column({ type: 'integer' }) containerRepositoriesMaxCapacity: number;
  @Column({ type: 'boolean' }) syncObjectStorage: boolean;
  /** null: everything is synchronized. */
  @Column({ type: 'text', nullable: true }) selectiveSyncType: SelectiveSyncType | null;
  @Column({ type: 'text', array: true }) selectiveSyncShards: string[];
  @Column({ type: 'bigint', array: true }) selectiveSyncNamespaceIds: number[];
  /** Units: days. */
  @Column({ type: 'integer' }) minimumReverificationInterval: number;
  /** Units: seconds. */
  @Column({ type: 'integer' }) blobDownloadTimeout: number;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  /** Errors: Invalid. */
  static create(
    { primary, ...input }: GeoSiteInput & { readonly primary?: boolean } & Required<Pick<GeoSiteInput, 'name' | 'url'>>,
    isCurrent: IsCurrent,
    now: Date,
  ): GeoSite {
    const site = Object.assign(new GeoSite(), {
      internalUrl: null,
      isPrimary: primary ?? false,
      enabled: true,
      filesMaxCapacity: 10,
      reposMaxCapacity: 25,
      verificationMaxCapacity: 100,
      containerRepositoriesMaxCapacity: 10,
      syncObjectStorage: false,
      selectiveSyncType: null,
      selectiveSyncShards: [],
      selectiveSyncNamespaceIds: [],
      minimumReverificationInterval: 7,
      blobDownloadTimeout: 28_800,
      createdAt: now,
    });
    site.change(input, isCurrent, now);
    return site;
  }

  /** Errors: Invalid. */
  change(input: GeoSiteInput, isCurrent: IsCurrent, now: Date): void {
    const { name = this.name, url = this.url, internal_url, enabled = this.enabled, ...others } = input;
    this.name = name.trim();
    this.url = ensureTrailingSlash(url);
    const internalUrl = internal_url === undefined ? this.internalUrl : ensureTrailingSlash(internal_url ?? '');
    this.internalUrl = internalUrl === '' || internalUrl === this.url ? null : internalUrl;
    this.enabled = enabled;
    const type = this.setCapacitiesAndSelection(others);
    this.updatedAt = now;
    this.validate(isCurrent, type);
    this.selectiveSyncType = type as SelectiveSyncType | null;
  }

  /** URL at which other sites reach this one. */
  get address(): string {
    return this.internalUrl ?? this.url;
  }

  /**
   * Sets capacities, intervals and the selection of shards and namespaces. Returns the type of the selection, which the
   * caller validates and sets.
   */
  private setCapacitiesAndSelection(
    input: Omit<GeoSiteInput, 'name' | 'url' | 'internal_url' | 'enabled'>,
  ): string | null {
    const { files_max_capacity, repos_max_capacity, verification_max_capacity, ...others } = input;
    const { container_repositories_max_capacity, sync_object_storage, selective_sync_type: type, ...more } = others;
    const { selective_sync_shards, selective_sync_namespace_ids, minimum_reverification_interval, ...last } = more;
    const { blob_download_timeout, ...rest } = last;
    assertAllUsed(rest);
    this.filesMaxCapacity = files_max_capacity ?? this.filesMaxCapacity;
    this.reposMaxCapacity = repos_max_capacity ?? this.reposMaxCapacity;
    this.verificationMaxCapacity = verification_max_capacity ?? this.verificationMaxCapacity;
    this.containerRepositoriesMaxCapacity =
      container_repositories_max_capacity ?? this.containerRepositoriesMaxCapacity;
    this.syncObjectStorage = sync_object_storage ?? this.syncObjectStorage;
    this.selectiveSyncShards = [...(selective_sync_shards ?? this.selectiveSyncShards)];
    this.selectiveSyncNamespaceIds = [...new Set(selective_sync_namespace_ids ?? this.selectiveSyncNamespaceIds)];
    this.minimumReverificationInterval = minimum_reverification_interval ?? this.minimumReverificationInterval;
    this.blobDownloadTimeout = blob_download_timeout ?? this.blobDownloadTimeout;
    return type === undefined ? this.selectiveSyncType : type || null;
  }

  private validate(isCurrent: IsCurrent, selectiveSyncType: string | null): void {
    const locksOut = !this.isPrimary && isCurrent(this.name);
    const problems = keepFieldsWithProblems({
      name: this.name === '' ? ["can't be blank"] : lengthProblems(this.name, LONGEST_NAME),
      url: this.url === '' ? ["can't be blank"] : baseUrlProblems(this.url),
      internal_url: this.internalUrl === null ? [] : baseUrlProblems(this.internalUrl),
      enabled: this.isPrimary && !this.enabled ? ['Geo primary node cannot be disabled'] : [],
      files_max_capacity: minimumProblems(0, this.filesMaxCapacity),
      repos_max_capacity: minimumProblems(0, this.reposMaxCapacity),
      verification_max_capacity: minimumProblems(0, this.verificationMaxCapacity),
      container_repositories_max_capacity: minimumProblems(0, this.containerRepositoriesMaxCapacity),
      selective_sync_type: isSelectiveSyncType(selectiveSyncType) ? [] : ['is not included in the list'],
      minimum_reverification_interval: minimumProblems(1, this.minimumReverificationInterval),
      blob_download_timeout: [
        ...minimumProblems(1, this.blobDownloadTimeout),
        ...maximumProblems(LONGEST_TIMEOUT_S, this.blobDownloadTimeout),
      ],
      base: locksOut ? ['Current node must be the primary node or you will be locking yourself out'] : [],
    });
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
  }
}

function isSelectiveSyncType(type: string | null): boolean {
  return type === null || SELECTIVE_SYNC_TYPES.some((one) => one === type);
}

function minimumProblems(minimum: number, value: number): string[] {
  return value < minimum ? [`must be greater than or equal to ${minimum}`] : [];
}

function maximumProblems(maximum: number, value: number): string[] {
  return value > maximum ? [`must be less than or equal to ${maximum}`] : [];
}

function ensureTrailingSlash(url: string): string {
  return url === '' || url.endsWith('/') ? url : `${url}/`;
}

/**
 * Problems of a base URL. It has no credentials, query or fragment, because paths are appended to it, and it is shown
 * and logged.
 */
function baseUrlProblems(url: string): string[] {
  const problems = webAddressProblems(url, LONGEST_URL);
  if (problems.length > 0) return problems;
  const { username, password, search, hash } = new URL(url);
  return `${username}${password}${search}${hash}` === '' ? [] : ['must be a valid URL'];
}
