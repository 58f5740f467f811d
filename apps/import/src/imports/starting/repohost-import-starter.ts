import { Injectable } from '@nestjs/common';
import type { UpstreamKind } from '../../sources/upstream-hosts';
import type { UpstreamProject } from '../../sources/upstream-project';
import type { UpstreamAccess } from '../../sources/upstream-repository';
import type { ImportView } from '../imports.service';
import { ImportStarter } from './import-starter';
import type { ImportOptions, ImportPlace } from './import-starter';
import { repohostTargetRefusal, repohostRefusal } from './repohost-refusals';

/** An import from a repository host. `find` asks the host, after the namespace was checked. */
export interface RepohostImportStart {
  readonly source: UpstreamKind;
  readonly place: ImportPlace;
  readonly access: UpstreamAccess;
  find(): Promise<UpstreamProject>;
}

/** Repository hosts send no larger pages. */
const PAGE_SIZE = 50;

/** Steps that imports from all repository hosts share. Source: reference identity-and-import 6.4, 6.5. */
@Injectable()
export class RepohostImportStarter {
  constructor(private readonly imports: ImportStarter) {}

  /** Errors: ImportRefused for a source that is switched off. */
  assertEnabled(source: UpstreamKind): void {
    if (!this.imports.isEnabled(source)) throw repohostRefusal('disabled', [`${source} import source is disabled`]);
  }

  /** Creates a project and schedules its import. Errors: ImportRefused; Unavailable; those of `find`. */
  async startImport({ source, place, access, find }: RepohostImportStart, options: ImportOptions): Promise<ImportView> {
    const outcome = await this.imports.findTarget(place);
    if (outcome !== 'allowed') throw repohostTargetRefusal({ outcome });
    const plan = {
      ...{ source, place, upstream: await find(), apiUrl: access.url, credential: access.credential },
      ...{ pageSize: PAGE_SIZE, singleEndpointNotes: false, withAttachments: false },
    };
    const started = await this.imports.startImport(plan, options);
    if ('outcome' in started) throw repohostTargetRefusal(started);
    return started;
  }
}
