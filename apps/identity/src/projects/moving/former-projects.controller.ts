import { Controller } from '@nestjs/common';
import { InternalRoute } from '@rookery/api-v4';
import type { InternalRequest } from '@rookery/api-v4';
import type { FormerProjectAnswer } from '@rookery/contracts';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { findProjectIdByFormerPath } from '../../directory/scope/former-paths';

/** Former full paths of projects, which git clients keep using. Source: reference repositories 1.9. */
@Controller()
export class FormerProjectsController {
  constructor(private readonly db: Database) {}

  @InternalRoute('POST', INTERNAL_PATHS.formerProject, INTERNAL_CALLERS.formerProject)
  async find({ body }: InternalRequest): Promise<FormerProjectAnswer> {
    const fullPath = body['full_path'];
    if (typeof fullPath !== 'string' || fullPath.includes('\0')) throw new InvalidParameters(['full_path is invalid']);
    return { project_id: await findProjectIdByFormerPath(this.db, fullPath) };
  }
}
