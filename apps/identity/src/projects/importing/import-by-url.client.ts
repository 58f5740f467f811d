import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type {
  ImportByUrlAnswer,
  ImportByUrlRequest,
  ImportRefusedAnswer,
  ImportRefusedRequest,
} from '@rookery/contracts';
import { Invalid, Unavailable } from '@rookery/kernel';
import { InternalRoutes, LOGGER } from '@rookery/platform';
import type { InternalRouteClient, Logger } from '@rookery/platform';

/** Maximum wait for an answer, which includes a DNS lookup. Units: ms. */
const MAX_WAIT_MS = 10_000;
const CONNECTIONS = 4;

/** Columns of the project of a prepared import. The import waits until the project is created. */
export interface PreparedImport {
  readonly importKey: string;
  readonly importType: 'git';
  readonly importUrl: string;
  readonly importStatus: 'scheduled';
}

/** Client for the internal route of import that prepares imports by URL. Source: reference identity-and-import 10.2. */
@Injectable()
export class ImportByUrlClient {
  private readonly route: InternalRouteClient<ImportByUrlRequest, ImportByUrlAnswer>;
  private readonly refusals: InternalRouteClient<ImportRefusedRequest, ImportRefusedAnswer>;

  constructor(
    routes: InternalRoutes,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const limits = { connections: CONNECTIONS, maxWaitMs: MAX_WAIT_MS };
    this.route = routes.createClient('import', INTERNAL_PATHS.importByUrl, limits);
    this.refusals = routes.createClient('import', INTERNAL_PATHS.importRefused, limits);
  }

  /** Prepares an import before its project is created. Errors: Invalid for a URL that is refused; Unavailable. */
  async prepareImport(userId: number, url: string): Promise<PreparedImport> {
    const importKey = randomUUID();
    const answer = await this.sendRequest({ import_key: importKey, user_id: userId, url });
    if (answer.outcome === 'refused') throw new Invalid({ import_url: [answer.problem] });
    return { importKey, importType: 'git', importUrl: answer.url, importStatus: 'scheduled' };
  }

  /** Forgets an import whose project was refused. Without an answer it is forgotten within minutes. */
  async forgetImport({ importKey }: PreparedImport): Promise<void> {
    try {
      await this.refusals.ask({ import_key: importKey });
    } catch (error) {
      this.logger.warn({ err: error }, 'import did not forget the import of a refused project');
    }
  }

  private async sendRequest(request: ImportByUrlRequest): Promise<ImportByUrlAnswer> {
    try {
      return await this.route.ask(request);
    } catch (error) {
      this.logger.warn({ err: error }, 'import did not answer a request for an import by URL');
      throw new Unavailable('import away');
    }
  }
}
