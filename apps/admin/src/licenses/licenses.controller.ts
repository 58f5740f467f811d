import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, Endpoint, one, page } from '@rookery/api-v4';
import type { Page } from '@rookery/kernel';
import { licensePresenter } from './license.presenter';
import { IdentifyLicense } from './licenses.dto';
import { LicensesService } from './licenses.service';
import type { LicenseView } from './licenses.service';

const SHARED = { source: 'reference packages-and-admin 10.4', may: administrator() } as const;

@Controller()
export class LicensesController {
  constructor(private readonly licenses: LicensesService) {}

  @Endpoint('GET', '/license', { ...SHARED, about: 'Returns the current licence.', answers: one(licensePresenter) })
  current(): Promise<LicenseView> {
    return this.licenses.show();
  }

  @Endpoint('GET', '/licenses', {
    ...SHARED,
    about: 'Lists all licences: there is exactly one.',
    answers: page(licensePresenter),
  })
  list({ page: asked }: Call): Promise<Page<LicenseView>> {
    return this.licenses.list(asked);
  }

  @Endpoint('GET', '/license/:id', {
    ...SHARED,
    about: 'Returns a licence.',
    params: IdentifyLicense,
    answers: one(licensePresenter),
    fails: [404],
  })
  show({ params }: Call<IdentifyLicense>): Promise<LicenseView> {
    return this.licenses.show(params.id);
  }
}
