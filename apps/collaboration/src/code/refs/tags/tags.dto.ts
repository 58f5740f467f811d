import { OneOf, Search, Text } from '@rookery/api-v4';

export class ListTags {
  @OneOf(['name', 'updated', 'version'], { default: 'updated' }) order_by: 'name' | 'updated' | 'version';
  @OneOf(['asc', 'desc'], { default: 'desc' }) sort: 'asc' | 'desc';
  @Search({ about: 'Part of the name. `^` stands for its beginning, `$` for its end, `*` for any characters.' })
  search?: string;
  @OneOf(['legacy', 'keyset'], { default: 'legacy', about: '`keyset` for pages that begin after `page_token`.' })
  pagination: 'legacy' | 'keyset';
  @Text({ optional: true, about: 'Name of the last tag of the page before.' }) page_token?: string;
}

export class IdentifyTag {
  @Text({ in: 'path', about: 'Name of the tag.' }) tag_name: string;
}

export class CreateTag {
  @Text({ about: 'Name of the new tag.' }) tag_name: string;
  @Text({ about: 'Branch, tag or commit that gets the tag.' }) ref: string;
  @Text({ optional: true, about: 'Text of an annotation. Without it the tag is lightweight.' }) message?: string;
}
