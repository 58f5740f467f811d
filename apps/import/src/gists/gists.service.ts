import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Forbidden, ImportRefused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import type { SettingsOf } from '@rookery/platform';
import { importSettings } from '../import.config';
import { ImportCredentials } from '../imports/import-credentials';
import { toImportRefused, RemoteLookup } from '../imports/starting/remote-lookup';
import { RemoteGistsClient } from '../sources/remote/remote-gists-client';
import { UpstreamError } from '../sources/upstream-error';
import type { UpstreamAccess } from '../sources/upstream-repository';
import { GistImportRecords } from './gist-import-records';

/** Source: reference identity-and-import 6.2. */
export interface GistsRequest {
  readonly personal_access_token: string;
  readonly remote_hostname?: string | undefined;
}

const SOURCE = 'remote';
const RUNNING = 'Import already in progress';

/** Starts imports of gists. Source: reference identity-and-import 6.2, 6.9. */
@Injectable()
export class GistsService {
  constructor(
    private readonly records: GistImportRecords,
    private readonly remote: RemoteLookup,
    private readonly client: RemoteGistsClient,
    private readonly credentials: ImportCredentials,
    @Inject(importSettings.token) private readonly settings: SettingsOf<typeof importSettings>,
  ) {}

  /** Errors: Forbidden for users without personal snippets; ImportRefused. */
  async start(viewer: SignedInViewer, request: GistsRequest): Promise<void> {
    if (viewer.isExternal && !viewer.isAdmin) throw new Forbidden();
    if (!this.settings.sources.includes(SOURCE)) {
      throw new ImportRefused('disabled', 'errors', [`${SOURCE} import source is disabled`]);
    }
    const access = {
      url: await this.remote.resolveAddress(request.remote_hostname || null),
      credential: request.personal_access_token,
    };
    if (await this.records.isRunning(viewer.userId)) throw new ImportRefused('unprocessable', 'errors', RUNNING);
    await this.checkCredential(access);
    const importKey = randomUUID();
    const isAdded = await this.records.addImport({
      ...{ importKey, userId: viewer.userId, apiUrl: access.url },
      sealedCredential: this.credentials.seal(importKey, access.credential),
    });
    if (!isAdded) throw new ImportRefused('unprocessable', 'errors', RUNNING);
  }

  private async checkCredential(access: UpstreamAccess): Promise<void> {
    try {
      await this.client.checkCredential(access);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      if (error.reason !== 'credential') throw toImportRefused(error);
      throw new ImportRefused('credential', 'errors', `Access denied to the ${SOURCE} account.`);
    }
  }
}
