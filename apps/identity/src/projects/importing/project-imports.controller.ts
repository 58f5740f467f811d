import { Controller } from '@nestjs/common';
import { InternalRoute } from '@rookery/api-v4';
import type { InternalRequest } from '@rookery/api-v4';
import { IMPORT_STATES, IMPORT_TYPES, INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import type {
  ImportProjectAnswer,
  ImportProjectRequest,
  ImportState,
  ImportStateAnswer,
  ImportTargetAnswer,
  ImportType,
} from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { ProjectImportsService } from './project-imports.service';

type RequestBody = InternalRequest['body'];

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Projects of the import service. Source: reference identity-and-import 6. */
@Controller()
export class ProjectImportsController {
  constructor(private readonly imports: ProjectImportsService) {}

  @InternalRoute('POST', INTERNAL_PATHS.importTarget, INTERNAL_CALLERS.importTarget)
  async target({ body }: InternalRequest): Promise<ImportTargetAnswer> {
    const type = body['import_type'] === undefined ? null : parseChoice<ImportType>(body, 'import_type', IMPORT_TYPES);
    return {
      outcome: await this.imports.checkTarget(parseIntegerField(body, 'user_id'), parseText(body, 'namespace'), type),
    };
  }

  @InternalRoute('POST', INTERNAL_PATHS.importProject, INTERNAL_CALLERS.importProject)
  create({ body }: InternalRequest): Promise<ImportProjectAnswer> {
    return this.imports.create(parseRequest(body));
  }

  @InternalRoute('POST', INTERNAL_PATHS.importState, INTERNAL_CALLERS.importState)
  async note({ body }: InternalRequest): Promise<ImportStateAnswer> {
    const state = parseChoice<ImportState>(body, 'state', IMPORT_STATES);
    const change = { import_key: parseImportKey(body), state, error: parseTextOrNull(body, 'error') };
    return { is_known: await this.imports.recordState(change) };
  }
}

function parseRequest(body: RequestBody): ImportProjectRequest {
  return {
    user_id: parseIntegerField(body, 'user_id'),
    namespace: parseText(body, 'namespace'),
    import_key: parseImportKey(body),
    import_type: parseChoice<ImportType>(body, 'import_type', IMPORT_TYPES),
    import_url: parseText(body, 'import_url'),
    name: parseText(body, 'name'),
    description: parseTextOrNull(body, 'description'),
    default_branch: parseTextOrNull(body, 'default_branch'),
    is_private: body['is_private'] !== false,
  };
}

function parseIntegerField(body: RequestBody, name: string): number {
  if (!Number.isSafeInteger(body[name])) throw new InvalidParameters([`${name} is invalid`]);
  return body[name] as number;
}

function parseText(body: RequestBody, name: string): string {
  const value = body[name];
  if (typeof value !== 'string' || value.includes('\0')) throw new InvalidParameters([`${name} is invalid`]);
  return value;
}

function parseTextOrNull(body: RequestBody, name: string): string | null {
  return body[name] === null ? null : parseText(body, name);
}

function parseImportKey(body: RequestBody): string {
  const key = parseText(body, 'import_key');
  if (!UUID.test(key)) throw new InvalidParameters(['import_key is invalid']);
  return key;
}

function parseChoice<T extends string>(body: RequestBody, name: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === body[name]);
  if (found === undefined) throw new InvalidParameters([`${name} is invalid`]);
  return found;
}
