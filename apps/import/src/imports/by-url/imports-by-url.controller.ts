import { Controller } from '@nestjs/common';
import { InternalRoute } from '@rookery/api-v4';
import type { InternalRequest } from '@rookery/api-v4';
import { int, INTERNAL_CALLERS, INTERNAL_PATHS, object, problemsOf, text } from '@rookery/contracts';
import type {
  ImportByUrlAnswer,
  ImportByUrlRequest,
  ImportRefusedAnswer,
  ImportRefusedRequest,
} from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { ImportsByUrlService } from './imports-by-url.service';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const requested = object({ import_key: text, user_id: int, url: text });

/** Imports of repositories by URL, which identity prepares before it creates a project. */
@Controller()
export class ImportsByUrlController {
  constructor(private readonly imports: ImportsByUrlService) {}

  @InternalRoute('POST', INTERNAL_PATHS.importByUrl, INTERNAL_CALLERS.importByUrl)
  prepare({ body }: InternalRequest): Promise<ImportByUrlAnswer> {
    const request = body as unknown as ImportByUrlRequest;
    if (problemsOf(requested, body).length > 0 || !UUID.test(request.import_key)) {
      throw new InvalidParameters(['import_key is invalid']);
    }
    return this.imports.prepareImport(request);
  }

  @InternalRoute('POST', INTERNAL_PATHS.importRefused, INTERNAL_CALLERS.importRefused)
  async forget({ body }: InternalRequest): Promise<ImportRefusedAnswer> {
    const { import_key: importKey } = body as unknown as ImportRefusedRequest;
    if (typeof importKey !== 'string' || !UUID.test(importKey)) throw new InvalidParameters(['import_key is invalid']);
    await this.imports.forgetImport(importKey);
    return {};
  }
}
