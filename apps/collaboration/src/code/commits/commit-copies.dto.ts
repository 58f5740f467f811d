import { Flag, Text } from '@rookery/api-v4';
import { IdentifyCommit } from './commits.dto';

export class RevertCommit extends IdentifyCommit {
  @Text({ blank: 'refused', about: 'Branch that gets the new commit.' }) branch: string;
  @Flag({ default: false, about: 'Reports whether the action would succeed, and changes nothing.' }) dry_run: boolean;
}
export class CherryPickCommit extends RevertCommit {
  @Text({ optional: true, about: 'Message of the new commit. Default: that of the commit, with its id.' })
  message?: string;
}
