import { Flag, OneOf, Text } from '@rookery/api-v4';
import { ValidateBy } from 'class-validator';

/** Parameters of the list of a folder. */
export class ListTree {
  @Text({ optional: true, about: 'Branch, tag or commit. Default: the default branch.' }) ref?: string;
  @Text({ default: '', about: 'Path of the folder. Default: the root.' }) path: string;
  @Flag({ default: false, about: 'Lists everything below the folder.' }) recursive: boolean;
  @PaginationNoneOnlyIfRecursive()
  @OneOf(['legacy', 'keyset', 'none'], {
    default: 'legacy',
    about: '`keyset` answers with a link to the next page only; `none` answers with everything, if `recursive` is set.',
  })
  pagination: 'legacy' | 'keyset' | 'none';
  @Text({ optional: true, about: 'Position from the link to the next page, for `keyset`.' }) page_token?: string;
}

/** Without pages a listing must be recursive. */
function PaginationNoneOnlyIfRecursive(): PropertyDecorator {
  const validate = (value: unknown, o?: { readonly object: object }): boolean =>
    value !== 'none' || (o?.object as ListTree).recursive;
  const message = '$property cannot be "none" unless "recursive" is true';
  return ValidateBy({ name: 'onlyRecursive', validator: { validate } }, { message });
}
