import { Controller } from '@nestjs/common';
import { InternalRoute } from '@rookery/api-v4';
import type { InternalRequest } from '@rookery/api-v4';
import {
  hasNulCharacter,
  IMPORTED_SNIPPET,
  INTERNAL_CALLERS,
  INTERNAL_PATHS,
  LEFT_OUT_SNIPPETS,
  MAX_LEFT_OUT,
  MAX_SNIPPET_REQUEST,
  problemsOf,
} from '@rookery/contracts';
import type {
  ImportSnippetAnswer,
  ImportSnippetRequest,
  LeftOutSnippetsAnswer,
  LeftOutSnippetsRequest,
} from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { SnippetImportsService } from './snippet-imports.service';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Units: characters. */
const MAX_ID = 255;

/** Snippets of imports, which the import service sends. Source: reference identity-and-import 6.9. */
@Controller()
export class SnippetImportsController {
  constructor(private readonly imports: SnippetImportsService) {}

  @InternalRoute('POST', INTERNAL_PATHS.importSnippet, INTERNAL_CALLERS.importSnippet, {
    bodyLimit: MAX_SNIPPET_REQUEST,
  })
  async write({ body }: InternalRequest): Promise<ImportSnippetAnswer> {
    const request = body as unknown as ImportSnippetRequest;
    const isWhole = problemsOf(IMPORTED_SNIPPET, body).length === 0 && !hasNulCharacter(body);
    if (!isWhole || request.upstream_id.length > MAX_ID || request.source.length > MAX_ID) {
      throw new InvalidParameters(['snippet is invalid']);
    }
    return { problem: await this.imports.writeSnippet(request) };
  }

  @InternalRoute('POST', INTERNAL_PATHS.importLeftOut, INTERNAL_CALLERS.importLeftOut)
  async notify({ body }: InternalRequest): Promise<LeftOutSnippetsAnswer> {
    const request = body as unknown as LeftOutSnippetsRequest;
    const isWhole = problemsOf(LEFT_OUT_SNIPPETS, body).length === 0 && !hasNulCharacter(body);
    if (!isWhole || !UUID.test(request.import_key) || request.snippets.length > MAX_LEFT_OUT) {
      throw new InvalidParameters(['snippets is invalid']);
    }
    await this.imports.notifyOfLeftOut(request);
    return {};
  }
}
