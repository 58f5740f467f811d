import { Controller } from '@nestjs/common';
import { InternalRoute } from '@rookery/api-v4';
import type { InternalRequest } from '@rookery/api-v4';
import {
  hasNulCharacter,
  IMPORT_TYPES,
  IMPORTED_KINDS,
  IMPORTED_OBJECTS,
  INTERNAL_CALLERS,
  INTERNAL_PATHS,
  list,
  maxObjectsPerRequest,
  problemsOf,
} from '@rookery/contracts';
import type { ImportObjectsAnswer, ImportObjectsRequest } from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { ProjectImportsService } from './project-imports.service';

/** Objects of imports, which the import service sends. Source: ADR 0195. */
@Controller()
export class ProjectImportsController {
  constructor(private readonly imports: ProjectImportsService) {}

  @InternalRoute('POST', INTERNAL_PATHS.importObjects, INTERNAL_CALLERS.importObjects)
  write({ body }: InternalRequest): Promise<ImportObjectsAnswer> {
    return this.imports.writeObjects(parseImportRequest(body));
  }
}

/** Errors: InvalidParameters. */
function parseImportRequest(body: InternalRequest['body']): ImportObjectsRequest {
  const kind = IMPORTED_KINDS.find((one) => one === body['kind']);
  const isWhole =
    kind !== undefined &&
    Number.isSafeInteger(body['project_id']) &&
    IMPORT_TYPES.some((type) => type === body['import_type']) &&
    problemsOf(list(IMPORTED_OBJECTS[kind]), body['objects']).length === 0 &&
    (body['objects'] as readonly unknown[]).length <= maxObjectsPerRequest(kind);
  // PostgreSQL cannot store it.
  if (!isWhole || hasNulCharacter(body)) throw new InvalidParameters(['objects is invalid']);
  return body as unknown as ImportObjectsRequest;
}
