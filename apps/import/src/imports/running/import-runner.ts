import { Inject, Injectable } from '@nestjs/common';
import type { SettingsOf } from '@rookery/platform';
import { importSettings } from '../../import.config';
import { AttachmentBudget } from '../../stages/attachments/attachment-budget';
import type { AttachmentsSource } from '../../stages/attachments/text-attachments';
import { ObjectsImportStage } from '../../stages/objects/objects-stage';
import type { ObjectsSource, StageJournal } from '../../stages/objects/objects-stage';
import type { ObjectList } from '../../stages/objects/object-list';
import { chooseImportLists } from '../../stages/objects/import-lists';
import { RepositoryImportStage } from '../../stages/repository/repository-stage';
import { toGitCredential, findPullRequestRefPattern, UpstreamHosts } from '../../sources/upstream-hosts';
import type { UpstreamAttachments } from '../../sources/attachments/upstream-attachments';
import { ImportStageFailed } from '../../stages/stage-failure';
import { ImportCredentials } from '../import-credentials';
import type { ImportRow } from '../import-records';
import { ATTACHMENTS, ImportStageRecords } from '../import-stages';
import { ImportChecks } from './import-checks';

const NO_CREDENTIAL = 'The credential of the import cannot be read any more.';
const REPOSITORY = 'repository';
/** Kind of imports by URL, which bring the repository alone, and need no credential for a public one. */
const BY_URL = 'git';

/** Longest time without progress in which an import waits for a host that limits requests for files. Units: ms. */
const MAX_LIMITED_MS = 6 * 3_600_000;

/**
 * Longest time in which one attempt at an import waits for files, so that a host whose answers are slow does not occupy a place
 * of other imports for days. Units: ms.
 */
const MAX_FILES_MS = 6 * 3_600_000;

/** One attempt at an import. */
export interface ImportAttempt {
  readonly signal: AbortSignal;
  readonly isLastTry: boolean;
  /** Whether this try has made progress. */
  hasAdvanced(): boolean;
  recordProgress(): Promise<void>;
}

/** The stages of an import in their order. A stage that is done does not run again. */
@Injectable()
export class ImportRunner {
  constructor(
    private readonly checks: ImportChecks,
    private readonly stages: ImportStageRecords,
    private readonly credentials: ImportCredentials,
    private readonly repository: RepositoryImportStage,
    private readonly objects: ObjectsImportStage,
    private readonly hosts: UpstreamHosts,
    @Inject(importSettings.token) private readonly settings: SettingsOf<typeof importSettings>,
  ) {}

  /**
   * Runs all stages of an import: its repository, then its objects. Errors: ImportStageFailed; ImportStagePostponed if a stage must wait for
   * the host; those of `ImportChecks`; the reason of the signal of `attempt`.
   */
  async run(row: ImportRow, attempt: ImportAttempt): Promise<void> {
    const credential = row.sealed_credential && this.credentials.open(row.import_key, row.sealed_credential);
    if (credential === null && (row.sealed_credential !== null || row.source !== BY_URL)) {
      throw new ImportStageFailed(NO_CREDENTIAL, true);
    }
    await this.checks.checkImport(row);
    await this.importRepository(row, credential, attempt);
    const { source: kind, api_url: url } = row;
    if (kind === BY_URL || url === null || credential === null) return;
    const access = { url, credential };
    const upstream = row.with_attachments ? this.hosts.openAttachments(kind, access, row.upstream_name) : null;
    const source = {
      ...{ projectId: row.project_id!, importKey: row.import_key, importType: kind, pageSize: row.page_size },
      repository: this.hosts.open(kind, access, row.upstream_name),
      attachments: await this.createAttachmentsSource(row, upstream, attempt),
    };
    for (const list of chooseImportLists(kind, row)) await this.importObjectList(row, list, source, attempt);
  }

  private async createAttachmentsSource(
    row: ImportRow,
    upstream: UpstreamAttachments | null,
    { isLastTry, hasAdvanced }: ImportAttempt,
  ): Promise<AttachmentsSource | null> {
    if (upstream === null) return null;
    const { attachmentBytes: bytes, attachmentFiles: files } = this.settings;
    const counts = (await this.stages.ofImport(row.id)).find(({ name }) => name === ATTACHMENTS);
    const budget = new AttachmentBudget(
      { files, bytes, ms: MAX_FILES_MS },
      counts ? counts.fetched - counts.imported : 0,
    );
    const canWait = (): boolean => hasAdvanced() || Date.now() - row.updated_at.getTime() < MAX_LIMITED_MS;
    return { upstream, unanswered: new Map(), isLastTry, canWait, budget };
  }

  private async importRepository(row: ImportRow, credential: string | null, attempt: ImportAttempt): Promise<void> {
    const { id, project_id: projectId, clone_url: cloneUrl, default_branch: defaultBranch } = row;
    if ((await this.stages.readProgress(id, REPOSITORY)).isDone) return;
    const credentials = toGitCredential(row.source, credential);
    const heads = findPullRequestRefPattern(row.source);
    const source = { projectId: projectId!, cloneUrl, apiUrl: row.api_url, defaultBranch, credentials, heads };
    const failed = await this.repository.run(source, () => this.checks.checkImport(row), attempt.signal);
    await this.stages.advanceStage(id, REPOSITORY, { next: null, fetched: 1, imported: 1 }, failed);
    await this.checks.checkImport(row);
    await attempt.recordProgress();
  }

  /** Imports a list. An optimistic import goes on without a list that fails. */
  private async importObjectList(
    row: ImportRow,
    list: ObjectList,
    source: ObjectsSource,
    attempt: ImportAttempt,
  ): Promise<void> {
    const journal = this.createStageJournal(row, list.stage ?? list.kind, attempt);
    try {
      await this.objects.run(list, source, journal, attempt.signal);
    } catch (error) {
      const isFinal = error instanceof ImportStageFailed && (error.isFinal || attempt.isLastTry);
      if (!isFinal || !row.is_optimistic) throw error;
      const failed = [{ relation: list.kind, name: 'all', message: error.message }];
      await journal.advance({ next: null, fetched: 0, imported: 0 }, failed);
    }
  }

  private createStageJournal(row: ImportRow, stage: string, { recordProgress }: ImportAttempt): StageJournal {
    return {
      progress: () => this.stages.readProgress(row.id, stage),
      advance: async (page, failed) => {
        await this.stages.advanceStage(row.id, stage, page, failed);
        await this.checks.checkImport(row);
        await recordProgress();
      },
      checkStillRunning: () => this.checks.checkImport(row),
    };
  }
}
