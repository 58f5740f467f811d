import { Controller } from '@nestjs/common';
import { Internal } from '@rookery/api-v4';
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

type Body = InternalRequest['body'];

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Projects of the import service. Source: reference identity-and-import 6. */
@Controller()
export class ProjectImportsController {
  constructor(private readonly imports: ProjectImportsService) {}

  @Internal('POST', INTERNAL_PATHS.importTarget, INTERNAL_CALLERS.importTarget)
  async target({ body }: InternalRequest): Promise<ImportTargetAnswer> {
    const type = body['import_type'] === undefined ? null : choiceIn<ImportType>(body, 'import_type', IMPORT_TYPES);
    return { outcome: await this.imports.target(idIn(body, 'user_id'), textIn(body, 'namespace'), type) };
  }

  @Internal('POST', INTERNAL_PATHS.importProject, INTERNAL_CALLERS.importProject)
  create({ body }: InternalRequest): Promise<ImportProjectAnswer> {
    return this.imports.create(requestIn(body));
  }

  @Internal('POST', INTERNAL_PATHS.importState, INTERNAL_CALLERS.importState)
  async note({ body }: InternalRequest): Promise<ImportStateAnswer> {
    const state = choiceIn<ImportState>(body, 'state', IMPORT_STATES);
    const change = { import_key: keyIn(body), state, error: textOrNull(body, 'error') };
    return { is_known: await this.imports.note(change) };
  }
}

function requestIn(body: Body): ImportProjectRequest {
  return {
    user_id: idIn(body, 'user_id'),
    namespace: textIn(body, 'namespace'),
    import_key: keyIn(body),
    import_type: choiceIn<ImportType>(body, 'import_type', IMPORT_TYPES),
    import_url: textIn(body, 'import_url'),
    name: textIn(body, 'name'),
    description: textOrNull(body, 'description'),
    default_branch: textOrNull(body, 'default_branch'),
    is_private: body['is_private'] !== false,
  };
}

function idIn(body: Body, name: string): number {
  if (!Number.isSafeInteger(body[name])) throw new InvalidParameters([`${name} is invalid`]);
  return body[name] as number;
}

function textIn(body: Body, name: string): string {
  const value = body[name];
  if (typeof value !== 'string' || value.includes('\0')) throw new InvalidParameters([`${name} is invalid`]);
  return value;
}

function textOrNull(body: Body, name: string): string | null {
  return body[name] === null ? null : textIn(body, name);
}

function keyIn(body: Body): string {
  const key = textIn(body, 'import_key');
  if (!UUID.test(key)) throw new InvalidParameters(['import_key is invalid']);
  return key;
}

function choiceIn<T extends string>(body: Body, name: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === body[name]);
  if (found === undefined) throw new InvalidParameters([`${name} is invalid`]);
  return found;
}
