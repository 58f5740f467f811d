import { bool, choice, instant, int, list, nullable, object, presenter, text } from '@rookery/api-v4';
import { SELECTIVE_SYNC_TYPES } from '../geo-site.entity';
import type { FieldType } from '@rookery/api-v4';
import { geoSiteApiUrl } from '../geo-site.presenter';
import { HEALTH_STATUSES, healthStatusOf } from './site-status';
import type { SiteStatus, ReplicationSlots } from './site-status';

/** Kinds of data whose numbers clients expect. Rookery copies none of them between sites. */
const COPIED = [
  ...['ci_secure_files', 'container_repositories', 'dependency_proxy_blobs', 'dependency_proxy_manifests'],
  ...['design_management_repositories', 'group_wiki_repositories', 'job_artifacts', 'lfs_objects'],
  ...['merge_request_diffs', 'package_files', 'pages_deployments', 'pipeline_artifacts', 'project_repositories'],
  ...['project_wiki_repositories', 'snippet_repositories', 'terraform_state_versions', 'uploads'],
];
const OF_PRIMARIES = ['count', 'checksum_total_count', 'checksummed_count', 'checksum_failed_count'];
const OF_SECONDARIES = [
  ...['synced_count', 'failed_count', 'registry_count'],
  ...['verification_total_count', 'verified_count', 'verification_failed_count'],
];
/** A namespace that is synchronized, where the selection is by namespace. */
const namespace = object({
  id: int,
  name: text,
  path: text,
  kind: text,
  full_path: text,
  parent_id: nullable(int),
});
const SHARES = ['synced_in_percentage', 'verified_in_percentage'];
const NOTHING_OF_NOTHING = '0.00%';

type StatusField<V> = readonly [FieldType<V>, (status: SiteStatus) => V, { readonly about: string }];
const createZeroOrNullField = (
  sites: string,
  isZero: (status: SiteStatus) => boolean,
): StatusField<number | null | undefined> => [
  nullable(int),
  (status) => (isZero(status) ? 0 : null),
  { about: `Nothing is copied between sites: 0 at ${sites}, null elsewhere.` },
];
const zeroPercentField: StatusField<string> = [
  text,
  () => NOTHING_OF_NOTHING,
  { about: 'Nothing is copied between sites.' },
];
const notMeasuredField: StatusField<number | null | undefined> = [
  nullable(int),
  () => null,
  { about: 'Not measured.' },
];
const zeroRepositoriesField: StatusField<number> = [int, () => 0, { about: 'There are no repositories.' }];

/** Fields that a status has for each kind of data. */
function createStatusFieldsByDataKind(): Record<string, StatusField<never>> {
  const isPrimary = createZeroOrNullField('the primary', (status) => status.isPrimary);
  const isSecondary = createZeroOrNullField('secondaries', (status) => !status.isPrimary);
  const fields = COPIED.flatMap((kind) => [
    ...OF_PRIMARIES.map((name) => [`${kind}_${name}`, isPrimary]),
    ...OF_SECONDARIES.map((name) => [`${kind}_${name}`, isSecondary]),
    ...SHARES.map((name) => [`${kind}_${name}`, zeroPercentField]),
  ]);
  // The types differ by field, which names built at run time cannot express.
  return Object.fromEntries(fields) as Record<string, StatusField<never>>;
}

const findPrimarySlots = ({ found, isPrimary }: SiteStatus): ReplicationSlots | null =>
  (isPrimary && found.measured?.slots) || null;
const createSlotsField = (name: keyof ReplicationSlots): StatusField<number | null | undefined> => [
  nullable(int),
  (status) => findPrimarySlots(status)?.[name] ?? null,
  { about: "Replication slots of the primary's database." },
];

function formatUsedSlotsPercentage(status: SiteStatus): string | null {
  const slots = findPrimarySlots(status);
  if (slots === null || slots.count === 0) return slots && NOTHING_OF_NOTHING;
  return `${((100 * slots.used) / slots.count).toFixed(2)}%`;
}

/** Source: reference packages-and-admin 8.2. */
export const geoStatusPresenter = presenter<SiteStatus>('GeoSiteStatus').fields({
  geo_node_id: [nullable(int), ({ siteId }) => siteId],
  healthy: [bool, ({ found }) => found.isHealthy],
  health: [text, ({ found }) => found.health],
  health_status: [choice(...HEALTH_STATUSES), ({ found }) => healthStatusOf(found)],
  missing_oauth_application: [bool, () => false],
  db_replication_lag_seconds: notMeasuredField,
  ...createStatusFieldsByDataKind(),
  replication_slots_count: createSlotsField('count'),
  replication_slots_used_count: createSlotsField('used'),
  replication_slots_used_in_percentage: [nullable(text), formatUsedSlotsPercentage],
  replication_slots_max_retained_wal_bytes: createSlotsField('retained'),
  last_event_id: notMeasuredField,
  last_event_timestamp: notMeasuredField,
  cursor_last_event_id: notMeasuredField,
  cursor_last_event_timestamp: notMeasuredField,
  last_successful_status_check_timestamp: [
    nullable(int),
    ({ healthyAt }) => (healthyAt === null ? null : Math.floor(healthyAt.getTime() / 1000)),
  ],
  projects_count: [nullable(int), ({ found }) => found.measured?.projects ?? null],
  repositories_count: zeroRepositoriesField,
  repositories_checked_count: zeroRepositoriesField,
  repositories_checked_failed_count: zeroRepositoriesField,
  repositories_checked_in_percentage: zeroPercentField,
  container_repositories_replication_enabled: [bool, () => false],
  git_fetch_event_count_weekly: notMeasuredField,
  git_push_event_count_weekly: notMeasuredField,
  proxy_remote_requests_event_count_weekly: notMeasuredField,
  proxy_local_requests_event_count_weekly: notMeasuredField,
  version: [nullable(text), ({ found }) => found.measured?.version ?? null],
  revision: [nullable(text), () => null],
  storage_shards_match: [bool, () => true, { about: 'Every estate has a single storage, `default`.' }],
  selective_sync_type: [
    nullable(choice<string>(...SELECTIVE_SYNC_TYPES)),
    ({ selectiveSyncType }) => selectiveSyncType,
  ],
  namespaces: [list(namespace), ({ namespaces }) => namespaces],
  updated_at: [instant, ({ checkedAt }) => checkedAt],
  _links: [
    object({ self: text, site: text }),
    ({ siteId }, _loaded, ctx) => ({ self: geoSiteApiUrl(ctx, siteId!, '/status'), site: geoSiteApiUrl(ctx, siteId!) }),
    { when: ({ siteId }) => siteId !== null },
  ],
});

const noFailureField = [nullable(text), () => null] as const;

/** A project that could not be copied. The list is always empty. Source: reference packages-and-admin 8.3. */
export const geoFailurePresenter = presenter<never>('GeoFailure').fields({
  project_id: [int, () => 0],
  last_repository_synced_at: [nullable(instant), () => null],
  last_repository_successful_sync_at: [nullable(instant), () => null],
  last_wiki_synced_at: [nullable(instant), () => null],
  last_wiki_successful_sync_at: [nullable(instant), () => null],
  repository_retry_count: zeroRepositoriesField,
  wiki_retry_count: zeroRepositoriesField,
  last_repository_sync_failure: noFailureField,
  last_wiki_sync_failure: noFailureField,
  last_repository_verification_failure: noFailureField,
  last_wiki_verification_failure: noFailureField,
  repository_verification_checksum_sha: noFailureField,
  wiki_verification_checksum_sha: noFailureField,
  repository_checksum_mismatch: [bool, () => false],
  wiki_checksum_mismatch: [bool, () => false],
});
