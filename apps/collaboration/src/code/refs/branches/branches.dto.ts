import { Flag, OneOf, Search, Text } from '@rookery/api-v4';

export class ListBranches {
  @Search({ about: 'Part of the name. `^` stands for its beginning, `$` for its end, `*` for any characters.' })
  search?: string;
  @Text({ optional: true, max: 255, costly: true, about: 'Regular expression of RE2 for the name.' }) regex?: string;
  @OneOf(['name_asc', 'updated_asc', 'updated_desc'], { default: 'name_asc' })
  sort: 'name_asc' | 'updated_asc' | 'updated_desc';
  @OneOf(['legacy', 'keyset'], { default: 'legacy', about: '`keyset` for pages that begin after `page_token`.' })
  pagination: 'legacy' | 'keyset';
  @Text({ optional: true, about: 'Name of the last branch of the page before.' }) page_token?: string;
}

export class IdentifyBranch {
  @Text({ in: 'path', about: 'Name of the branch.' }) branch: string;
}

export class CreateBranch {
  @Text({ blank: 'refused', about: 'Name of the new branch.' }) branch: string;
  @Text({ blank: 'refused', about: 'Branch, tag or commit at which the branch begins.' }) ref: string;
}

export class ProtectBranch extends IdentifyBranch {
  @Flag({ optional: true, about: 'Developers may push to the branch.' }) developers_can_push?: boolean;
  @Flag({ optional: true, about: 'Developers may merge into the branch.' }) developers_can_merge?: boolean;
}
