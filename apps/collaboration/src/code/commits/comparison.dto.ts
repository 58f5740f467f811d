import { Flag, IdOrPath, ListOf, OneOf, Text } from '@rookery/api-v4';

const REF = 'Branch, tag or id, whole or abbreviated.';

export class ShowComparison {
  @Text({ about: `Older side. ${REF}` }) from: string;
  @Text({ about: `Newer side. ${REF}` }) to: string;
  @IdOrPath({
    optional: true,
    about: 'Project of the fork network in which `from` is looked up. Default: this project.',
  })
  from_project_id?: number | string;
  @Flag({ default: false, about: 'Compares the files of both sides directly, not from their merge base.' })
  straight: boolean;
  @Flag({ default: false, about: 'Begins each patch with the names of the file.' }) unidiff: boolean;
}
export class ShowMergeBase {
  @ListOf('text', { max: 100, about: `Two or more refs. ${REF}` }) refs: string[];
}
export class ListContributors {
  @Text({ optional: true, about: `${REF} Default: the default branch.` }) ref?: string;
  @OneOf(['commits', 'email', 'name'], { default: 'commits' }) order_by: 'commits' | 'email' | 'name';
  @OneOf(['asc', 'desc'], { default: 'asc' }) sort: 'asc' | 'desc';
}
