import { Controller } from '@nestjs/common';
import { created, Endpoint, one, project, signedIn } from '@rookery/api-v4';
import type { Call, NoParams, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { CancelImport, ImportRemote, ImportRepohost, ImportRepohostServer } from './imports.dto';
import { importedProject, importStatus } from './imports.presenter';
import { ImportsService } from './imports.service';
import type { ImportStatus, ImportView } from './imports.service';
import { RemoteImportsService } from './starting/remote-imports.service';
import { RepohostImportsService } from './starting/repohost-imports.service';
import { RepohostServerImportsService } from './starting/repohost-server-imports.service';

const SOURCE = 'requirements 2 §4 Imports; reference identity-and-import 6.2';

@Controller()
export class ImportsController {
  constructor(
    private readonly imports: ImportsService,
    private readonly remote: RemoteImportsService,
    private readonly servers: RepohostServerImportsService,
    private readonly repohost: RepohostImportsService,
  ) {}

  @Endpoint('POST', '/import/remote', {
    about: 'Creates a project and imports an upstream repository into it.',
    source: 'requirements 2 §4 Imports; reference identity-and-import 6.3',
    may: signedIn(),
    params: ImportRemote,
    fails: [401, 403, 422, 429],
    refusals: { startsImport: 'remote' },
    answers: created(importedProject),
    aliases: ['/import/github'],
    takesNoKey: true,
  })
  start({ viewer, params }: Call<ImportRemote, undefined, SignedInViewer>): Promise<ImportView> {
    return this.remote.start(viewer, params);
  }

  @Endpoint('POST', '/import/repohost_server', {
    about: 'Creates a project and imports a repository of a server into it.',
    source: 'requirements 2 §4 Imports; reference identity-and-import 6.4',
    may: signedIn(),
    params: ImportRepohostServer,
    fails: [401, 403, 422],
    refusals: { startsImport: 'repohost' },
    answers: created(importedProject),
    aliases: ['/import/bitbucket_server'],
    takesNoKey: true,
  })
  startFromServer({ viewer, params }: Call<ImportRepohostServer, undefined, SignedInViewer>): Promise<ImportView> {
    return this.servers.start(viewer, params);
  }

  @Endpoint('POST', '/import/repohost', {
    about: 'Creates a project and imports a repository of the repository service into it.',
    source: 'requirements 2 §4 Imports; reference identity-and-import 6.5',
    may: signedIn(),
    params: ImportRepohost,
    fails: [401, 403, 422],
    refusals: { startsImport: 'repohost' },
    answers: created(importedProject),
    aliases: ['/import/bitbucket', '/import/cloudrepo'],
    takesNoKey: true,
  })
  startFromService({ viewer, params }: Call<ImportRepohost, undefined, SignedInViewer>): Promise<ImportView> {
    return this.repohost.start(viewer, params);
  }

  @Endpoint('POST', '/import/remote/cancel', {
    about: 'Cancels an import for an owner of its project. Imported data stays.',
    source: SOURCE,
    may: signedIn(),
    params: CancelImport,
    fails: [403, 404],
    answers: one(importedProject),
    aliases: ['/import/github/cancel'],
  })
  cancel({ viewer, params }: Call<CancelImport, undefined, SignedInViewer>): Promise<ImportView> {
    return this.imports.cancel(viewer, params.project_id);
  }

  @Endpoint('GET', '/projects/:id/import', {
    about: 'Returns the state of the import of a project.',
    source: 'reference identity-and-import 6.2',
    within: project(),
    may: signedIn(),
    answers: one(importStatus),
  })
  show({ viewer, within }: Call<NoParams, ProjectScope, SignedInViewer>): Promise<ImportStatus> {
    return this.imports.show(viewer, within);
  }
}
