import { Controller } from '@nestjs/common';
import { InternalRoute } from '@rookery/api-v4';
import type { InternalRequest } from '@rookery/api-v4';
import {
  hasNulCharacter,
  int,
  INTERNAL_CALLERS,
  INTERNAL_PATHS,
  list,
  MAX_IMPORTED_PEOPLE,
  nullable,
  object,
  problemsOf,
  text,
} from '@rookery/contracts';
import type { ImportPeopleAnswer, ImportPeopleRequest } from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { PlaceholderUsersService } from './placeholder-users.service';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const requested = object({
  import_key: text,
  host: text,
  people: list(object({ id: nullable(int), username: text })),
});

/** Owners of imported objects, for the import service. Source: reference identity-and-import 6.7. */
@Controller()
export class PlaceholderUsersController {
  constructor(private readonly placeholders: PlaceholderUsersService) {}

  @InternalRoute('POST', INTERNAL_PATHS.importPeople, INTERNAL_CALLERS.importPeople)
  async owners({ body }: InternalRequest): Promise<ImportPeopleAnswer> {
    return { owners: await this.placeholders.findOrCreateOwners(parseRequest(body)) };
  }
}

/** Errors: InvalidParameters. */
function parseRequest(body: InternalRequest['body']): ImportPeopleRequest {
  const isWhole = problemsOf(requested, body).length === 0 && !hasNulCharacter(body);
  const request = body as unknown as ImportPeopleRequest;
  if (!isWhole || !UUID.test(request.import_key) || request.people.length > MAX_IMPORTED_PEOPLE) {
    throw new InvalidParameters(['people is invalid']);
  }
  return request;
}
