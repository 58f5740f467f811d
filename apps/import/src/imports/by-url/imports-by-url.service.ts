import { Inject, Injectable } from '@nestjs/common';
import type { ImportByUrlAnswer, ImportByUrlRequest } from '@rookery/contracts';
import { Egress, EgressError } from '@rookery/egress';
import type { SettingsOf } from '@rookery/platform';
import { importSettings } from '../../import.config';
import { ImportCredentials } from '../import-credentials';
import { ImportRecords } from '../import-records';

const SOURCE = 'git';
const PAGE_SIZE = 100;
/** Units: characters. */
const MAX_URL = 2048;
const MAX_NAME = 1024;

/** Prepares imports of git repositories by their URLs. Source: reference identity-and-import 10.2. */
@Injectable()
export class ImportsByUrlService {
  constructor(
    private readonly records: ImportRecords,
    private readonly credentials: ImportCredentials,
    private readonly egress: Egress,
    @Inject(importSettings.token) private readonly settings: SettingsOf<typeof importSettings>,
  ) {}

  /** Checks the URL and stores a pending import with the encrypted credentials of the URL. */
  async prepareImport({
    import_key: importKey,
    user_id: userId,
    url: given,
  }: ImportByUrlRequest): Promise<ImportByUrlAnswer> {
    if (!this.settings.sources.includes(SOURCE)) return refusedAnswer('git import source is disabled');
    const parts = splitCredentials(given);
    if (parts === null) return refusedAnswer('is not a valid URL of a git repository');
    const problem = await this.findAddressProblem(parts.url);
    if (problem !== null) return refusedAnswer(`is blocked: ${problem}`);
    const { url, credentials } = parts;
    await this.records.addImport({
      ...{ importKey, userId, source: SOURCE, cloneUrl: url, upstreamUrl: null, defaultBranch: null },
      ...{ upstreamName: new URL(url).pathname.slice(1, MAX_NAME), apiUrl: null, pageSize: PAGE_SIZE },
      ...{
        isOptimistic: false,
        ...{ singleEndpointNotes: false, withAttachments: false },
        sealedCredential: credentials === null ? null : this.credentials.seal(importKey, credentials),
      },
    });
    return { outcome: 'prepared', url };
  }

  /** Deletes a prepared import, with its credentials, whose project was refused. */
  forgetImport(importKey: string): Promise<void> {
    return this.records.dropByKey(importKey);
  }

  private async findAddressProblem(url: string): Promise<string | null> {
    try {
      await this.egress.checkedAddresses(url);
      return null;
    } catch (error) {
      // One sentence for all reasons, so that callers cannot find out names of internal hosts.
      if (error instanceof EgressError) return BLOCKED;
      throw error;
    }
  }
}

const BLOCKED = 'the host has no address on the public internet';

function refusedAnswer(problem: string): ImportByUrlAnswer {
  return { outcome: 'refused', problem };
}

/**
 * Separates the credentials of a URL: `user:password`, or null. Returns null for a URL that is not http or https, is
 * malformed or too long, or has a query.
 */
function splitCredentials(givenUrl: string): { readonly url: string; readonly credentials: string | null } | null {
  if (
    givenUrl.length > MAX_URL ||
    /[\p{C}\s]/u.test(givenUrl) ||
    !/^https?:\/\//i.test(givenUrl) ||
    !URL.canParse(givenUrl)
  )
    return null;
  const url = new URL(givenUrl);
  const { username, password } = url;
  try {
    // Git's transport refuses a query, which may hold a secret and would be shown.
    if (url.search !== '') return null;
    const credentials = username || password ? `${decodeURIComponent(username)}:${decodeURIComponent(password)}` : null;
    if (credentials !== null && /\p{Cc}/u.test(credentials)) return null;
    Object.assign(url, { username: '', password: '', hash: '' });
    return { url: url.href, credentials };
  } catch {
    return null;
  }
}
